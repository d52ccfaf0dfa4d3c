#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# PID 1 of the VM: sets the stage, runs /script.sh, sends /out to the host.
# Bash and not busybox's sh, which prefers its own applets over PATH.
export PATH=/tools:/applets
export LC_ALL=C
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /run
mount -t tmpfs none /out
mount -t debugfs none /sys/kernel/debug
exec </dev/null >/dev/console 2>&1
ln -s /proc/self/fd /dev/fd
mkdir -p /var/run /run/netns

# shellcheck disable=SC1091
. /params
# shellcheck disable=SC1091
. /guest.sh

# Hogs and FIFO hogs starve on purpose: the kernel's own alarm is no finding.
echo 0 >/proc/sys/kernel/watchdog
for module in $(</modules/order); do
	[[ $LOAD_IGB == no && ($module == igb || $module == txts) ]] ||
		insmod "/modules/$module.ko" || echo "VM: cannot load $module"
done
status=1
if [[ $LOAD_IGB == no ]] || wire_ports; then
	# shellcheck disable=SC1091
	(. /script.sh)
	status=$?
fi
echo "$status" >/out/status
dmesg >/out/dmesg
kernel_warnings >/out/warnings

find_port()
{
	local port

	for port in /sys/class/virtio-ports/*; do
		[[ $(<"$port/name") == txts.out ]] && echo "/dev/${port##*/}"
	done
}

tar -C /out -cf - . >"$(find_port)"
sync
poweroff -f
