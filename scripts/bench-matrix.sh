# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Sourced by bench.sh: what is measured, on what, how long. The documentation
# (txts-policy.rst) has it as a table.
#
#   pick_mode      sets mode and the sizes of everything, from QUICK and ALL
#   pick_matrix    sets plan, a line for each series of VMs:
#                  WORKLOAD DEVICE RUNS VARIANT,... [PERCENT...]
#   estimate WORKLOAD DEVICE VARIANT RATES
#                  prints the seconds of CPU time that a VM needs, roughly
KNOWN_VARIANTS='off stock stock-bh kworker inline bh aux auto'
KNOWN_WORKLOADS='ntp ptp server latency flood turnaround steady cost'
KNOWN_CARDS='82576 i210 i226 i350'

# In percent of what a server without stamps can answer. The clients of an
# emulated card cannot ask for half as much again.
SWEEP='5 30 50 65 80 90 100 110 130 150'
CARD_SWEEP='5 30 50 60 70 80 90 100 110 120'
SOME='50 80 95 110'
FEW='50 95'

flag()
{
	case ${!1:-} in
	''|0)	return 1 ;;
	1)	return 0 ;;
	*)	die "$1=${!1} is neither 1 nor 0" \
			'the first lines of scripts/bench.sh list what may be set' ;;
	esac
}

pick_mode()
{
	if flag QUICK && flag ALL; then
		die 'QUICK=1 and ALL=1 exclude each other' 'choose one'
	fi
	mode=default
	! flag QUICK || mode=quick
	! flag ALL || mode=all
	case $mode in
	quick)
		length=200ms idle_count=2000 load_count=1000 fifo_count=200
		ptp8=0 ptp128=64 flood8=0 flood128=128 flood_auto8=0
		turns=5000 steady_levels=20 steady_seconds=1 cost_count=2000
		scenarios='idle other' rt_scenarios='idle fifo' ;;
	default)
		length=300ms idle_count=20000 load_count=3000 fifo_count=1000
		ptp8=16 ptp128=256 flood8=40 flood128=1280 flood_auto8=960
		turns=10000 steady_levels=20 steady_seconds=10 cost_count=5000
		scenarios='idle other fifo softirq kworker'
		rt_scenarios='idle other fifo' ;;
	all)
		length=1000ms idle_count=100000 load_count=20000
		fifo_count=5000 ptp8=160 ptp128=1280
		flood8=160 flood128=2560 flood_auto8=960
		turns=50000 steady_levels=20 steady_seconds=10
		cost_count=50000
		scenarios='idle other fifo softirq kworker'
		rt_scenarios=$scenarios ;;
	esac
}

wants()
{
	[[ -z ${!1} || " ${!1} " == *" $2 "* ]]
}

# WORKLOADS DEVICES VARIANTS RUNS [PERCENTS]; what was chosen by hand in
# WORKLOADS, VARIANTS and RUNS limits it.
plan()
{
	local workload device variant chosen

	for device in $2; do
		for workload in $1; do
			wants WORKLOADS "$workload" || continue
			chosen=
			for variant in $3; do
				! wants VARIANTS "$variant" ||
					chosen+=${chosen:+,}$variant
			done
			[[ -n $chosen ]] || continue
			plan+="$workload $device ${RUNS:-$4} $chosen ${5:-}"$'\n'
		done
	done
}

# What a workload has no use for is left out later.
pick_matrix()
{
	local device others sweep

	plan=
	if [[ -n $DEVICES ]]; then
		for device in $DEVICES; do
			sweep=$SWEEP
			[[ $device == 82576* ]] || sweep=$CARD_SWEEP
			plan "$KNOWN_WORKLOADS" "$device" \
				"${VARIANTS:-off stock kworker bh auto}" 1 \
				"$sweep"
		done
		return
	fi
	case $mode in
	quick)
		plan ntp i210 'off stock auto' 1 '60 100'
		plan 'latency cost' i210 'stock bh auto' 1
		plan 'latency turnaround' i226 'stock auto' 1 ;;
	default)
		plan latency i210 'auto stock kworker inline bh aux' 1
		plan ntp i210 'off auto' 5 "$CARD_SWEEP"
		plan ntp i210 'stock stock-bh' 1 "$CARD_SWEEP"
		plan ntp i210-budget200 auto 1 '50 60 70 100'
		plan turnaround i210 'auto stock kworker bh' 1
		plan cost i210 'auto stock stock-bh bh' 1
		plan latency i210-rt 'auto stock inline' 1
		plan ntp 82576-1000ns 'off auto' 5 "$SWEEP"
		plan ntp 82576-1000ns 'stock stock-bh' 1 "$SWEEP"
		plan latency i226 'auto stock bh' 1
		plan ntp i226 'off auto' 5 "$SOME"
		plan ntp i226 'stock kworker bh' 1 "$SOME"
		plan flood i210-2000ns-shift3 'auto stock' 1
		plan flood i226-2000ns-shift3 auto 1
		plan 'ptp server' i210 'auto stock' 1 90
		others='i210-200ns i210-5000ns'
		others+=' 82576-1000ns-shift1 82576-1000ns-shift2'
		plan ntp "$others" 'off auto' 5 "$FEW"
		plan ntp "$others" bh 1 "$FEW"
		plan steady i210-2000ns-shift3 auto 1
		plan turnaround i226 'auto kworker' 1
		plan cost 'i226 82576-1000ns' 'auto stock' 1
		plan latency i226-rt auto 1
		plan latency 82576-1000ns 'auto stock' 1 ;;
	all)
		plan ntp 'i210 i226' 'off stock stock-bh kworker bh auto' 5 \
			"$CARD_SWEEP"
		plan ntp 82576-1000ns 'off stock stock-bh kworker bh auto' 5 \
			"$SWEEP"
		plan "$KNOWN_WORKLOADS" 'i210 i226 i350 82576-1000ns' \
			"$KNOWN_VARIANTS" 1 "$CARD_SWEEP"
		plan 'ntp latency' 82576 "$KNOWN_VARIANTS" 1 "$SWEEP"
		plan latency 'i210-rt i226-rt i350-rt' "$KNOWN_VARIANTS" 1
		plan flood 'i210-2000ns-shift3 i226-2000ns-shift3' "$KNOWN_VARIANTS" 1
		plan ntp 'i210-200ns i210-500ns i210-2000ns i210-5000ns i226-200ns i226-5000ns 82576-1000ns-shift1 82576-1000ns-shift2' \
			'off stock kworker bh auto' 1 "$CARD_SWEEP" ;;
	esac
}

# From what VMs took where this was written: 12 s to boot, then about 8 s for a
# virtual second with one and 10 s with two busy CPUs of 1000 MIPS.
estimate()
{
	local workload=$1 device=$2 variant=$3 rates=$4 ms=0 seconds=14

	parse_device "$device"
	case $workload in
	search)	seconds=45 ;;
	ntp)	seconds=26 ms=$((rates * (300 + ${length%ms}))) ;;
	ptp)	seconds=26 ms=$((rates * (ptp8 * 125 + ptp128 * 8 + 600))) ;;
	server)	seconds=30 ms=1500 ;;
	latency) seconds=20 ms=$((idle_count / 30 + load_count / 2)) ;;
	flood)	ms=$((flood128 * 4 + flood8 * 60))
		[[ $variant != auto || $card == i226 ]] ||
			ms=$((ms + flood_auto8 * 60)) ;;
	turnaround) ms=$((turns / 20)) ;;
	steady)	ms=$((steady_levels * (steady_seconds + 1) * 300)) ;;
	esac
	((${device_shift:-0} == 0)) || ms=$((ms * 2 >> device_shift))
	echo $((seconds + ms / 100))
}
