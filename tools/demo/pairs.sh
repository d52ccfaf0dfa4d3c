# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# The demo on emulated cards, for one variant of the drivers: two ptp4l over a
# pair of I210 (igb) and a pair of I226 (igc), then how long stamps take to
# come back, alone and beside 4 busy processes. The slave's oscillator is
# 20 ppm too fast.

# shellcheck disable=SC1091
. /data/pairs.sh

synchronise()
{
	echo "demo: two ptp4l on $DRIVER"
	start_ptp "ptp-$1"
	sleep 30
	stop_ptp
}

measure()
{
	echo "demo: stamps of $DRIVER, $2"
	"$PROBE" -i "$P0" -f 50 -n 1500 -g 300us -J 700us -t 100ms \
		-j "/out/$1.$2.json" -o "/out/$1.$2.csv" >/dev/null
	# 3 says that stamps are missing, which is the plot's to show.
	(($? == 0 || $? == 3)) || failed=1
}

failed=0
load_pairs i210,i226 pair_ppb=20000 || exit 1
for pair in 'i210 0 igb' 'i226 1 igc'; do
	# shellcheck disable=SC2086
	set -- $pair
	use_pair "$2" "$3"
	load_driver "$3" && raise_pair || exit 1
	synchronise "$1"
	measure "$1" idle
	start_hogs -o 0 4
	sleep 1
	measure "$1" hogs
	stop_hogs
done
exit "$failed"
