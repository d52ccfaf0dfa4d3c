#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs all tests and sums them up: lint, kunit, smoke.
#
# A step leaves its numbers in build/result/STEP* (see result in env.sh). One
# that leaves none, runs no test or fails without saying which is a failure.
set -euo pipefail
. "$(dirname "$0")/env.sh"

(($# == 0)) || die "unknown argument $1" 'use make check'

total=(0 0 0)
bad=()
began=$SECONDS

check()
{
	local name=$1 rc=0 file p f s failed=0 tests=0

	shift
	say "== $name =="
	rm -f "$RESULTS/$name" "$RESULTS/$name"-*
	"$@" </dev/null || rc=$?
	for file in "$RESULTS/$name" "$RESULTS/$name"-*; do
		[[ -f $file ]] || continue
		p=0 f=0 s=0
		read -r p f s <"$file" || f=1
		((total[0] += p, total[1] += f, total[2] += s)) || true
		((failed += f, tests += p + f)) || true
		((f == 0)) || bad+=("${file##*/}")
	done
	if ((tests == 0)); then
		say "$name: no test ran (exit status $rc)"
	elif ((rc && failed == 0)); then
		say "$name: ended with status $rc, though no test failed"
	else
		return 0
	fi
	((total[1] += 1))
	bad+=("$name")
}

check lint "$SCRIPTS/lint.sh"
check kunit "$SCRIPTS/kunit.sh"
check smoke "$SCRIPTS/vm-smoke.sh"

say "all checks took $((SECONDS - began)) s"
for name in "${bad[@]}"; do
	case $name in
	lint-*)	repeat="scripts/lint.sh ${name#lint-}" ;;
	kunit-*) repeat="make kunit KERNEL=${name#kunit-}" ;;
	*)	repeat="make ${name%%-*}" ;;
	esac
	say "failed: $name; repeat with: $repeat"
done
sum_line "${total[@]}"
((total[1] == 0))
