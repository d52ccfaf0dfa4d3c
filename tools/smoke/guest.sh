# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# The smoke test in the VM: what igb must do with txts under a stock kernel.
# Prints KTAP lines, also into /out/ktap. Each check starts from a port that
# works and leaves one; "works" says whether it does.
KTAP=/out/ktap
LOG=/out/smoke.log
FAULTS=/data/faults.sh
number=0

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
	else
		{
			tail -n 15 "$LOG.part" | sed 's/^/#   /'
			echo "not ok $number - $name"
		} | tee -a "$KTAP"
		# The next check must not fail for this one's reasons.
		recover
	fi
}

recover()
{
	local pid

	for pid in $(pidof txts-probe txts-sockets ptp4l); do
		kill -9 "$pid"
	done
	[[ ! -e $FAULTS ]] || recover_faults
	[[ -e /sys/class/net/$P0 ]] || return 0
	ip link set "$P0" up
	hwstamp_ctl -i "$P0" -t 0
	wait_for 100 carrier "$P0"
} >/dev/null 2>&1

field()
{
	sed -n "s/^ *\"$2\": \"*\([^,\"]*\)\"*,*$/\1/p" "$1"
}

probe()
{
	"$PROBE" -i "$P0" -j /run/probe.json "$@"
}

# A stream in the background that accepts software stamps instead. Its number
# is STREAM; not through a function in the background, which is a shell more.
start_stream()
{
	"$PROBE" -i "$P0" -j /run/probe.json -m stream -t 50ms -w -s "$@" &
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

# Fails, and says so, unless all of the numeric comparisons hold.
expect()
{
	while (($#)); do
		(($1)) || { echo "not true: $1"; return 1; }
		shift
	done
}

works()
{
	probe -n "${1:-50}" -t 100ms "${@:2}"
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

idle_slots()
{
	[[ $(counter in_flight) == 0 ]]
}

modules_loaded()
{
	grep '^igb ' /proc/modules && grep '^txts ' /proc/modules &&
		[[ -r $COUNTERS ]]
}

thread_is_named()
{
	cat /proc/[0-9]*/comm 2>/dev/null | grep -v '^irq/' | grep -F "$PCI"
}

old_names()
{
	local name

	for name in tx_hwtstamp_timeouts tx_hwtstamp_skipped; do
		[[ $(nic_stat "$name") =~ ^[0-9]+$ ]] || return 1
	done
}

# The probe's own packets are PTP event messages, and after one of them others
# get no hardware stamp for four seconds.
ptp_silence()
{
	sleep 4.2
}

stand_back()
{
	local before

	works && before=$(counter skipped_ptp) || return 1
	probe -n 20 -t 20ms -w -s -u 10.9.0.2:5000
	expect "$(field /run/probe.json software_only) == 20" \
		"$(counter skipped_ptp) == $before + 20" && adds_up
}

wait_each_ordinary()
{
	ptp_silence
	wait_each "$@"
}

wait_each()
{
	works 200 "$@" && expect "$(field /run/probe.json stamped) == 200"
}

ts_stats()
{
	works 100 -s || return 1
	expect "$(field /run/probe.json ts_stats_pkts) == 100" \
		"$(field /run/probe.json ts_stats_lost) == 0"
}

# Also against the counters: what got no stamp is what the driver skipped.
burst()
{
	probe -n 320 -m burst -b 16 -g 5ms -t 100ms -w -s
	(($? != 1)) && adds_up || return 1
	expect "$(field /run/probe.json missing) == 0" \
		"$(field /run/probe.json stamped) >= 20" \
		"$(field /run/probe.json stamped) +
		 $(field /run/probe.json software_only) == 320" \
		"$(field /run/probe.json software_only) ==
		 $(field /run/probe.json nic_skipped)" && works
}

# Sets it far more often than needed, to hit the time a stamp is in flight.
# A stamp that takes longer than the gap may cost the next packet its slot.
same_configuration()
{
	probe -n 8000 -m stream -g 300us -J 200us -t 100ms -r 100 -s
	(($? != 1)) || return 1
	expect "$(field /run/probe.json stamped) >= 7980" \
		"$(field /run/probe.json missing) ==
		 $(field /run/probe.json nic_skipped)" \
		"$(field /run/probe.json nic_timeouts) == 0" \
		"$(field /run/probe.json reconfigured) >= 100" \
		"$(field /run/probe.json reconfigure_errors) == 0"
}

# A stamp that is missing must be one that the clock's change discarded.
phc_steps()
{
	local before after i

	before=$(counter discarded_clock) || return 1
	start_stream -n 3000 -g 300us -J 200us
	for ((i = 0; i < 15; i++)); do
		phc_ctl -q "$P0" -- set adj 0.25 adj -0.25 >/dev/null ||
			return 1
		sleep 0.02
	done
	end_stream || return 1
	after=$(counter discarded_clock)
	expect "$(field /run/probe.json missing) == $after - $before" \
		"$(field /run/probe.json zero) == 0" \
		"$(field /run/probe.json stamped) > 1000" && adds_up && works
}

turned_off()
{
	local before

	before=$(counter skipped_off) || return 1
	hwstamp_ctl -i "$P0" -t 0
	probe --keep -n 50 -t 20ms -w
	expect "$(field /run/probe.json software_only) == 50" \
		"$(counter skipped_off) == $before + 50" && works
}

# TX_OFF flushes what is in flight; TX_ON works again at once.
off_and_on()
{
	local before i

	hwstamp_ctl -i "$P0" -t 1
	start_stream --keep -n 5000 -g 200us -J 100us
	for ((i = 0; i < 10; i++)); do
		hwstamp_ctl -i "$P0" -t 0
		hwstamp_ctl -i "$P0" -t 1
		before=$(counter delivered) || return 1
		sleep 0.02
		expect "$(counter delivered) > $before + 10" || return 1
	done
	end_stream || return 1
	hwstamp_ctl -i "$P0" -t 0
	wait_for 20 idle_slots && works && adds_up
}

down_and_up()
{
	local i

	start_stream -n 4000 -g 300us -J 200us
	for ((i = 0; i < 3; i++)); do
		sleep 0.2
		ip link set "$P0" down
		sleep 0.05
		ip link set "$P0" up
		wait_for 100 carrier "$P0" || return 1
	done
	end_stream || return 1
	expect "$(field /run/probe.json stamped) > 500" \
		"$(field /run/probe.json send_errors) > 0" &&
		works && adds_up && wait_for 20 idle_slots
}

self_test()
{
	start_stream -n 3000 -g 500us
	ethtool -t "$P0" online
	ethtool -t "$P0" offline
	end_stream || return 1
	wait_for 100 carrier "$P0" && works && adds_up
}

resets()
{
	local switch=(off on) i

	start_stream -n 6000 -g 300us -J 200us
	for ((i = 0; i < 8; i++)); do
		ethtool -r "$P0"
		sleep 0.1
		ip link set "$P0" mtu $((1400 + i))
		ethtool -G "$P0" tx $((256 + 64 * (i % 4)))
		ethtool -K "$P0" rx "${switch[i % 2]}"
	done
	end_stream || return 1
	ip link set "$P0" mtu 1500
	wait_for 100 carrier "$P0" && works && adds_up &&
		wait_for 20 idle_slots
}

second_cpu()
{
	local file=/sys/devices/system/cpu/cpu1/online

	[[ ! -e $file ]] || echo "$1" >"$file"
}

sockets()
{
	local server rc=0

	ptp_silence
	hwstamp_ctl -i "$P0" -t 1
	# In QEMU 10 UDP segmentation, and segmentation on two CPUs, leave a
	# queue standing still, with any driver and without stamps as well.
	second_cpu 0
	ethtool -K "$P0" tso "$1" gso "$1" tx-udp-segmentation off
	wait_for 100 carrier "$P0" || return 1
	$FAR /data/txts-sockets serve 7000 &
	server=$!
	sleep 0.2
	/data/txts-sockets run 10.9.0.2 7000 || rc=1
	kill "$server"
	second_cpu 1
	hwstamp_ctl -i "$P0" -t 0
	wait_for 100 carrier "$P0"
	((rc == 0)) && works && adds_up && wait_for 20 idle_slots
}

# ptp4l's own measure: a Follow_Up goes out only if the Sync got its stamp.
ptp_master()
{
	local sync follow

	printf '[global]\nmasterOnly 1\nnetwork_transport %s\n%s\n%s\n' "$1" \
		'logSyncInterval -4' 'logAnnounceInterval -2' >/run/ptp.conf
	ptp4l -f /run/ptp.conf -i "$P0" -m >/run/ptp.log 2>&1 &
	sleep 5
	pmc -u -b 0 'GET PORT_STATS_NP' >/run/ptp.stats
	kill $!
	wait $! || true
	cat /run/ptp.log
	sync=$(awk '$1 == "tx_Sync" { print $2 }' /run/ptp.stats)
	follow=$(awk '$1 == "tx_Follow_Up" { print $2 }' /run/ptp.stats)
	expect "$sync >= 40" "$follow >= $sync - 1" &&
		! grep -E 'timed out|FAULT' /run/ptp.log && works
}

restored_by_signal()
{
	local signal

	hwstamp_ctl -i "$P0" -t 0
	for signal in INT TERM; do
		start_stream -n 10000
		hwstamp_ctl -i "$P0" | grep 'tx_type 1' || return 1
		kill -s "$signal" "$STREAM"
		end_stream || return 1
		grep '"interrupted": 1' /run/probe.json || return 1
		hwstamp_ctl -i "$P0" | grep 'tx_type 0' || return 1
	done
}

# With all stamps done, nothing of the driver may keep the CPU busy.
idle_cpu()
{
	local before after all

	works || return 1
	sleep 0.2
	before=$(awk '/^cpu / { print $5 + $6 }' /proc/stat)
	sleep 3
	after=$(awk '/^cpu / { print $5 + $6 }' /proc/stat)
	# In ticks of 10 ms, for all CPUs.
	all=$((300 * $(nproc)))
	expect "$after - $before > $all * 95 / 100"
}

unbind_and_bind()
{
	local driver=/sys/bus/pci/drivers/igb i

	for ((i = 0; i < 2; i++)); do
		start_stream -n 2000 -g 300us
		echo "$PCI" >"$driver/unbind" || return 1
		kill -9 "$STREAM" 2>/dev/null
		wait "$STREAM" || true
		[[ ! -e ${COUNTERS%/*} ]] || return 1
		echo "$PCI" >"$driver/bind" || return 1
		wait_for 50 test -e "/sys/class/net/$P0" || return 1
		ip addr add 10.9.0.1/24 dev "$P0"
		ip link set "$P0" up
		wait_for 100 carrier "$P0" && works && adds_up || return 1
	done
}

unload_and_load()
{
	local i

	for ((i = 0; i < 2; i++)); do
		start_stream -n 2000 -g 300us
		rmmod igb || return 1
		kill -9 "$STREAM" 2>/dev/null
		wait "$STREAM" || true
		rmmod txts || return 1
		[[ ! -e /sys/kernel/debug/txts ]] || return 1
		insmod /modules/txts.ko && insmod /modules/igb.ko || return 1
		wire_ports && works && adds_up || return 1
	done
	rmmod igb && rmmod txts
}

no_warnings()
{
	[[ -z $(kernel_warnings) ]] || { kernel_warnings; return 1; }
}

echo 'KTAP version 1' | tee "$KTAP"
hwstamp_ctl -i "$P0" -t 0 >/dev/null
check 'txts and igb are loaded, the tracker shows its counters' modules_loaded
check 'the kernel thread is named after the device' thread_is_named
check 'ethtool -S has its old names' old_names
check 'each packet stamped, Ethernet' wait_each
check 'each packet stamped, UDP port 319' wait_each -u 10.9.0.2:319
check 'other packets stand back while PTP is active' stand_back
check 'each packet stamped, UDP port 5000' wait_each_ordinary -u 10.9.0.2:5000
check 'each packet stamped, FIFO sender' wait_each -f 50
check 'get_ts_stats over netlink' ts_stats
check 'bursts of 16: stamped or skipped' burst
check 'same configuration 100 times a second' same_configuration
check 'PHC settime and adjtime meanwhile' phc_steps
check 'hwtstamp off: skipped, counted as off' turned_off
check 'hwtstamp off and on meanwhile' off_and_on
check 'link down and up meanwhile' down_and_up
check 'self-test meanwhile' self_test
check 'resets meanwhile' resets
check 'sockets of all kinds, with TSO' sockets on
check 'sockets of all kinds, without TSO' sockets off
check 'ptp4l master over Ethernet' ptp_master L2
check 'ptp4l master over UDP' ptp_master UDPv4
check 'a killed probe restores the configuration' restored_by_signal
check 'idle CPU after stamps' idle_cpu
# Not there for the stock igb, which has nothing to be counted.
# shellcheck disable=SC1090
[[ ! -e $FAULTS ]] || . "$FAULTS"
check 'unbind and bind meanwhile' unbind_and_bind
check 'unload and load meanwhile' unload_and_load
check 'no warning from the kernel' no_warnings
echo "1..$number" | tee -a "$KTAP"
! grep -q '^not ok' "$KTAP"
