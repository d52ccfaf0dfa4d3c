# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# One socket asks for more stamps than the card has slots for, on the port of
# ptp4l's slave, for two virtual minutes: a packet each ms, with stamps that
# take 4 ms. Leaves /out/isochron, a line for each kind of card.
SECONDS_LONG=${SECONDS_LONG:-120}

# shellcheck disable=SC1091
. /data/pairs.sh

isochron()
{
	local kind=$1 pair=$2 json=/out/isochron-$1.json line left timeouts counters

	start_ptp "isochron-$kind"
	if ! wait_locked 20 16 1000; then
		stop_ptp
		return 1
	fi
	line=$(($(lines_of "$PTP_SLAVE") + 1))
	knob stamp_delay_us 4000
	$FAR "$PROBE" -i "$P1" -k -m stream -g 1ms -n $((SECONDS_LONG * 1000)) \
		-t 100ms -w -s -u "10.9.$pair.1:5000" -j "$json" \
		>"/out/isochron-$kind.log" 2>&1
	knob stamp_delay_us 0
	stop_ptp
	left=$(tail -n "+$line" "$PTP_SLAVE" | grep -c ': SLAVE to ')
	timeouts=$(tail -n "+$line" "$PTP_SLAVE" |
		grep -c 'timed out while polling for tx timestamp')
	echo "$kind left_slave $left tx_timeouts $timeouts" \
		"sent $(field "$json" sent) stamped $(field "$json" stamped)" \
		"refused $(field "$json" software_only)" \
		"late $(field "$json" late) missing $(field "$json" missing)" |
		tee -a /out/isochron
	counters=/sys/kernel/debug/txts/$(pci_of_port "${P1#p}")/counters
	[[ ! -e $counters ]] || cat "$counters" >"/out/isochron-$kind.counters"
}

load_pairs i210,i226 || exit 1
for pair in 'i210 0 igb' 'i226 1 igc'; do
	# shellcheck disable=SC2086
	set -- $pair
	use_pair "$2" "$3"
	load_driver "$3" && raise_pair || exit 1
	isochron "$1" "$2" || exit 1
	rmmod "$3"
done
