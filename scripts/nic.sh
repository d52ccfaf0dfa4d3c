#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The real drivers on emulated network cards in User Mode Linux 7.x, with
# sanitizers, lockdep and leak detection, in virtual time:
#
#   nic.sh [--stock] [KIND[:SCENARIO[+SCENARIO]...]]...
#
# KIND is i210, i226, i350 or 82580, a pair of whose ports is wired together,
# and SCENARIO a script of tools/testing/nic/guest-uml, which says what it does.
# Scenarios joined by + share a boot. Without them a KIND runs all of its own;
# without a KIND all are run. Two boots run at a time on two CPUs.
#
# --stock runs the drivers as the kernel has them, and only shows what they
# lose: nothing is a failure. Its scenarios are ptp and xsk.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"

usage='use nic.sh [--stock] [i210|i226|i350|82580[:SCENARIO+...]]...'
nic=$TOP/tools/testing/nic
stock=
boots=()
kinds=()
args=$*

# What of a kind is run, a boot each; the longest come first.
boots_of()
{
	case ${stock:+stock-}$1 in
	i226)	echo i226:pools i226:change i226:ptp+xsk i226:knobs+launch+packets ;;
	i210)	echo i210:change i210:knobs+launch+packets i210:ptp ;;
	i350|82580) echo "$1:short" ;;
	stock-i226) echo i226:ptp i226:xsk ;;
	stock-*) echo "$1:ptp" ;;
	esac
}

check_boot()
{
	local scenario
	local -a scenarios

	IFS=+ read -ra scenarios <<<"${1#*:}"
	((${#scenarios[@]})) || die "$1 names no scenario" "$usage"
	for scenario in "${scenarios[@]}"; do
		[[ $scenario =~ ^[a-z]+$ &&
			-f $nic/guest-uml/scenario-$scenario.sh ]] ||
			die "there is no scenario $scenario" \
				"see $nic/guest-uml/scenario-*.sh"
	done
}

while (($#)); do
	case $1 in
	--stock) stock=1 ;;
	i210|i226|i350|82580) kinds+=("$1") ;;
	i210:*|i226:*|i350:*|82580:*)
		check_boot "$1"
		boots+=("$1")
		;;
	*)	die "unknown argument $1" "$usage" ;;
	esac
	shift
done
((${#kinds[@]} + ${#boots[@]})) || {
	kinds=(i226 i210)
	[[ $stock ]] || kinds+=(i350 82580)
}
for kind in "${kinds[@]}"; do
	# shellcheck disable=SC2207
	boots+=($(boots_of "$kind"))
done
HINT="scripts/nic.sh $args"

dir=$BUILD/um-7-nic
obj=$dir/obj
modules=$dir/modules
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
	cp "$dir/front/txts_nic_"*.ko "$modules/txts/"
	cp "$dir/front/txts_nic_"*.ko "$modules/stock/"
}

# The guest's file system is the host's, which it cannot write.
boot()
{
	local kind=${1%%:*} set=txts rc=0 log

	log=$dir/$(name_of "$1").log
	[[ -z $stock ]] || set=stock
	timeout -k 5 900 "$obj/linux" mem=768M con=null con0=fd:0,fd:1 \
		root=/dev/root rootfstype=hostfs ro \
		time-travel=inf-cpu time-travel-start=1796000000000000000 \
		loglevel=7 "init=$nic/guest-uml/init.sh" -- \
		"$modules/$set" "$(driver_of "$kind")" "$kind" "${1#*:}" \
		>"$log.raw" 2>&1 </dev/null || rc=$?
	tr -d '\r' <"$log.raw" >"$log"
	echo "$1 ended, status $rc"
	return "$rc"
}

name_of()
{
	local name=nic-txts-${1/:/-}

	[[ -z $stock ]] || name=nic-stock-${1/:/-}
	echo "${name//+/-}"
}

# UML keeps one CPU of the host busy.
boot_all()
{
	local entry rc=0

	for entry; do
		while (($(jobs -rp | wc -l) >= JOBS)); do
			wait -n || rc=1
		done
		echo "$entry began"
		boot "$entry" &
	done
	while [[ -n $(jobs -rp) ]]; do
		wait -n || rc=1
	done
	return "$rc"
}

report()
{
	local name log passed failed problems scenario

	name=$(name_of "$1")
	log=$dir/$name.log
	say "$name:"
	sed -n 's/^nic: info /    /p; s/^nic: \(not ok.*\)/    \1/p' "$log"
	[[ -z $stock ]] || return 0
	passed=$(grep -c '^nic: ok ' "$log" || true)
	failed=$(grep -c '^nic: not ok ' "$log" || true)
	IFS=+ read -ra scenarios <<<"${1#*:}"
	for scenario in "${scenarios[@]}"; do
		if ! grep -qx "nic: done $scenario" "$log"; then
			say "$name: $scenario did not come to its end"
			((failed += 1))
		fi
	done
	if ! grep -qx 'nic: end' "$log"; then
		say "$name: the run did not come to its end"
		((failed += 1))
	fi
	if ! problems=$("$SCRIPTS/kunit_log.py" "$log"); then
		say "$name: the kernel reported:"
		printf '    %s\n' "${problems//$'\n'/$'\n    '}"
		((failed += 1))
	fi
	((failed == 0)) ||
		say "raw log: $log; repeat with: scripts/nic.sh $1"
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
try_step "boot ${#boots[@]} times" boot_all "${boots[@]}"
for entry in "${boots[@]}"; do
	report "$entry"
done
finish_results
