#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds txts.ko and the converted drivers:
#
#   modules.sh [--sparse] [--strict]
#
# for the kernel that the environment names:
#   KVER=     a Debian 6.12 kernel: amd64 or rt-amd64 for the newest one, or a
#             release such as 6.12.117+deb12-amd64
#   KDIR=     any configured kernel, with KSRC= its full source tree
#   TESTING=1 with the overrides for tests and benches (CONFIG_TXTS_TESTING)
#
# The modules are left in build/RELEASE, with TESTING=1 in
# build/RELEASE-testing. --sparse also runs sparse, --strict makes every
# warning an error and builds in build/lint instead.
set -euo pipefail
. "$(dirname "$0")/env.sh"

usage='use make modules [KVER=RELEASE | KDIR=DIR KSRC=DIR] [TESTING=1]'
sparse=
strict=
for arg; do
	case $arg in
	--sparse) sparse=1 ;;
	--strict) strict=1 ;;
	*)	die "unknown argument $arg" "$usage" ;;
	esac
done
case ${TESTING:-} in
''|0|1|y|n) ;;
*)	die "TESTING=$TESTING is neither 1 nor 0" "$usage" ;;
esac
[[ ${TESTING:-} == [1y] ]] && testing=y || testing=

if [[ -n ${KDIR:-} || -n ${KSRC:-} ]]; then
	[[ -z ${KVER:-} ]] || die 'KVER and KDIR name two kernels' "$usage"
	[[ -n ${KDIR:-} && -n ${KSRC:-} ]] ||
		die 'KDIR and KSRC go together' "$usage"
	kdir=$(realpath "$KDIR")
	ksrc=$(realpath "$KSRC")
	[[ -f $kdir/include/config/kernel.release ]] ||
		die "$KDIR is no configured kernel" \
			'run make modules_prepare there, or use /lib/modules/RELEASE/build'
	release=$(<"$kdir/include/config/kernel.release")
	"$SCRIPTS/packages.sh" build
else
	"$SCRIPTS/packages.sh" build
	pick_kernel
	release=$RELEASE
	export KVER=$RELEASE
	"$SCRIPTS/fetch.sh" headers "$release"
	"$SCRIPTS/fetch.sh" source-6.12
	kdir=$BUILD/headers/$release/usr/src/linux-headers-$release
	ksrc=$SRC/linux-6.12
fi

# A build of its own, in which every object once compiled without warning.
out=$BUILD/${strict:+lint/}$release${testing:+-testing}
HINT="make modules ${KDIR:+KDIR=$KDIR KSRC=$KSRC}${KVER:+KVER=$KVER}"
HINT+="${testing:+ TESTING=1}"
lock "modules-$release$testing$strict"
"$SCRIPTS/tree.sh" "$out/tree" "$ksrc"

args=(-C "$kdir" "M=$out/tree" W=1 "-j$JOBS")
[[ -z $testing ]] || args+=(TXTS_TESTING=y)
# A kernel that was prepared but not built has no symbols to check against.
[[ -f $kdir/Module.symvers ]] || args+=(KBUILD_MODPOST_WARN=1)
[[ -z $sparse ]] || args+=(C=1)
STEP_TAIL=60
try_step "build modules for $release${testing:+ (testing)}" \
	make "${args[@]}" modules
warnings=$(grep -E '(warning|error): |^WARNING' "$STEP_LOG" | head -n 20 ||
	true)
if [[ ! -f $kdir/Module.symvers ]]; then
	warnings=$(grep -vE 'WARNING: .*(undefined!|Module.symvers|unresolved symbol)' \
		<<<"$warnings" || true)
fi
# Also after an error: an object that gave a warning must give it again.
[[ -z $strict || (-z $warnings && $STEP_RC == 0) ]] ||
	find "$out/tree" -name '*.o' -delete
((STEP_RC == 0)) || die "the build for $release failed" \
	"read the output above, all of it is in $STEP_LOG"
if [[ -n $warnings ]]; then
	printf '%s\n' "$warnings"
	[[ -z $strict ]] || die "warnings in the build for $release" \
		"repair them; all output is in $STEP_LOG"
fi
find "$out" -maxdepth 1 -name '*.ko' -delete
find "$out/tree" -name '*.ko' -exec cp -p -t "$out" {} +
[[ -f $out/txts.ko ]] || die "the build left no txts.ko in $out/tree" \
	"read $STEP_LOG"
say "modules in $out:" "$(cd "$out" && echo ./*.ko)"
