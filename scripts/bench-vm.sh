# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Sourced by bench.sh: one VM of the bench.
#
#   parse_device DEVICE    sets card, mmio (ns), device_shift, budget (permille
#                          or nothing) and release
#   take_modules RELEASE   copies what VMs load, so that a build meanwhile does
#                          no harm
#   job WORKLOAD DEVICE VARIANT RUN
#                          boots one; its results land in build/bench/raw
DEVICE_WORDS='a card (82576, i210, i226, i350), then as you like -NNNns, -shiftN, -budgetN and -rt'

parse_device()
{
	local device=$1

	[[ $device =~ ^(82576|i210|i226|i350)(-([1-9][0-9]{2,3})ns)?(-shift([0-9]))?(-budget([1-9][0-9]{0,2}))?(-rt)?$ ]] ||
		die "there is no device $device" "give $DEVICE_WORDS"
	card=${BASH_REMATCH[1]}
	mmio=${BASH_REMATCH[3]}
	device_shift=${BASH_REMATCH[5]}
	release=$KBASE-amd64
	budget=${BASH_REMATCH[7]}
	[[ -z ${BASH_REMATCH[8]} ]] || release=$KBASE-rt-amd64
	# QEMU's registers cost nothing; those of the emulated cards do.
	[[ $card == 82576 ]] || : "${mmio:=1000}"
	: "${mmio:=0}"
}

take_modules()
{
	local release=$1 from=$BUILD/$1 to=$out/modules/$1 variant

	mkdir -p "$to"/{82576,cards}
	cp "$from/bench"/*.ko "$to/"
	mkdir -p "$to/82576"/{testing,bh}
	cp "$from-testing"/*.ko "$to/82576/testing/"
	cp "$from/peer/igb.ko" "$to/82576/bh/"
	! wants_cards || {
		cp "$from/nic/front/txts_nic_x86.ko" "$to/cards/"
		for variant in stock testing bh; do
			mkdir -p "$to/cards/$variant"
			cp "$from/nic/$variant"/*.ko "$to/cards/$variant/"
		done
	}
	mkdir -p "$out/modules/tools"
	# Their debugging information is most of what a VM would have to load.
	find "$to" -name "*.ko" -exec strip -g {} +
	cp "$BUILD/tools/"{txts-probe,txts-ntp-load} "$BENCH"/*.sh \
		"$TOP/tools/testing/nic/guest/pairs.sh" "$out/modules/tools/"
}

# Sets ARGS, the options of vm.sh that make a variant on a device, and PARAMS,
# what the guest is told of it.
variant_args()
{
	local device=$1 variant=$2 modules set policy='' stamps=yes file

	parse_device "$device"
	modules=$out/modules/$release
	case $variant in
	off)	set=stock stamps=no ;;
	stock)	set=stock ;;
	stock-bh) set=bh ;;
	*)	set=testing policy=$variant ;;
	esac
	if [[ $card != 82576 ]]; then
		ARGS=(-l -f "$modules/cards/txts_nic_x86.ko")
		for file in "$modules/cards/$set"/*.ko; do
			ARGS+=(-f "$file")
		done
	elif [[ $set == stock ]]; then
		ARGS=()
	else
		ARGS=(-m "$modules/82576/$set")
	fi
	PARAMS=("MMIO_NS=$mmio" "VARIANT=$variant" "POLICY=$policy"
		"STAMPS=$stamps" "CARD=${card/#82576/}" "BUDGET=$budget"
		"CLIENTS=$((2000 >> ${device_shift:-$NTP_SHIFT}))"
		"WARM=$((6000 >> ${device_shift:-$NTP_SHIFT}))" "WARM_TIME=1s"
		"TICK=$((100 << ${device_shift:-$NTP_SHIFT}))us"
		"REQUEST_COST=$((30000 << ${device_shift:-$NTP_SHIFT}))")
}

# NAME DEVICE VARIANT CPUS SHIFT SCRIPT [NAME=VALUE...]
vm()
{
	local name=$1 device=$2 variant=$3 vcpus=$4 shift=$5 script=$6
	local start=$SECONDS tools=$out/modules/tools file TIMEFORMAT='%U %S'

	shift 6
	variant_args "$device" "$variant"
	[[ -z $TRACE ]] || ARGS+=(-T "$TRACE")
	for file in txts_work_flood.ko txts_mmio_cost.ko; do
		ARGS+=(-f "$out/modules/$release/$file")
	done
	for file in txts-probe txts-ntp-load common.sh pairs.sh; do
		ARGS+=(-f "$tools/$file")
	done
	echo "$shift" >"$raw/$name.shift"
	{ time "$SCRIPTS/vm.sh" -k "$release" "${ARGS[@]}" -c "$vcpus" \
		-s "$shift" -t 7200 -o "$raw/$name" -x chronyd -x chronyc \
		"$tools/$script" "${PARAMS[@]}" "$@" \
		>"$raw/$name.log" 2>&1; } 2>"$raw/$name.time" || {
		echo "$name: FAILED, see $raw/$name.log"
		tail -n 20 "$raw/$name.log"
		return 1
	}
	echo "$name: done after $((SECONDS - start)) s"
}

# A guest script's name is its workload's.
job()
{
	local workload=$1 device=$2 variant=$3 run=$4
	local name=$workload.$device.$variant.$run shift
	local -a args=("SEED=$run")

	parse_device "$device"
	TRACE=
	case $workload in
	ntp|ptp|server)
		shift=${device_shift:-$NTP_SHIFT}
		args+=("RATES=$(rates_of "$workload" "$device")" "LENGTH=$length"
			"PTP_8=$ptp8" "PTP_128=$ptp128")
		vm "$name" "$device" "$variant" "$cpus" "$shift" \
			"$workload.sh" "${args[@]}"
		return ;;
	latency)
		args+=("SCENARIOS=$scenarios" "IDLE_COUNT=$idle_count"
			"LOAD_COUNT=$load_count" "FIFO_COUNT=$fifo_count"
			"FLOOD_RATE=40000")
		[[ $device != *-rt ]] || args+=("SCENARIOS=$rt_scenarios") ;;
	flood)
		args+=("PTP_8=$flood8" "PTP_128=$flood128")
		# Two minutes of a card with one slot are what is asked for.
		[[ $variant != auto || $card == i226 ]] ||
			args+=("PTP_8=$flood_auto8") ;;
	turnaround) args+=("COUNT=$turns") ;;
	steady)	args+=("LEVELS=$steady_levels"
		"SECONDS_LONG=$steady_seconds") ;;
	cost)	args+=("COUNT=$cost_count") ;;
	esac
	shift=${device_shift:-$SHIFT}
	case $workload.$card in
	cost.82576) TRACE=e1000e_core_read ;;
	# Slow enough that nobody waits for the wire.
	cost.*)	shift=3 args+=("MMIO_NS=0") ;;
	esac
	vm "$name" "$device" "$variant" 1 "$shift" "$workload.sh" "${args[@]}"
}
