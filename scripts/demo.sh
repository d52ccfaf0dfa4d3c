#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shows stock igb, the same driver on system_bh_wq (the peer) and txts igb side
# by side on a stock Debian 6.12 kernel in QEMU, in virtual time:
#
#   demo.sh
#
# Environment: KVER= as for make modules; BOOTS=N boots per variant (2);
# VARIANTS="stock peer txts". Ends with a table; build/demo/demo.json has the
# same for programs. Then demo-pairs.sh shows igb and igc on emulated cards.
# Exit status 0 only if every stamp is accounted for.
set -euo pipefail
. "$(dirname "$0")/env.sh"
# shellcheck disable=SC2034
HINT='make demo'
(($# == 0)) || die "unknown argument $1" 'what may be set is in the first lines'

boots=${BOOTS:-2}
variants=${VARIANTS:-stock peer txts}
[[ $boots =~ ^[1-9]$ ]] || die "BOOTS=$boots is not a number from 1 to 9" \
	'use BOOTS=2 make demo'
for variant in $variants; do
	[[ $variant =~ ^(stock|peer|txts)$ ]] ||
		die "there is no variant $variant" \
			'use VARIANTS="stock peer txts"'
done

"$SCRIPTS/packages.sh" demo
pick_kernel
"$SCRIPTS/fetch.sh" image "$RELEASE"
"$SCRIPTS/fetch.sh" headers "$RELEASE"
"$SCRIPTS/fetch.sh" source-6.12
step 'build the tools' make -C "$TOP/tools" O="$BUILD/tools"
[[ $variants != *txts* ]] || "$SCRIPTS/modules.sh"
[[ $variants != *peer* ]] || "$SCRIPTS/demo-peer.sh" "$RELEASE"

out=$BUILD/demo
lock demo
rm -rf "$out"
mkdir -p "$out"

# Boots one variant once; its results land in build/demo/VARIANT.BOOT.
boot()
{
	local variant=$1 number=$2 ptp=no
	local -a modules=()

	case $variant in
	peer)	modules=(-m "$BUILD/$RELEASE/peer") ;;
	txts)	modules=(-m "$BUILD/$RELEASE") ;;
	esac
	[[ $variant != txts || $number != 1 ]] || ptp=yes
	"$SCRIPTS/vm.sh" -k "$RELEASE" "${modules[@]}" -t 900 \
		-o "$out/$variant.$number" -f "$BUILD/tools/txts-probe" \
		"$TOP/tools/demo/guest.sh" BOOT="$number" SHARE="$boots" \
		PTP="$ptp" || return 1
	echo "boot $number of $variant is done"
}

# As many VMs at a time as there are CPUs: virtual time does not mind.
boot_all()
{
	local variant number running=0 failed=0

	for ((number = 1; number <= boots; number++)); do
		for variant in $variants; do
			if ((running == JOBS)); then
				wait -n || failed=1
				running=$((running - 1))
			fi
			echo "boot $number of $variant"
			boot "$variant" "$number" &
			running=$((running + 1))
		done
	done
	while ((running--)); do
		wait -n || failed=1
	done
	return "$failed"
}

step "measure in QEMU: $variants, $boots boots each" boot_all
rc=0
# shellcheck disable=SC2086
python3 "$TOP/tools/demo/report.py" "$out" "$RELEASE" "$boots" $variants || rc=1
"$SCRIPTS/demo-pairs.sh" "$RELEASE" || rc=1
((rc == 0))
