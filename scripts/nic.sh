#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The real drivers on emulated network cards in User Mode Linux 7.x, with
# sanitizers, lockdep and leak detection, in virtual time:
#
#   nic.sh [--stock] [KIND...]
#
# KIND is i210, i226, i350 or 82580; without one i210 and i226 are run. For
# each, a pair of ports is wired together and two ptp4l synchronise over it,
# with stamps lost, late, twice and stale (tools/testing/nic/guest-uml/ptp.sh).
# On i226 an AF_XDP socket also sends with stamps while its pool is taken away.
# --stock runs ptp4l on the drivers as the kernel has them, and only shows what
# they lose: nothing is a failure.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"

usage='use nic.sh [--stock] [i210|i226|i350|82580 ...]'
stock=
kinds=()
while (($#)); do
	case $1 in
	--stock) stock=1 ;;
	i210|i226|i350|82580) kinds+=("$1") ;;
	*)	die "unknown argument $1" "$usage" ;;
	esac
	shift
done
((${#kinds[@]})) || kinds=(i210 i226)
HINT="scripts/nic.sh ${stock:+--stock }${kinds[*]}"

dir=$BUILD/um-7-nic
obj=$dir/obj
modules=$dir/modules
nic=$TOP/tools/testing/nic
uml=(make -C "$dir/src" ARCH=um CC=gcc-12 "O=$obj" "-j$JOBS")

driver_of()
{
	case $1 in
	i226)	echo igc ;;
	*)	echo igb ;;
	esac
}

build_kernel()
{
	cmp -s "$nic/uml.config" "$obj/fragment" || {
		cp "$nic/uml.config" "$obj/.config"
		"${uml[@]}" olddefconfig
		cp "$nic/uml.config" "$obj/fragment"
	}
	"${uml[@]}" all
}

# All files of the model side by side, as the front's Kbuild wants them.
lay_front()
{
	local file

	rm -rf "$dir/front.part"
	mkdir -p "$dir/front" "$dir/front.part"
	for file in "$nic"/*.[ch] "$nic/model.mk" \
		"$TOP"/kunit/{regfile,stamp_unit}.[ch]; do
		[[ ${file##*/} != uml-export.c ]] ||
			continue
		ln -s "$file" "$dir/front.part/"
	done
	ln -s "$nic/Kbuild.uml" "$dir/front.part/Kbuild"
	find "$dir/front" -type l -delete
	cp -P "$dir/front.part/"* "$dir/front/"
	rm -rf "$dir/front.part"
}

build_modules()
{
	"${uml[@]}" "M=$dir/front" modules
	"${uml[@]}" "M=$dir/tree" TXTS_TESTING=y modules
	rm -rf "$modules"
	mkdir -p "$modules/txts" "$modules/stock"
	find "$dir/tree" -name '*.ko' -exec cp -t "$modules/txts" {} +
	cp "$obj"/drivers/net/ethernet/intel/ig[bc]/ig[bc].ko "$modules/stock/"
	# igb wants it, and the kernel has no other use for it.
	cp "$obj/drivers/i2c/algos/i2c-algo-bit.ko" "$modules/txts/"
	cp "$obj/drivers/i2c/algos/i2c-algo-bit.ko" "$modules/stock/"
	cp "$dir/front/txts_nic_uml.ko" "$modules/txts/"
	cp "$dir/front/txts_nic_uml.ko" "$modules/stock/"
	gcc-12 -O2 -std=gnu11 -Wall -Wextra -Werror -static \
		-o "$modules/txts/xsk-flood" "$nic/guest-uml/xsk-flood.c"
	cp "$modules/txts/xsk-flood" "$modules/stock/"
}

# The guest's file system is the host's, which it cannot write.
boot()
{
	local kind=$1 set=$2 scenario=$3

	timeout -k 5 900 "$obj/linux" mem=768M con=null con0=fd:0,fd:1 \
		root=/dev/root rootfstype=hostfs ro \
		time-travel=inf-cpu time-travel-start=1796000000000000000 \
		loglevel=7 "init=$nic/guest-uml/init.sh" -- \
		"$modules/$set" "$(driver_of "$kind")" "$kind" "$scenario"
}

run()
{
	local kind=$1 scenario=$2 set=txts name log passed failed report

	[[ -z $stock ]] || set=stock
	name=nic-$set-$kind-$scenario
	log=$dir/$name.log
	try_step "$name" boot "$kind" "$set" "$scenario"
	tr -d '\r' <"$STEP_LOG" >"$log"
	sed -n 's/^nic: info /    /p; s/^nic: \(not ok.*\)/    \1/p' "$log"
	[[ -z $stock ]] || return 0
	passed=$(grep -c '^nic: ok ' "$log" || true)
	failed=$(grep -c '^nic: not ok ' "$log" || true)
	if ! grep -qx "nic: done $scenario" "$log"; then
		say "$name: $scenario.sh did not come to its end"
		((failed += 1))
	fi
	if ! grep -qx 'nic: end' "$log"; then
		say "$name: the run did not come to its end"
		((failed += 1))
	fi
	if ! report=$("$SCRIPTS/kunit_log.py" "$log"); then
		say "$name: the kernel reported:"
		printf '    %s\n' "${report//$'\n'/$'\n    '}"
		((failed += 1))
	fi
	((failed == 0)) || say "raw log: $log; repeat with:" \
		"scripts/nic.sh ${stock:+--stock }$kind"
	result "$name" "$passed" "$failed" 0
}

"$SCRIPTS/packages.sh" uml build vm
"$SCRIPTS/fetch.sh" source-7
lock um-7-nic
nic_overlay
mkdir -p "$obj"
[[ -f $obj/vmlinux ]] ||
	say 'the first build is about 2500 objects, 10 to 15 min on 2 CPUs'
STEP_OBJECTS=$obj
step 'build User Mode Linux for the emulated NICs' build_kernel
STEP_OBJECTS=
"$SCRIPTS/tree.sh" "$dir/tree" "$SRC/linux-7"
lay_front
step 'build the emulated NICs and the converted drivers' build_modules
step 'build the tools' make -s -C "$TOP/tools" "O=$BUILD/tools"
for kind in "${kinds[@]}"; do
	run "$kind" ptp
	[[ $kind != i226 ]] || run "$kind" xsk
	[[ $kind != i226 || -n $stock ]] || run "$kind" igc
done
finish_results
