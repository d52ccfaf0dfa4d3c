#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# PID 1 of User Mode Linux, on the host's own file system, read-only:
#
#   init.sh MODULES DRIVER KIND SCENARIO[+SCENARIO]...
#
# Loads MODULES/{txts,DRIVER,txts_nic_uml}.ko with a pair of KIND, puts its
# second port into the namespace "far", runs scenario-SCENARIO.sh, one after the
# other, unloads all and scans for leaks. What a case comes to is a line "nic: ok NAME" or "nic: not ok
# NAME: WHY" on the console.
# shellcheck disable=SC1090,SC1091,SC2034
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
modules=$1
driver=$2
kind=$3
IFS=+ read -ra scenarios <<<"$4"
here=$(dirname "$0")

. "$here/common.sh"
. "$here/requests.sh"

mount_all
exec </dev/null >/dev/console 2>&1
# Its last line says that it is done, which nic.sh wants to see.
if set_up; then
	for scenario in "${scenarios[@]}"; do
		. "$here/scenario-$scenario.sh"
	done
fi
tear_down
say 'end'
busybox poweroff -f
