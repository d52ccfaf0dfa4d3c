# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Short: stamps come, at once, late and lost, and the port can be reconfigured.

works first
mark
knob lose_every 10
probe -n 100 -g 20ms -t 50ms
knob lose_every 0
happened lose stamp_lost 3
check lose-idle 'requests are left in flight' wait_for idle
equal lose-requests "$(did stamp_asked)" "$(saw requested)"
equal lose "$(did stamp_lost)" "$(saw timeout)"
equal lose-rest "$(did stamp_latched)" "$(saw delivered)"
free_slots
works lose

mark
knob stamp_delay_us 30000
probe -n 20 -g 50ms -t 60ms
knob stamp_delay_us 0
happened delay stamp_delayed 10
equal delay "$(did stamp_latched)" "$(saw orphans)"
equal delay-ended "$(did stamp_asked)" "$(saw timeout)"
works delay

knob stamp_delay_us 3000
during off-on 4 off_on
during clock 4 step_clock
during down-up 2 down_up
during link-flap 1 flap_link
knob stamp_delay_us 0
say 'done short'
