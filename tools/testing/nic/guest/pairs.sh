# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# What the guest scripts of the emulated cards share: loading them, wiring the
# pairs, ptp4l on both ends, and the check function of the tests.
#
# Pair N is port pA (A = 2 N) in the main network namespace and pB (B = A + 1)
# in "far". use_pair makes it the pair that all of the functions are about:
# P0, P1, PCI and COUNTERS as everywhere, DRIVER, and NIC, the debugfs
# directory of the card behind P0.
MODULE=txts_nic_x86
KNOBS=/sys/module/$MODULE/parameters
KTAP=/out/ktap
LOG=/out/checks.log
number=0

# QEMU's own igb ports are not what this is about.
leave_qemu_alone()
{
	local device

	for device in /sys/bus/pci/devices/0000:*; do
		[[ $(<"$device/device") != 0x10c9 ]] ||
			echo none >"$device/driver_override"
	done
}

load_driver()
{
	insmod "/data/$1.ko" || { echo "nic: cannot load $1"; return 1; }
}

# As many pairs as kinds are given: i210,i226.
load_pairs()
{
	local kinds=$1

	shift
	leave_qemu_alone
	insmod "/data/$MODULE.ko" "pairs=$kinds" "$@" || return 1
	[[ ! -e /data/txts.ko ]] || load_driver txts || return 1
	ip netns add far
	ip link set lo up
	$FAR ip link set lo up
}

knob()
{
	echo "$2" >"$KNOBS/$1"
}

pci_of_port()
{
	printf '7e1c:00:%02x.0' "$1"
}

netdev_of_port()
{
	ls "/sys/bus/pci/devices/$(pci_of_port "$1")/net" 2>/dev/null
}

port_is_there()
{
	[[ -n $(netdev_of_port "$1") ]]
}

# Brings a port up under its name, wherever it came up.
raise_port()
{
	local port=$1 netdev ns=()

	wait_for 50 port_is_there "$port" || {
		echo "nic: no driver made a port of $(pci_of_port "$port")"
		return 1
	}
	netdev=$(netdev_of_port "$port")
	[[ $netdev == "p$port" ]] || ip link set "$netdev" name "p$port"
	if ((port % 2)); then
		ip link set "p$port" netns far
		ns=(ip netns exec far)
	fi
	"${ns[@]}" ip addr add "10.9.$((port / 2)).$((port % 2 + 1))/24" \
		dev "p$port"
	"${ns[@]}" ip link set "p$port" up
}

use_pair()
{
	local first=$((2 * $1))

	P0=p$first
	P1=p$((first + 1))
	PCI=$(pci_of_port "$first")
	COUNTERS=/sys/kernel/debug/txts/$PCI/counters
	NIC=/sys/kernel/debug/txts_nic/$first
	DRIVER=$2
}

links_up()
{
	wait_for 100 carrier "$P0" && wait_for 100 far_carrier
}

raise_pair()
{
	raise_port "${P0#p}" && raise_port "${P1#p}" && links_up
}

# The model's count of something, of the card behind P0.
nic_count()
{
	awk -v name="$1" '$1 == name { print $2 }' "$NIC/counters"
}

# Two ptp4l: a master on P0, a slave on P1, with the given further lines of
# configuration. The logs are /out/NAME.master and /out/NAME.slave.
start_ptp()
{
	local name=$1

	shift
	{
		printf '[global]\n'
		printf '%s\n' 'network_transport L2' \
			'tx_timestamp_timeout 50' 'logSyncInterval -3' \
			'logMinDelayReqInterval -3' 'logAnnounceInterval -2' \
			'summary_interval -3' 'fault_reset_interval -2' "$@"
	} >/run/ptp.conf
	PTP_MASTER=/out/$name.master
	PTP_SLAVE=/out/$name.slave
	rm -f "$PTP_MASTER" "$PTP_SLAVE"
	ptp4l -f /run/ptp.conf -i "$P0" -m --priority1=100 \
		--uds_address=/run/ptp.master >>"$PTP_MASTER" 2>&1 &
	PTP_PIDS=("$!")
	# Not through $FAR in a function: the number must be ptp4l's own.
	ip netns exec far ptp4l -f /run/ptp.conf -i "$P1" -m -s \
		--uds_address=/run/ptp.slave >>"$PTP_SLAVE" 2>&1 &
	PTP_PIDS+=("$!")
}

stop_ptp()
{
	kill "${PTP_PIDS[@]}" 2>/dev/null
	wait "${PTP_PIDS[@]}" 2>/dev/null
	PTP_PIDS=()
}

# Offsets and frequencies of the slave, from line $1 of its log on.
servo_lines()
{
	tail -n "+$1" "$PTP_SLAVE" |
		sed -n 's/.*master offset *\([-0-9]*\) \(s[0-9]\) freq *\([-+0-9]*\).*/\1 \2 \3/p'
}

lines_of()
{
	wc -l <"$1"
}

# True if the slave follows, with its last $1 offsets below $2 ns.
locked()
{
	servo_lines "${3:-1}" | tail -n "$1" | awk -v count="$1" -v limit="$2" '
		$2 != "s2" || $1 > limit || $1 < -limit { bad = 1 }
		END { exit bad || NR < count }'
}

# Gives the slave of ptp4l $1 seconds; the rest is as for locked. A look costs
# more than the time in between.
wait_locked()
{
	local tries=$(($1 * 2))

	shift
	while ((tries--)); do
		sleep 0.5
		locked "$@" && return
	done
	tail -n 5 "$PTP_MASTER" "$PTP_SLAVE"
	return 1
}

tx_timeouts()
{
	grep -h 'timed out while polling for tx timestamp' "$PTP_MASTER" \
		"$PTP_SLAVE"
}

# Tests

# Runs a check; whatever it prints is shown only if it fails.
check()
{
	local name=$1 rc=0

	shift
	[[ $name =~ ${ONLY:-} ]] || return 0
	number=$((number + 1))
	"$@" >"$LOG.part" 2>&1 || rc=$?
	{ echo "# $name: status $rc"; cat "$LOG.part"; } >>"$LOG"
	if ((rc == 0)); then
		echo "ok $number - $name" | tee -a "$KTAP"
		return
	fi
	{
		tail -n 15 "$LOG.part" | sed 's/^/#   /'
		echo "not ok $number - $name"
	} | tee -a "$KTAP"
	# The next check must not fail for this one's reasons.
	recover >/dev/null 2>&1
}

recover()
{
	local pid

	for pid in $(pidof txts-probe ptp4l); do
		kill -9 "$pid"
	done
	knob link_down 0
	[[ -e /sys/class/net/$P0 ]] || return 0
	ip link set "$P0" up
	hwstamp_ctl -i "$P0" -t 0
	links_up
}

end_checks()
{
	echo "1..$number" | tee -a "$KTAP"
	! grep -q '^not ok' "$KTAP"
}

# Fails, and says so, unless all of the numeric comparisons hold.
expect()
{
	while (($#)); do
		(($1)) || { echo "not true: $1"; return 1; }
		shift
	done
}

field()
{
	sed -n "s/^ *\"$2\": \"*\([^,\"]*\)\"*,*$/\1/p" "$1"
}

probe()
{
	"$PROBE" -i "$P0" -j /run/probe.json "$@"
}

# Every packet gets its hardware stamp.
works()
{
	probe -n 50 -t 100ms
}

# A stream in the background, a packet each 300 us, whose number is STREAM.
start_stream()
{
	"$PROBE" -i "$P0" -j /run/probe.json -m stream -t 50ms -w -s \
		-g 300us -n "$1" &
	STREAM=$!
	sleep 0.1
}

# Status 3 is fine: some of its packets got no hardware stamp.
end_stream()
{
	local rc=0

	wait "$STREAM" || rc=$?
	((rc == 0 || rc == 3))
}

kill_stream()
{
	kill -9 "$STREAM" 2>/dev/null
	wait "$STREAM" 2>/dev/null
}

# The sums of design G2, with nothing in flight any more.
adds_up()
{
	[[ -r $COUNTERS ]] || { echo "no $COUNTERS"; return 1; }
	awk '
		/^skipped_/ { skipped += $2 }
		/^(delivered|timeout|aborted|flushed|discarded_.*) / {
			ended += $2
		}
		{ value[$1] = $2; print "#", $0 }
		END {
			exit !(value["asked"] > 0 &&
			       value["asked"] == value["requested"] + skipped &&
			       value["requested"] == ended + value["in_flight"])
		}' "$COUNTERS"
}
