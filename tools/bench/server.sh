# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2153,SC2154
#
# What an ordinary user takes from a server by asking for stamps: an NTP server
# without hardware stamps, at a load it cannot serve in full, and on its CPU a
# flood of packets that ask for stamps, with stamping off in the NIC and then on.
# Leaves off.load and on.load, and what was counted around them.

# shellcheck disable=SC1091
. /data/common.sh

beside_flood()
{
	local name=$1 type=$2

	hwstamp_ctl -i "$P0" -t "$type" >/dev/null || return 1
	start_flood 1us 1
	sleep 0.3
	sample >"/out/$name.before"
	load_step "$RATES $LENGTH" || return 1
	sample >"/out/$name.after"
	stop_flood
	echo "$LAST" >"/out/$name.load"
	echo "bench: $VARIANT: stamps $name: ${LAST#*,}"
}

STAMPS=no
start_ntp && make_users || exit 1
load_step "$WARM $WARM_TIME" || exit 1
beside_flood off 0 && beside_flood on 1 || exit 1
stop_ntp
