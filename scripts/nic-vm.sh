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

prepare()
{
	KVER=$1
	pick_kernel
	export KVER=$RELEASE
	"$SCRIPTS/nic-modules.sh" "$RELEASE"
	"$SCRIPTS/fetch.sh" image "$RELEASE"
	releases+=("$RELEASE")
}

# Boots one kernel; the KTAP lines end up in build/nic/RELEASE/ktap.
boot()
{
	local out=$BUILD/nic/$1 rc=0

	mkdir -p "$out"
	rm -f "$out"/{ktap,vm-status}
	# shellcheck disable=SC2034
	NIC_VM=(-c 2)
	nic_boot "$1" txts "$out" "$NIC_GUEST/endtoend.sh" \
		ONLY="${ONLY:-}" || rc=$?
	echo "$rc" >"$out/vm-status"
	return "$rc"
}

count()
{
	grep -c "$1" "$2" 2>/dev/null || true
}

show_checks()
{
	local release

	while sleep 10; do
		for release; do
			printf '%s: %s checks  ' "${release##*+deb12-}" \
				"$(count '^ok \|^not ok ' \
				"$BUILD/nic/$release/console.log")"
		done
		echo
	done
}

# A VM keeps one CPU of the host busy.
boot_all()
{
	local release pid ticker rc=0
	local -a pids=()

	show_checks "$@" &
	ticker=$!
	for release; do
		boot "$release" &
		pids+=($!)
		((JOBS > 1)) || wait $! || true
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || rc=1
	done
	kill "$ticker"
	return "$rc"
}

report()
{
	local out=$BUILD/nic/$1 passed failed planned

	# A VM that crashed shows only on its console how far it came.
	[[ -f $out/ktap ]] || tr -d '\r' <"$out/console.log" |
		grep -a '^ok \|^not ok ' >"$out/ktap" || true
	passed=$(count '^ok ' "$out/ktap")
	failed=$(count '^not ok ' "$out/ktap")
	planned=$(sed -n 's/^1\.\.//p' "$out/ktap" 2>/dev/null || true)
	say "emulated cards on $1:"
	sed '/^KTAP\|^1\.\./d' "$out/ktap" 2>/dev/null || true
	# A VM that died, or warned after its last check, is a failure as well.
	if [[ $planned != $((passed + failed)) ]] ||
		{ [[ $(<"$out/vm-status") != 0 ]] && ((failed == 0)); }; then
		say "$1: the VM did not end well, see $out/console.log"
		failed=$((failed + 1))
	fi
	result "nic-vm-$1" "$passed" "$failed" 0
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
	report "$release"
done
finish_results
