#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds and runs the KUnit suites in User Mode Linux, in virtual time:
#
#   kunit.sh [6.12] [7] [--debug] [--filter SUITE[.CASE]]
#
# Without a version it runs both. --debug takes kunit/kunitconfig.debug, with
# sanitizers and lockdep. The kernel tree is seen through build/um-VERSION/src,
# where lib/txts is linked in; what was built stays for the next run.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"

usage='use kunit.sh [6.12] [7] [--debug] [--filter SUITE[.CASE]]'
versions=()
debug=
filter=
while (($#)); do
	case $1 in
	6.12|7)	versions+=("$1") ;;
	--debug) debug=1 ;;
	--filter)
		(($# > 1)) || die '--filter needs the name of a suite' "$usage"
		filter=$2
		shift
		;;
	*)	die "unknown argument $1" "$usage" ;;
	esac
	shift
done
((${#versions[@]})) || versions=(6.12 7)
config=$TOP/kunit/kunitconfig${debug:+.debug}
[[ -f $config ]] || die "there is no $config" 'add it or drop --debug'
[[ -f $TOP/lib/txts/Kconfig ]] ||
	die 'lib/txts is missing' 'run this in a complete checkout'

# A report of the kernel's own checkers is a failure even if all cases passed.
REPORTS='BUG: |WARNING: |INFO: possible|inconsistent lock|ODEBUG: |kmemleak: [0-9]|unreferenced object|Kernel panic|UBSAN: |refcount_t: '

# A new version of the kernel's package starts again from nothing.
overlay()
{
	local v=$1 dir=$2 version

	version=$(<"$SRC/linux-$v/.txts-version")
	if [[ ! -f $dir/version || $(<"$dir/version") != "$version" ]]; then
		rm -rf "$dir/version" "$BUILD/um-$v"{,-debug}/obj
		step "overlay of linux-$v for KUnit" \
			kernel_overlay "$SRC/linux-$v" "$dir/src"
		printf '%s\n' "$version" >"$dir/version"
	fi
	link_files "$TOP/lib/txts" "$dir/src/lib/txts"
	link_files "$TOP/include" "$dir/src/include"
	[[ ! -d $TOP/kunit ]] || link_files "$TOP/kunit" "$dir/src/lib/txts/kunit"
}

# What kunit.py's own defaults turn on in one version must be given an
# identifier there and does not exist in the other.
effective_config()
{
	grep -v '^CONFIG_UML_PCI_OVER_VIRTIO' "$config"
	[[ $1 != 6.12 ]] || echo CONFIG_UML_PCI_OVER_VIRTIO_DEVICE_ID=4660
}

run()
{
	local v=$1 name obj dir json log counts failed passed skipped report
	local repeat="scripts/kunit.sh $v${debug:+ --debug} --filter"
	local -a args

	dir=$BUILD/um-$v
	name=kunit-$v${debug:+-debug}
	obj=$BUILD/um-$v${debug:+-debug}/obj
	json=$BUILD/$name.json
	log=$obj/test.log
	HINT="scripts/kunit.sh $v${debug:+ --debug}"

	"$SCRIPTS/fetch.sh" "source-$v"
	lock "um-$v"
	overlay "$v" "$dir"
	mkdir -p "$obj"
	rm -f "$json" "$log"
	effective_config "$v" >"$dir/kunitconfig${debug:+.debug}"
	args=("--build_dir=$obj" --arch=um)
	[[ -f $obj/vmlinux ]] ||
		say 'the first build is about 900 objects, 4 min on 2 CPUs'
	STEP_OBJECTS=$obj
	try_step "$name: build the kernel" \
		"$dir/src/tools/testing/kunit/kunit.py" build "${args[@]}" \
		"--kunitconfig=$dir/kunitconfig${debug:+.debug}" "--jobs=$JOBS"
	STEP_OBJECTS=
	if ((STEP_RC)); then
		say "repeat with: $HINT"
		result "$name" 0 1 0
		return
	fi
	try_step "$name: run" timeout 600 \
		"$dir/src/tools/testing/kunit/kunit.py" exec "${args[@]}" \
		--kernel_args=time-travel=inf-cpu "--json=$json" --timeout=400 \
		${filter:+"$filter"}
	if [[ ! -s $json ]]; then
		say "$name: the run left no results; raw log: $log"
		result "$name" 0 1 0
		return
	fi
	counts=$("$SCRIPTS/kunit_report.py" "$json" \
		"linux-$v${debug:+ (debug)}" "$repeat")
	sed '$d' <<<"$counts"
	read -r passed failed skipped < <(tail -n 1 <<<"$counts")
	report=$(grep -aE -m 1 "$REPORTS" "$log" || true)
	if [[ -n $report ]]; then
		say "$name: the kernel reported: $report"
		say "all of it is in $log"
		((failed += 1))
	elif ((STEP_RC && failed == 0)); then
		say "$name: no case failed, but kunit.py did; raw log: $log"
		((failed += 1))
	fi
	((failed == 0)) || say "raw kernel log: $log"
	result "$name" "$passed" "$failed" "$skipped"
}

"$SCRIPTS/packages.sh" uml
for version in "${versions[@]}"; do
	run "$version"
done
finish_results
