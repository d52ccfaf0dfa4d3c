#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shows what the stock and the converted drivers make of faults of the card,
# and of one socket that wants more stamps than there are, as tables:
#
#   nic-peers.sh [faults | isochron]...   (both)
#
# On igb (I210, one slot) and igc (I226, four), stock Debian 6.12, in virtual
# time. This measures and asserts nothing. KVER= as for make modules.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/nic-boot.sh"
# shellcheck disable=SC2034
HINT="scripts/nic-peers.sh $*"

(($#)) || set -- faults isochron
for table; do
	[[ $table =~ ^(faults|isochron)$ ]] || die "there is no table $table" \
		'use nic-peers.sh [faults | isochron]...'
done
"$SCRIPTS/packages.sh" demo
pick_kernel
"$SCRIPTS/fetch.sh" image "$RELEASE"
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"
"$SCRIPTS/nic-modules.sh" --stock "$RELEASE"
out=$BUILD/nic-peers

boot_all()
{
	local guest=$1 variant failed=0
	local -a pids=()

	for variant in stock txts; do
		rm -rf "${out:?}/$variant.$table"
		nic_boot "$RELEASE" "$variant" "$out/$variant.$table" \
			"$NIC_GUEST/$guest" &
		pids+=($!)
		((JOBS > 1)) || wait $! || true
	done
	for variant in "${pids[@]}"; do
		wait "$variant" || failed=1
	done
	return "$failed"
}

for table; do
	case $table in
	faults)	guest=peers.sh ;;
	isochron) guest=isochron.sh ;;
	esac
	# A stock driver may well end in a warning of the kernel, or worse.
	try_step "measure: $table, stock and txts" boot_all "$guest"
	python3 "$TOP/tools/testing/nic/tables.py" "$table" "$out"
done
