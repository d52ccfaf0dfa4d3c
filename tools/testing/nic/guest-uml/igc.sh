# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What igc does to requests in flight: reconfiguring, TX_OFF, down and up, PHC
# steps, unbind, and AF_XDP pools that go away, while stamps are late or lost.

TOOLS=$here/../../../../build/tools
PCI=$(basename "$(readlink -f "/sys/class/net/$NEAR/device")")
ROUNDS=1000
RING=0

probe()
{
	"$TOOLS/txts-probe" -i "$NEAR" -k "$@"
}

near_count()
{
	awk -v name="^$1\$" '
		$1 ~ name { n += $2; found = 1 }
		END { if (!found) exit 1; print n }' \
		"/sys/kernel/debug/txts/$PCI/counters"
}

declare -A BEFORE

remember()
{
	local name

	for name in requested flushed discarded_clock; do
		BEFORE[$name]=$(near_count "$name")
	done
}

# grew NAME COUNTER: since it was remembered
grew()
{
	check "$1-$2" "$2 did not grow" \
		test "$(near_count "$2")" -gt "${BEFORE[$2]}"
}

idle()
{
	test "$(near_count in_flight)" = 0
}

ended()
{
	local name n sum=0

	for name in delivered timeout aborted flushed discarded_clock \
		discarded_convert discarded_suspect; do
		n=$(near_count "$name") || return
		((sum += n))
	done
	echo "$sum"
}

# Each request has ended once, and no rule of the tracker was broken.
adds_up()
{
	local sum

	check "$1-idle" 'requests are left in flight' wait_for idle
	sum=$(ended)
	say "info $1: $(near_count requested) requests," \
		"$(near_count delivered) delivered," \
		"$(near_count flushed) flushed," \
		"$(near_count timeout) timed out," \
		"$(near_count 'skipped_[a-z]*') skipped," \
		"$(near_count orphans) orphans"
	check "$1-outcomes" "$sum of $(near_count requested) requests ended" \
		same "$sum" "$(near_count requested)"
	check "$1-misuse" 'the driver broke a rule of the tracker' \
		test "$(near_count misuse)" = 0
}

# After whatever happened, each of 100 frames gets its stamp.
works()
{
	if wait_for carrier && set_again &&
		probe -n 100 >/tmp/probe.log 2>&1; then
		ok "$1-works"
	else
		not_ok "$1-works" "$(tail -n 3 /tmp/probe.log)"
	fi
}

burst()
{
	probe -m burst -b 6 -g 300us -n 600 -t 50ms >/dev/null 2>&1
}

# True as soon as a frame asks for a stamp.
flowing()
{
	local n from

	from=$(near_count requested)
	for ((n = 0; n < 1000; n++)); do
		sleep 0.003
		[[ $(near_count requested) -le $from ]] || return 0
	done
	return 1
}

# during NAME TIMES CMD...: CMD again and again while frames wait for stamps
during()
{
	local name=$1 times=$2 failed=0 still=0 i stream

	shift 2
	set_again
	remember
	rm -f /tmp/enough
	while [[ ! -e /tmp/enough ]]; do
		burst || sleep 0.1
	done &
	stream=$!
	for ((i = 0; i < times; i++)); do
		sleep 0.0$((i % 7))3
		flowing || ((still++))
		"$@" || ((failed++))
	done
	touch /tmp/enough
	wait "$stream"
	check "$name-flowing" "no frame asked for a stamp $still times" \
		test "$still" = 0
	check "$name-command" "$1 failed $failed times" test "$failed" = 0
	works "$name"
	adds_up "$name"
}

set_again()
{
	hwstamp_ctl -i "$NEAR" -t 1 -r 1 >/dev/null
}

off_on()
{
	hwstamp_ctl -i "$NEAR" -t 0 >/dev/null &&
		hwstamp_ctl -i "$NEAR" -t 1 >/dev/null
}

down_up()
{
	ip link set "$NEAR" down &&
		ip link set "$NEAR" up &&
		wait_for carrier
}

step_clock()
{
	phc_ctl "$NEAR" -- adj 0.1 adj -0.1 >/dev/null
}

# A size that is the old one would be an error.
reset()
{
	RING=$((RING == 320 ? 384 : 320))
	ethtool -r "$NEAR" && ethtool -G "$NEAR" tx "$RING" &&
		wait_for carrier
}

rebind()
{
	echo "$PCI" >"/sys/bus/pci/drivers/$driver/unbind" &&
		echo "$PCI" >"/sys/bus/pci/drivers/$driver/bind" || return
	NEAR=$(port_of 1)
	ip addr add 10.9.0.1/24 dev "$NEAR" &&
		ip link set "$NEAR" up && wait_for carrier && set_again
}

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
remember
pull 200
pulled xsk-pull $?
# Stamps are on their way each time a pool goes.
knob stamp_delay_us 300
remember
pull "$ROUNDS"
pulled xsk-pull-late $?
grew xsk-pull-late flushed
knob stamp_delay_us 0
knob lose_every 3
lost=$(nic_count stamp_lost)
remember
pull 100
status=$?
knob lose_every 0
# What was lost keeps its slot in quarantine for a second.
sleep 2
pulled xsk-pull-lost "$status"
grew xsk-pull-lost flushed
check xsk-pull-lost-happened 'the knob did nothing' \
	test "$(nic_count stamp_lost)" -gt "$lost"

# Ordinary frames that ask for stamps, on the same queue: clearly more than the
# 1600 of the sockets.
knob stamp_delay_us 100
frames=$(nic_count tx_frames)
remember
pull 200 &
pull=$!
while kill -0 "$pull" 2>/dev/null; do
	burst || sleep 0.01
done
wait "$pull"
status=$?
frames=$(($(nic_count tx_frames) - frames))
knob stamp_delay_us 0
check xsk-busy-frames "all in all $frames frames were sent" \
	test "$frames" -gt 1700
pulled xsk-busy "$status"

# The pool stays, stamping goes off and on.
knob stamp_delay_us 3000
remember
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

# The last is longer than a command takes to get to the driver, so it meets
# stamps on their way; igc_down() waits longer, and may find none.
for delay in 0 250 18000; do
	knob stamp_delay_us "$delay"
	during "set-$delay" 8 set_again
	during "off-on-$delay" 8 off_on
	((delay < 18000)) || grew "off-on-$delay" flushed
	during "clock-$delay" 8 step_clock
	((delay < 18000)) || grew "clock-$delay" discarded_clock
	during "down-up-$delay" 3 down_up
	knob stamp_delay_us 0
done
knob stamp_delay_us 100
during ring-size 3 reset
during rebind 3 rebind
knob stamp_delay_us 0
say 'done igc'
