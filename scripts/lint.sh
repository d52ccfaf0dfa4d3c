#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All checks that run no test code; each counts as one test:
#
#   lint.sh [CHECK...]
#
# Without arguments it runs all of them. The output of one that fails is shown.
set -euo pipefail
. "$(dirname "$0")/env.sh"

CHECKS=(style words shellcheck kernel-doc patch-6.12 patch-7 commit-last
	modules-amd64 modules-rt-amd64 modules-7)

# Files of the repository, checked in or not yet, but not what was built.
files()
{
	local dir=$1 args=() pattern

	shift
	for pattern; do
		args+=(-o -name "$pattern")
	done
	(cd "$TOP" && [[ -e $dir ]] &&
		find "$dir" \( -path ./build -o -path ./.git \) -prune -o \
		-type f \( "${args[@]:1}" \) -print | sed 's|^\./||' | sort) ||
		true
}

# FILE_PATH_CHANGES asks about MAINTAINERS in a patch; these are whole files.
# Messages for people are not to be split, which LONG_LINE_STRING asks for.
CHECKPATCH_IGNORE=FILE_PATH_CHANGES,LONG_LINE_STRING
# Tests wait for exact times, expectations are macros over a packet, and
# KUNIT_ARRAY_PARAM() stands right below its array, as in the kernel's tests.
KUNIT_IGNORE=$CHECKPATCH_IGNORE,MACRO_ARG_REUSE,LINE_SPACING,USLEEP_RANGE
# Macros that are lists of initialisers cannot be put in parentheses.
KUNIT_IGNORE+=,COMPLEX_MACRO
# Programs for user space have stdint.h, not the kernel's short types.
TOOLS_IGNORE=$CHECKPATCH_IGNORE,PREFER_KERNEL_TYPES
# A table of parameters is made by a macro; symbols are exported for others.
TOOLS_IGNORE+=,MACRO_ARG_REUSE,EXPORT_SYMBOL
# TRACE_EVENT() is laid out like a table in every trace header of the kernel.
TRACE_IGNORE=$CHECKPATCH_IGNORE,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,SPACING

checkpatch()
{
	local ignore=$1

	shift
	(($#)) || return 0
	(cd "$TOP" && perl "$SRC/linux-6.12/scripts/checkpatch.pl" --quiet \
		--strict --no-tree --no-summary --show-types --max-line-length=80 \
		--ignore "$ignore" -f "$@")
}

# checkpatch.pl also exits with 1 for a CHECK, which --strict asks for.
check_style()
{
	local rc=0
	local -a list

	mapfile -t list < <(files lib '*.[ch]'; files include/linux '*.h'
		files drivers '*.[ch]')
	((${#list[@]})) || { echo 'no source file found'; return 1; }
	checkpatch "$CHECKPATCH_IGNORE" "${list[@]}" || rc=1
	mapfile -t list < <(files kunit '*.[ch]')
	checkpatch "$KUNIT_IGNORE" "${list[@]}" || rc=1
	mapfile -t list < <(files tools '*.[ch]')
	checkpatch "$TOOLS_IGNORE" "${list[@]}" || rc=1
	mapfile -t list < <(files include/trace '*.h')
	checkpatch "$TRACE_IGNORE" "${list[@]}" || rc=1
	return $rc
}

# The licence in the first line (the second after #!) and words that have no
# place in finished code.
check_words()
{
	local rc=0 file size

	while IFS= read -r file; do
		if ! head -n 2 "$TOP/$file" |
			grep -q 'SPDX-License-Identifier: GPL-2.0'; then
			echo "$file: no SPDX-License-Identifier: GPL-2.0"
			rc=1
		fi
		size=$(wc -l <"$TOP/$file")
		if ((size >= 700)); then
			echo "$file: $size lines, split it below 700"
			rc=1
		fi
	done < <(files . '*.[ch]' '*.cocci' '*.sh' '*.py' '*.rst' \
		'kunitconfig*' '*.config' Makefile Kbuild Kconfig run)
	# The pattern is in pieces so that it does not find itself.
	if (cd "$TOP" && grep -rnwIE "TO""DO|FIX""ME|X""XX|HA""CK" \
		--exclude-dir=build --exclude-dir=.git --exclude=COPYING .); then
		echo 'finish or remove what these lines announce'
		rc=1
	fi
	return $rc
}

check_shellcheck()
{
	local -a list

	mapfile -t list < <(files scripts '*.sh'; files .ci run)
	(cd "$TOP" && shellcheck -x "${list[@]}")
}

check_kernel-doc()
{
	local -a list

	mapfile -t list < <(files include/linux '*.h'; files lib/txts '*.[ch]'
		files drivers '*.[ch]')
	((${#list[@]})) || { echo 'no source file found'; return 1; }
	(cd "$TOP" && perl "$SRC/linux-6.12/scripts/kernel-doc" -none -Wall \
		-Werror "${list[@]}")
}

# Runs the semantic patches afresh, on a tree that nothing else uses.
check_patch()
{
	rm -rf "$BUILD/lint/$1"
	"$SCRIPTS/tree.sh" "$BUILD/lint/$1" "$SRC/linux-$1"
	compgen -G "$BUILD/lint/$1/drivers/*/.inputs" >/dev/null ||
		{ echo 'drivers/ has no semantic patch'; return 1; }
	check_size "$1"
}

# A converted driver, callbacks included, is smaller than it was.
check_size()
{
	local name dir added removed rc=0

	for dir in "$BUILD/lint/$1"/drivers/*/; do
		name=$(basename "$dir")
		read -r added removed < <(
			{
				for file in "$dir"*.[ch]; do
					[[ ! -L $file ]] || continue
					git diff --no-index --numstat \
						"$SRC/linux-$1/drivers/net/ethernet/intel/$name/${file##*/}" \
						"$file" || true
				done
				wc -l "$TOP/drivers/$name"/*.[ch] | tail -n 1 |
					awk '{ print $1, 0 }'
			} | awk '{ a += $1; r += $2 } END { print a, r }')
		echo "$name on linux-$1: $added lines more, $removed less"
		((added < removed)) || rc=1
	done
	return "$rc"
}

commit_last()
{
	timeout 300 spatch --sp-file "$TOP/drivers/commit-last.cocci" \
		--no-includes "$@"
}

# No converted driver changes an skb after txts_commit(). The check itself is
# checked first: it must find each line marked "bad" in its own sample.
check_commit-last()
{
	local sample=$TOP/drivers/commit-last-bad.c found want v dir

	want=$(grep -n '/\* bad \*/' "$sample" | cut -d: -f1)
	found=$(commit_last "$sample" |
		sed -n 's/.*:\([0-9]*\): .* changes an skb .*/\1/p' || true)
	if [[ -z $want || $found != "$want" ]]; then
		echo "$sample: bad lines: ${want//$'\n'/ }"
		echo "found by commit-last.cocci: ${found//$'\n'/ }"
		return 1
	fi
	for v in 6.12 7; do
		"$SCRIPTS/tree.sh" "$BUILD/lint/$v" "$SRC/linux-$v"
		for dir in "$BUILD/lint/$v"/drivers/*/; do
			commit_last "$dir"*.c
		done
	done
}

check_modules()
{
	if [[ $1 == 7 ]]; then
		KVER='' KDIR=$BUILD/x86-7 KSRC=$SRC/linux-7 TESTING=$2 \
			"$SCRIPTS/modules.sh" --strict
	else
		KVER=$KBASE-$1 TESTING=$2 "$SCRIPTS/modules.sh" \
			--sparse --strict
	fi
}

# A build of its own for TESTING, whose code is else never seen by sparse.
modules_both()
{
	check_modules "$1" 1
	check_modules "$1" ''
}

run_check()
{
	local check=$1

	HINT="scripts/lint.sh $check"
	case $check in
	patch-*)	try_step "lint: $check" check_patch "${check#patch-}" ;;
	modules-*)	try_step "lint: $check" modules_both "${check#modules-}" ;;
	*)		try_step "lint: $check" "check_$check" ;;
	esac
	((STEP_RC == 0)) || say "repeat with: $HINT"
	result "lint-$check" $((STEP_RC == 0)) $((STEP_RC != 0)) 0
}

for check; do
	[[ " ${CHECKS[*]} " == *" $check "* ]] ||
		die "there is no check $check" "use lint.sh ${CHECKS[*]}"
done
(($#)) || set -- "${CHECKS[@]}"
unset KDIR KSRC
"$SCRIPTS/packages.sh" lint
pick_kernel
"$SCRIPTS/fetch.sh" source-6.12
if [[ " $* " == *-7\ * || " $* " == *\ commit-last\ * ]]; then
	"$SCRIPTS/fetch.sh" source-7
fi
[[ " $* " != *\ modules-7\ * ]] || "$SCRIPTS/next.sh"
STEP_TAIL=80
for check; do
	run_check "$check"
done
finish_results
