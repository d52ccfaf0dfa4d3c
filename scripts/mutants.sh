#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Plants faults in a copy of lib/txts, one at a time, and demands that a KUnit
# suite notices each of them, on User Mode Linux 6.12:
#
#   mutants.sh [--list | NAME...]
#
# --list prints the name of each fault and the suite that is to notice it.
# kunit/mutants is the list of faults. The copy is build/mutants/src, a view of
# the kernel of its own; the kernel counts what is executed, as for "make
# coverage". First all suites must pass without a fault. Then, for each fault,
# the suite that is expected to notice runs, and the others if it does not. A
# fault that no suite notices, that does not fit the source any more, does not
# build, or sits in lines that the first run did not execute, fails.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"
export PYTHONDONTWRITEBYTECODE=1

usage='use mutants.sh [--list | NAME...]'
list=$TOP/kunit/mutants
dir=$BUILD/mutants
src=$dir/src
obj=$dir/obj
info=$dir/counts.info
mutants=(python3 "$SCRIPTS/mutants.py")
options=(ARCH=um "O=$obj" KCFLAGS=-Dmangle_path=kernel_mangle_path)

# Copies what differs, so that make builds no more than that.
copy_files()
{
	local from=$1 to=$2 file

	mkdir -p "$to"
	while IFS= read -r file; do
		cmp -s "$from/$file" "$to/$file" && continue
		mkdir -p "$to/$(dirname "$file")"
		cp --remove-destination "$from/$file" "$to/$file"
	done < <(cd "$from" && find . -type f \( -name '*.[chS]' -o \
		-name Makefile -o -name Kbuild -o -name Kconfig \) \
		-printf '%P\n')
}

copy_sources()
{
	local version

	version=$(<"$SRC/linux-6.12/.txts-version")
	if [[ ! -f $dir/version || $(<"$dir/version") != "$version" ]]; then
		rm -rf "$dir"
		step 'overlay of linux-6.12 for mutants' \
			kernel_overlay "$SRC/linux-6.12" "$src"
		collect_fini "$src" || die \
			'the linker scripts of UML 6.12 changed' \
			'adapt collect_fini in scripts/overlay.sh'
		printf '%s\n' "$version" >"$dir/version"
	fi
	# What has gone from the checkout goes from the copy.
	(cd "$src/lib/txts" 2>/dev/null || exit 0
		find . -type f -name '*.[ch]' -printf '%P\n' |
		while IFS= read -r file; do
			[[ -f $TOP/lib/txts/$file || -f $TOP/$file ]] ||
				rm -f "$file"
		done)
	copy_files "$TOP/lib/txts" "$src/lib/txts"
	copy_files "$TOP/include" "$src/include"
	copy_files "$TOP/kunit" "$src/lib/txts/kunit"
	# Somebody may go on working in the checkout meanwhile.
	rm -rf "$dir/unplanted"
	mkdir "$dir/unplanted"
	cp "$src"/lib/txts/*.[ch] "$dir/unplanted"
}

configure()
{
	mkdir -p "$obj"
	kunit_config 6.12 "$TOP/kunit/kunitconfig.coverage" >"$dir/kunitconfig"
	"$src/tools/testing/kunit/kunit.py" config "--build_dir=$obj" \
		--arch=um "--kunitconfig=$dir/kunitconfig" \
		--make_options KCFLAGS=-Dmangle_path=kernel_mangle_path
}

build()
{
	make -s -C "$src" "${options[@]}" "-j$JOBS" linux
}

# A fault may well make the kernel hang: LIMIT is in seconds of real time.
run_suites()
{
	local filter=$1 limit=$2 log=$3

	timeout -s KILL "$limit" "${fixed[@]}" "$obj/linux" \
		time-travel=inf-cpu time-travel-start=1796000000000000000 \
		mem=1G console=tty kunit_shutdown=halt kunit.enable=1 \
		"kunit.filter_glob=$filter" </dev/null >"$log" 2>&1
}

# Without a fault: all green, and counted.
run_unplanted()
{
	local log=$dir/log/none.run started=$SECONDS verdict

	find "$obj" -name '*.gcda' -delete
	say 'all suites without a fault ...'
	run_suites '*' 900 "$log" || true
	took=$((SECONDS - started))
	verdict=$("${mutants[@]}" verdict "$log" "$SCRIPTS/kunit_log.py") ||
		die 'the log of the run cannot be judged' "read $log"
	[[ $verdict == survived ]] ||
		die "the suites fail without a fault: $verdict" \
			"read $log and make kunit pass first"
	say "all suites without a fault: passed ($took s)"
	step 'collect the counts' "$SCRIPTS/coverage.sh" --collect "$obj" \
		"$info"
}

# Prints how the fault NAME ended. Fails if it was not noticed.
try_mutant()
{
	local name=$1 suite=$2 log=$dir/log/$1 verdict filter

	if ! "${mutants[@]}" plant "$list" "$name" "$dir/unplanted" \
		"$src/lib/txts" "$info"; then
		return 1
	fi
	if ! build >"$log.build" 2>&1; then
		echo "does not build: $(grep -m 1 -a 'error' "$log.build" ||
			tail -n 1 "$log.build"); all of it is in $log.build"
		return 1
	fi
	for filter in "txts_$suite" '*'; do
		run_suites "$filter" $((30 + 4 * took)) "$log.run" || true
		verdict=$("${mutants[@]}" verdict "$log.run" \
			"$SCRIPTS/kunit_log.py") || {
			echo "$verdict; log: $log.run"
			return 1
		}
		if [[ $verdict != survived ]]; then
			echo "$verdict"
			return 0
		fi
	done
	echo "no suite noticed it: a case is missing; log: $log.run"
	return 1
}

[[ ${1:-} != -* || $1 == --list ]] || die "unknown argument $1" "$usage"
"$SCRIPTS/packages.sh" coverage
if [[ ${1:-} == --list ]]; then
	(($# == 1)) || die '--list stands alone' "$usage"
	"${mutants[@]}" list "$list" | cut -d ' ' -f 1,2
	exit
fi
rc=0
chosen=$("${mutants[@]}" list "$list" "$@") || rc=$?
((rc != 2)) ||
	die 'nothing was planted' 'scripts/mutants.sh --list prints all names'
((rc == 0)) || die 'the list of mutants cannot be used' "mend $list"
# shellcheck disable=SC2034
HINT='make mutants'
"$SCRIPTS/fetch.sh" source-6.12
lock mutants
copy_sources
rm -rf "$dir/log"
mkdir -p "$dir/log"
fixed=()
! setarch -R true 2>/dev/null || fixed=(setarch -R)
took=0
[[ -f $obj/vmlinux ]] ||
	say 'the first build is about 750 objects, 3 to 5 min on 2 CPUs'
step 'configure the kernel for mutants' configure
STEP_OBJECTS=$obj
step 'build the kernel for mutants' build
STEP_OBJECTS=
run_unplanted

passed=0
failed=0
while read -r name suite files; do
	if how=$(try_mutant "$name" "$suite"); then
		((passed += 1))
		say "$name: killed by $how"
	else
		((failed += 1))
		say "$name: FAILED: $how"
		say "repeat with: scripts/mutants.sh $name"
	fi
	# Restored with a time of its own, so that make builds it again.
	for file in $files; do
		cp "$dir/unplanted/$file" "$src/lib/txts/$file"
	done
done <<<"$chosen"
((failed == 0)) ||
	say "a mutant that is not noticed wants a KUnit case, see $list"
result mutants "$passed" "$failed" 0
finish_results
