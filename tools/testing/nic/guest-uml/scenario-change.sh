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

# Without a link it is put to sleep after 5 s in which nobody asked it anything.
# It is woken below RTNL, as the kernel's igb expects.
runtime_suspend()
{
	echo auto >"$DEVICE/power/control" && knob link_down 1 &&
		wait_for asleep && knob link_down 0 || return
	ethtool "$NEAR" >/dev/null
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
# Stamps that come soon.
knob stamp_delay_us 250
during off-on-soon 6 off_on
during clock-soon 6 step_clock
during ring-size-soon 2 reset
during rebind-soon 1 rebind

# Stamps that take longer than a command to get to the driver, so that it meets
# them on their way; the driver's down waits longer, and may find none.
knob stamp_delay_us 18000
during set 6 set_again
during off-on 6 off_on
grew off-on flushed
during clock 6 step_clock
grew clock discarded_clock
during down-up 2 down_up
during ring-size 2 reset
during link-flap 2 flap_link
during suspend 2 suspend
probe -m burst -b 4 -n 40 -t 50ms
check runtime-suspend 'it does not sleep, or wake' runtime_suspend
works runtime-suspend
adds_up runtime-suspend
during bus-error 2 bus_error
during rebind 2 rebind
during pull 1 pull
during reload 2 reload
knob stamp_delay_us 0
rmmod txts_nic_errors
say 'done change'
