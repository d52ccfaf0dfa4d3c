#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds what the bench loads on one kernel:
#
#   bench-modules.sh RELEASE [nic]
#
# leaves in build/RELEASE:
#   bench/*.ko     loads, and the cost of a register read
#   ../RELEASE-testing  txts with its overrides, for QEMU's own card
#   peer/igb.ko    in-tree igb on system_bh_wq, for the same
# and with "nic", beside the emulated cards (nic/front, nic/stock):
#   nic/testing    txts with its overrides
#   nic/bh         in-tree igb on system_bh_wq
set -euo pipefail
. "$(dirname "$0")/env.sh"

usage='use bench-modules.sh RELEASE [nic]'
(($# == 1 || $# == 2)) || die 'wrong number of arguments' "$usage"
[[ ${2:-nic} == nic ]] || die "unknown argument $2" "$usage"
HINT="scripts/bench-modules.sh $*"
release=$1
kdir=$BUILD/headers/$release/usr/src/linux-headers-$release
ksrc=$SRC/linux-6.12
[[ -d $kdir ]] || die "there is no $kdir" \
	"run scripts/fetch.sh headers $release"
[[ -d $ksrc ]] || die "there is no $ksrc" 'run scripts/fetch.sh source-6.12'
nic=$BUILD/$release/nic

build()
{
	make -C "$kdir" "M=$1" W=1 "-j$JOBS" "${@:2}" modules
}

build_loads()
{
	local dir=$BUILD/$release/bench file

	mkdir -p "$dir"
	for file in "$TOP"/tools/bench/{Kbuild,*.c}; do
		cmp -s "$file" "$dir/${file##*/}" || cp "$file" "$dir/"
	done
	build "$dir"
}

# Each file of a driver takes its accessors from the cards.
build_for_cards()
{
	build "$@" KBUILD_EXTRA_SYMBOLS="$nic/front/Module.symvers" \
		KCFLAGS="-include $nic/front/redirect.h"
}

# What a build left there, *.mod.c, is not for another one to write through.
lay_bh()
{
	local file

	mkdir -p "$nic/bh/igb"
	find "$nic/bh/igb" -type l -delete
	for file in "$BUILD/$release/peer/tree"/{*.[ch],Makefile}; do
		[[ $file == *.mod.c ]] || ln -s "$file" "$nic/bh/igb/"
	done
	printf 'obj-m += igb/\n' >"$nic/bh/Kbuild"
	# shellcheck disable=SC2016
	printf 'CONFIG_IGB := m\ninclude $(src)/Makefile\n' \
		>"$nic/bh/igb/Kbuild"
}

step "build the loads of the bench for $release" build_loads
TESTING=1 KVER=$release "$SCRIPTS/modules.sh"
"$SCRIPTS/demo-peer.sh" "$release"
[[ ${2:-} == nic ]] || exit 0

"$SCRIPTS/nic-modules.sh" --stock "$release"
lock "nic-$release"
"$SCRIPTS/tree.sh" "$nic/testing" "$ksrc"
step "build txts for the emulated cards, with overrides ($release)" \
	build_for_cards "$nic/testing" TXTS_TESTING=y
lay_bh
step "build in-tree igb on system_bh_wq for them ($release)" \
	build_for_cards "$nic/bh"
for variant in testing bh; do
	find "$nic/$variant" -maxdepth 1 -name '*.ko' -delete
	find "$nic/$variant" -mindepth 2 -name '*.ko' \
		-exec cp -p -t "$nic/$variant" {} +
done
