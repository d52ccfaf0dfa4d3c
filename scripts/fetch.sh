#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetches Debian's kernel packages into build/ without installing them:
#
#   fetch.sh source-6.12        build/src/linux-6.12
#   fetch.sh source-7           build/src/linux-7
#   fetch.sh headers RELEASE    build/headers/RELEASE
#   fetch.sh image RELEASE      build/image/RELEASE
#
# RELEASE is e.g. 6.12.117+deb12-rt-amd64. What is there in the right version
# is left alone; .txts-version in each directory holds the package's version.
set -euo pipefail
. "$(dirname "$0")/env.sh"

usage="use fetch.sh source-6.12 | source-7 | headers RELEASE | image RELEASE"

# Prints the path of the package's file, downloading it if it is not there.
deb()
{
	local pkg=$1 version=$2 part=$DL/part.$$ try found

	mkdir -p "$DL"
	# The epoch's colon, if there is one, is %3a in the file's name.
	found=$(find "$DL" -maxdepth 1 -name "${pkg}_${version/:/%3a}_*.deb")
	if [[ -z $found ]]; then
		mkdir -p "$part"
		for try in 1 2 3; do
			(cd "$part" && apt-get -q -o APT::Sandbox::User=root \
				-o Acquire::Retries=3 download \
				"$pkg=$version") >&2 && break
			if ((try == 3)); then
				rm -rf "$part"
				die "cannot download $pkg $version" \
					"check the network, run apt-get update and try again"
			fi
			sleep 10
		done
		mv "$part"/*.deb "$DL/"
		rmdir "$part"
		found=$(find "$DL" -maxdepth 1 \
			-name "${pkg}_${version/:/%3a}_*.deb")
	fi
	printf '%s\n' "$found"
}

have()
{
	[[ -f $1/.txts-version && $(<"$1/.txts-version") == "$2" ]]
}

# Puts a directory in place only when it is complete.
finish()
{
	printf '%s\n' "$2" >"$1.part/.txts-version"
	rm -rf "$1"
	mv "$1.part" "$1"
}

source_tree()
{
	local dir=$1 pkg=$2 version=$3 file

	file=$(deb "$pkg" "$version")
	rm -rf "$dir.part"
	mkdir -p "$dir.part"
	dpkg-deb --fsys-tarfile "$file" |
		tar -xO "./usr/src/$pkg.tar.xz" |
		tar -xJ -C "$dir.part" --strip-components=1
	finish "$dir" "$version"
}

headers()
{
	local dir=$1 release=$2 base=$3 version=$4 common='common' pkg file

	[[ $release != *-rt-amd64 ]] || common='common-rt'
	rm -rf "$dir.part"
	mkdir -p "$dir.part"
	for pkg in "linux-headers-$release" "linux-headers-$base-$common" \
		"linux-kbuild-$base"; do
		file=$(deb "$pkg" "$version")
		dpkg -x "$file" "$dir.part"
	done
	# The flavour's Makefile names the common one by its absolute path.
	# shellcheck disable=SC2016
	sed -i 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' \
		"$dir.part/usr/src/linux-headers-$release/Makefile"
	if grep -q '^include /' \
		"$dir.part/usr/src/linux-headers-$release/Makefile"; then
		die "the headers' Makefile has an absolute include" \
			"report this with the kernel's version ($version)"
	fi
	finish "$dir" "$version"
}

image()
{
	local dir=$1 release=$2 version=$3 file

	file=$(deb "linux-image-$release-unsigned" "$version")
	rm -rf "$dir.part"
	mkdir -p "$dir.part"
	dpkg -x "$file" "$dir.part"
	finish "$dir" "$version"
}

(($# >= 1)) || die "nothing to fetch" "$usage"
case $1 in
source-6.12|source-7)
	(($# == 1)) || die "too many arguments" "$usage"
	lock "fetch-$1"
	if [[ $1 == source-7 ]]; then
		pick_next
		pkg=$NEXT_PKG version=$NEXT_VERSION
	else
		pick_kernel
		pkg=linux-source-6.12 version=$KVERSION
	fi
	dir=$SRC/linux-${1#source-}
	have "$dir" "$version" ||
		step "fetch $pkg $version" source_tree "$dir" "$pkg" "$version"
	;;
headers|image)
	(($# == 2)) || die "$1 needs a kernel release" "$usage"
	[[ $2 == 6.12.*-amd64 ]] || die "$2 is no kernel release" "$usage"
	lock "fetch-$1-$2"
	KVER=$2
	pick_kernel
	dir=$BUILD/$1/$RELEASE
	if ! have "$dir" "$KVERSION"; then
		if [[ $1 == headers ]]; then
			step "fetch headers $RELEASE" headers "$dir" \
				"$RELEASE" "$KBASE" "$KVERSION"
		else
			step "fetch image $RELEASE" image "$dir" \
				"$RELEASE" "$KVERSION"
		fi
	fi
	;;
*)
	die "cannot fetch $1" "$usage"
	;;
esac
