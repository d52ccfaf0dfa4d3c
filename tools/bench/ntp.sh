# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# An NTP server on CPU 0, its clients on CPU 1. RATES are the steps, LENGTH how
# long each counts, CLIENTS how many ask; STAMPS=no leaves hwtimestamp out.
# Leaves /out/steps (a line of JSON per step) and what the machine counted
# before and after each, in /out/N.before and N.after.
#
# RATES=search looks for the saturation instead: the rate up to which 1 % are
# lost, into /out/saturation.

# shellcheck disable=SC1091
. /data/common.sh

field()
{
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" <<<"$LAST"
}

measure_steps()
{
	local rate number=0

	for rate in $RATES; do
		number=$((number + 1))
		sample >"/out/$number.before"
		load_step "$rate $LENGTH" || return 1
		sample >"/out/$number.after"
		echo "$LAST" >>/out/steps
		echo "bench: $VARIANT: $rate/s: lost $(field lost) of $(field sent)"
	done
}

# Up in steps of a half, then halves the distance four times.
search()
{
	local low=$WARM high='' rate

	while [[ -z $high ]] || ((high - low > low / 32)); do
		rate=$((low * 3 / 2))
		[[ -z $high ]] || rate=$(((low + high) / 2))
		load_step "$rate $LENGTH" || return 1
		echo "bench: $rate/s: lost $(field lost) of $(field sent)"
		if (($(field lost) * 100 > $(field sent))); then
			high=$rate
		elif (($(field sent) * 1000000 <
			rate * $(field length_ns) / 1250)); then
			echo "bench: the clients cannot overload this server"
			return 1
		else
			low=$rate
		fi
	done
	echo "$low" >/out/saturation
}

start_ntp || exit 1
# Every client needs three answers to be in interleaved mode.
load_step "$WARM $WARM_TIME" || exit 1
if [[ $RATES == search ]]; then
	search || exit 1
else
	measure_steps || exit 1
fi
stop_ntp
