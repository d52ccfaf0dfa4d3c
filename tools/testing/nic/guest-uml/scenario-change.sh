# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What becomes of requests in flight when their port is reconfigured, goes down,
# asleep or away, or loses its clock or its link, while stamps are late.

PCI=$(pci_of_near)
DEVICE=/sys/bus/pci/devices/$PCI
RING=0

# A size that is the old one would be an error.
reset()
{
	RING=$((RING == 320 ? 384 : 320))
	ethtool -r "$NEAR" && ethtool -G "$NEAR" tx "$RING" &&
		wait_for carrier
}

raise_near()
{
	NEAR=$(port_of 1)
	ip addr add 10.9.0.1/24 dev "$NEAR" &&
		ip link set "$NEAR" up && wait_for carrier && set_again
}

rebind()
{
	echo "$PCI" >"/sys/bus/pci/drivers/$driver/unbind" &&
		echo "$PCI" >"/sys/bus/pci/drivers/$driver/bind" &&
		raise_near
}

# Both ports go, and the namespace of the far one gets it back.
reload()
{
	rmmod "$driver" && insmod "$modules/$driver.ko" && raise_far &&
		raise_near
}

# All of a suspend but the sleep itself, for a second; the port stays up.
suspend()
{
	echo platform >/sys/power/pm_test && echo mem >/sys/power/state &&
		wait_for carrier
}

asleep()
{
	[[ $(<"$DEVICE/power/runtime_status") == suspended ]]
}

# Without a link it is put to sleep after 5 s, and wakes when it is wanted.
runtime_suspend()
{
	echo auto >"$DEVICE/power/control" && knob link_down 1 &&
		wait_for asleep && knob link_down 0 &&
		echo on >"$DEVICE/power/control" && wait_for carrier
}

# error EVENT: as AER would tell the driver
error()
{
	echo "$PCI" >"/sys/module/txts_nic_errors/parameters/$1"
}

# A card that answers nothing until its slot is reset. The kernel's igc opens a
# port that is up a second time after that, and fails.
bus_error()
{
	[[ $driver != igc ]] || ip link set "$NEAR" down
	knob gone 1
	error detect && sleep 0.1 && knob gone 0 && error recover || return
	[[ $driver != igc ]] || ip link set "$NEAR" up
	wait_for carrier
}

# A card that is pulled, with all of its registers reading as ones, and put back.
pull()
{
	knob gone 1
	error dead && echo 1 >"$DEVICE/remove" && knob gone 0 &&
		echo 1 >/sys/bus/pci/rescan && raise_near
}

echo 1 >/sys/module/suspend/parameters/pm_test_delay
insmod "$modules/txts_nic_errors.ko"
works first
# The second is longer than a command takes to get to the driver, so it meets
# stamps on their way; the driver's down waits longer, and may find none.
for delay in 250 18000; do
	knob stamp_delay_us "$delay"
	during "set-$delay" 6 set_again
	during "off-on-$delay" 6 off_on
	((delay < 18000)) || grew "off-on-$delay" flushed
	during "clock-$delay" 6 step_clock
	((delay < 18000)) || grew "clock-$delay" discarded_clock
	during "down-up-$delay" 2 down_up
	during "ring-size-$delay" 2 reset
	during "link-flap-$delay" 2 flap_link
	during "suspend-$delay" 2 suspend
	during "runtime-suspend-$delay" 1 runtime_suspend
	during "bus-error-$delay" 2 bus_error
	during "rebind-$delay" 1 rebind
	during "pull-$delay" 1 pull
	during "reload-$delay" 1 reload
	knob stamp_delay_us 0
done
rmmod txts_nic_errors
say 'done change'
