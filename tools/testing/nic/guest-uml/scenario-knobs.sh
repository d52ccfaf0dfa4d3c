# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# One fault of the card after the other, while packets ask for stamps: the
# fault happens, each request ends once and as the device's counters say, and
# afterwards each packet gets its stamp.

SLOTS=1
[[ $driver != igc ]] || SLOTS=4

# Whatever the fault: what the device saw asking were the tracker's requests.
settled()
{
	check "$1-idle" 'requests are left in flight' wait_for idle
	say "info $1: $(saw requested) requests, $(saw delivered) delivered," \
		"$(saw timeout) timed out, $(saw orphans) orphans"
	equal "$1-requests" "$(did stamp_asked)" "$(saw requested)"
}

# over NAME: the fault is over; all of it is forgotten
over()
{
	free_slots
	works "$1"
	adds_up "$1"
}

# all_come NAME: a fault of interrupts loses nothing
all_come()
{
	settled "$1"
	equal "$1-all" "$(did stamp_latched)" "$(saw delivered)"
	check "$1-in-time" "$(tail -n 3 /tmp/probe.log)" \
		test "$(probed missing)" = 0
	over "$1"
}

# Every Nth has two interrupts, none, or one that cannot be cleared. An I210 that
# has lost one is silent until it is reset, and the tracker looks at SENT.
set_again
for fault in irq_duplicate_every:3:irq_duplicated \
	irq_lose_every:5:irq_lost irq_stuck_every:40:irq_stuck; do
	IFS=: read -r name value count <<<"$fault"
	mark
	knob "$name" "$value"
	probe -n 300
	knob "$name" 0
	happened "$name" "$count"
	all_come "$name"
	check "$name-down-up" 'no carrier after 10 s' down_up
done

# The read of every 3rd frees the other registers, whose values stay.
if ((SLOTS > 1)); then
	mark
	knob collateral_every 3
	probe -m burst -b "$SLOTS" -n 200 -g 50ms -t 100ms
	knob collateral_every 0
	happened collateral collateral 5
	settled collateral
	equal collateral-all "$(did stamp_asked)" "$(saw delivered)"
	over collateral
fi

# Some are lost.
mark
knob lose_ppm 200000
probe -n 200 -g 20ms -t 50ms
knob lose_ppm 0
happened lose-ppm stamp_lost 3
settled lose-ppm
equal lose-ppm-lost "$(did stamp_lost)" "$(saw timeout)"
equal lose-ppm-latched "$(did stamp_latched)" "$(saw delivered)"
over lose-ppm

# 1 ms, or 2, 4, ... 64: those above 20 come too late.
mark
knob stamp_tail 1
knob stamp_delay_us 1000
probe -n 400 -g 100ms -t 150ms
knob stamp_delay_us 0
knob stamp_tail 0
sleep 0.2
happened tail stamp_delayed 300
settled tail
grew tail timeout
equal tail-late "$(saw timeout)" "$(saw orphans)"
equal tail-latched "$(did stamp_latched)" \
	"$(($(saw delivered) + $(saw orphans)))"
over tail

# Each change of the frequency loses what is on its way, and the slot for up to a
# second.
mark
knob adjust_kills 1
knob stamp_delay_us 3000
probe -n 300 -g 30ms -t 50ms &
probe=$!
while kill -0 "$probe" 2>/dev/null; do
	sleep 0.01$((RANDOM % 10))
	phc_ctl -q "$NEAR" -- freq $((RANDOM % 100)) >/dev/null
done
wait "$probe"
knob stamp_delay_us 0
knob adjust_kills 0
phc_ctl -q "$NEAR" -- freq 0 >/dev/null
happened adjust-kills stamp_killed 3
settled adjust-kills
equal adjust-kills-lost "$(did stamp_killed)" "$(saw timeout)"
over adjust-kills

# A frame that PAUSE holds is not on the wire: its request ends, its stamp comes
# when it leaves, and is nobody's.
mark
for ((i = 0; i < 5; i++)); do
	knob pause 1
	probe -m burst -b "$SLOTS" -n "$SLOTS" -t 50ms
	sleep 0.2
	knob pause 0
	sleep 0.1
done
happened pause tx_held 4
settled pause
equal pause-ended "$(did stamp_asked)" "$(saw timeout)"
over pause
grew pause orphans
equal pause-late "$(did stamp_latched)" \
	"$(($(saw delivered) + $(saw orphans)))"

# Without a link frames stay in the MAC until the driver resets it, or leave
# when the link is back.
mark
for ((i = 0; i < 3; i++)); do
	rm -f /tmp/enough
	while [[ ! -e /tmp/enough ]]; do
		burst || sleep 0.1
	done &
	stream=$!
	sleep 0.1
	knob link_down 1
	check "link-down-$i-seen" 'the carrier stays' wait_for no_carrier
	sleep 1
	knob link_down 0
	check "link-down-$i-back" 'no carrier after 10 s' wait_for carrier
	touch /tmp/enough
	wait "$stream"
done
happened link-down tx_held
over link-down
say 'done knobs'
