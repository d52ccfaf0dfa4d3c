# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Two ptp4l over the pair: they lock and find the difference in frequency,
# then again after each fault.

PPB=20000	# the far oscillator is faster by this
# What ptp4l has to find: 1 - 1 / (1 + PPB).
WANT=$((PPB - PPB * PPB / 1000000000))
LOG=/tmp/far.log

start_ptp4l()
{
	cat >/tmp/ptp.cfg <<-END
		[global]
		network_transport L2
		tx_timestamp_timeout 50
		logSyncInterval -2
		logMinDelayReqInterval -2
		logAnnounceInterval -1
		summary_interval -2
		fault_reset_interval 0
		step_threshold 0.00002
		uds_address /run/ptp4l.near
	END
	sed 's/near/far/' /tmp/ptp.cfg >/tmp/ptp-far.cfg
	ptp4l -f /tmp/ptp.cfg -i "$NEAR" -m --priority1 100 >/tmp/near.log 2>&1 &
	NEAR_PID=$!
	# Not by far(): the number must be ptp4l's own.
	ip netns exec far ptp4l -f /tmp/ptp-far.cfg -i "$FAR" -m -s \
		>"$LOG" 2>&1 &
	FAR_PID=$!
}

# Of the newest 40 offsets, 10 s worth: the largest, and the mean frequency.
newest()
{
	grep 'master offset' "$LOG" | tail -n 40 | awk '
		{ for (i = 1; i < NF; i++) {
			if ($i == "offset") o = $(i + 1)
			if ($i == "freq") f = $(i + 1) }
		  o = o < 0 ? -o : o
		  if (o > max) max = o
		  sum += f; n++ }
		END { printf "%d %d %.0f\n", n, max, n ? sum / n : 0 }'
}

locked()
{
	local n max freq off

	read -r n max freq < <(newest)
	off=$((freq - WANT))
	say "info $1: the largest of $n offsets is $max ns," \
		"the frequency is off by $off ppb"
	if ((n == 40 && max <= 100 && off >= -1 && off <= 1)); then
		ok "$1"
	else
		not_ok "$1" "$n offsets, at most $max ns, $off ppb"
		tail -n 5 "$LOG" /tmp/near.log
	fi
}

# Stamps that the two ptp4l waited for in vain.
missed()
{
	cat /tmp/near.log "$LOG" | grep -c 'timed out while polling' || true
}

# What must be so whatever the fault: every frame that asked was a request.
sums()
{
	equal "$1-requests" "$(did stamp_asked)" "$(saw requested)"
	equal "$1-outcomes" "$(saw requested)" \
		"$(($(saw delivered) + $(saw timeout)))"
}

# fault NAME SECONDS KNOB VALUE: a fault for a while, and after it a lock
fault()
{
	local before

	mark
	before=$(missed)
	knob "$3" "$4"
	sleep "$2"
	knob "$3" 0
	sleep 1
	say "info $1: $(did stamp_asked) stamps were asked for," \
		"ptp4l missed $(($(missed) - before))"
}

recovered()
{
	sleep 30
	locked "$1-recovers"
}

start_ptp4l
knob pair_ppb "$PPB"
sleep 30
locked lock
mark
sleep 10
equal all-delivered "$(did stamp_asked)" "$(saw delivered)"

fault lose 60 lose_every 50
sums lose
equal lose "$(did stamp_lost)" "$(saw timeout)"
check lose-happened 'the knob did nothing' test "$(did stamp_lost)" -gt 3
recovered lose

fault delay 10 stamp_delay_us 20000
sums delay
equal delay "$(did stamp_latched)" "$(($(saw delivered) + $(saw orphans)))"
check delay-happened 'the knob did nothing' test "$(did stamp_delayed)" -gt 20
recovered delay

fault duplicate 30 duplicate_every 3
sums duplicate
equal duplicate "$(did stamp_duplicated)" \
	"$(($(saw orphans) + $(saw stale_reads)))"
check duplicate-happened 'the knob did nothing' \
	test "$(did stamp_duplicated)" -gt 5
recovered duplicate

fault stale 30 stale_every 20
sums stale
equal stale "$(did stamp_stale)" "$(saw timeout)"
check stale-happened 'the knob did nothing' test "$(did stamp_stale)" -gt 3
recovered stale

kill "$NEAR_PID" "$FAR_PID"
wait "$NEAR_PID" "$FAR_PID"
say 'done ptp'
