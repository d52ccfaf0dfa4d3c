# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of the smoke test: each exit of xmit after txts_reserve() and each path
# that cleans a Tx buffer, as listed in drivers/igb/igb.cocci, with a fault in
# it, and failures at probe. /data/txts_fault.ko makes kernel functions fail;
# kprobe events count the calls of the tracker. Only virtual time counts.
FAULT=/data/txts_fault.ko
TRACING=/sys/kernel/tracing
DRIVER=/sys/bus/pci/drivers/igb
XMIT=igb_xmit_frame_ring
TRACKED=(commit abort sent dropped)
ENOMEM=-12

fault()
{
	insmod "$FAULT" "$@"
}

# How many calls failed or, with "calls", matched: separated by commas if more
# functions than one were to fail.
fault_count()
{
	cat "/sys/module/txts_fault/parameters/${1:-hits}"
}

# Prints the hits of the fault, which ends.
end_fault()
{
	[[ -e /sys/module/txts_fault ]] || return 0
	fault_count
	rmmod txts_fault
}

start_counting()
{
	local call

	[[ -e $TRACING/trace ]] || mount -t tracefs none "$TRACING"
	# A neighbour solicitation must not take a hit.
	echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
	for call in "${TRACKED[@]}"; do
		echo "p:txtscalls/$call txts:__txts_$call" \
			>>"$TRACING/kprobe_events" || return 1
	done
	echo 1 >"$TRACING/events/txtscalls/enable" &&
		echo 1 >"$TRACING/events/txts/txts_deliver/enable"
}

stop_counting()
{
	local file

	for file in "$TRACING"/events/{txtscalls,txts}/enable; do
		[[ ! -e $file ]] || echo 0 >"$file"
	done
	echo >"$TRACING/kprobe_events"
	echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
}

# How often the tracker's function was called since it is counted.
calls()
{
	awk -v name="$1" '$1 == name { print $2 + 0; found = 1 }
		END { exit !found }' "$TRACING/kprobe_profile"
}

# Virtual milliseconds since boot.
now_ms()
{
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# The outcomes that the trace shows, with how long each request waited.
outcomes()
{
	sed -n 's/.* outcome=\([a-z]*\) .* waited_ns=\([0-9]*\).*/\1 \2/p' \
		"$TRACING/trace"
}

# Both ports, since NAPI that the fault held back only starts after a reset.
rewire()
{
	ip link set "$P0" down
	$FAR ip link set "$P1" down
	ip link set "$P0" up
	$FAR ip link set "$P1" up
	wait_for 100 carrier "$P0" && wait_for 100 far_carrier
}

address_port()
{
	wait_for 50 test -e "/sys/class/net/$P0" || return 1
	ip addr add 10.9.0.1/24 dev "$P0"
	ip link set "$P0" up
	wait_for 100 carrier "$P0"
}

# It says why, $1, and does not stay.
refused()
{
	local why=$1

	shift
	if fault "$@" 2>/dev/null; then
		echo "accepted: $*"
		rmmod txts_fault
		return 1
	fi
	dmesg | tail -n 2 | grep -F "txts_fault: $why" && return
	echo "not refused with \"$why\": $*"
	return 1
}

bad_faults()
{
	local good='symbol=register_netdev value=0'

	# shellcheck disable=SC2086
	refused 'symbol= is missing' &&
		refused 'value= needs' symbol=register_netdev &&
		refused 'value= needs' symbol=register_netdev value=0,1 &&
		refused "\`none' invalid" symbol=register_netdev value=none &&
		refused 'every= is 1' $good every=0 &&
		refused "\`-1' invalid" $good limit=-1 &&
		refused 'every=, limit=' $good caller=a,b &&
		refused 'symbol= has an empty name' symbol= value=0 &&
		refused 'cannot make no_such_symbol fail' \
			symbol=register_netdev,no_such_symbol value=0,0
}

# Only packets that ask for a stamp are sent meanwhile: each hit is an abort.
mapping_fails()
{
	local before calls hits

	before=$(counter aborted) && calls=$(calls abort) || return 1
	fault symbol=dma_map_page_attrs value=-1 every=3 device="$PCI" \
		caller=$XMIT || return 1
	probe -n 60 -t 30ms -s
	hits=$(end_fault)
	expect "$hits >= 20" "$(counter aborted) == $before + $hits" \
		"$(calls abort) == $calls + $hits" \
		"$(field /run/probe.json missing) == $hits" \
		"$(field /run/probe.json stamped) == 60 - $hits" \
		"$(field /run/probe.json nic_skipped) == 0" \
		"$(field /run/probe.json nic_timeouts) == 0" \
		"$(field /run/probe.json unreleased_bytes) == 0" &&
		works && adds_up && idle_slots
}

is_stopped()
{
	[[ $(awk '{ print $3 }' "/proc/$1/stat") == T ]]
}

# TCP sends again what is lost; the far end sums up what it got.
tcp()
{
	local rc=0 sniffer server client

	ptp_silence
	hwstamp_ctl -i "$P0" -t 1
	# See sockets() about QEMU.
	second_cpu 0
	ethtool -K "$P0" tso on gso on tx-udp-segmentation off
	wait_for 100 carrier "$P0" || return 1
	$FAR /data/txts-sockets serve 7001 &
	server=$!
	/data/txts-sockets sniff "$P0" &
	sniffer=$!
	sleep 0.2
	/data/txts-sockets tcp 10.9.0.2 7001 &
	client=$!
	wait_for 30 is_stopped "$client" && fault "$@" || rc=1
	kill -s CONT "$client"
	wait "$client" || rc=1
	calls=$(fault_count calls)
	hits=$(end_fault)
	echo "$hits hits, $calls calls"
	kill "$server" "$sniffer"
	wait "$server" "$sniffer"
	second_cpu 1
	hwstamp_ctl -i "$P0" -t 0
	wait_for 100 carrier "$P0" && ((rc == 0))
}

aborted_again()
{
	expect "$(counter aborted) > $1" "$(counter aborted) <= $1 + ${hits%,*}" \
		"$(calls abort) - $2 == $(counter aborted) - $1" &&
		works && adds_up && idle_slots
}

# The head of a packet is mapped, then a fragment fails and the head is
# unmapped, which is only counted.
fragment_fails()
{
	local aborted aborts calls hits

	aborted=$(counter aborted) && aborts=$(calls abort) || return 1
	tcp symbol=dma_map_page_attrs,dma_unmap_page_attrs value=-1,0 \
		every=2,1000000 limit=3 caller=$XMIT,$XMIT || return 1
	expect "${hits#*,} == 0" "${calls#*,} > 0" &&
		aborted_again "$aborted" "$aborts"
}

# The header of a packet to be segmented is shared and cannot be copied.
header_fails()
{
	local aborted aborts calls hits

	aborted=$(counter aborted) && aborts=$(calls abort) || return 1
	tcp symbol=pskb_expand_head value=$ENOMEM limit=3 \
		caller=$XMIT && aborted_again "$aborted" "$aborts"
}

# A request is in the ring, not cleaned as NAPI does not run, its stamp not seen:
# whatever cleans the ring ends it as flushed and reports the buffer.
start_stuck()
{
	hwstamp_ctl -i "$P0" -t 1
	echo >"$TRACING/trace"
	fault symbol=igb:igb_txts_ready,napi_schedule_prep value=0,0 || return 1
	start_stream --keep -n 20
	in_flight=$(counter in_flight)
}

# Against the calls that were counted before, in the order of TRACKED.
expect_dropped()
{
	expect "$in_flight == 1" "$(calls commit) == $1 + 1" \
		"$(calls sent) == $3" "$(calls dropped) == $4 + 1" || return 1
	[[ $(outcomes) =~ ^'flushed '[0-9]+$ ]] || { outcomes; return 1; }
}

all_calls()
{
	local call

	for call in "${TRACKED[@]}"; do
		calls "$call"
	done
}

ring_cleaned()
{
	local flushed stale before in_flight

	flushed=$(counter flushed) && stale=$(counter stale_tickets) ||
		return 1
	mapfile -t before < <(all_calls)
	start_stuck && "$@" && wait_for 20 idle_slots || return 1
	end_fault
	end_stream
	expect_dropped "${before[@]}" &&
		expect "$(counter flushed) == $flushed + 1" \
			"$(counter stale_tickets) == $stale" || return 1
	rewire && hwstamp_ctl -i "$P0" -t 0 && works && adds_up && idle_slots
}

ring_unbound()
{
	local before in_flight

	mapfile -t before < <(all_calls)
	start_stuck && echo "$PCI" >"$DRIVER/unbind" || return 1
	end_fault
	kill -9 "$STREAM" 2>/dev/null
	wait "$STREAM"
	expect_dropped "${before[@]}" || return 1
	echo "$PCI" >"$DRIVER/bind" && address_port && rewire && works &&
		adds_up && idle_slots
}

ring_unloaded()
{
	local before in_flight

	mapfile -t before < <(all_calls)
	start_stuck && rmmod igb || return 1
	end_fault
	kill -9 "$STREAM" 2>/dev/null
	wait "$STREAM"
	expect_dropped "${before[@]}" || return 1
	rmmod txts && load_modules && wire_ports && works && adds_up
}

load_modules()
{
	insmod /modules/txts.ko && insmod /modules/igb.ko
}

slot_is()
{
	[[ $(awk '$1 == 0 { print $2 }' "${COUNTERS%/*}/slots") == "$1" ]]
}

# One packet whose stamp never shows, with the faults named.
times_out()
{
	local before timeouts hits waited

	before=$(counter mmio_ready) || return 1
	timeouts=$(nic_stat tx_hwtstamp_timeouts)
	hwstamp_ctl -i "$P0" -t 1
	echo >"$TRACING/trace"
	fault "$@" || return 1
	probe --keep -n 1 -t 100ms
	expect "$(field /run/probe.json missing) == 1" \
		"$(field /run/probe.json unreleased_bytes) == 0" || return 1
	hits=$(fault_count)
	outcomes
	waited=$(outcomes | sed -n 's/^timeout //p')
	expect "${hits%,*} == $(counter mmio_ready) - $before" \
		"${hits%,*} > 0" "${hits%,*} < 20" \
		"$waited >= 20000000" "$waited < 22000000" \
		"$(nic_stat tx_hwtstamp_timeouts) == $timeouts + 1"
}

# Then all stamps come, none is refused, and no time was spent on waiting.
works_at_once()
{
	works 50 --keep -s && expect "$(field /run/probe.json stamped) == 50" \
		"$(field /run/probe.json nic_skipped) == 0" \
		"$(field /run/probe.json nic_timeouts) == 0" &&
		hwstamp_ctl -i "$P0" -t 0 && adds_up && idle_slots
}

# The MAC says that the frame has left: so the slot is free again.
lost_stamp()
{
	local start orphans

	orphans=$(counter orphans) && start=$(now_ms) || return 1
	times_out symbol=igb:igb_txts_ready value=0 && slot_is free || return 1
	end_fault
	# It has the stamp all the same, and gives it up only in a reset.
	rewire && works_at_once &&
		expect "$(now_ms) - $start < 10000" \
			"$(counter orphans) == $orphans"
}

# The MAC says that it is busy: the slot is back when the late stamp was read.
late_stamp()
{
	local start orphans

	orphans=$(counter orphans) && start=$(now_ms) || return 1
	times_out symbol=igb:igb_txts_ready,igb:igb_txts_mac value=0,0 &&
		slot_is quarantine || return 1
	end_fault
	works_at_once && expect "$(now_ms) - $start < 5000" \
		"$(counter orphans) == $orphans + 1"
}

# The port works as one without PHC, and the module goes away.
no_phc()
{
	local hits before

	echo "$PCI" >"$DRIVER/unbind" || return 1
	fault symbol=ptp_clock_register value=$ENOMEM || return 1
	echo "$PCI" >"$DRIVER/bind" || return 1
	hits=$(end_fault)
	address_port && before=$(counter skipped_off) || return 1
	hwstamp_ctl -i "$P0" -t 1
	probe --keep -n 50 -t 50ms -w -s
	expect "$hits == 1" "$(field /run/probe.json software_only) == 50" \
		"$(field /run/probe.json nic_skipped) == 50" \
		"$(counter skipped_off) == $before + 50" \
		"$(counter requested) == 0" || return 1
	[[ ! -e $DRIVER/$PCI/ptp ]] || return 1
	adds_up && rmmod igb && rmmod txts && load_modules &&
		wire_ports && works
}

# Nothing of a port whose probe failed is left.
nothing_left()
{
	[[ ! -e /sys/class/net/$P0 && ! -e $DRIVER/$PCI &&
	   ! -e ${COUNTERS%/*} && ! -e /sys/bus/pci/devices/$PCI/ptp ]] &&
		! thread_is_named && ! grep -E "$P0\$|$P0-" /proc/interrupts
}

count_irqs()
{
	find "/sys/bus/pci/devices/$PCI/msi_irqs" -type f | wc -l
}

probe_fails()
{
	local irqs hits

	irqs=$(count_irqs)
	echo "$PCI" >"$DRIVER/unbind" || return 1
	fault symbol="$1" value=$ENOMEM || return 1
	if echo "$PCI" >"$DRIVER/bind"; then
		echo 'the device was bound all the same'
		return 1
	fi
	hits=$(end_fault)
	expect "$hits == 1" && nothing_left &&
		echo "$PCI" >"$DRIVER/bind" && address_port && works &&
		adds_up || return 1
	expect "$(count_irqs) == $irqs"
}

# For recover(): as after boot, whatever the check left.
recover_faults()
{
	end_fault
	second_cpu 1
	grep '^txts ' /proc/modules || insmod /modules/txts.ko
	grep '^igb ' /proc/modules || { insmod /modules/igb.ko; wire_ports; }
	if [[ ! -e $DRIVER/$PCI ]]; then
		echo "$PCI" >"$DRIVER/bind"
		address_port
	fi
	rewire
}

link_down()
{
	ip link set "$P0" down
}

check 'counting the calls of the tracker' start_counting
check 'the fault module refuses bad parameters' bad_faults
check 'DMA mapping fails: aborted' mapping_fails
check 'DMA mapping of a TCP fragment fails: aborted' fragment_fails
check 'header copy for TSO fails: aborted' header_fails
check 'lost stamp: timeout after 20 ms, slot free' lost_stamp
check 'late stamp: timeout after 20 ms, then an orphan' late_stamp
check 'link down cleans a buffer: flushed' ring_cleaned link_down
check 'reset cleans a buffer: flushed' ring_cleaned ethtool -r "$P0"
check 'another ring size cleans a buffer: flushed' ring_cleaned \
	ethtool -G "$P0" tx 320
check 'unbind cleans a buffer: flushed' ring_unbound
check 'unloading cleans a buffer: flushed' ring_unloaded
check 'ptp_clock_register() fails: works without PHC' no_phc
check 'the thread of txts_init() fails: no port, then one' \
	probe_fails kthread_create_worker
check 'register_netdev() fails: no port, then one' probe_fails register_netdev
check 'counting ends' stop_counting
