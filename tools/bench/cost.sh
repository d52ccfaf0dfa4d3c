# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# What a stamp costs: COUNT packets, one at a time without a gap, so that there
# is no idle time and what passes is what was executed; then the same number
# without stamps. QEMU logs the register reads meanwhile.

# shellcheck disable=SC1091
. /data/common.sh

set_variant || exit 1
# More stamps than any budget allows are the point here.
BUDGET=/sys/kernel/debug/txts/budget_permille
[[ ! -e $BUDGET ]] || echo 1000 >"$BUDGET" || exit 1
echo "bench: $VARIANT: cost"
hwstamp_ctl -i "$P0" -t 1 >/dev/null
finished "$PROBE" -k -i "$P0" -f 50 -m wait -g 0ns -n "$COUNT" -t 10ms \
	-j /out/cost.json || exit 1
hwstamp_ctl -i "$P0" -t 0 >/dev/null
finished "$PROBE" -k -i "$P0" -f 50 -m stream -g 0ns -n "$COUNT" -t 1us \
	-j /out/cost-off.json
