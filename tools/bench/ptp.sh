# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# PTP messages beside an NTP server under load: CPU 0 runs both, CPU 1 the
# clients. For each of RATES, PTP_8 messages at 8 Hz, then PTP_128 at 128 Hz.

# shellcheck disable=SC1091
. /data/common.sh

beside_ntp()
{
	local rate=$1 hz=$2 count=$3 gap=$4 name=ptp$2.$1 ms

	((count)) || return 0
	ms=$((count * 1000 / hz + 300))
	sample >"/out/$name.before"
	echo "$rate ${ms}ms" >&"${LOAD[1]}"
	# The load settles first.
	sleep 0.2
	finished "$PROBE" -k -i "$P0" -f 50 -c 0 -m stream -n "$count" \
		-g "$gap" -t 500ms -j "/out/$name.json" \
		-o "/out/$name.csv" || return 1
	read -r LAST <&"${LOAD[0]}" || return 1
	sample >"/out/$name.after"
	echo "$LAST" >"/out/$name.load"
}

start_ntp || exit 1
load_step "$WARM $WARM_TIME" || exit 1
for rate in $RATES; do
	echo "bench: $VARIANT: PTP beside $rate NTP requests per second"
	beside_ntp "$rate" 8 "$PTP_8" 125ms || exit 1
	beside_ntp "$rate" 128 "$PTP_128" 7812500ns || exit 1
done
stop_ntp
