#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Installs the Debian packages that a group of steps needs:
#
#   packages.sh GROUP...     build lint uml vm demo bench coverage kcsan
#   packages.sh lists        only has apt know what there is
#   packages.sh next         the same, with the suite that has Linux 7.x
#
# Does nothing, and asks no network, when all of a group is installed. The
# backports suites are added only where needed, pinned so low that nothing
# comes from them by itself.
set -euo pipefail
. "$(dirname "$0")/env.sh"

LISTS=/var/lib/apt/lists
PARTS=/etc/apt/sources.list.d/txts-backports.list
PINS=/etc/apt/preferences.d/txts-backports

# Debian 12's own QEMU (7.2) has no igb.
QEMU_MIN=1:8.0

group()
{
	# libpython3.11 is for the Python in semantic patches.
	local build='gcc-12 binutils libc6-dev libelf1 make xz-utils perl python3 coccinelle libpython3.11 kmod pahole'
	local uml='gcc-12 libc6-dev make xz-utils perl python3 flex bison bc'
	local vm='qemu-system-x86 gcc-12 libc6-dev make cpio gzip kmod busybox-static iproute2 ethtool linuxptp python3'

	case $1 in
	build)	echo "$build" ;;
	lint)	echo "$build sparse shellcheck flex bison bc libelf-dev libssl-dev" ;;
	uml)	echo "$uml" ;;
	vm)	echo "$vm" ;;
	demo)	echo "$build $vm" ;;
	bench)	echo "$build $vm chrony" ;;
	coverage) echo "$uml lcov" ;;
	kcsan)	echo "$uml $vm libelf-dev libssl-dev" ;;
	lists|next) ;;
	*)	return 1 ;;
	esac
}

installed()
{
	local state version

	read -r state version < <(dpkg-query -W \
		-f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null) ||
		return 1
	[[ $state == installed ]] || return 1
	[[ $1 != qemu-system-x86 ]] ||
		dpkg --compare-versions "$version" ge "$QEMU_MIN"
}

need_root()
{
	((EUID == 0)) || die "only root can $1" \
		"run this once as root, or: ${2:-sudo $0 $ARGS}"
}

# apt fails for passing reasons: another apt holds a lock, a mirror is busy.
apt()
{
	local try

	for try in 1 2 3; do
		if DEBIAN_FRONTEND=noninteractive apt-get -q -y \
			-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
			"$@"; then
			return
		fi
		((try == 3)) || echo "apt-get $1 failed, trying again in 20 s"
		((try == 3)) || sleep 20
	done
	return 1
}

update()
{
	need_root 'update the package lists' 'sudo apt-get update'
	step 'apt-get update' apt update --error-on=any
	touch "$LISTS/txts-updated"
}

# Package lists that are older than a day may name files that are gone.
lists()
{
	local stamp

	compgen -G "$LISTS/*Release" >/dev/null || { update; return; }
	for stamp in "$LISTS/txts-updated" "$LISTS/partial"; do
		! fresh "$stamp" || return 0
	done
	((EUID == 0)) || return 0
	update
}

targets()
{
	# shellcheck disable=SC2016
	apt-get indextargets \
		--format '$(CODENAME) $(COMPONENT) $(ORIGIN)|$(REPO_URI)' \
		'Identifier: Packages'
}

# grep -q would end at the first match, and apt-get fail for the closed pipe.
offers()
{
	targets | grep -c "^$1 main Debian" >/dev/null
}

# Adds a backports suite from the mirror that apt uses for Debian 12 itself.
backports()
{
	local suite=$1 uri

	lists
	! offers "$suite" || return 0
	need_root "add the suite $suite"
	uri=$(targets | awk -F'|' '/^bookworm main Debian[|]/ && !uri { uri = $2 }
		END { print uri }')
	[[ -n $uri ]] || die "apt's sources do not name Debian 12 (bookworm)" \
		"this needs Debian 12: add its main suite to apt's sources"
	say "adding $suite to apt's sources ($PARTS), pinned to priority 1"
	touch "$PARTS" "$PINS"
	grep -q " $suite main\$" "$PARTS" ||
		echo "deb $uri $suite main" >>"$PARTS"
	grep -q "release n=$suite\$" "$PINS" ||
		printf 'Package: *\nPin: release n=%s\nPin-Priority: 1\n\n' \
			"$suite" >>"$PINS"
	update
	offers "$suite" ||
		die "apt cannot read the suite $suite" \
			"look at $PARTS and run apt-get update"
}

known()
{
	[[ -n $(versions_of "$1") ]]
}

ARGS=$*
(($#)) || die 'no group given' 'use packages.sh build|lint|uml|vm|demo|bench|coverage|kcsan|lists|next'
missing=()
qemu=()
for name; do
	needs=$(group "$name") || die "there is no package group $name" \
		'use packages.sh build|lint|uml|vm|demo|bench|coverage|kcsan|lists|next'
	for pkg in $needs; do
		installed "$pkg" && continue
		if [[ $pkg == qemu-* ]]; then
			qemu=("$pkg")
		elif [[ " ${missing[*]} " != *" $pkg "* ]]; then
			missing+=("$pkg")
		fi
	done
done

# One run at a time changes apt's state; several may ask.
mkdir -p "$BUILD"
lock packages
for name; do
	case $name in
	lists)	lists ;;
	next)	backports trixie-backports ;;
	esac
done
if ((${#missing[@]} + ${#qemu[@]})); then
	need_root "install: ${missing[*]} ${qemu[*]}"
	lists
	for pkg in "${missing[@]}"; do
		known "$pkg" || { update; break; }
	done
fi
if ((${#missing[@]})); then
	HINT="apt-get install ${missing[*]}"
	say "installing: ${missing[*]}"
	step "install packages for: $ARGS" \
		apt install --no-install-recommends "${missing[@]}"
fi
if ((${#qemu[@]})); then
	HINT="apt-get install -t bookworm-backports ${qemu[*]}"
	backports bookworm-backports
	step "install ${qemu[*]} from bookworm-backports" \
		apt install --no-install-recommends -t bookworm-backports \
		"${qemu[@]}"
	installed qemu-system-x86 || die \
		"the installed qemu-system-x86 is older than $QEMU_MIN" \
		'remove the package and its pins, then repeat'
fi
