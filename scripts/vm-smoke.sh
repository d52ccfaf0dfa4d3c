#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Smoke test: txts igb under stock Debian 6.12 kernels in QEMU.
#
#   vm-smoke.sh [amd64 | rt-amd64 | RELEASE]...   (amd64 and rt-amd64)
#
# ONLY=REGEX runs only the checks whose names match. With STOCK=1 the same
# checks meet Debian's own igb, which fails many of them and crashes in one:
# that shows that the checks can fail.
set -euo pipefail
. "$(dirname "$0")/env.sh"
# shellcheck disable=SC2034
HINT="make smoke"
. "$SCRIPTS/vm-checks.sh"

"$SCRIPTS/packages.sh" demo
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"

out_of()
{
	echo "$BUILD/smoke/${STOCK:+stock-}$1"
}

prepare()
{
	KVER=$1
	pick_kernel
	export KVER=$RELEASE
	if [[ -z ${STOCK:-} ]]; then
		"$SCRIPTS/modules.sh"
		"$SCRIPTS/fault.sh" "$RELEASE"
	fi
	"$SCRIPTS/fetch.sh" image "$RELEASE"
	releases+=("$RELEASE")
}

run_vm()
{
	local -a modules=()

	[[ -n ${STOCK:-} ]] ||
		modules=(-m "$BUILD/$1" -f "$TOP/tools/smoke/faults.sh"
			-f "$BUILD/$1/fault/txts_fault.ko")
	"$SCRIPTS/vm.sh" -k "$1" -o "$2" "${modules[@]}" -c 2 -t 1800 \
		-f "$BUILD/tools/txts-probe" -f "$BUILD/tools/txts-sockets" \
		"$TOP/tools/smoke/guest.sh" ONLY="${ONLY:-}"
}

# What the probe does with bad arguments needs no VM.
arguments()
{
	local ktap=$BUILD/smoke/probe.ktap

	mkdir -p "$BUILD/smoke"
	"$TOP/tools/txts-probe/test.sh" "$BUILD/tools/txts-probe" >"$ktap" ||
		grep -B 1 '^not ok' "$ktap" || true
	result smoke-probe-arguments "$(count '^ok ' "$ktap")" \
		"$(count '^not ok ' "$ktap")" 0
}

(($#)) || set -- amd64 rt-amd64
arguments
releases=()
for kernel; do
	prepare "$kernel"
done
try_step "smoke test${STOCK:+ of the stock igb} on ${releases[*]}" \
	boot_all "${releases[@]}"
for release in "${releases[@]}"; do
	report "smoke${STOCK:+-stock}" "$release"
done
finish_results
