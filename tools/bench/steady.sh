# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# Constant loads: an ordinary user asks for stamps at LEVELS rates, from 500
# packets per second, each time 27 % more (20: to 50,000), each for one second and then SECONDS_LONG more.
# Leaves a line for each in /out/steady: the gap in ns, how often the policy
# changed its level in that time, and the stamps of each second.

# shellcheck disable=SC1091
. /data/common.sh

changes()
{
	grep -c txts_level: "$TRACING/trace" || true
}

measure()
{
	local gap=$1 before second was now
	local -a stamps=()

	start_flood "${gap}ns" 1
	sleep 1
	before=$(changes)
	was=$(counter delivered)
	for ((second = 0; second < SECONDS_LONG; second++)); do
		sleep 1
		now=$(counter delivered)
		stamps+=($((now - was)))
		was=$now
	done
	echo "$gap $(($(changes) - before)) ${stamps[*]}" >>/out/steady
	stop_flood
}

route_clients && set_variant && make_users || exit 1
watch_levels
hwstamp_ctl -i "$P0" -t 1 >/dev/null
gap=2000000
for ((level = 0; level < LEVELS; level++)); do
	echo "bench: $VARIANT: a packet each $gap ns"
	measure "$gap" || exit 1
	gap=$((gap * 785 / 1000))
done
