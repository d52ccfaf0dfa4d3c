#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Counts the lines and branches of lib/txts that the KUnit suites execute in
# User Mode Linux 6.12, and fails below the limits in coverage.py:
#
#   coverage.sh [--again]
#
# --again reports on the last run without another one.
set -euo pipefail
. "$(dirname "$0")/env.sh"
# shellcheck disable=SC2034
HINT='make coverage'

case $#:${1:-} in
0:|1:--again) ;;
*)	die "unknown argument ${1:-}" 'use coverage.sh [--again]' ;;
esac

obj=$BUILD/um-6.12-coverage/obj
info=$BUILD/coverage.info

capture()
{
	lcov --capture --directory "$obj/lib/txts" --gcov-tool gcov-12 \
		--rc lcov_branch_coverage=1 --output-file "$info.all"
	lcov --extract "$info.all" '*/lib/txts/*.c' '*/lib/txts/*.h' \
		'*/include/linux/txts.h' --rc lcov_branch_coverage=1 \
		--output-file "$info.txts"
	lcov --remove "$info.txts" '*/lib/txts/kunit/*' \
		--rc lcov_branch_coverage=1 --output-file "$info"
}

"$SCRIPTS/packages.sh" coverage
failed=0
if [[ ${1:-} != --again ]]; then
	# What an earlier run left is not this one's.
	find "$obj" -name '*.gcda' -delete 2>/dev/null || true
	"$SCRIPTS/kunit.sh" 6.12 --coverage || failed=1
fi
[[ -n $(find "$obj/lib/txts" -name 'core.gcda' 2>/dev/null) ]] ||
	die 'the kernel left no coverage data' \
		"read $obj/test.log; it is written when the kernel halts"
step 'collect the counts' capture
python3 "$SCRIPTS/coverage.py" "$info" || failed=1
((failed == 0))
