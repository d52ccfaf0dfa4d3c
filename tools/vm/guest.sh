# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# shellcheck disable=SC2034
#
# What guest scripts share. After wire_ports, the port under test is P0 in the
# main network namespace and its peer P1 in the namespace "far".
P0=eth0
P1=eth1
FAR='ip netns exec far'
PROBE=/data/txts-probe

# The lines of dmesg that report a fault of the kernel, with what follows.
kernel_warnings()
{
	dmesg | grep -A 25 -E 'WARNING:|BUG:|BUG |Call Trace|Oops|KASAN|possible circular|possible recursive|inconsistent lock|suspicious RCU|INFO: task|soft lockup|hard LOCKUP|Tx Unit Hang|transmit queue .* timed out|refcount_t|list_(add|del) corruption' || true
}

wait_for()
{
	local tries=$1

	shift
	while ((tries--)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

carrier()
{
	[[ $(cat "/sys/class/net/$1/carrier" 2>/dev/null) == 1 ]]
}

far_carrier()
{
	[[ $($FAR cat "/sys/class/net/$P1/carrier" 2>/dev/null) == 1 ]]
}

pci_of()
{
	basename "$(readlink -f "/sys/class/net/$1/device")"
}

wire_ports()
{
	wait_for 100 test -e "/sys/class/net/$P1" || {
		echo "VM: igb made no $P1"
		return 1
	}
	[[ -e /run/netns/far ]] || ip netns add far
	ip link set "$P1" netns far
	ip link set lo up
	ip addr add 10.9.0.1/24 dev "$P0"
	ip link set "$P0" up
	$FAR ip link set lo up
	$FAR ip addr add 10.9.0.2/24 dev "$P1"
	$FAR ip link set "$P1" up
	if ! wait_for 100 carrier "$P0" || ! wait_for 100 far_carrier; then
		echo 'VM: no link between the ports'
		return 1
	fi
	PCI=$(pci_of "$P0")
	COUNTERS=/sys/kernel/debug/txts/$PCI/counters
}

# Busy loops, dealt out to the CPUs, at a policy of chrt: "-o 0" or "-f 10".
# This shell goes above them, so that it need not wait for the kernel's pity.
hogs=()
start_hogs()
{
	local policy=$1 priority=$2 count=$3 cpus i

	cpus=$(nproc)
	chrt -f -p 20 "$BASHPID"
	for ((i = 0; i < count; i++)); do
		chrt "$policy" "$priority" \
			taskset "$(printf '%x' $((1 << i % cpus)))" \
			bash -c 'while :; do :; done' &
		hogs+=($!)
	done
	sleep 0.05
}

stop_hogs()
{
	((${#hogs[@]})) || return 0
	kill -9 "${hogs[@]}" 2>/dev/null
	wait "${hogs[@]}" 2>/dev/null
	hogs=()
	chrt -o -p 0 "$BASHPID"
}

# A number of the tracker's debugfs file, or of ethtool -S.
counter()
{
	awk -v name="$1" '$1 == name { print $2; found = 1 }
		END { exit !found }' "$COUNTERS"
}

nic_stat()
{
	ethtool -S "$P0" | awk -v name="$1:" '$1 == name { print $2 }'
}
