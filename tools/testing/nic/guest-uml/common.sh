# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# For scenarios on a pair of emulated ports in User Mode Linux: NEAR is the
# name of the first, FAR of the second, which is in the namespace "far".
# Time is virtual: to sleep costs nothing.

KNOBS=/sys/module/txts_nic_uml/parameters

say()
{
	echo "nic: $*"
}

# ok NAME, or not_ok NAME WHY
ok()
{
	say "ok $1"
}

not_ok()
{
	say "not ok $1: $2"
}

# check NAME WHY CMD...: CMD decides
check()
{
	if "${@:3}"; then
		ok "$1"
	else
		not_ok "$1" "$2"
	fi
}

mount_all()
{
	mount -t proc none /proc
	mount -t sysfs none /sys
	mount -t devtmpfs none /dev
	mount -t debugfs none /sys/kernel/debug
	mount -t tmpfs none /run
	mount -t tmpfs none /tmp
	mkdir -p /run/netns
	ln -s /proc/self/fd /dev/fd
	mkfifo /run/nap
}

# As sleep does, without a program to be loaded, which costs real time.
nap()
{
	read -rt "$1" <>/run/nap || true
}

far()
{
	ip netns exec far "$@"
}

knob()
{
	echo "$2" >"$KNOBS/$1"
}

# same A B: both were counted, and are the same
same()
{
	[[ -n $1 && $1 = "$2" ]]
}

# A counter of both ports: what a knob did, or what the trackers say. Whoever
# calls takes stdout for the number, so a failure is told past it.
sum_of()
{
	local file line sum=0 found=
	local -a lines

	for file in "$1"/*/counters; do
		mapfile -t lines <"$file"
		for line in "${lines[@]}"; do
			[[ ${line% *} == "$2" ]] || continue
			((sum += ${line#* })) || true
			found=1
		done
	done
	[[ $found ]] || { not_ok "counter $2" "not in $1" >&2; return 1; }
	echo "$sum"
}

nic_count()
{
	sum_of /sys/kernel/debug/txts_nic "$1"
}

txts_count()
{
	sum_of /sys/kernel/debug/txts "$1"
}

port_of()
{
	local dir

	for dir in /sys/class/net/*; do
		[[ $(<"$dir/address") != "02:54:58:00:00:0$1" ]] ||
			echo "${dir##*/}"
	done
}

# wait_for CMD...: true once CMD is
wait_for()
{
	local n

	for ((n = 0; n < 100; n++)); do
		! "$@" || return 0
		nap 0.1
	done
	return 1
}

near_carrier()
{
	local up=0

	# Of a port that is down it cannot be read.
	read -r up 2>/dev/null <"/sys/class/net/$NEAR/carrier" && ((up))
}

carrier()
{
	near_carrier && far ip -br link show "$FAR" | grep -q 'LOWER_UP'
}

# An address is only known once the other side has answered.
reaches()
{
	far ip neigh flush dev "$FAR"
	far bash -c 'echo >/dev/udp/10.9.0.1/9'
	sleep 0.1
	far ip neigh show 10.9.0.1 | grep -q lladdr
}

# A block counts as lost when two scans found the same in it.
scan_twice()
{
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
}

# What the boot left without owner is not ours.
forget_leaks()
{
	scan_twice
	echo clear >/sys/kernel/debug/kmemleak
}

no_leaks()
{
	test -z "$(</sys/kernel/debug/kmemleak)"
}

raise_far()
{
	FAR=$(port_of 2)
	ip link set "$FAR" netns far && far ip addr add 10.9.0.2/24 dev "$FAR" &&
		far ip link set "$FAR" up
}

set_up()
{
	local module

	forget_leaks
	for module in i2c-algo-bit txts "$driver"; do
		[[ ! -f $modules/$module.ko ]] ||
			insmod "$modules/$module.ko" ||
			{ not_ok probe "cannot load $module.ko"; return 1; }
	done
	insmod "$modules/txts_nic_uml.ko" "pairs=$kind" ||
		{ not_ok probe 'cannot load txts_nic_uml.ko'; return 1; }
	NEAR=$(port_of 1)
	FAR=$(port_of 2)
	if [[ -z $NEAR || -z $FAR ]]; then
		not_ok probe "$driver found no two ports of $kind"
		return 1
	fi
	ok probe
	ip netns add far
	ip addr add 10.9.0.1/24 dev "$NEAR"
	ip link set lo up
	ip link set "$NEAR" up
	raise_far
	check link 'no carrier after 10 s' wait_for carrier
	check reach 'no answer over the pair' wait_for reaches
}

# Once the modules are gone, what they forgot has no owner.
tear_down()
{
	ip netns del far 2>/dev/null
	sleep 1
	rmmod "$driver" txts_nic_uml && { [[ ! -d /sys/module/txts ]] ||
		rmmod txts; }
	check unload 'a module cannot be unloaded' \
		test ! -d /sys/module/txts_nic_uml
	scan_twice
	head -n 60 /sys/kernel/debug/kmemleak
	check leaks 'kmemleak found blocks without owner' no_leaks
}
