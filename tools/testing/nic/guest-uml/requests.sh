# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# For scenarios: packets that ask for stamps, what became of them by the
# counters of the device and of the tracker, and what the user of a port can do
# to it meanwhile.

TOOLS=$here/../../../../build/tools

# Counters: of both ports, device and tracker.
declare -A BEFORE

# The drivers as the kernel has them have no tracker to be asked.
tracked()
{
	test -f "$modules/txts.ko"
}

all_counters()
{
	cat /sys/kernel/debug/txts_nic/*/counters \
		/sys/kernel/debug/txts/*/counters 2>/dev/null
}

mark()
{
	local name value

	BEFORE=()
	while read -r name value; do
		BEFORE[$name]=$((${BEFORE[$name]:-0} + value))
	done < <(all_counters)
}

# Since mark: of the device, and of the tracker, which there may not be.
did()
{
	echo $(($(nic_count "$1") - ${BEFORE[$1]}))
}

saw()
{
	! tracked || echo $(($(txts_count "$1") - ${BEFORE[$1]}))
}

# happened NAME COUNTER [MORE_THAN]: the device did that
happened()
{
	local n

	n=$(did "$2")
	check "$1-happened" "$2 is only $n" test "$n" -gt "${3:-0}"
}

# grew NAME COUNTER: of the tracker
grew()
{
	check "$1-$2" "$2 did not grow" test "$(saw "$2")" -gt 0
}

# equal NAME A B: counters of the device and of the tracker
equal()
{
	tracked || return 0
	say "info $1: device $2, tracker $3"
	check "$1" "the device counted $2, the tracker $3" same "$2" "$3"
}

idle()
{
	! tracked || test "$(txts_count in_flight)" = 0
}

ended()
{
	local name n sum=0

	for name in delivered timeout aborted flushed discarded_clock \
		discarded_convert discarded_suspect; do
		n=$(txts_count "$name") || return
		((sum += n))
	done
	echo "$sum"
}

skipped()
{
	all_counters | awk '/^skipped_/ { n += $2 } END { print n + 0 }'
}

# Each request has ended once, and no rule of the tracker was broken.
adds_up()
{
	local sum

	check "$1-idle" 'requests are left in flight' wait_for idle
	sum=$(ended)
	say "info $1: $(txts_count requested) requests," \
		"$(txts_count delivered) delivered," \
		"$(txts_count flushed) flushed," \
		"$(txts_count timeout) timed out," \
		"$(skipped) skipped, $(txts_count orphans) orphans"
	check "$1-outcomes" "$sum of $(txts_count requested) requests ended" \
		same "$sum" "$(txts_count requested)"
	check "$1-misuse" 'the driver broke a rule of the tracker' \
		test "$(txts_count misuse)" = 0
}

# Packets

probe()
{
	"$TOOLS/txts-probe" -i "$NEAR" -k -j /tmp/probe.json "$@" \
		>/tmp/probe.log 2>&1
}

# Of the probe that came last.
probed()
{
	sed -n "s/^ *\"$1\": \([-0-9]*\),*$/\1/p" /tmp/probe.json
}

# After whatever happened, each of 100 frames gets its stamp.
works()
{
	if wait_for carrier && set_again && probe -n 100; then
		ok "$1-works"
	else
		not_ok "$1-works" "$(tail -n 3 /tmp/probe.log)"
	fi
}

# What was lost keeps its slot in quarantine for a second, and the request that
# finds it so makes the tracker look at it.
free_slots()
{
	sleep 1.5
	probe -m burst -b 4 -n 12 -g 100ms -t 50ms
	sleep 0.1
}

# A port that was away may come back under another name, which one that sends in
# the background has to find by itself.
burst()
{
	local port

	port=$(port_of 1 2>/dev/null)
	"$TOOLS/txts-probe" -i "$port" -k -m burst -b 6 -g 300us -n 300 \
		-t 50ms >/dev/null 2>&1
}

# True as soon as a frame asks for a stamp.
flowing()
{
	local n from

	from=$(txts_count requested)
	for ((n = 0; n < 1000; n++)); do
		nap 0.003
		[[ $(txts_count requested) -le $from ]] || return 0
	done
	return 1
}

# during NAME TIMES CMD...: CMD again and again while frames wait for stamps
during()
{
	local name=$1 times=$2 failed=0 still=0 i stream

	shift 2
	set_again
	mark
	rm -f /tmp/enough
	while [[ ! -e /tmp/enough ]]; do
		burst || nap 0.1
	done &
	stream=$!
	for ((i = 0; i < times; i++)); do
		nap 0.0$((i % 7))3
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

# What the user of a port does.

pci_of_near()
{
	basename "$(readlink -f "/sys/class/net/$NEAR/device")"
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

no_carrier()
{
	! near_carrier
}

flap_link()
{
	knob link_down 1 && wait_for no_carrier && sleep 0.3 &&
		knob link_down 0 && wait_for carrier
}
