# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# The converted drivers on emulated cards, with ptp4l, and while what is below
# them changes. Prints KTAP lines, also into /out/ktap.
PPB=20000

# shellcheck disable=SC1091
. /data/pairs.sh

ptp_locks()
{
	local freq

	start_ptp "$DRIVER-$1"
	wait_locked 20 16 1000 || { stop_ptp; return 1; }
	sleep 5
	stop_ptp
	freq=$(servo_lines 1 | tail -n 1 | cut -d' ' -f 3)
	# What the knob made the slave's oscillator too fast by.
	expect "$freq > $PPB - 100" "$freq < $PPB + 100" &&
		locked 40 1000 && ! tx_timeouts &&
		! grep FAULT "$PTP_MASTER" "$PTP_SLAVE"
}

# ptp4l gives the port up when the link goes, and has to find back by itself.
ptp_after()
{
	local line

	start_ptp "$DRIVER-$1"
	shift
	wait_locked 20 8 1000 || { stop_ptp; return 1; }
	line=$(lines_of "$PTP_SLAVE")
	if ! "$@" || ! wait_locked 20 16 1000 "$line"; then
		stop_ptp
		return 1
	fi
	# A frame that was lost with the link rightly has no stamp.
	: >"$PTP_MASTER"
	: >"$PTP_SLAVE"
	sleep 3
	stop_ptp
	locked 16 1000 && ! tx_timeouts && adds_up
}

no_carrier()
{
	! carrier "$P0"
}

flap_link()
{
	local port=${P0#p}

	knob link_down $((1 << port))
	wait_for 50 no_carrier || return 1
	sleep 0.3
	knob link_down 0
	links_up
}

down_and_up()
{
	ip link set "$P0" down
	sleep 0.3
	ip link set "$P0" up
	links_up
}

# What $@ does, three times while packets wait for their stamps.
meanwhile()
{
	local i

	start_stream 3000
	for ((i = 0; i < 3; i++)); do
		"$@" || { kill_stream; return 1; }
		sleep 0.05
	done
	end_stream
	links_up && works && adds_up
}

off_and_on()
{
	hwstamp_ctl -i "$P0" -t 0 && sleep 0.01 && hwstamp_ctl -i "$P0" -t 1
}

step_clock()
{
	phc_ctl -q "$P0" -- set adj 0.25 adj -0.25
}

unbind_and_bind()
{
	local driver=/sys/bus/pci/drivers/$DRIVER i

	for ((i = 0; i < 2; i++)); do
		start_stream 3000
		echo "$PCI" >"$driver/unbind" || return 1
		kill_stream
		[[ ! -e ${COUNTERS%/*} ]] || return 1
		echo "$PCI" >"$driver/bind" || return 1
		raise_port "${P0#p}" && links_up && works && adds_up || return 1
	done
}

reload()
{
	local i

	for ((i = 0; i < 2; i++)); do
		start_stream 3000
		rmmod "$DRIVER" || return 1
		kill_stream
		[[ ! -e ${COUNTERS%/*} ]] || return 1
		load_driver "$DRIVER" && raise_pair && works && adds_up ||
			return 1
	done
}

probes()
{
	load_driver "$DRIVER" && raise_pair && works && adds_up &&
		expect "$(nic_count stamp_latched) == 50" \
			"$(counter delivered) == 50"
}

unloads()
{
	rmmod igb && rmmod igc && rmmod txts && rmmod "$MODULE" &&
		[[ ! -e /sys/kernel/debug/txts && ! -e ${NIC%/*} ]]
}

no_warnings()
{
	[[ -z $(kernel_warnings) ]] || { kernel_warnings; return 1; }
}

test_pair()
{
	local kind=$3

	use_pair "$1" "$2"
	check "$DRIVER on $kind: probes, stamps come by its interrupt" probes
	check "$DRIVER on $kind: two ptp4l lock" ptp_locks locks
	check "$DRIVER on $kind: link flaps meanwhile" meanwhile flap_link
	check "$DRIVER on $kind: down and up meanwhile" meanwhile down_and_up
	check "$DRIVER on $kind: hwtstamp off and on meanwhile" \
		meanwhile off_and_on
	check "$DRIVER on $kind: PHC steps meanwhile" meanwhile step_clock
	check "$DRIVER on $kind: ptp4l after a link flap" \
		ptp_after flap flap_link
	check "$DRIVER on $kind: ptp4l after down and up" \
		ptp_after updown down_and_up
	check "$DRIVER on $kind: unbind and bind meanwhile" unbind_and_bind
	check "$DRIVER on $kind: reload meanwhile" reload
	check "$DRIVER on $kind: two ptp4l lock after all that" \
		ptp_locks again
}

echo 'KTAP version 1' | tee "$KTAP"
load_pairs i210,i226 pair_ppb=$PPB || exit 1
test_pair 0 igb I210
test_pair 1 igc I226
check 'all modules unload' unloads
check 'no warning from the kernel' no_warnings
end_checks
