#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The bench of the policy: drivers and policies side by side in QEMU, in
# virtual time, on one kernel and under the same loads:
#
#   bench.sh
#
# Environment:
#   QUICK=1     a few minutes: few variants, few rates, few packets
#   ALL=1       everything, for a night
#   DEVICES=    82576 (QEMU's, whose registers cost nothing), 82576-1000ns (the
#               same, but each register read takes 1000 ns longer; any number)
#   VARIANTS=   of: off stock stock-bh kworker inline bh aux auto; "off" is the
#               stock driver and a server without hardware stamps, "stock-bh" the
#               stock driver on system_bh_wq, those after it are txts's policies
#   WORKLOADS=  of: ntp ptp server latency flood cost
#   RATES=      of the NTP sweep, requests per second; else from the saturation
#               that the bench finds with "off"
#   RUNS=       runs of the NTP sweep
#   NTP_SHIFT=, SHIFT=  2^N ns per instruction in ntp and ptp (0), in the
#               others (1)
#   SPLIT=1     ntp, ptp and server with a third vCPU, for the interrupts
#   KVER=       as for make modules
#
# Leaves tables (bench.txt), CSV and SVG in build/bench; what each VM brought is
# below build/bench/raw. Fails if a VM failed, not for what it measured.
set -euo pipefail
. "$(dirname "$0")/env.sh"
# shellcheck disable=SC2034
HINT='make bench'
(($# == 0)) || die "unknown argument $1" \
	'what may be set is set as in: make bench QUICK=1 VARIANTS="stock auto"'

BENCH=$TOP/tools/bench
out=$BUILD/bench
raw=$out/raw
known_variants='off stock stock-bh kworker inline bh aux auto'
known_workloads='ntp ptp server latency flood cost'

flag()
{
	case ${!1:-} in
	''|0)	return 1 ;;
	1)	return 0 ;;
	*)	die "$1=${!1} is neither 1 nor 0" 'the first lines of scripts/bench.sh list what may be set' ;;
	esac
}

one_of()
{
	local name=$1 known=$2 word

	for word in ${!name}; do
		[[ " $known " == *" $word "* ]] ||
			die "$name=\"${!name}\": there is no $word" \
				"choose from: $known"
	done
	[[ -n ${!name} ]] || die "$name is empty" "choose from: $known"
}

# What each mode measures: the matrix that the documentation states.
if flag QUICK && flag ALL; then
	die 'QUICK=1 and ALL=1 exclude each other' 'choose one'
elif flag QUICK; then
	mode=quick
	: "${VARIANTS:=off stock stock-bh auto}" "${RUNS:=1}"
	: "${DEVICES:=82576}" "${WORKLOADS:=ntp latency flood cost}"
	percents='50 90 105'
	length=300ms count=1500 fifo_count=200 scenarios='idle other kworker'
	ptp_percents='90' ptp8=0 ptp128=64 flood_ptp8=0 flood_ptp128=128
	flood_count=20000 cost_count=5000
elif flag ALL; then
	mode=all
	: "${VARIANTS:=$known_variants}" "${RUNS:=5}"
	percents='5 20 40 50 60 70 80 90 95 100 105 110 120 130 150'
	length=3s count=100000 fifo_count=20000
	scenarios='idle other fifo softirq kworker'
	ptp_percents='70 95 120' ptp8=960 ptp128=2560
	flood_ptp8=960 flood_ptp128=15360
	flood_count=200000 cost_count=50000
else
	mode=default
	: "${VARIANTS:=$known_variants}" "${RUNS:=3}"
	: "${DEVICES:=82576-1000ns}"
	percents='5 30 50 70 80 90 95 100 105 115 130 150'
	length=1s count=20000 fifo_count=4000
	scenarios='idle other fifo softirq kworker'
	ptp_percents='70 120' ptp8=40 ptp128=384
	flood_ptp8=160 flood_ptp128=1280
	flood_count=100000 cost_count=20000
fi
: "${DEVICES:=82576 82576-1000ns}" "${WORKLOADS:=$known_workloads}"
: "${NTP_SHIFT:=0}" "${SHIFT:=1}" "${RATES:=}"
for device in $DEVICES; do
	[[ $device =~ ^82576(-[1-9][0-9]{2,3}ns)?$ ]] ||
		die "DEVICES=\"$DEVICES\": there is no $device" \
			'use 82576 or 82576-1000ns, with 100 to 9999'
done
one_of VARIANTS "$known_variants"
one_of WORKLOADS "$known_workloads"
[[ $RUNS != 0 ]] || die 'RUNS=0 would measure nothing' 'use 1 to 9'
for name in RUNS NTP_SHIFT SHIFT; do
	[[ ${!name} =~ ^[0-9]$ ]] || die "$name=${!name} is not a number from 0 to 9" \
		'the first lines of scripts/bench.sh list what may be set'
done
[[ $RATES =~ ^[0-9\ ]*$ ]] || die "RATES=\"$RATES\" are not numbers" \
	'use for instance RATES="12000 14000 16000"'

cpus=2
! flag SPLIT || cpus=3

wants()
{
	[[ " ${!1} " == *" $2 "* ]]
}

# True if txts is among the variants.
wants_policy()
{
	local variant

	for variant in $VARIANTS; do
		[[ $variant == @(off|stock|stock-bh) ]] || return 0
	done
	return 1
}

# The options of vm.sh that make a variant on a device.
variant_args()
{
	local device=$1 variant=$2 policy='' stamps=yes mmio=0

	ARGS=()
	case $variant in
	off)	stamps=no ;;
	stock)	;;
	stock-bh) ARGS=(-m "$BUILD/$RELEASE/peer") ;;
	*)	ARGS=(-m "$BUILD/$RELEASE-testing")
		policy=$variant ;;
	esac
	[[ $device != *-*ns ]] || mmio=${device#*-}
	PARAMS=("MMIO_NS=${mmio%ns}" "VARIANT=$variant" "POLICY=$policy"
		"STAMPS=$stamps" "CLIENTS=2000" "WARM=$warm" "WARM_TIME=1s")
}

# Runs one VM; its results land in build/bench/raw/NAME.
vm()
{
	local name=$1 device=$2 variant=$3 cpus=$4 shift=$5 script=$6 start=$SECONDS

	shift 6
	variant_args "$device" "$variant"
	"$SCRIPTS/vm.sh" -k "$RELEASE" "${ARGS[@]}" ${TRACE:+-T "$TRACE"} \
		-c "$cpus" -s "$shift" -t 7200 -o "$raw/$name" -f "$BUILD/tools/txts-probe" \
		-f "$BUILD/tools/txts-ntp-load" -f "$BENCH/common.sh" \
		-f "$BUILD/$RELEASE/bench/txts_work_flood.ko" \
		-f "$BUILD/$RELEASE/bench/txts_mmio_cost.ko" \
		-x chronyd -x chronyc "$BENCH/$script" \
		"${PARAMS[@]}" "$@" >"$raw/$name.log" 2>&1 || {
		echo "$name: FAILED, see build/bench/raw/$name.log"
		tail -n 20 "$raw/$name.log"
		return 1
	}
	echo "$name: done after $((SECONDS - start)) s"
}

job()
{
	local workload=$1 device=$2 variant=$3 run=$4
	local name=$workload.$device.$variant.$run

	case $workload in
	ntp)	vm "$name" "$device" "$variant" "$cpus" "$NTP_SHIFT" ntp.sh \
			RATES="$RATES" LENGTH="$length" SEED="$run" ;;
	ptp)	vm "$name" "$device" "$variant" "$cpus" "$NTP_SHIFT" ptp.sh \
			RATES="$ptp_rates" SEED="$run" PTP_8="$ptp8" \
			PTP_128="$ptp128" ;;
	server)	vm "$name" "$device" "$variant" "$cpus" "$NTP_SHIFT" server.sh \
			RATES="$over_rate" LENGTH="$length" SEED="$run" ;;
	latency) vm "$name" "$device" "$variant" 1 "$SHIFT" latency.sh \
			SCENARIOS="$scenarios" COUNT="$count" SEED="$run" \
			FIFO_COUNT="$fifo_count" FLOOD_RATE=40000 ;;
	flood)	vm "$name" "$device" "$variant" 1 "$SHIFT" flood.sh \
			PTP_8="$flood_ptp8" PTP_128="$flood_ptp128" SEED="$run" \
			FLOOD_COUNT="$flood_count" ;;
	cost)	TRACE=e1000e_core_read
		vm "$name" "$device" "$variant" 1 "$SHIFT" cost.sh \
			COUNT="$cost_count" ;;
	esac
}

# As many VMs at a time as there are CPUs: virtual time does not mind.
run_jobs()
{
	local list=$1 running=0 failed=0 line
	local -a words

	while read -r line; do
		read -ra words <<<"$line"
		if ((running == JOBS)); then
			wait -n || failed=1
			running=$((running - 1))
		fi
		job "${words[@]}" </dev/null &
		running=$((running + 1))
	done <"$list"
	while ((running--)); do
		wait -n || failed=1
	done
	return "$failed"
}

list_jobs()
{
	local device=$1 workload variant run runs

	for workload in $WORKLOADS; do
		runs=1
		[[ $workload != ntp ]] || runs=$RUNS
		for ((run = 1; run <= runs; run++)); do
			for variant in $VARIANTS; do
				# Only the server knows how to be without.
				[[ $variant != off || $workload == ntp ]] ||
					continue
				echo "$workload $device $variant $run"
			done
		done
	done
}

share_of()
{
	local saturation=$1 percent

	shift
	for percent; do
		echo -n "$((saturation * percent / 100)) "
	done
}

build_bench_modules()
{
	local dir=$BUILD/$RELEASE/bench file

	mkdir -p "$dir"
	for file in Kbuild txts_work_flood.c txts_mmio_cost.c; do
		cmp -s "$BENCH/$file" "$dir/$file" ||
			cp "$BENCH/$file" "$dir/$file"
	done
	make -C "$BUILD/headers/$RELEASE/usr/src/linux-headers-$RELEASE" \
		"M=$dir" W=1 "-j$JOBS" modules
}

# Sets RATES, ptp_rates and over_rate for a device.
pick_rates()
{
	local device=$1 found=$raw/search.$1/saturation

	saturation=
	if [[ -z $RATES ]]; then
		step "look for the saturation of the server ($device)" \
			vm "search.$device" "$device" off "$cpus" "$NTP_SHIFT" ntp.sh \
			RATES=search LENGTH=300ms SEED=1
		saturation=$(<"$found")
		say "$device: without hardware stamps, 1 % are lost from" \
			"$saturation requests per second on"
		# shellcheck disable=SC2086
		RATES=$(share_of "$saturation" $percents)
		# shellcheck disable=SC2086
		ptp_rates=$(share_of "$saturation" $ptp_percents)
		over_rate=$((saturation * 12 / 10))
	else
		ptp_rates=$RATES
		over_rate=${RATES##* }
	fi
}

start=$SECONDS
"$SCRIPTS/packages.sh" bench
pick_kernel
"$SCRIPTS/fetch.sh" image "$RELEASE"
"$SCRIPTS/fetch.sh" headers "$RELEASE"
"$SCRIPTS/fetch.sh" source-6.12
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"
step 'build the modules of the bench' build_bench_modules
! wants_policy || TESTING=1 "$SCRIPTS/modules.sh"
! wants VARIANTS stock-bh || "$SCRIPTS/demo-peer.sh" "$RELEASE"

lock bench
rm -rf "$out"
mkdir -p "$raw"
# Slow enough for any device, fast enough to reach every client three times.
warm=$((6000 >> NTP_SHIFT))
wanted_rates=$RATES
failed=0
for device in $DEVICES; do
	RATES=$wanted_rates ptp_rates='' over_rate=0
	if wants WORKLOADS ntp || wants WORKLOADS ptp ||
		wants WORKLOADS server; then
		pick_rates "$device"
	fi
	list_jobs "$device" >"$out/jobs"
	try_step "measure on $device: $(wc -l <"$out/jobs") VMs, mode $mode" \
		run_jobs "$out/jobs"
	((STEP_RC == 0)) || failed=1
done
python3 "$SCRIPTS/bench_report.py" "$out" "$RELEASE" "$mode" \
	"$NTP_SHIFT" "$SHIFT" | tee "$out/bench.txt"
say "tables, CSV and plots are in build/bench ($((SECONDS - start)) s)"
((failed == 0)) || die 'VMs failed' "read build/bench/raw/*.log"
