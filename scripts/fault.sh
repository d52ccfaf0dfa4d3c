#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the test module that makes kernel functions fail (tools/fault):
#
#   fault.sh [amd64 | rt-amd64 | RELEASE]   (amd64)
#
# for a Debian 6.12 kernel. It is left in build/RELEASE/fault/txts_fault.ko.
set -euo pipefail
. "$(dirname "$0")/env.sh"

(($# <= 1)) || die 'too many arguments' 'use fault.sh [amd64 | rt-amd64 | RELEASE]'
KVER=${1:-amd64}
# shellcheck disable=SC2034
HINT="scripts/fault.sh $KVER"
"$SCRIPTS/packages.sh" build
pick_kernel
"$SCRIPTS/fetch.sh" headers "$RELEASE"
kdir=$BUILD/headers/$RELEASE/usr/src/linux-headers-$RELEASE
out=$BUILD/$RELEASE/fault

lock "fault-$RELEASE"
mkdir -p "$out"
for file in Kbuild txts_fault.c; do
	# Only what changed is built again.
	cmp -s "$TOP/tools/fault/$file" "$out/$file" ||
		cp "$TOP/tools/fault/$file" "$out/$file"
done
step "build the fault module for $RELEASE" \
	make -C "$kdir" "M=$out" W=1 "-j$JOBS" modules
