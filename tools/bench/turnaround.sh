# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154
#
# Stamps per second at saturation: an ordinary user sends COUNT packets, 40,000
# per second if the CPU can, and reads its stamps when it can.

# shellcheck disable=SC1091
. /data/common.sh

route_clients && set_variant && make_users || exit 1
hwstamp_ctl -i "$P0" -t 1 >/dev/null
echo "bench: $VARIANT: turnaround"
: >/out/turnaround.csv
chmod 666 /out/turnaround.csv
sample >/out/turnaround.before
finished as_nobody "exec $(flooding) -g 25us -n $COUNT -j - \
	-o /out/turnaround.csv" >/out/turnaround.json || exit 1
sample >/out/turnaround.after
