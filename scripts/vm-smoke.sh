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

"$SCRIPTS/packages.sh" demo
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"

# Boots one kernel; the KTAP lines end up in build/smoke/RELEASE/ktap.
boot()
{
	local -a modules=()

	[[ -n ${STOCK:-} ]] || modules=(-m "$BUILD/$1")
	rm -f "$2/ktap"
	"$SCRIPTS/vm.sh" -k "$1" -o "$2" "${modules[@]}" -c 2 -t 900 \
		-f "$BUILD/tools/txts-probe" -f "$BUILD/tools/txts-sockets" \
		"$TOP/tools/smoke/guest.sh" ONLY="${ONLY:-}"
}

count()
{
	grep -c "$1" "$2" 2>/dev/null || true
}

smoke()
{
	local out passed failed planned

	KVER=$1
	pick_kernel
	export KVER=$RELEASE
	[[ -n ${STOCK:-} ]] || "$SCRIPTS/modules.sh"
	"$SCRIPTS/fetch.sh" image "$RELEASE"
	out=$BUILD/smoke/${STOCK:+stock-}$RELEASE
	try_step "smoke test ${STOCK:+of the stock igb }on $RELEASE" \
		boot "$RELEASE" "$out"
	# A VM that crashed shows only on its console how far it came.
	[[ -f $out/ktap ]] || tr -d '\r' <"$out/console.log" |
		grep -a '^ok \|^not ok ' >"$out/ktap" || true
	passed=$(count '^ok ' "$out/ktap")
	failed=$(count '^not ok ' "$out/ktap")
	planned=$(sed -n 's/^1\.\.//p' "$out/ktap" 2>/dev/null || true)
	sed '/^KTAP\|^1\.\./d' "$out/ktap" 2>/dev/null || true
	# A VM that died, or warned after its last check, is a failure as well.
	if [[ $planned != $((passed + failed)) ]] ||
		((STEP_RC != 0 && failed == 0)); then
		say "$RELEASE: the VM did not end well, see $out/console.log"
		failed=$((failed + 1))
	fi
	result "smoke${STOCK:+-stock}-$RELEASE" "$passed" "$failed" 0
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
for kernel; do
	smoke "$kernel"
done
finish_results
