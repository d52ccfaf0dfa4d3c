# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# One CPU: PTP messages beside a flood of packets that want stamps, from a
# socket of an ordinary user; then the flood alone, for the turnaround; then
# what a stamp costs, one at a time. PTP_8 and PTP_128 are numbers of messages.

# shellcheck disable=SC1091
. /data/common.sh

FLOODING="$PROBE -k -i $P0 -m stream -u $PAST_P1:5000 -t 100ms"

as_nobody()
{
	su -s /bin/bash nobody -c "$*"
}

# Status 3 says that stamps are missing, which is a result.
finished()
{
	local rc=0

	"$@" || rc=$?
	((rc == 0 || rc == 3))
}

# SCHED_FIFO 50, as ptp4l where it matters; the flood is an ordinary process.
beside_flood()
{
	local name=$1 count=$2 gap=$3 pid

	((count)) || return 0
	# A second longer than the messages take; killed when they are through.
	as_nobody "exec $FLOODING -g 20us -n 2000000" >"/out/$name.flood" &
	sleep 0.5
	sample >"/out/$name.before"
	finished "$PROBE" -k -i "$P0" -f 50 -m stream -n "$count" -g "$gap" \
		-t 500ms -j "/out/$name.json" -o "/out/$name.csv" || return 1
	sample >"/out/$name.after"
	for pid in $(pidof txts-probe); do
		kill -9 "$pid"
	done
	wait || true
	sleep 0.1
}

turnaround()
{
	: >/out/turnaround.csv
	chmod 666 /out/turnaround.csv
	sample >/out/turnaround.before
	finished as_nobody "exec $FLOODING -g 1us -n $FLOOD_COUNT -j - \
		-o /out/turnaround.csv" >/out/turnaround.json || return 1
	sample >/out/turnaround.after
}

# Without a gap there is no idle time: what passes is what was executed.
cost()
{
	sample >/out/cost.before
	finished "$PROBE" -k -i "$P0" -f 50 -m wait -g 0ns -n "$COST_COUNT" \
		-t 10ms -j /out/cost.json || return 1
	sample >/out/cost.after
	hwstamp_ctl -i "$P0" -t 0 >/dev/null
	finished "$PROBE" -k -i "$P0" -f 50 -m stream -g 0ns -n "$COST_COUNT" \
		-t 1us -j /out/cost-off.json
}

route_clients && set_policy || exit 1
mkdir -p /etc
printf '%s\n' 'root:x:0:0::/:/bin/bash' 'nobody:x:65534:65534::/:/bin/bash' \
	>/etc/passwd
printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >/etc/group
chmod 755 /data "$PROBE"
hwstamp_ctl -i "$P0" -t 1 >/dev/null
echo "bench: $VARIANT: PTP beside a flood"
beside_flood ptp8 "$PTP_8" 125ms || exit 1
beside_flood ptp128 "$PTP_128" 7812500ns || exit 1
echo "bench: $VARIANT: turnaround and cost"
turnaround && cost || exit 1
