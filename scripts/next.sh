#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Prepares a configured x86 kernel 7.x for modules, in build/x86-7, so that
# modules.sh can compile the library and the converted drivers against it:
#
#   next.sh        then modules.sh with KDIR=build/x86-7 KSRC=build/src/linux-7
set -euo pipefail
. "$(dirname "$0")/env.sh"

(($# == 0)) || die "unknown argument $1" 'use next.sh'
HINT=scripts/next.sh
obj=$BUILD/x86-7
src=$SRC/linux-7

prepare()
{
	rm -rf "$obj"
	mkdir -p "$obj"
	make -C "$src" O="$obj" ARCH=x86 \
		KCONFIG_ALLCONFIG="$SCRIPTS/next.config" allnoconfig
	# A symbol that Kconfig dropped would leave code uncompiled.
	while IFS= read -r line; do
		grep -qxF "$line" "$obj/.config" ||
			{ echo "$line was not taken"; return 1; }
	done < <(grep '^CONFIG_' "$SCRIPTS/next.config")
	make -C "$src" O="$obj" ARCH=x86 -j"$JOBS" modules_prepare
}

"$SCRIPTS/packages.sh" lint
"$SCRIPTS/fetch.sh" source-7
lock x86-7
inputs=$(cat "$src/.txts-version" "$SCRIPTS/next.config" | sha256sum)
if [[ ! -f $obj/.inputs || $(<"$obj/.inputs") != "$inputs" ]]; then
	step 'prepare linux-7 for modules' prepare
	printf '%s\n' "$inputs" >"$obj/.inputs"
fi
