# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# What a stamp costs: COUNT packets, one at a time without a gap, so that there
# is no idle time and what passes is what was executed; then the same number
# without stamps. QEMU logs the register reads meanwhile; an emulated card keeps
# its newest accesses, which are taken from a few packets at the end.

# shellcheck disable=SC1091
. /data/common.sh

stamps()
{
	hwstamp_ctl -i "$P0" -t "$1" >/dev/null
}

look_at_accesses()
{
	[[ -n $CARD ]] || return 0
	stamps 1 || return 1
	sleep 0.1
	knob trace 1
	finished "$PROBE" -k -i "$P0" -f 50 -m wait -g 0ns -n 200 -t 10ms \
		-j /out/accesses.json || return 1
	knob trace 0
	cat "$NIC/trace" >/out/accesses
}

set_variant || exit 1
# More stamps than any budget allows are the point here.
budget=/sys/kernel/debug/txts/budget_permille
[[ ! -e $budget ]] || echo 1000 >"$budget" || exit 1
echo "bench: $VARIANT: cost"
stamps 1
finished "$PROBE" -k -i "$P0" -f 50 -m wait -g 0ns -n "$COUNT" -t 10ms \
	-j /out/cost.json || exit 1
stamps 0
finished "$PROBE" -k -i "$P0" -f 50 -m stream -g 0ns -n "$COUNT" -t 1us \
	-j /out/cost-off.json || exit 1
look_at_accesses
