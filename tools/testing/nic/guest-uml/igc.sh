# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What igc does to requests in flight: reconfiguring, TX_OFF, down and up, PHC
# steps, unbind, and AF_XDP pools that go away, while stamps are late or lost.

TOOLS=$here/../../../../build/tools
PCI=$(basename "$(readlink -f "/sys/class/net/$NEAR/device")")
ROUNDS=1000

probe()
{
	"$TOOLS/txts-probe" -i "$NEAR" -k "$@"
}

near_count()
{
	awk -v name="^$1\$" '$1 ~ name { n += $2 } END { print n + 0 }' \
		"/sys/kernel/debug/txts/$PCI/counters"
}

idle()
{
	test "$(near_count in_flight)" = 0
}

# Each request has ended once, and no rule of the tracker was broken.
adds_up()
{
	local name sum=0

	check "$1-idle" 'requests are left in flight' wait_for idle
	for name in delivered timeout aborted flushed discarded_clock \
		discarded_convert discarded_suspect; do
		((sum += $(near_count "$name")))
	done
	say "info $1: $(near_count requested) requests," \
		"$(near_count delivered) delivered," \
		"$(near_count flushed) flushed," \
		"$(near_count timeout) timed out," \
		"$(near_count 'skipped_[a-z]*') skipped," \
		"$(near_count orphans) orphans"
	check "$1-outcomes" "$sum of $(near_count requested) requests ended" \
		test "$sum" = "$(near_count requested)"
	check "$1-misuse" 'the driver broke a rule of the tracker' \
		test "$(near_count misuse)" = 0
}

# After whatever happened, each of 100 frames gets its stamp.
works()
{
	wait_for carrier
	hwstamp_ctl -i "$NEAR" -t 1 -r 1 >/dev/null
	probe -n 100 >/tmp/probe.log 2>&1
	check "$1-works" "$(tail -n 3 /tmp/probe.log)" test $? = 0
}

# during NAME TIMES CMD...: CMD again and again while frames wait for stamps
during()
{
	local name=$1 times=$2 i stream

	shift 2
	hwstamp_ctl -i "$NEAR" -t 1 -r 1 >/dev/null
	(while :; do
		probe -m burst -b 6 -g 300us -n 600 -t 50ms || sleep 0.1
	done) >/dev/null 2>&1 &
	stream=$!
	for ((i = 0; i < times; i++)); do
		"$@"
		sleep 0.0$((i % 7))3
	done
	kill "$stream"
	wait "$stream"
	works "$name"
	adds_up "$name"
}

set_again()
{
	hwstamp_ctl -i "$NEAR" -t 1 -r 1 >/dev/null
}

off_on()
{
	hwstamp_ctl -i "$NEAR" -t 0 >/dev/null
	hwstamp_ctl -i "$NEAR" -t 1 >/dev/null
}

down_up()
{
	ip link set "$NEAR" down
	ip link set "$NEAR" up
	wait_for carrier
}

step_clock()
{
	phc_ctl "$NEAR" -- adj 0.1 adj -0.1 >/dev/null
}

reset()
{
	ethtool -r "$NEAR"
	ethtool -G "$NEAR" tx $((256 + 64 * (RANDOM % 4)))
	wait_for carrier
}

rebind()
{
	echo "$PCI" >"/sys/bus/pci/drivers/$driver/unbind"
	echo "$PCI" >"/sys/bus/pci/drivers/$driver/bind"
	NEAR=$(port_of 1)
	ip addr add 10.9.0.1/24 dev "$NEAR"
	ip link set "$NEAR" up
	wait_for carrier
	hwstamp_ctl -i "$NEAR" -t 1 -r 1 >/dev/null
}

# pull NAME: sockets that are closed with frames on their way
pull()
{
	local rounds=${2:-200}

	"$TOOLS/txts-xsk" pull "$NEAR" 0 "$rounds" >/tmp/xsk.log 2>&1
	say "info $1: $(tail -n 1 /tmp/xsk.log)"
	check "$1" "$(tail -n 1 /tmp/xsk.log)" \
		grep -q "^txts-xsk: $rounds rounds" /tmp/xsk.log
	works "$1"
	adds_up "$1"
}

every_stamp()
{
	"$TOOLS/txts-xsk" run "$NEAR" 0 300
}

works first
hwstamp_ctl -i "$NEAR" -t 1 -r 1 >/dev/null
check xsk-stamps 'see above' every_stamp
pull xsk-pull
# Stamps are on their way each time a pool goes.
knob stamp_delay_us 300
pull xsk-pull-late "$ROUNDS"
knob stamp_delay_us 0
knob lose_every 3
"$TOOLS/txts-xsk" pull "$NEAR" 0 100 >/tmp/xsk.log 2>&1
knob lose_every 0
# What was lost keeps its slot in quarantine for a second.
sleep 2
works xsk-pull-lost
adds_up xsk-pull-lost

# Ordinary frames that ask for stamps, on the same queue.
knob stamp_delay_us 100
"$TOOLS/txts-xsk" pull "$NEAR" 0 200 >/tmp/xsk.log 2>&1 &
pull=$!
(while kill -0 "$pull"; do
	probe -m burst -b 6 -g 300us -n 600 -t 50ms || sleep 0.01
done) >/dev/null 2>&1
wait "$pull"
knob stamp_delay_us 0
check xsk-busy "$(tail -n 1 /tmp/xsk.log)" \
	grep -q "^txts-xsk: 200 rounds" /tmp/xsk.log
works xsk-busy
adds_up xsk-busy

# The pool stays, stamping goes off and on.
knob stamp_delay_us 3000
"$TOOLS/txts-xsk" pull "$NEAR" 0 200 >/tmp/xsk.log 2>&1 &
pull=$!
while kill -0 "$pull" 2>/dev/null; do
	off_on
	sleep 0.005
done
knob stamp_delay_us 0
works xsk-off-on
adds_up xsk-off-on
check xsk-again 'see above' every_stamp

# The last is longer than igc_down() waits before it stops the tracker.
for delay in 0 250 18000; do
	knob stamp_delay_us "$delay"
	during "set-$delay" 8 set_again
	during "off-on-$delay" 8 off_on
	during "clock-$delay" 8 step_clock
	during "down-up-$delay" 3 down_up
	knob stamp_delay_us 0
done
knob stamp_delay_us 100
during ring-size 3 reset
during rebind 3 rebind
knob stamp_delay_us 0
