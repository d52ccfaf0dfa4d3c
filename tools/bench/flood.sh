# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# One CPU: PTP messages beside a flood of packets that want stamps, from a
# socket of an ordinary user. PTP_8 and PTP_128 are numbers of messages.

# shellcheck disable=SC1091
. /data/common.sh

# SCHED_FIFO 50, as ptp4l where it matters; the flood is an ordinary process.
beside_flood()
{
	local name=$1 count=$2 gap=$3

	((count)) || return 0
	start_flood 20us 1
	sleep 0.5
	sample >"/out/$name.before"
	finished "$PROBE" -k -i "$P0" -f 50 -m stream -n "$count" -g "$gap" \
		-t 500ms -j "/out/$name.json" -o "/out/$name.csv" || return 1
	sample >"/out/$name.after"
	stop_flood
}

route_clients && set_variant && make_users || exit 1
hwstamp_ctl -i "$P0" -t 1 >/dev/null
echo "bench: $VARIANT: PTP beside a flood"
beside_flood ptp8 "$PTP_8" 125ms || exit 1
beside_flood ptp128 "$PTP_128" 7812500ns
