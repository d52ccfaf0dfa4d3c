# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# The demo's measurements on one variant of igb, in the VM (one virtual CPU).
# BOOT is the number of this boot: it moves the random sequence of the gaps
# and the start, so that each boot meets other phases of the kernel's timers.
# SHARE divides the number of packets among the boots.

counts()
{
	printf 'timeouts %s\nskipped %s\n' "$(nic_stat tx_hwtstamp_timeouts)" \
		"$(nic_stat tx_hwtstamp_skipped)"
	[[ $HAVE_TXTS == no ]] || cat "$COUNTERS"
}

# Runs the probe as SCHED_FIFO 50; leaves NAME.json, .csv, .before, .after.
measure()
{
	local name=$1 sent_ok=0

	shift
	echo "demo: $name"
	counts >"/out/$name.before"
	"$PROBE" -i "$P0" -f 50 --seed $((BOOT * 1000 + 1)) -s \
		-j "/out/$name.json" -o "/out/$name.csv" "$@" || sent_ok=$?
	# 1 and 2 are errors of the tool, 3 says that stamps are missing.
	((sent_ok == 0 || sent_ok == 3)) || failed=1
}

# A counter of the stock driver moves only once its 15 s are over.
measured()
{
	[[ $HAVE_TXTS == yes ]] || sleep "${2:-0}"
	counts >"/out/$1.after"
}

ptp_minute()
{
	local ptp=/out/ptp4l

	cat >/run/ptp4l.conf <<-END
		[global]
		masterOnly 1
		network_transport L2
		logSyncInterval -3
		logAnnounceInterval -2
	END
	echo 'demo: ptp4l as master for a minute'
	counts >"$ptp.before"
	ptp4l -f /run/ptp4l.conf -i "$P0" -m >"$ptp.log" 2>&1 &
	sleep 61
	pmc -u -b 0 'GET PORT_STATS_NP' >"$ptp.stats" 2>&1
	kill $!
	wait $! || true
	counts >"$ptp.after"
}

failed=0
# Tx stamping stays on from here: the counters are read between the runs.
sleep "0.00$((BOOT * 13 % 10))7"
measure idle -n $((10400 / SHARE)) -g 300us -J 700us -t 100ms
measured idle
start_hogs -o 0 "$(($(nproc) * 4))"
# To start them is work in softirq that is over soon.
sleep 1
measure other -n $((10400 / SHARE)) -g 300us -J 700us -t 100ms
stop_hogs
measured other
start_hogs -f 10 "$(nproc)"
measure fifo -n $((6000 / SHARE)) -g 1ms -J 1ms -t 100ms
stop_hogs
measured fifo
measure burst -n $((3200 / SHARE)) -m burst -b 16 -g 4ms -J 4ms -t 20ms
measured burst
measure reconfigure -n $((24000 / SHARE)) -m stream -g 250us -J 250us \
	-t 100ms -r 10
measured reconfigure 17
[[ $PTP == no ]] || ptp_minute
cat /proc/uptime >/out/uptime
exit "$failed"
