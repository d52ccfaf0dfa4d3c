# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced after env.sh:
#
#   nic_boot RELEASE VARIANT DIR GUEST_SCRIPT [more for vm.sh...]
#
# boots RELEASE with what nic-modules.sh built for it: the emulated cards and
# the drivers of VARIANT (txts or stock). Results land in DIR. What follows the
# guest script are its variables; options of vm.sh come from NIC_VM.
NIC_GUEST=$TOP/tools/testing/nic/guest
NIC_VM=()

nic_boot()
{
	local release=$1 variant=$2 out=$3 modules=$BUILD/$1/nic module
	local -a files=(-f "$modules/front/txts_nic_x86.ko")

	shift 3
	for module in txts igb igc; do
		[[ ! -f $modules/$variant/$module.ko ]] ||
			files+=(-f "$modules/$variant/$module.ko")
	done
	mkdir -p "$out"
	"$SCRIPTS/vm.sh" -k "$release" -l -o "$out" -t 1800 "${NIC_VM[@]}" \
		"${files[@]}" -f "$BUILD/tools/txts-probe" \
		-f "$NIC_GUEST/pairs.sh" "$@"
}
