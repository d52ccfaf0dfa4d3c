#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the KUnit suites on x86, Linux 7.x, two CPUs, in QEMU without KVM:
#
#   kcsan.sh [kcsan] [rt] [--suite SUITE[.CASE]]...
#
# kcsan is a kernel with the concurrency sanitizer, rt one with PREEMPT_RT,
# lockdep and debug objects; both without arguments. Each suite has a boot of
# its own. The suite of stress runs with a host thread for each CPU and in real
# time; the others on a virtual clock that skips idle time, as they wait for
# seconds. LEFT_OUT names suites that would take hours here, or need failslab or
# tracepoints, which these kernels do not have; they run in User Mode Linux.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"

usage='use kcsan.sh [kcsan] [rt] [--suite SUITE[.CASE]]...'
LEFT_OUT='txts_explore txts_random txts_budget txts_leak txts_alloc txts_trace'
flavours=()
suites=()
while (($#)); do
	case $1 in
	kcsan|rt) flavours+=("$1") ;;
	--suite)
		(($# > 1)) || die '--suite needs a name' "$usage"
		grep -qsF ".name = \"${2%%.*}\"," "$TOP"/kunit/*_test.c ||
			die "there is no suite ${2%%.*}" "$usage"
		suites+=("$2")
		shift
		;;
	*)	die "unknown argument $1" "$usage" ;;
	esac
	shift
done
((${#flavours[@]})) || flavours=(kcsan rt)
if ((${#suites[@]} == 0)); then
	mapfile -t suites < <(sed -n 's/.*\.name = "\(txts_[a-z0-9_]*\)",/\1/p' \
		"$TOP"/kunit/*_test.c | sort -u |
		grep -vxF "${LEFT_OUT// /$'\n'}")
fi

src=$BUILD/um-7/src

configure()
{
	local obj=$1 want=$2 line

	mkdir -p "$obj"
	make -C "$src" O="$obj" ARCH=x86 KCONFIG_ALLCONFIG="$want" allnoconfig
	# A symbol that Kconfig dropped would make the run worth nothing.
	while IFS= read -r line; do
		grep -qxF "$line" "$obj/.config" ||
			{ echo "$line was not taken"; return 1; }
	done < <(grep '^CONFIG_' "$want")
}

boot()
{
	local kernel=$1 log=$2 suite=$3 rc=0
	local -a accel=(-accel 'tcg,thread=single' -icount 'shift=0,sleep=off')

	[[ $suite != txts_stress ]] || accel=(-accel 'tcg,thread=multi')
	# In the foreground: an interrupt is to end QEMU as well.
	timeout --foreground 900 qemu-system-x86_64 -M q35 -cpu max -smp 2 \
		-m 512 -nodefaults -no-user-config -display none -no-reboot \
		"${accel[@]}" -serial "file:$log" -kernel "$kernel" \
		-append "console=ttyS0 panic=-1 kunit_shutdown=reboot \
kunit.enable=1 kunit.filter_glob=$suite txts_kunit.stress_rounds=10 \
txts_kunit.stress_irq_us=2000" || rc=$?
	tr -d '\r' <"$log" >"$log.text"
	((rc == 0)) || echo "QEMU ended with status $rc"
	return "$rc"
}

suite()
{
	local flavour=$1 suite=$2 out=$BUILD/x86-7-$1 log json counts report
	local passed failed skipped name=kcsan-$1-$2

	log=$out/$suite.log
	json=$out/$suite.json
	rm -f "$log" "$log.text" "$json"
	try_step "$name" boot "$out/obj/arch/x86/boot/bzImage" "$log" "$suite"
	python3 "$src/tools/testing/kunit/kunit.py" parse "--json=$json" \
		"$log.text" >"$out/$suite.parse" 2>&1 || true
	if [[ ! -s $json ]]; then
		say "$name: the run left no results; raw log: $log.text"
		result "$name" 0 1 0
		return
	fi
	counts=$("$SCRIPTS/kunit_report.py" "$json" "linux-7 ($flavour)" \
		"scripts/kcsan.sh $flavour --suite")
	sed '$d' <<<"$counts"
	read -r passed failed skipped < <(tail -n 1 <<<"$counts")
	if ! report=$("$SCRIPTS/kunit_log.py" "$log.text"); then
		say "$name: the kernel reported:"
		printf '    %s\n' "${report//$'\n'/$'\n    '}"
		say "all of it is in $log.text; repeat with:" \
			"scripts/kcsan.sh $flavour --suite $suite"
		((failed += 1))
	elif [[ $flavour == kcsan ]] &&
		! grep -qa 'kcsan: enabled early' "$log.text"; then
		say "$name: KCSAN was not on, see $log.text"
		((failed += 1))
	elif ((STEP_RC && failed == 0)); then
		say "$name: no case failed, but QEMU did not end by itself"
		((failed += 1))
	fi
	result "$name" "$passed" "$failed" "$skipped"
}

run()
{
	local flavour=$1 out=$BUILD/x86-7-$1 inputs started=$SECONDS
	local -a before=("${SUM[@]}")

	lock "x86-7-$flavour"
	mkdir -p "$out"
	rm -f "$RESULTS/kcsan-$flavour"-*
	cat "$TOP/kunit/x86.config" "$TOP/kunit/x86-$flavour.config" \
		>"$out/want"
	# Of another configuration make builds again what it concerns; another
	# kernel begins from nothing.
	if [[ ! -f $out/version ]] || ! cmp -s "$src/../version" \
		"$out/version"; then
		rm -rf "$out/obj" "$out/.inputs"
		cp "$src/../version" "$out/version"
	fi
	inputs=$(sha256sum <"$out/want")
	if [[ ! -f $out/.inputs || $(<"$out/.inputs") != "$inputs" ]]; then
		rm -f "$out/.inputs"
		step "configure linux-7 for x86 ($flavour)" \
			configure "$out/obj" "$out/want"
		printf '%s\n' "$inputs" >"$out/.inputs"
	fi
	STEP_OBJECTS=$out/obj
	try_step "build linux-7 for x86 ($flavour)" \
		make -C "$src" O="$out/obj" ARCH=x86 -j"$JOBS" bzImage
	STEP_OBJECTS=
	if ((STEP_RC)); then
		result "kcsan-$flavour" 0 1 0
		return
	fi
	for suite in "${suites[@]}"; do
		suite "$flavour" "$suite"
	done
	say "linux-7 ($flavour), ${#suites[@]} suites:" \
		"$(sum_line $((SUM[0] - before[0])) $((SUM[1] - before[1])) \
		$((SUM[2] - before[2]))) in $((SECONDS - started)) s"
}

"$SCRIPTS/packages.sh" kcsan
"$SCRIPTS/fetch.sh" source-7
(
	lock um-7
	kunit_overlay 7
)
for flavour in "${flavours[@]}"; do
	# shellcheck disable=SC2034
	HINT="scripts/kcsan.sh $flavour"
	run "$flavour"
done
finish_results
