#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Counts the lines and branches of lib/txts that the KUnit suites execute in
# User Mode Linux 6.12, and fails below the limits in coverage.py, or if
# kunit/coverage-gaps does not say why the rest is not executed:
#
#   coverage.sh [--again]
#   coverage.sh --collect OBJ INFO
#
# --again reports on the last run without another one. --collect only writes
# to INFO what the kernel built in OBJ counted, for mutants.sh.
set -euo pipefail
. "$(dirname "$0")/env.sh"
# shellcheck disable=SC2034
HINT='make coverage'
export PYTHONDONTWRITEBYTECODE=1

usage='use coverage.sh [--again | --collect OBJ INFO]'
obj=$BUILD/um-6.12-coverage/obj
info=$BUILD/coverage.info

case $#:${1:-} in
0:|1:--again) ;;
3:--collect)
	obj=$2
	info=$3
	;;
*)	die "unknown arguments: $*" "$usage" ;;
esac

collect()
{
	local rc=(--rc lcov_branch_coverage=1)

	lcov --capture --directory "$obj/lib/txts" --gcov-tool gcov-12 \
		"${rc[@]}" --output-file "$info.all"
	lcov --extract "$info.all" '*/lib/txts/*.c' '*/lib/txts/*.h' \
		'*/include/linux/txts.h' "${rc[@]}" --output-file "$info.txts"
	lcov --remove "$info.txts" '*/lib/txts/kunit/*' "${rc[@]}" \
		--output-file "$info"
}

if [[ ${1:-} == --collect ]]; then
	collect
	exit
fi
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
step 'collect the counts' collect
python3 "$SCRIPTS/coverage.py" "$info" "$TOP/kunit/coverage-gaps" || failed=1
((failed == 0))
