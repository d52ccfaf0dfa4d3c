#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The bench of the policy: drivers and policies side by side in QEMU, in
# virtual time, on one kernel and under the same loads:
#
#   bench.sh
#
# Environment:
#   QUICK=1     below five minutes: few variants, few rates, few packets
#   ALL=1       everything, for a night
#   DEVICES=    a card: 82576 (QEMU's, whose registers cost nothing), i210, i226,
#               i350 (emulated, with wire time; a register read takes 1000 ns);
#               then as you like -NNNns (what a register read takes), -shiftN
#               (2^N ns per instruction), -budgetN (budget_permille of txts) and
#               -rt (PREEMPT_RT, latency only): "82576-1000ns i210-shift1-rt"
#   VARIANTS=   of: off stock stock-bh kworker inline bh aux auto; "off" is the
#               stock driver and a server without hardware stamps, "stock-bh" the
#               stock igb on system_bh_wq, those after it are txts's policies
#   WORKLOADS=  of: ntp ptp server latency flood turnaround steady cost
#   RATES=      of ntp, ptp and server, requests per second; else from the
#               saturation that the bench finds with "off"
#   RUNS=       runs of the NTP sweep
#   NTP_SHIFT=, SHIFT=  2^N ns per instruction in ntp, ptp and server (0), in
#               the others (1)
#   SPLIT=1     ntp, ptp and server with a third vCPU, for the interrupts
#   OUT=        where results go (build/bench)
#   KEEP=1      add to what that holds, instead of beginning again; what is in
#               there is not measured again
#   KVER=       as for make modules
#   JOBS=       VMs at a time; virtual time does not mind
#
# What is not chosen is as scripts/bench-matrix.sh has it. Leaves tables
# (bench.txt), CSV and SVG in build/bench; what each VM brought is below
# build/bench/raw. Fails if a VM failed, not for what it measured.
set -euo pipefail
. "$(dirname "$0")/env.sh"
HINT='make bench'
(($# == 0)) || die "unknown argument $1" \
	'what may be set is set as in: make bench QUICK=1 VARIANTS="stock auto"'

BENCH=$TOP/tools/bench
out=$(realpath -m "${OUT:-$BUILD/bench}")
raw=$out/raw
: "${DEVICES:=}" "${VARIANTS:=}" "${WORKLOADS:=}" "${RATES:=}" "${RUNS:=}"
: "${NTP_SHIFT:=0}" "${SHIFT:=1}"
. "$SCRIPTS/bench-matrix.sh"
. "$SCRIPTS/bench-vm.sh"

one_of()
{
	local name=$1 known=$2 word

	for word in ${!name}; do
		[[ " $known " == *" $word "* ]] ||
			die "$name=\"${!name}\": there is no $word" \
				"choose from: $known"
	done
}

number()
{
	local name

	for name; do
		[[ ${!name} =~ ^[0-9]$ ]] ||
			die "$name=${!name} is not a number from 0 to 9" \
				'the first lines of scripts/bench.sh list what may be set'
	done
}

check_settings()
{
	local device

	pick_mode
	one_of VARIANTS "$KNOWN_VARIANTS"
	one_of WORKLOADS "$KNOWN_WORKLOADS"
	number NTP_SHIFT SHIFT ${RUNS:+RUNS}
	[[ $RUNS != 0 ]] || die 'RUNS=0 would measure nothing' 'use 1 to 9'
	[[ $RATES =~ ^[0-9\ ]*$ ]] || die "RATES=\"$RATES\" are not numbers" \
		'use for instance RATES="12000 14000 16000"'
	KBASE=6.12
	for device in $DEVICES; do
		parse_device "$device"
	done
	pick_matrix
	cpus=2
	! flag SPLIT || cpus=3
	! flag KEEP || say "adding to what $out holds"
	[[ -n $plan ]] || die 'nothing of the matrix is left' \
		'name DEVICES= too, or choose other WORKLOADS= and VARIANTS='
}

# True for what can be measured: only igb has work to move, only the NTP server
# knows how to be without stamps, PREEMPT_RT is there for latency alone, and
# levels are the policy's own.
makes_sense()
{
	local workload=$1 device=$2 variant=$3

	case $variant in
	off)	[[ $workload == ntp ]] || return 1 ;;
	stock-bh) [[ $device != i226* ]] || return 1 ;;
	esac
	[[ $device != *-rt || $workload == latency ]] || return 1
	[[ $workload != steady || $variant == auto ]]
}

# A line for each VM: WORKLOAD DEVICE VARIANT RUN.
list_jobs()
{
	local workload device runs variants percents variant run line

	while read -r workload device runs variants percents; do
		[[ -n $workload ]] || continue
		[[ $workload == ntp ]] || runs=1
		for ((run = 1; run <= runs; run++)); do
			for variant in ${variants//,/ }; do
				! makes_sense "$workload" "$device" "$variant" ||
					echo "$workload $device $variant $run"
			done
		done
	done <<<"$plan" | awk '!seen[$0]++' | while read -r line; do
		[[ $(cat "$raw/${line// /.}/status" 2>/dev/null) == 0 ]] ||
			echo "$line"
	done
}

# The devices of the jobs, or those of one workload's.
devices()
{
	awk -v workload="${1:-}" 'workload == "" || $1 == workload {
		print $2 }' "$out/jobs" | sort -u
}

wants_cards()
{
	devices | grep -qv '^82576'
}

# As many VMs at a time as there are CPUs.
run_jobs()
{
	local running=0 failed=0 done=0 total line
	local -a words

	total=$(wc -l <"$1")
	while read -r line; do
		read -ra words <<<"$line"
		if ((running == JOBS)); then
			wait -n || failed=1
			running=$((running - 1)) done=$((done + 1))
			echo "$done of $total VMs done"
		fi
		"$2" "${words[@]}" </dev/null &
		running=$((running + 1))
	done <"$1"
	while ((running--)); do
		wait -n || failed=1
	done
	return "$failed"
}

share_of()
{
	local saturation=$1 percent

	shift
	for percent; do
		echo -n "$((saturation * percent / 100)) "
	done
}

# Without stamps, what a register read or a stamp may cost does not matter.
machine_of()
{
	sed 's/-[0-9]*ns//; s/-budget[0-9]*//' <<<"$1"
}

# What a machine's server can do without stamps.
search()
{
	parse_device "$1"
	TRACE=''
	vm "search.$1" "$1" off "$cpus" "${device_shift:-$NTP_SHIFT}" ntp.sh \
		RATES=search LENGTH=300ms SEED=1
}

list_searches()
{
	local workload machine

	[[ -z $RATES ]] || return 0
	for workload in ntp ptp server; do
		machine_of "$(devices "$workload")"
	done | sed '/^$/d' | sort -u | while read -r machine; do
		[[ -s $raw/search.$machine/saturation ]] || echo "$machine"
	done
}

look_for_saturation()
{
	[[ -s $out/searches ]] || return 0
	step "look for the saturation of $(wc -l <"$out/searches") servers" \
		run_jobs "$out/searches" search
	say 'without hardware stamps, 1 % are lost from here on:'
	while read -r device; do
		say "  $device: $(<"$raw/search.$device/saturation")" \
			'requests per second'
	done <"$out/searches"
}

# How long all of it takes, so that nobody waits for what takes a night.
tell_estimate()
{
	local workload device variant rates sum=0 count

	while read -r device; do
		((sum += $(estimate search "$device" off 0)))
	done <"$out/searches"
	while read -r workload device variant _; do
		rates=$(wc -w <<<"${RATES:-$(percents_of "$workload" "$device")}")
		((sum += $(estimate "$workload" "$device" "$variant" "$rates")))
	done <"$out/jobs"
	count=$(($(wc -l <"$out/jobs") + $(wc -l <"$out/searches")))
	say "$count VMs, about $((sum / 60 + 1)) minutes of CPU time," \
		"$JOBS at a time (mode $mode)"
}

percents_of()
{
	awk -v workload="$1" -v device="$2" '
		$1 == workload && $2 == device {
			$1 = $2 = $3 = $4 = ""; print; exit }' <<<"$plan"
}

# The rates of a job; a server's is beyond its saturation.
rates_of()
{
	local workload=$1 device=$2 saturation percents

	if [[ -n $RATES ]]; then
		[[ $workload == server ]] && echo "${RATES##* }" ||
			echo "$RATES"
		return
	fi
	saturation=$(<"$raw/search.$(machine_of "$device")/saturation")
	percents=120
	[[ $workload == server ]] ||
		percents=$(percents_of "$workload" "$device")
	# shellcheck disable=SC2086
	share_of "$saturation" $percents
}

prepare_release()
{
	"$SCRIPTS/fetch.sh" image "$1"
	"$SCRIPTS/fetch.sh" headers "$1"
	"$SCRIPTS/fetch.sh" source-6.12
	# shellcheck disable=SC2046
	"$SCRIPTS/bench-modules.sh" "$1" $(wants_cards && echo nic)
	take_modules "$1"
}

check_settings
# Without KEEP nothing counts as there.
flag KEEP || raw=/dev/null
jobs=$(list_jobs)
raw=$out/raw
[[ -n $jobs ]] || die 'no workload suits these devices and variants' \
	'see the first lines of scripts/bench.sh'
start=$SECONDS
"$SCRIPTS/packages.sh" bench
pick_kernel
lock "bench${OUT:+-$(cksum <<<"$out" | cut -d' ' -f1)}"
if ! flag KEEP; then
	rm -rf "$out"
fi
rm -rf "$out/modules"
mkdir -p "$raw"
echo "$jobs" >"$out/jobs"
list_searches >"$out/searches"
tell_estimate
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"
for release in $(devices | sed "s/.*-rt$/$KBASE-rt-amd64/; t; s/.*/$KBASE-amd64/" |
	sort -u); do
	prepare_release "$release"
done

look_for_saturation
failed=0
try_step "measure: $(wc -l <"$out/jobs") VMs, mode $mode" \
	run_jobs "$out/jobs" job
((STEP_RC == 0)) || failed=1
python3 "$SCRIPTS/bench_report.py" "$out" "$KBASE-amd64" "$mode" |
	tee "$out/bench.txt"
say "tables, CSV and plots are in $out ($((SECONDS - start)) s)"
((failed == 0)) || die 'VMs failed' "read $raw/*.log"
