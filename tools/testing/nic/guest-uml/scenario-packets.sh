# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Packets that are not one plain frame each: cut into segments by the device,
# and stamped by its second clock.

set_again
works packets

# Each segment has the stamp bit, the request ends with the first stamp, and the
# others are nobody's. As more than one comes, the slot is not trusted for a
# second, in which packets are refused. igc leaves UDP to the stack, which asks
# for a stamp of one segment.
each=1
! ethtool -k "$NEAR" | grep -q '^tx-udp-segmentation: on' || each=4
mark
probe -u 10.9.0.2:319 -S 4 -n 20 -g 400ms -t 50ms
say "info segments: $(saw requested) packets of 20 asked for a stamp," \
	"$(saw delivered) delivered, $(saw orphans) orphans"
check segments-some 'hardly a packet got a slot' test "$(saw requested)" -gt 4
equal segments-asked "$(did stamp_asked)" "$((each * $(saw requested)))"
equal segments-stamped "$(probed stamped)" "$(saw requested)"
check segments-once 'a packet has two stamps' test "$(probed duplicates)" = 0
check segments-order 'a stamp is not later than the one before' \
	test "$(probed not_increasing)" = 0
equal segments-latched "$(did stamp_latched)" \
	"$(($(saw delivered) + $(saw orphans)))"
free_slots

# TCP, which both drivers have cut, and all kinds of sockets: the data arrives,
# and datagrams sent alone get what they ask for. After PTP there is silence.
sleep 5
mark
far "$TOOLS/txts-sockets" serve 7000 >/tmp/serve.log 2>&1 &
serve=$!
sleep 0.2
# A slot is not trusted for a second after a cut packet. A datagram that finds
# all of them so may get nothing; igc has three for those that are not PTP.
if "$TOOLS/txts-sockets" run 10.9.0.2 7000 >/tmp/sockets.log 2>&1 ||
	grep -q 'a kind is missing' /tmp/sockets.log; then
	ok sockets
else
	not_ok sockets "$(tail -n 5 /tmp/sockets.log)"
fi
kill "$serve"
wait "$serve" 2>/dev/null
say "info sockets: $(saw requested) requests, $(did stamp_asked) frames with" \
	"the stamp bit"
check sockets-cut 'no packet was cut by the device' \
	test "$(did stamp_asked)" -gt "$(saw requested)"
adds_up sockets
free_slots

# igc: a socket bound to a virtual clock gets stamps of the timer that runs
# free, to which steps of the other are nothing.
if [[ $driver == igc ]]; then
	ptp=$(echo "/sys/class/net/$NEAR/device/ptp"/ptp*)
	echo 1 >"$ptp/n_vclocks"
	virtual=$(echo "$ptp"/ptp*)
	knob stamp_delay_us 5000
	mark
	probe -B "${virtual##*/ptp}" -n 200 -t 50ms &
	probe=$!
	steps=0
	while kill -0 "$probe" 2>/dev/null; do
		sleep 0.05
		step_clock && ((steps++))
	done
	wait "$probe"
	knob stamp_delay_us 0
	check cycles-steps "$steps steps" test "$steps" -gt 5
	check cycles-stamped "$(tail -n 3 /tmp/probe.log)" \
		test "$(probed stamped)" = 200
	check cycles-order 'a stamp is not later than the one before' \
		test "$(probed not_increasing)" = 0
	check cycles-kept 'a step of the other clock discarded a stamp' \
		test "$(saw discarded_clock)" = 0
	echo 0 >"$ptp/n_vclocks"
fi
adds_up packets
say 'done packets'
