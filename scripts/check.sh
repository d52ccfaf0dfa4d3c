#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs all tests and sums them up:
#
#   check.sh [--quick]
#
# --quick runs the KUnit suites on one kernel and nothing else.
#
# A step leaves its numbers in build/result/STEP* (see result in env.sh). One
# that leaves none, runs no test or fails without saying which is a failure.
set -euo pipefail
. "$(dirname "$0")/env.sh"

quick=
case $#:${1:-} in
0:)	;;
1:--quick) quick=1 ;;
*)	die "unknown argument ${1:-}" 'use make check or make check-quick' ;;
esac

total=(0 0 0)
bad=()
took=()
began=$SECONDS
ahead=''
ahead_pid=''

# Runs a step beside others; check NAME shows its output and waits for it.
start()
{
	ahead=$1
	shift
	say "$ahead is started, its output follows later"
	mkdir -p "$LOGS"
	rm -f "$RESULTS/$ahead" "$RESULTS/$ahead"-*
	set -m
	{
		rc=0
		"$@" || rc=$?
		say "$ahead ended $((SECONDS - began)) s after the start"
		exit "$rc"
	} >"$LOGS/check-$ahead.log" 2>&1 </dev/null &
	ahead_pid=$!
	set +m
}

finish()
{
	local rc=0

	tail -n +1 -f -s 0.5 --pid="$ahead_pid" "$LOGS/check-$ahead.log"
	wait "$ahead_pid" || rc=$?
	ahead_pid=
	return "$rc"
}

stop_ahead()
{
	[[ -z $ahead_pid ]] || kill -- "-$ahead_pid" 2>/dev/null || true
}
trap stop_ahead EXIT
trap 'exit 130' INT TERM

# Whatever begins with the step's name and a dash is its result. What an earlier
# run left there is removed first, so kunit-7 goes before kunit-7-debug, and nic
# before nic-vm.
check()
{
	local name=$1 rc=0 file p f s failed=0 tests=0 start=$SECONDS

	shift
	say "== $name =="
	if [[ $name == "$ahead" ]]; then
		finish || rc=$?
	else
		rm -f "$RESULTS/$name" "$RESULTS/$name"-*
		"$@" </dev/null || rc=$?
	fi
	for file in "$RESULTS/$name" "$RESULTS/$name"-*; do
		[[ -f $file ]] || continue
		p=0 f=0 s=0
		read -r p f s <"$file" || f=1
		((total[0] += p, total[1] += f, total[2] += s)) || true
		((failed += f, tests += p + f)) || true
		((f == 0)) || bad+=("${file##*/}")
	done
	took+=("$name $((SECONDS - start)) s")
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

check_setup()
(
	say '== packages and kernels =='
	"$SCRIPTS/packages.sh" lint uml demo next
	"$SCRIPTS/fetch.sh" source-6.12
	"$SCRIPTS/fetch.sh" source-7
	for KVER in amd64 rt-amd64; do
		pick_kernel
		"$SCRIPTS/fetch.sh" headers "$RELEASE"
		"$SCRIPTS/fetch.sh" image "$RELEASE"
	done
)

# The command that repeats the test named after its result.
repeat()
{
	local version=${1#kunit-}

	case $1 in
	lint-*)		echo "scripts/lint.sh ${1#lint-}" ;;
	kunit-*-same-log) echo "scripts/kunit.sh ${version%-same-log} --twice" ;;
	kunit-*-*)	echo "scripts/kunit.sh ${version%-*} --${version##*-}" ;;
	kunit-*)	echo "make kunit KERNEL=$version" ;;
	nic-vm-*)	echo "scripts/nic-vm.sh ${1#nic-vm-}" ;;
	nic-txts-*)	version=${1#nic-txts-}
			echo "scripts/nic.sh ${version%%-*}" ;;
	nic|nic-vm)	echo "scripts/$1.sh" ;;
	*)		echo "make ${1%%-*}" ;;
	esac
}

if [[ $quick ]]; then
	check kunit-6.12 "$SCRIPTS/kunit.sh" 6.12
else
	# What installs packages or chooses versions comes first: steps that run
	# side by side find it done. If it fails, those that need it say so.
	set +e
	(set -e; check_setup)
	set -e
	# Whole minutes of the others keep one CPU busy only.
	start smoke "$SCRIPTS/vm-smoke.sh"
	check lint "$SCRIPTS/lint.sh"
	check kunit-6.12 "$SCRIPTS/kunit.sh" 6.12 --twice
	check kunit-7 "$SCRIPTS/kunit.sh" 7
	check kunit-7-debug "$SCRIPTS/kunit.sh" 7 --debug
	check kunit-7-smp "$SCRIPTS/kunit.sh" 7 --smp
	check smoke
	check nic "$SCRIPTS/nic.sh"
	check nic-vm "$SCRIPTS/nic-vm.sh"
fi

say "all checks took $((SECONDS - began)) s:" \
	"$(printf '%s, ' "${took[@]}" | sed 's/, $//')"
for name in "${bad[@]}"; do
	say "failed: $name; repeat with: $(repeat "$name")"
done
printf '%d passed, %d failed, %d skipped\n' "${total[@]}"
((total[1] == 0))
