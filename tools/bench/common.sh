# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2153,SC2154
#
# What the bench's guest scripts share. Each gets VARIANT, POLICY where the
# tracker's policy is to be set, MMIO_NS, what a register read is to cost, and
# CARD, the kind of an emulated card, or nothing for QEMU's own.
LOADER=/data/txts-ntp-load
CLIENT_MAC=02:00:00:00:64:01
PAST_P1=10.9.0.3

# Runs a probe. Status 3 says that stamps are missing, which is a result.
finished()
{
	local rc=0

	"$@" || rc=$?
	((rc == 0 || rc == 3))
}

# The emulated cards, if they are what is measured. A read costs what the probe
# of set_variant makes it cost, the same way on all devices.
READS=igb_rd32
start_card()
{
	local driver=igb

	[[ -n $CARD ]] || return 0
	[[ $CARD != i226 ]] || driver=igc
	READS=nic_x86_readl
	[[ ! -e /data/txts.ko ]] || HAVE_TXTS=yes
	# Events of a card stay on the CPU that caused them.
	echo 0 >/proc/sys/kernel/timer_migration
	# shellcheck disable=SC1091
	. /data/pairs.sh
	load_pairs "$CARD" mmio_read_ns=0 mmio_write_ns=0 || return 1
	use_pair 0 "$driver"
	load_driver "$driver" && raise_pair
}

# REQUEST_NS is what a request takes the server longer, if that is set.
REQUEST_NS=
set_variant()
{
	if ((MMIO_NS)); then
		insmod /data/txts_mmio_cost.ko \
			function="$READS${REQUEST_NS:+,skb_consume_udp}" \
			ns="$MMIO_NS${REQUEST_NS:+,$REQUEST_NS}" || return 1
		dmesg | grep txts_mmio_cost:
	fi
	[[ -n $POLICY ]] || return 0
	echo "$POLICY" >"/sys/kernel/debug/txts/$PCI/policy" || {
		echo "bench: no policy $POLICY: was txts built with TESTING=1?"
		return 1
	}
	[[ -z $BUDGET ]] ||
		echo "$BUDGET" >/sys/kernel/debug/txts/budget_permille
}

# Each change of the policy's level leaves a line, which sample() counts.
TRACING=/sys/kernel/debug/tracing
watch_levels()
{
	[[ ! -d $TRACING/events/txts/txts_level ]] ||
		echo 1 >"$TRACING/events/txts/txts_level/enable"
}

# All interrupts of a port to the CPUs of a mask.
pin_port()
{
	local dir irq

	dir=$(readlink -f "$1")/msi_irqs
	for irq in "$dir"/*; do
		echo "$2" >"/proc/irq/${irq##*/}/smp_affinity" || return 1
	done
}

# The machine under test is all CPUs but the last, which loads it. Its server is
# on CPU 0, its interrupts too unless there is a second CPU for them.
pin_all()
{
	local far_pci=$1 last pid

	last=$(($(nproc) - 1))
	pin_port "/sys/bus/pci/devices/$PCI" $((1 << (last - 1))) || return 1
	pin_port "/sys/bus/pci/devices/$far_pci" $((1 << last)) || return 1
	for pid in /proc/[0-9]*; do
		[[ $(cat "$pid/comm" 2>/dev/null) != *"$PCI"* ]] ||
			taskset -p 1 "${pid##*/}" >/dev/null
	done
}

far_pci()
{
	basename "$($FAR readlink -f "/sys/class/net/$P1/device")"
}

# The far side of the wire is full of clients behind one Ethernet address.
route_clients()
{
	ip neigh replace "$PAST_P1" lladdr "$CLIENT_MAC" nud permanent \
		dev "$P0" &&
		ip route add 10.64.0.0/16 via "$PAST_P1" dev "$P0"
}

start_chronyd()
{
	local stamps=$1

	make_users
	mkdir -m 750 /run/chrony
	{
		echo 'local stratum 1'
		echo 'allow'
		echo 'clientloglimit 33554432'
		echo 'bindcmdaddress /run/chrony/chronyd.sock'
		echo 'cmdport 0'
		echo 'pidfile /run/chrony/chronyd.pid'
		[[ $stamps == no ]] || echo "hwtimestamp $P0 minpoll -2"
	} >/run/chrony.conf
	taskset 1 chronyd -x -d -u root -f /run/chrony.conf \
		>/out/chronyd.log 2>&1 &
	CHRONYD=$!
	wait_for 100 test -S /run/chrony/chronyd.sock || {
		echo 'bench: chronyd does not run:'
		cat /out/chronyd.log
		return 1
	}
	# It trusts the NIC's clock after a few samples.
	sleep 5
}

make_users()
{
	mkdir -p /etc
	printf '%s\n' 'root:x:0:0::/:/bin/bash' \
		'nobody:x:65534:65534::/:/bin/bash' >/etc/passwd
	printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >/etc/group
	chmod 755 /data "$PROBE"
}

as_nobody()
{
	su -s /bin/bash nobody -c "$*"
}

# An ordinary user sends to no one, as fast as he can or with a gap, on the CPUs
# of a mask, and wants a stamp for each packet.
flooding()
{
	echo "$PROBE -k -i $P0 -m stream -u $PAST_P1:5000 -t 100ms"
}

start_flood()
{
	rm -f /run/flood.stop
	as_nobody "until [[ -e /run/flood.stop ]]; do
		taskset $2 $(flooding) -g $1 -n 500000; done" >/dev/null 2>&1 &
	FLOOD=$!
}

stop_flood()
{
	local pid

	: >/run/flood.stop
	for pid in $(pidof txts-probe); do
		kill -9 "$pid"
	done
	wait "$FLOOD" || true
	sleep 0.1
}

# Everything that counts, as "name value" lines.
sample()
{
	awk '$1 == "Udp:" && n++ {
		print "udp_in", $2; print "udp_rcvbuf_errors", $6 }' \
		/proc/net/snmp
	ethtool -S "$P0" | awk '/tx_hwtstamp|rx_missed_errors|rx_no_buffer|rx_packets|tx_packets|rx_fifo|rx_hwtstamp/ {
		sub(":", "", $1); print "near_" $1, $2 }'
	$FAR ethtool -S "$P1" | awk '/rx_missed_errors|rx_no_buffer|rx_packets|tx_packets|rx_fifo/ {
		sub(":", "", $1); print "far_" $1, $2 }'
	# The cards have no statistics registers.
	[[ -z $CARD ]] || {
		awk '/^tx_frames / { print "near_tx_packets", $2 }
			/^rx_frames / { print "near_rx_packets", $2 }
			/^rx_no_buffer / { print "near_rx_missed_errors", $2 }
			/^stamp_latched / { print "near_latched", $2 }
			/^irqs / { print "near_irqs", $2 }' "$NIC/counters"
		awk '/^rx_no_buffer / { print "far_rx_missed_errors", $2 }' \
			"${NIC%/*}/1/counters"
	}
	awk '$1 ~ /^cpu[0-9]/ { print $1 "_user", $2; print $1 "_system", $4;
		print $1 "_idle", $5; print $1 "_irq", $7;
		print $1 "_softirq", $8 }' /proc/stat
	awk '$1 == "ctxt" { print "switches", $2 }' /proc/stat
	if [[ -S /run/chrony/chronyd.sock ]]; then
		chronyc -h /run/chrony/chronyd.sock serverstats |
			awk -F ' *: *' '{ gsub(/[ -]/, "_", $1)
				print "chrony_" tolower($1), $2 }'
	fi
	[[ $HAVE_TXTS == yes ]] || return 0
	sed 's/^/txts_/' "$COUNTERS"
	awk 'NR > 1 && $NF > most { most = $NF }
		END { print "txts_max_attempts", most + 0 }' \
		"${COUNTERS%/*}/slots"
	echo "level_changes $(grep -c txts_level: "$TRACING/trace")"
}

# A card is software of the CPU that sends: the clients' CPU has as much to do
# for a request as the server's, and could not overload it. So a request takes
# the server longer, and the clients' port interrupts seldom.
slow_server()
{
	[[ -n $CARD ]] || return 0
	REQUEST_NS=$REQUEST_COST
	$FAR ethtool -C "$P1" rx-usecs 100 >/dev/null
}

# The server on CPU 0 and its clients on the last CPU; then load_step "RATE TIME"
# makes a step and leaves its line of JSON in LAST.
start_ntp()
{
	local mac

	mac=$(cat "/sys/class/net/$P0/address")
	pin_all "$(far_pci)" && route_clients && slow_server &&
		set_variant || return 1
	watch_levels
	start_chronyd "$STAMPS" || return 1
	[[ $STAMPS == no ]] ||
		grep -q 'Enabled HW timestamping' /out/chronyd.log || {
		echo 'bench: chronyd did not enable hardware timestamps'
		return 1
	}
	coproc LOAD {
		exec ip netns exec far "$LOADER" -i "$P1" -d 10.9.0.1 \
			-D "$mac" -r - -n "$CLIENTS" -M "$CLIENT_MAC" \
			-c $(($(nproc) - 1)) -f 50 -s 100ms -t "$TICK" \
			-R /run/load.ready --seed "$SEED"
	}
	wait_for 50 test -e /run/load.ready
}

load_step()
{
	echo "$1" >&"${LOAD[1]}"
	read -r LAST <&"${LOAD[0]}" || {
		echo 'bench: the load generator ended'
		return 1
	}
}

stop_ntp()
{
	kill "$CHRONYD"
	wait "$CHRONYD" || true
}

start_card || exit 1
