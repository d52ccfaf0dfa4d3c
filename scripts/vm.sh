#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a stock Debian 6.12 kernel in QEMU with two emulated 82576 (igb) ports
# wired back to back, runs a guest script and brings its results back.
#
#   vm.sh -k RELEASE -o DIR [options] GUEST_SCRIPT [NAME=VALUE...]
#
#   -k RELEASE  kernel, e.g. 6.12.117+deb12-amd64 (from build/image)
#   -o DIR      what the guest left in /out, and the console's log, land here
#   -m DIR      take igb.ko (and txts.ko) from DIR, not the stock igb
#   -l          load no igb: the script does it
#   -f FILE     also put FILE into the guest's /data (repeatable)
#   -x PROGRAM  also put this program into the guest's PATH (repeatable)
#   -c N        virtual CPUs (1)
#   -s N        -icount shift=N: virtual time, 2^N ns per instruction (1);
#               "off" runs on the host's time
#   -M MB       memory (512)
#   -t SECONDS  of the host's time until the VM counts as hung (600)
#   -p          also capture the wire into DIR/wire.pcap
#   -T EVENT    have QEMU log a trace event of its own into DIR/trace
#   -a ARGS     more for the kernel's command line
#
# NAME=VALUE are variables for the guest script. Exit status: the script's; 1
# also if the kernel warned, 124 if the VM hung.
set -euo pipefail
. "$(dirname "$0")/env.sh"
# shellcheck disable=SC2034
HINT="$0 $*"

VM=$TOP/tools/vm
PATH=$PATH:/usr/sbin:/sbin
release='' out='' moddir='' load=yes cpus=1 shift=1 memory=512 limit=600
append='' capture=no event=''
files=() extra=()

usage()
{
	die "$1" 'the first lines of scripts/vm.sh tell how to call it'
}

number()
{
	[[ $2 =~ ^[0-9]+$ ]] || usage "$1 needs a number, not \"$2\""
}

while getopts k:o:m:lf:x:c:s:M:t:pT:a: opt; do
	case $opt in
	k)	release=$OPTARG ;;
	o)	out=$OPTARG ;;
	m)	moddir=$OPTARG ;;
	l)	load=no ;;
	f)	files+=("$OPTARG") ;;
	x)	extra+=("$OPTARG") ;;
	c)	number -c "$OPTARG"; cpus=$OPTARG ;;
	s)	[[ $OPTARG == off ]] || number -s "$OPTARG"; shift=$OPTARG ;;
	M)	number -M "$OPTARG"; memory=$OPTARG ;;
	t)	number -t "$OPTARG"; limit=$OPTARG ;;
	p)	capture=yes ;;
	T)	event=$OPTARG ;;
	a)	append=$OPTARG ;;
	*)	usage 'unknown option' ;;
	esac
done
shift_args=$((OPTIND - 1))
shift "$shift_args"
[[ -n $release ]] || usage 'which kernel (-k)?'
[[ -n $out ]] || usage 'where do results go (-o)?'
(($#)) || usage 'which guest script?'
script=$1
shift
[[ -f $script ]] || usage "there is no guest script $script"
for param; do
	[[ $param =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] ||
		usage "\"$param\" is not NAME=VALUE"
done
for file in "${files[@]}"; do
	[[ -f $file ]] || usage "there is no file $file"
done
image=$BUILD/image/$release
kernel=$image/boot/vmlinuz-$release
[[ -f $kernel ]] || die "there is no kernel image $kernel" \
	"run scripts/fetch.sh image $release"
[[ -z $moddir || -f $moddir/igb.ko ]] || die "there is no $moddir/igb.ko" \
	'build the modules first: make modules'
command -v qemu-system-x86_64 >/dev/null || die 'QEMU is not installed' \
	'run scripts/packages.sh vm'

# The same programs for every VM; made again when one of them changes.
base=$BUILD/vm/base.cpio
programs=(bash ip ethtool ptp4l pmc phc_ctl hwstamp_ctl chrt)

add_program()
{
	local root=$1 path lib

	path=$(type -P "$2") ||
		die "there is no program $2" 'run scripts/packages.sh vm'
	install -D "$path" "$root/tools/$2"
	while read -r lib; do
		[[ -e $root$lib ]] || install -D "$lib" "$root$lib"
	done < <(ldd "$path" | grep -o '/[^ ]*')
}

make_base()
{
	local root=$BUILD/vm/root program applet

	rm -rf "$root"
	mkdir -p "$root"/{bin,applets,tools,proc,sys,dev,run,tmp,out,data}
	mkdir -p "$root"/{etc,var/run,modules}
	for program in "${programs[@]}"; do
		add_program "$root" "$program"
	done
	ln -s ../tools/bash "$root/bin/bash"
	cp /bin/busybox "$root/bin/busybox"
	for applet in $(/bin/busybox --list); do
		ln -s ../bin/busybox "$root/applets/$applet"
	done
	pack "$root" >"$base.tmp"
	mv "$base.tmp" "$base"
}

pack()
{
	(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0)
}

# Puts a module and what it needs into $1, in the order of loading.
add_module()
{
	local root=$1 name=$2 file='' need

	grep -qx "$name" "$root/modules/order" && return
	[[ -n $moddir && -f $moddir/$name.ko ]] && file=$moddir/$name.ko
	[[ -n $file ]] || file=$(find "$image/lib/modules/$release" \
		-name "${name//[_-]/[_-]}.ko*" -print -quit)
	[[ -n $file ]] || die "no module $name for $release" \
		"remove build/image/$release and run scripts/fetch.sh image $release"
	for need in $(modinfo -F depends "$file" | tr , ' '); do
		add_module "$root" "$need"
	done
	case $file in
	*.xz)	xz -dc "$file" >"$root/modules/$name.ko" ;;
	*)	cp "$file" "$root/modules/$name.ko" ;;
	esac
	echo "$name" >>"$root/modules/order"
}

base_is_fresh()
{
	local program

	[[ $base -nt $0 ]] || return 1
	for program in "${programs[@]}"; do
		[[ ! "$(type -P "$program")" -nt $base ]] || return 1
	done
}

mkdir -p "$BUILD/vm"
(
	# Held only here: VMs may run at the same time.
	lock vm-base
	base_is_fresh || make_base
)

mkdir -p "$out"
rm -f "$out"/{status,warnings,dmesg,console.log}
work=$(mktemp -d "$BUILD/vm/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/modules" "$root/data"
: >"$root/modules/order"
add_module "$root" igb
install "$VM/init.sh" "$root/init"
cp "$VM/guest.sh" "$root/guest.sh"
cp "$script" "$root/script.sh"
{
	printf 'LOAD_IGB=%s\nHAVE_TXTS=%s\n' "$load" \
		"$([[ -n $moddir && -f $moddir/txts.ko ]] && echo yes || echo no)"
	for param; do
		printf '%s=%q\n' "${param%%=*}" "${param#*=}"
	done
} >"$root/params"
for file in "${files[@]}"; do
	cp "$file" "$root/data/"
done
for program in "${extra[@]}"; do
	add_program "$root" "$program"
done
{ cat "$base"; pack "$root"; } >"$work/initrd"

port()
{
	echo -device "pcie-root-port,id=rp$1,chassis=$1,slot=$1" \
		-netdev "hubport,id=net$1,hubid=1" \
		-device "igb,bus=rp$1,netdev=net$1,mac=52:54:00:00:00:0$1"
}

dump=()
[[ $capture == no ]] ||
	dump=(-object "filter-dump,id=dump,netdev=net1,file=$out/wire.pcap")
[[ -z $event ]] || dump+=(-trace "enable=$event" -D "$out/trace")
icount=()
[[ $shift == off ]] || icount=(-icount "shift=$shift,sleep=off")
rc=0
# shellcheck disable=SC2046
timeout -k 5 "$limit" qemu-system-x86_64 -accel tcg "${icount[@]}" \
	-M q35 -cpu max -smp "$cpus" -m "$memory" \
	-nodefaults -display none -no-reboot \
	-serial "file:$out/console.log" \
	-device virtio-serial-pci \
	-chardev "file,id=out,path=$work/out.tar" \
	-device virtserialport,chardev=out,name=txts.out \
	$(port 1) $(port 2) "${dump[@]}" \
	-kernel "$kernel" -initrd "$work/initrd" \
	-append "console=ttyS0 loglevel=5 panic=-1 $append" \
	</dev/null 2>"$work/qemu.err" || rc=$?
# It warns that the hub has no way to the host, which is the purpose.
grep -v 'hub 1 is not connected to host network' "$work/qemu.err" >&2 || true

console()
{
	echo "the end of $out/console.log:"
	tail -n 40 "$out/console.log" | tr -d '\r' | sed 's/^/    /'
}

if ((rc == 124 || rc == 137)); then
	console
	say "the VM did not finish within $limit s of host time"
	exit 124
fi
((rc == 0)) || die "QEMU ended with status $rc" 'read its message above'
if ! tar -xf "$work/out.tar" -C "$out" 2>/dev/null || [[ ! -f $out/status ]]; then
	console
	die 'the VM brought no results: it crashed' 'read the console above'
fi
rc=$(<"$out/status")
if [[ -s $out/warnings ]]; then
	say "the kernel warned (all of it in $out/dmesg):"
	head -n 40 "$out/warnings" | sed 's/^/    /'
	((rc)) || rc=1
fi
exit "$rc"
