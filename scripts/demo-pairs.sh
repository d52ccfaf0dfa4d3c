#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of the demo on emulated cards: the stock and the converted igb (on
# I210) and igc (on I226), each with two ptp4l that synchronise over a pair of
# ports, and the latency of their stamps, in virtual time:
#
#   demo-pairs.sh [RELEASE]
#
# Ends with tables; build/demo/pairs.svg is the plot, pairs.json for programs.
# Exit status 0 only if the converted drivers synchronised and lost nothing.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/nic-boot.sh"
# shellcheck disable=SC2034
HINT="scripts/demo-pairs.sh $*"

(($# <= 1)) || die 'too many arguments' 'use demo-pairs.sh [RELEASE]'
KVER=${1:-${KVER:-amd64}}
"$SCRIPTS/packages.sh" demo
pick_kernel
"$SCRIPTS/fetch.sh" image "$RELEASE"
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"
"$SCRIPTS/nic-modules.sh" --stock "$RELEASE"
out=$BUILD/demo
mkdir -p "$out"

boot_all()
{
	local variant failed=0

	for variant in stock txts; do
		rm -rf "${out:?}/$variant"
		nic_boot "$RELEASE" "$variant" "$out/$variant" \
			"$TOP/tools/demo/pairs.sh" &
		((JOBS > 1)) || wait $! || failed=1
	done
	while wait -n; do
		:
	done
	for variant in stock txts; do
		[[ -f $out/$variant/status && $(<"$out/$variant/status") == 0 ]] ||
			failed=1
	done
	return "$failed"
}

step 'measure on emulated cards: stock, txts' boot_all
python3 "$TOP/tools/demo/plot.py" "$out" "$RELEASE" stock txts
