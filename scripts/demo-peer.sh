#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds what the demo compares txts with: the stock igb of the target kernel,
# rewritten on the fly so that only its stamp work runs on system_bh_wq. The
# result is build/RELEASE/peer/igb.ko.
#
#   demo-peer.sh RELEASE
set -euo pipefail
. "$(dirname "$0")/env.sh"

(($# == 1)) || die 'which kernel release?' \
	"use $0 RELEASE, e.g. 6.12.117+deb12-amd64"
release=$1
# shellcheck disable=SC2034
HINT="$0 $release"
kdir=$BUILD/headers/$release/usr/src/linux-headers-$release
igb=$SRC/linux-6.12/drivers/net/ethernet/intel/igb
patch=$TOP/tools/demo/igb-bh.cocci
out=$BUILD/$release/peer
[[ -d $kdir ]] || die "there is no $kdir" \
	"run scripts/fetch.sh headers $release"
[[ -d $igb ]] || die "there is no $igb" 'run scripts/fetch.sh source-6.12'

rewrite()
{
	local before after left

	rm -rf "$out/tree"
	mkdir -p "$out/tree"
	cp "$igb"/*.[ch] "$igb/Makefile" "$out/tree/"
	before=$(cat "$out"/tree/*.c |
		grep -c 'schedule_work(&.*ptp_tx_work)' || true)
	timeout 120 spatch --very-quiet --in-place --sp-file "$patch" \
		"$out"/tree/*.c
	after=$(cat "$out"/tree/*.c |
		grep -c 'queue_work(system_bh_wq,' || true)
	left=$(cat "$out"/tree/*.c |
		grep -c 'schedule_work(&.*ptp_tx_work)' || true)
	echo "igb schedules its stamp work in $before places, $after rewritten"
	((before > 0 && after == before && left == 0))
}

build()
{
	make -C "$kdir" M="$out/tree" CONFIG_IGB=m -j"$JOBS" modules
	cp "$out/tree/igb.ko" "$out/igb.ko"
}

lock "peer-$release"
if [[ ! $out/igb.ko -nt $patch || ! $out/igb.ko -nt $igb/igb_main.c ||
	! $out/igb.ko -nt $kdir/include/config/kernel.release ]]; then
	step "rewrite igb for system_bh_wq ($release)" rewrite
	step "build the peer igb for $release" build
fi
