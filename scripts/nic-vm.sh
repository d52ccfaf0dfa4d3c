#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# End to end tests: the converted igb and igc on emulated cards, with ptp4l on
# both ends, under stock Debian 6.12 kernels in QEMU.
#
#   nic-vm.sh [amd64 | rt-amd64 | RELEASE]...   (amd64 and rt-amd64)
#
# ONLY=REGEX runs only the checks whose names match (that of "probes" loads the
# driver for the others of its pair).
set -euo pipefail
. "$(dirname "$0")/env.sh"
# shellcheck disable=SC2034
HINT="scripts/nic-vm.sh $*"
. "$SCRIPTS/nic-boot.sh"
. "$SCRIPTS/vm-checks.sh"

prepare()
{
	KVER=$1
	pick_kernel
	export KVER=$RELEASE
	"$SCRIPTS/nic-modules.sh" "$RELEASE"
	"$SCRIPTS/fetch.sh" image "$RELEASE"
	releases+=("$RELEASE")
}

out_of()
{
	echo "$BUILD/nic/$1"
}

run_vm()
{
	# shellcheck disable=SC2034
	NIC_VM=(-c 2)
	nic_boot "$1" txts "$2" "$NIC_GUEST/endtoend.sh" ONLY="${ONLY:-}"
}

(($#)) || set -- amd64 rt-amd64
for kernel; do
	[[ $kernel =~ ^(6\.12\.[^-]+-)?(rt-)?amd64$ ]] ||
		die "$kernel is not a Debian 6.12 kernel" \
			'use nic-vm.sh [amd64 | rt-amd64 | RELEASE]...'
done
"$SCRIPTS/packages.sh" demo
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"
releases=()
for kernel; do
	prepare "$kernel"
done
lock nic-vm
try_step "emulated cards on ${releases[*]}" boot_all "${releases[@]}"
for release in "${releases[@]}"; do
	report nic-vm "$release"
done
finish_results
