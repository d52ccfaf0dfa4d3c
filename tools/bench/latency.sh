# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# Send and wait for the stamp on one CPU, under each kind of CPU load in
# SCENARIOS: IDLE_COUNT, LOAD_COUNT or, where a lost stamp costs the wait for it,
# FIFO_COUNT packets each, 2,500 per second so that no budget for PTP is used up
# on a machine as slow as these. Leaves NAME.json, .csv, .before and .after in /out.

# shellcheck disable=SC1091
. /data/common.sh

# Frames for an address that is no one's: work for the softirq and nobody else.
start_softirq_flood()
{
	$FAR "$LOADER" -i "$P1" -d 10.200.0.1 -D "$mac" -M "$CLIENT_MAC" \
		-r "$FLOOD_RATE" -l 600s -t 1ms -a even -R /run/flood.ready \
		>/out/flood.json &
	FLOOD=$!
	wait_for 50 test -e /run/flood.ready
}

# On PREEMPT_RT a hog would starve RCU, and whoever opens or closes a packet
# socket waits for that: as rcutree.kthread_prio= does it.
raise_rcu()
{
	local comm

	[[ $(uname -v) == *PREEMPT_RT* ]] || return 0
	for comm in /proc/[0-9]*/comm; do
		[[ $(cat "$comm" 2>/dev/null) != rcu* ]] ||
			chrt -f -p 12 "$(basename "${comm%/comm}")"
	done
}

start_load()
{
	case $1 in
	idle)	;;
	other)	start_hogs -o 0 $(($(nproc) * 4)); sleep 1 ;;
	fifo)	raise_rcu; start_hogs -f 10 "$(nproc)" ;;
	softirq) start_softirq_flood ;;
	kworker) insmod /data/txts_work_flood.ko works=4 spin_us=200 ;;
	*)	echo "bench: no scenario $1"; return 1 ;;
	esac
}

stop_load()
{
	case $1 in
	other|fifo) stop_hogs ;;
	softirq) kill "$FLOOD"; wait "$FLOOD" ;;
	kworker) rmmod txts_work_flood ;;
	esac
} 2>/dev/null

measure()
{
	local name=$1 count=$LOAD_COUNT rc=0

	case $name in
	idle)	count=$IDLE_COUNT ;;
	fifo)	count=$FIFO_COUNT ;;
	esac
	# Outside of the load, which some of these programs would wait for.
	sample >"/out/$name.before"
	start_load "$name" || return 1
	finished "$PROBE" -i "$P0" -f 50 --seed "$SEED" -n "$count" -g 250us \
		-J 300us -t 100ms -j "/out/$name.json" \
		-o "/out/$name.csv" || rc=$?
	stop_load "$name" || true
	sample >"/out/$name.after"
	return "$rc"
}

mac=$(cat "/sys/class/net/$P0/address")
set_variant || exit 1
for scenario in $SCENARIOS; do
	echo "bench: $VARIANT: $scenario"
	measure "$scenario" || exit 1
done
