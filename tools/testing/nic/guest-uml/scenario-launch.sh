# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Frames that leave at a launch time, by the ETF qdisc with offload: they are in
# the device long before, their descriptors are done, and each stamp has to be
# that of its own launch, also where the ns are those of a second ago.

# The qdisc gives a packet to the driver by this much ahead of its launch, in
# ns, which is far more than a request waits for its stamp after SENT.
DELTA=300000000
BURST=1
[[ $driver != igc ]] || BURST=4

# What the driver adds to a stamp, by the speed of the link.
if [[ $driver == igc ]]; then
	LATENCY=([10]=240 [100]=58 [1000]=80 [2500]=1325)
else
	LATENCY=([10]=9542 [100]=1024 [1000]=178)
fi

# Queue 1 has launch times, queue 0 has none.
with_etf()
{
	ethtool -L "$NEAR" combined 2 &&
	tc qdisc replace dev "$NEAR" parent root handle 100 mqprio num_tc 2 \
		map 0 0 0 1 queues 1@0 1@1 hw 0 &&
	tc qdisc replace dev "$NEAR" parent 100:2 etf clockid CLOCK_TAI \
		delta "$DELTA" offload &&
	sleep 0.1 && wait_for carrier && sleep 1
}

without_etf()
{
	tc qdisc del dev "$NEAR" parent root && sleep 0.1 &&
		wait_for carrier && sleep 1
}

# The port's clock is what launches; it must be near the system's.
set_clock()
{
	phc_ctl -q "$NEAR" -- set >/dev/null
}

# launches NAME FRAMES SPEED PROBE_OPTIONS...: every stamp is its launch's
launches()
{
	local name=$1 frames=$2 speed=$3

	shift 3
	mark
	probe -P 3 -n "$frames" -L 320ms -t 2s "$@"
	say "info $name: $(probed stamped) of $(probed sent) stamped," \
		"from launch to stamp $(probed launch_to_stamp_min_ns) to" \
		"$(probed launch_to_stamp_max_ns) ns"
	check "$name-stamped" "$(tail -n 3 /tmp/probe.log)" \
		test "$(probed stamped)" = "$frames"
	check "$name-early" 'stamps came before the launch' \
		test "$(probed early)" = 0
	check "$name-min" 'a stamp is not that of its launch' \
		test "$(probed launch_to_stamp_min_ns)" = "${LATENCY[$speed]}"
	check "$name-max" 'a stamp is not that of its launch' \
		test "$(probed launch_to_stamp_max_ns)" = "${LATENCY[$speed]}"
	check "$name-waited" "only $(did tx_launched) frames waited" \
		test "$(did tx_launched)" -ge "$frames"
	equal "$name-requests" "$(did stamp_asked)" "$(saw requested)"
	equal "$name-delivered" "$(did stamp_latched)" "$(saw delivered)"
	check "$name-timeout" 'a request timed out before its launch' \
		test "$(saw timeout)" = 0
}

set_again
if with_etf; then
	ok launch-qdisc
else
	not_ok launch-qdisc 'no ETF with offload'
fi
set_clock

# The cycle is a second: each burst has the ns of the one before.
launches launch 40 1000 -m burst -b "$BURST" -g 1s
# Several in a cycle, and beside ordinary frames of the other queue.
launches launch-often 40 1000 -m burst -b "$BURST" -g 125ms

# Stamps that are lost: their requests end after the launch, and no earlier.
mark
for ((i = 0; i < 2; i++)); do
	knob lose_every 1
	probe -P 3 -m burst -b "$BURST" -n "$BURST" -L 400ms -t 600ms &
	sleep 0.35
	check "launch-lose-waits-$i" 'a request ended before its launch' \
		test "$(txts_count in_flight)" = "$BURST"
	wait $!
	knob lose_every 0
	check "launch-lose-ends-$i" 'a request does not end' wait_for idle
	free_slots
done
happened launch-lose stamp_lost
equal launch-lose "$(did stamp_lost)" "$(saw timeout)"
equal launch-lose-rest "$(did stamp_latched)" "$(saw delivered)"

for speed in "${!LATENCY[@]}"; do
	knob speed "$speed"
	flap_link
	sleep 1
	launches "launch-at-$speed" 8 "$speed" -m burst -b "$BURST" -g 1s
done
knob speed 1000
flap_link

# AF_XDP frames have their launch time in their metadata.
if [[ $driver == igc ]]; then
	mark
	"$TOOLS/txts-xsk" launch "$NEAR" 1 20 >/tmp/xsk.log 2>&1
	status=$?
	say "info launch-xsk: $(tail -n 1 /tmp/xsk.log)"
	check launch-xsk "$(tail -n 2 /tmp/xsk.log)" test "$status" = 0
	check launch-xsk-exact 'a stamp is not that of its launch' \
		grep -q 'from launch to stamp 80 to 80 ns' /tmp/xsk.log
	happened launch-xsk tx_launched 19
	equal launch-xsk-delivered "$(did stamp_asked)" "$(saw delivered)"
fi
adds_up launch
check launch-end 'the qdisc cannot be removed' without_etf
works launch-after
say 'done launch'
