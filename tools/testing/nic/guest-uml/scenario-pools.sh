# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# AF_XDP pools of igc that go away, while stamps are late or lost, and beside
# ordinary frames.

ROUNDS=1000

# pull ROUNDS: sockets that are closed with frames on their way
pull()
{
	"$TOOLS/txts-xsk" pull "$NEAR" 0 "$1" >/tmp/xsk.log 2>&1
}

# pulled NAME STATUS: of the pull that came last
pulled()
{
	say "info $1: $(tail -n 1 /tmp/xsk.log)"
	check "$1" "status $2: $(tail -n 1 /tmp/xsk.log)" test "$2" = 0
	grew "$1" requested
	works "$1"
	adds_up "$1"
}

every_stamp()
{
	"$TOOLS/txts-xsk" run "$NEAR" 0 300
}

works first
set_again
check xsk-stamps 'see above' every_stamp
mark
pull 200
pulled xsk-pull $?
# Stamps are on their way each time a pool goes.
knob stamp_delay_us 300
mark
pull "$ROUNDS"
pulled xsk-pull-late $?
grew xsk-pull-late flushed
knob stamp_delay_us 0
knob lose_every 3
mark
pull 100
status=$?
lost=$(did stamp_lost)
knob lose_every 0
# What was lost keeps its slot in quarantine for a second.
sleep 2
pulled xsk-pull-lost "$status"
grew xsk-pull-lost flushed
check xsk-pull-lost-happened 'the knob did nothing' test "$lost" -gt 0

# Ordinary frames that ask for stamps, on the same queue: clearly more than the
# 1600 of the sockets.
knob stamp_delay_us 100
mark
pull 200 &
pull=$!
while kill -0 "$pull" 2>/dev/null; do
	burst || sleep 0.01
done
wait "$pull"
status=$?
frames=$(did tx_frames)
knob stamp_delay_us 0
check xsk-busy-frames "all in all $frames frames were sent" \
	test "$frames" -gt 1700
pulled xsk-busy "$status"

# The pool stays, stamping goes off and on.
knob stamp_delay_us 3000
mark
failed=0
pull 200 &
pull=$!
while kill -0 "$pull" 2>/dev/null; do
	off_on || ((failed++))
	sleep 0.005
done
wait "$pull"
status=$?
knob stamp_delay_us 0
check xsk-off-on-command "off_on failed $failed times" test "$failed" = 0
pulled xsk-off-on "$status"
grew xsk-off-on flushed
check xsk-again 'see above' every_stamp
say 'done pools'
