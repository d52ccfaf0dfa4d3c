#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds and runs the KUnit suites in User Mode Linux:
#
#   kunit.sh [6.12] [7] [--debug | --smp | --coverage] [--twice]
#            [--filter SUITE[.CASE]] [--seed N] [--replay PATH]
#
# Without a version it runs both. The variants add kunit/kunitconfig.VARIANT to
# kunit/kunitconfig.common:
#
#   (none)      one CPU, virtual time (kunit/kunitconfig)
#   --debug     the same with sanitizers, lockdep, leak and fault injection
#   --smp       7.x only: four CPUs, preemption and lockdep, real time; runs
#               the suite of concurrent stress
#   --coverage  counts lines and branches, for coverage.sh
#
# --twice runs a second time and compares the kernel's logs: in virtual time
# they are equal to the letter. --seed sets what the random suite and the one of
# stress start from, instead of the number in their source. --replay runs one
# path of the explorer, six numbers as a failure prints them, and logs each
# access. The kernel tree is seen through build/um-VERSION/src, where lib/txts is
# linked in; what was built stays for the next run.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"

usage='use kunit.sh [6.12] [7] [--debug | --smp | --coverage] [--twice] [--filter SUITE[.CASE]] [--seed N] [--replay PATH]'
versions=()
variant=
twice=
filter=
seed=
replay=
while (($#)); do
	case $1 in
	6.12|7)	versions+=("$1") ;;
	--debug|--smp|--coverage)
		[[ -z $variant || $variant == "${1#--}" ]] ||
			die "--$variant and $1 exclude each other" "$usage"
		variant=${1#--}
		;;
	--twice) twice=1 ;;
	--filter)
		(($# > 1)) || die '--filter needs the name of a suite' "$usage"
		filter=$2
		shift
		;;
	--seed)
		# What the kernel's module parameter, an int, takes.
		[[ ${2:-} =~ ^[0-9]{1,10}$ && $((10#$2)) -le 2147483647 ]] ||
			die "--seed needs a number from 0 to 2147483647, not '${2:-}'" \
				"$usage"
		seed=$((10#$2))
		shift
		;;
	--replay)
		[[ ${2:-} =~ ^-?[0-9]{1,4}(,-?[0-9]{1,4}){5}$ ]] ||
			die "--replay needs six numbers with commas, not '${2:-}'" \
				"$usage"
		replay=$2
		shift
		;;
	*)	die "unknown argument $1" "$usage" ;;
	esac
	shift
done
if [[ -n $replay ]]; then
	filter=${filter:-txts_explore}
	[[ $filter == txts_explore* && $variant != smp ]] ||
		die '--replay is for the suite txts_explore, in virtual time' \
			'drop --filter and --smp'
fi
if [[ $variant == smp ]]; then
	((${#versions[@]})) || versions=(7)
	[[ " ${versions[*]} " != *' 6.12 '* ]] ||
		die 'User Mode Linux 6.12 has one CPU only' \
			'use kunit.sh 7 --smp'
	[[ -z $twice ]] || die '--twice needs virtual time' 'drop --smp'
	# The other suites wait for seconds of virtual time, here real ones.
	filter=${filter:-txts_stress}
fi
((${#versions[@]})) || versions=(6.12 7)
suffix=${variant:+-$variant}
config=$TOP/kunit/kunitconfig${variant:+.$variant}
[[ -f $config ]] || die "there is no $config" "add it or drop --$variant"
[[ -f $TOP/lib/txts/Kconfig ]] ||
	die 'lib/txts is missing' 'run this in a complete checkout'

# What of a log must be the same in the next run: all from the first line of
# KTAP on; before that the kernel prints what it finds on the host. Left out:
# durations and the statistics of the random suite, as UML's clock goes on by
# 256 ns whenever a task reads it, which the console does now and then; and the
# stack dumps of expected warnings, which hold addresses.
comparable()
{
	sed -n '/KTAP version/,$p' "$1" | tr -d '\r' |
		sed -e 's/(runtime: [0-9.]*s)/(runtime)/' \
			-e 's/\(_random_requests: asked\) .*/\1/' \
			-e '/warning expected: begin/,/warning expected: end/d'
}

same_log()
{
	local name=$1 log=$2
	shift 2
	local -a again=("$@")

	comparable "$log" >"$log.first"
	try_step "$name: run again" "${again[@]}"
	comparable "$log" >"$log.second"
	if [[ -s $log.first ]] && cmp -s "$log.first" "$log.second"; then
		say "$name: two runs gave the same log," \
			"$(wc -l <"$log.first") lines"
		result "$name-same-log" 1 0 0
		return
	fi
	say "$name: two runs gave different logs:" \
		"diff $log.first $log.second:"
	diff "$log.first" "$log.second" | head -n 10 | sed 's/^/    /' || true
	say "repeat with: $HINT --twice"
	result "$name-same-log" 0 1 0
}

run()
{
	local v=$1 name obj dir json log counts failed passed skipped report
	local repeat alone path
	local -a args build=() exec=()

	dir=$BUILD/um-$v
	name=kunit-$v$suffix
	obj=$BUILD/um-$v$suffix/obj
	json=$BUILD/$name.json
	log=$obj/test.log
	HINT="scripts/kunit.sh $v${variant:+ --$variant}"
	alone="$HINT --replay"
	HINT+="${seed:+ --seed $seed}${replay:+ --replay $replay}"
	repeat="$HINT --filter"

	"$SCRIPTS/fetch.sh" "source-$v"
	lock "$name"
	(
		lock "um-$v"
		kunit_overlay "$v"
		[[ $variant != coverage ]] || collect_fini "$dir/src" ||
			die "the linker scripts of UML $v changed" \
				'adapt collect_fini in scripts/overlay.sh'
	)
	mkdir -p "$obj"
	rm -f "$json" "$log"
	kunit_config "$v" "$config" >"$dir/kunitconfig$suffix"
	args=("--build_dir=$obj" --arch=um)
	[[ -f $obj/vmlinux ]] ||
		say 'the first build is about 750 objects, 3 to 5 min on 2 CPUs'
	STEP_OBJECTS=$obj
	# libgcov has a function of this name, too.
	[[ $variant != coverage ]] ||
		build=(--make_options KCFLAGS=-Dmangle_path=kernel_mangle_path)
	try_step "$name: build the kernel" \
		"$dir/src/tools/testing/kunit/kunit.py" build "${args[@]}" \
		"--kunitconfig=$dir/kunitconfig$suffix" "--jobs=$JOBS" \
		"${build[@]}"
	STEP_OBJECTS=
	if ((STEP_RC)); then
		say "repeat with: $HINT"
		result "$name" 0 1 0
		return
	fi
	# A host that randomizes addresses changes the size of UML's memory.
	! setarch -R true 2>/dev/null || exec=(setarch -R)
	exec+=(timeout 1000 "$dir/src/tools/testing/kunit/kunit.py" exec
		"${args[@]}" "--json=$json" --timeout=900)
	if [[ $variant == smp ]]; then
		exec+=(--kernel_args=ncpus=4 --kernel_args=seccomp=on)
	else
		# A date of the host's would show in the last digits of times.
		exec+=(--kernel_args=time-travel=inf-cpu
			--kernel_args=time-travel-start=1796000000000000000)
	fi
	[[ $variant != debug ]] || exec+=(--kernel_args=kmemleak.verbose=1)
	[[ -z $seed ]] || exec+=("--kernel_args=txts_kunit.seed=$seed"
		"--kernel_args=txts_kunit.stress_seed=$seed")
	[[ -z $replay ]] || exec+=("--kernel_args=txts_kunit.replay=$replay")
	exec+=(${filter:+"$filter"})
	# Counts of an earlier run would be added to.
	find "$obj" -name '*.gcda' -delete
	try_step "$name: run" "${exec[@]}"
	if [[ ! -s $json ]]; then
		say "$name: the run left no results; raw log: $log"
		result "$name" 0 1 0
		return
	fi
	counts=$("$SCRIPTS/kunit_report.py" "$json" \
		"linux-$v${variant:+ ($variant)}" "$repeat")
	sed '$d' <<<"$counts"
	read -r passed failed skipped < <(tail -n 1 <<<"$counts")
	# A case of the explorer has thousands of paths.
	while IFS= read -r path; do
		say "one path of it: $alone $path"
	done < <(sed -n 's/.*; repeat: txts_kunit\.replay=\([-0-9,]*\).*/\1/p' \
		"$log" | head -n 3)
	if [[ -n $replay ]] && ! grep -qaE 'access [0-9]+: (read|write) ' "$log"; then
		say "$name: no case runs the path $replay in this kernel"
		((failed += 1))
	fi
	if ! report=$("$SCRIPTS/kunit_log.py" "$log"); then
		say "$name: the kernel reported:"
		printf '    %s\n' "${report//$'\n'/$'\n    '}"
		say "all of it is in $log; repeat with: $HINT"
		((failed += 1))
	elif ((STEP_RC && failed == 0)); then
		say "$name: no case failed, but kunit.py did; raw log: $log"
		((failed += 1))
	fi
	((failed == 0)) || say "raw kernel log: $log"
	result "$name" "$passed" "$failed" "$skipped"
	[[ -z $twice ]] || same_log "$name" "$log" "${exec[@]}"
}

"$SCRIPTS/packages.sh" uml
for version in "${versions[@]}"; do
	run "$version"
done
finish_results
