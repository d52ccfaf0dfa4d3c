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

# Boots one kernel; the KTAP lines end up in build/smoke/RELEASE/ktap.
boot()
{
	local out rc=0
	local -a modules=()

	out=$(out_of "$1")
	[[ -n ${STOCK:-} ]] ||
		modules=(-m "$BUILD/$1" -f "$TOP/tools/smoke/faults.sh"
			-f "$BUILD/$1/fault/txts_fault.ko")
	mkdir -p "$out"
	rm -f "$out"/{ktap,vm-status}
	"$SCRIPTS/vm.sh" -k "$1" -o "$out" "${modules[@]}" -c 2 -t 1800 \
		-f "$BUILD/tools/txts-probe" -f "$BUILD/tools/txts-sockets" \
		"$TOP/tools/smoke/guest.sh" ONLY="${ONLY:-}" || rc=$?
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
				"$(out_of "$release")/console.log")"
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
	local out passed failed planned

	out=$(out_of "$1")
	# A VM that crashed shows only on its console how far it came.
	[[ -f $out/ktap ]] || tr -d '\r' <"$out/console.log" |
		grep -a '^ok \|^not ok ' >"$out/ktap" || true
	passed=$(count '^ok ' "$out/ktap")
	failed=$(count '^not ok ' "$out/ktap")
	planned=$(sed -n 's/^1\.\.//p' "$out/ktap" 2>/dev/null || true)
	say "smoke test ${STOCK:+of the stock igb }on $1:"
	sed '/^KTAP\|^1\.\./d' "$out/ktap" 2>/dev/null || true
	# A VM that died, or warned after its last check, is a failure as well.
	if [[ $planned != $((passed + failed)) ]] ||
		{ [[ $(<"$out/vm-status") != 0 ]] && ((failed == 0)); }; then
		say "$1: the VM did not end well, see $out/console.log"
		failed=$((failed + 1))
	fi
	result "smoke${STOCK:+-stock}-$1" "$passed" "$failed" 0
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
	report "$release"
done
finish_results
