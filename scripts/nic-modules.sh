#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the emulated network cards for a stock Debian 6.12 kernel, and the
# drivers that run on them, compiled so that their register accesses go there:
#
#   nic-modules.sh [--stock] [amd64 | rt-amd64 | RELEASE]   (amd64)
#
# leaves in build/RELEASE/nic:
#   front/txts_nic_x86.ko         the cards, with a PCI bus of their own
#   txts/txts.ko, igb.ko, igc.ko  the library and the converted drivers
#   stock/igb.ko, igc.ko          with --stock: as the kernel has them
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"

HINT="scripts/nic-modules.sh $*"
stock=
if [[ ${1:-} == --stock ]]; then
	stock=1
	shift
fi
(($# <= 1)) || die 'too many arguments' \
	'use nic-modules.sh [--stock] [amd64 | rt-amd64 | RELEASE]'
KVER=${1:-amd64}
"$SCRIPTS/packages.sh" build
pick_kernel
"$SCRIPTS/fetch.sh" headers "$RELEASE"
"$SCRIPTS/fetch.sh" source-6.12
kdir=$BUILD/headers/$RELEASE/usr/src/linux-headers-$RELEASE
ksrc=$SRC/linux-6.12
out=$BUILD/$RELEASE/nic
nic=$TOP/tools/testing/nic

# Links to the files of a directory itself, without what has gone from there.
link_flat()
{
	local to=$1 file

	shift
	mkdir -p "$to"
	find "$to" -maxdepth 1 -type l -delete
	for file; do
		ln -sfn "$file" "$to/${file##*/}"
	done
}

# The model has its stamp unit in common with the mock of the KUnit tests.
lay_front()
{
	local file
	local -a files=("$nic"/front-x86/*)

	for file in "$nic"/*.[ch] "$nic/model.mk"; do
		[[ $file == *uml* ]] || files+=("$file")
	done
	for file in regfile stamp_unit; do
		files+=("$TOP/kunit/$file".[ch])
	done
	link_flat "$out/front" "${files[@]}"
}

lay_stock()
{
	local driver to

	mkdir -p "$out/stock"
	printf 'obj-m += igb/ igc/\n' >"$out/stock/Kbuild"
	for driver in igb igc; do
		to=$out/stock/$driver
		link_files "$ksrc/drivers/net/ethernet/intel/$driver" "$to"
		# shellcheck disable=SC2016
		printf 'CONFIG_%s := m\ninclude $(src)/Makefile\n' \
			"${driver^^}" >"$to/Kbuild"
	done
}

build()
{
	make -C "$kdir" "M=$1" W=1 "-j$JOBS" "${@:2}" modules
}

# Each file of a driver takes its accessors from the cards.
build_driver()
{
	build "$1" KBUILD_EXTRA_SYMBOLS="$out/front/Module.symvers" \
		KCFLAGS="-include $out/front/redirect.h"
}

# Modules of a build, where callers look for them.
collect()
{
	find "$1" -maxdepth 1 -name '*.ko' -delete
	find "$1" -mindepth 2 -name '*.ko' -exec cp -p -t "$1" {} +
}

lock "nic-$RELEASE"
lay_front
"$SCRIPTS/tree.sh" "$out/txts" "$ksrc"
step "build the emulated NICs for $RELEASE" build "$out/front"
step "build the converted drivers for them" build_driver "$out/txts"
collect "$out/txts"
if [[ $stock ]]; then
	lay_stock
	step "build the stock drivers for them" build_driver "$out/stock"
	collect "$out/stock"
fi
say "modules in $out:" "$(cd "$out" && echo front/*.ko txts/*.ko)"
