# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# What igb on I210 and igc on I226 make of each fault of the card: 800 packets,
# one each 2 ms, that ask for a hardware and a software stamp, then 50 more
# once the fault is over. Leaves /out/KIND.FAULT.json and .after.json.

# shellcheck disable=SC1091
. /data/pairs.sh

# set_knobs VALUE|'' KNOB=VALUE...: all to VALUE, or each to its own
set_knobs()
{
	local all=$1 pair

	shift
	for pair; do
		knob "${pair%=*}" "${all:-${pair#*=}}"
	done
}

# run KIND FAULT [KNOB=VALUE]...
run()
{
	local fault=$2 base=/out/$1.$2 kind=$1

	shift 2

	load_driver "$DRIVER" && raise_pair || return 1
	# Left alone from here: to turn stamping off may repair a driver.
	hwstamp_ctl -i "$P0" -t 1 >/dev/null || return 1
	set_knobs '' "$@"
	"$PROBE" -i "$P0" -k -m stream -n 800 -g 2ms -t 100ms -w -s \
		-j "$base.json" >"$base.log" 2>&1
	set_knobs 0 "$@"
	# Not a second in which a driver could get over it by itself.
	"$PROBE" -i "$P0" -k -m stream -n 50 -g 2ms -t 100ms -w -s \
		-j "$base.after.json" >>"$base.log" 2>&1
	rmmod "$DRIVER"
	echo "peers: $kind, $fault"
}

run_pair()
{
	local kind=$1

	run "$kind" none
	run "$kind" lose lose_every=50
	run "$kind" lose_ppm lose_ppm=20000
	run "$kind" delay stamp_delay_us=15000
	run "$kind" tail stamp_tail=1 stamp_delay_us=500
	run "$kind" duplicate duplicate_every=50
	run "$kind" stale stale_every=50
	run "$kind" irq_lost irq_lose_every=50
	run "$kind" irq_twice irq_duplicate_every=50
	run "$kind" irq_stuck irq_stuck_every=50
	run "$kind" collateral collateral_every=50
}

load_pairs i210,i226 || exit 1
use_pair 0 igb
run_pair i210
use_pair 1 igc
run_pair i226
