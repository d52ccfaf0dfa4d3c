# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Sourced by every script: paths, messages, steps with progress and duration,
# and the choice of the kernel to build for.
#
#   say TEXT            one line for the user
#   die WHAT DO         an error and what to do about it; ends the script
#   step TEXT CMD...    run CMD quietly, show progress; ends the script if CMD
#                       fails, after showing the end of its output
#   try_step TEXT CMD.. the same, but leaves the status in STEP_RC
#   pick_kernel         sets KBASE (6.12.x+deb12), KVERSION (package version)
#                       and RELEASE (KBASE and the flavour); KVER= overrides
#   pick_next           sets NEXT_PKG and NEXT_VERSION: linux-source-7.*
#
#   result NAME PASSED FAILED SKIPPED
#                       records a test step's outcome for make check; running
#                       no test at all counts as a failure
#   finish_results      prints the sum of this script's results; fails if one
#                       of them has a failure
#
# A script may set HINT: printed by step and die as the command that repeats
# what failed. STEP_OBJECTS=DIR shows progress by the objects that DIR holds,
# for a command that prints nothing; STEP_TAIL is how much of a failed one's
# output to show.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SCRIPTS=$TOP/scripts
BUILD=$TOP/build
DL=$BUILD/dl
SRC=$BUILD/src
LOGS=$BUILD/log
RESULTS=$BUILD/result
JOBS=${JOBS:-$(nproc)}
HINT=${HINT:-}
STEP_RC=0
STEP_LOG=
STEP_PID=
STEP_OBJECTS=
export LC_ALL=C.UTF-8
# Each kernel build is a make of its own, not part of the one that called us.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

say()
{
	printf 'txts: %s\n' "$*"
}

die()
{
	printf 'txts: error: %s\n' "$1" >&2
	[[ -z ${2:-} ]] || printf 'txts: what to do: %s\n' "$2" >&2
	[[ -z $HINT ]] || printf 'txts: repeat with: %s\n' "$HINT" >&2
	exit 1
}

# A step runs in its own process group, so that an interrupt ends all of it.
step_stop()
{
	[[ -z $STEP_PID ]] || kill -- "-$STEP_PID" 2>/dev/null || true
	exit 130
}
trap step_stop INT TERM

step_progress()
{
	if [[ -n $STEP_OBJECTS ]]; then
		printf 'txts:   %d s, %d objects\n' "$1" \
			"$(find "$STEP_OBJECTS" -name '*.o' 2>/dev/null | wc -l)"
	else
		printf 'txts:   %d s, %d lines: %.60s\n' "$1" \
			"$(wc -l <"$STEP_LOG")" \
			"$(tail -n 1 "$STEP_LOG" | tr -d '\r')"
	fi
}

try_step()
{
	local text=$1 start=$SECONDS shown=$SECONDS took

	shift
	mkdir -p "$LOGS"
	STEP_LOG=$LOGS/$(tr -cs 'A-Za-z0-9._\n' '-' <<<"$text").log
	say "$text ..."
	set -m
	"$@" >"$STEP_LOG" 2>&1 </dev/null &
	STEP_PID=$!
	set +m
	while kill -0 "$STEP_PID" 2>/dev/null; do
		sleep 0.2
		if ((SECONDS - shown >= 20)); then
			shown=$SECONDS
			step_progress $((SECONDS - start))
		fi
	done
	STEP_RC=0
	wait "$STEP_PID" || STEP_RC=$?
	STEP_PID=
	took=$((SECONDS - start))
	if ((STEP_RC)); then
		say "$text: FAILED after $took s (status $STEP_RC)," \
			"the end of $STEP_LOG:"
		tail -n "${STEP_TAIL:-30}" "$STEP_LOG" | sed 's/^/    /'
	else
		say "$text: done ($took s)"
	fi
}

step()
{
	try_step "$@"
	((STEP_RC == 0)) || die "$1: failed" \
		"read the output above, all of it is in $STEP_LOG"
}

# Sums of what this script recorded: passed, failed, skipped.
SUM=(0 0 0)

result()
{
	local name=$1 passed=$2 failed=$3 skipped=$4

	if ((passed + failed == 0)); then
		say "$name: no test ran"
		failed=1
	fi
	mkdir -p "$RESULTS"
	printf '%d %d %d\n' "$passed" "$failed" "$skipped" >"$RESULTS/$name"
	((SUM[0] += passed, SUM[1] += failed, SUM[2] += skipped)) || true
}

sum_line()
{
	local line="$1 passed, $2 failed"

	(($3 == 0)) || line+=", $3 skipped"
	printf '%s\n' "$line"
}

finish_results()
{
	sum_line "${SUM[@]}"
	((SUM[1] == 0))
}

# Only one script at a time fetches, builds or writes the thing named $1.
lock()
{
	local fd

	mkdir -p "$BUILD/lock"
	exec {fd}>"$BUILD/lock/$1"
	flock -n "$fd" && return
	say "waiting for another run that uses $1"
	flock "$fd"
}

versions_of()
{
	apt-cache madison "$1" 2>/dev/null | awk -F' *[|] *' '{ print $2 }'
}

# True if every package named after the version $1 is offered in it.
all_offered()
{
	local version=$1 pkg

	shift
	for pkg; do
		versions_of "$pkg" | grep -cxF "$version" >/dev/null || return 1
	done
}

# Packages of one kernel; all must have the same version to fit together.
kernel_packages()
{
	printf '%s\n' linux-source-6.12 "linux-kbuild-$1" \
		"linux-headers-$1-common" "linux-headers-$1-common-rt" \
		"linux-headers-$1-amd64" "linux-headers-$1-rt-amd64" \
		"linux-image-$1-amd64-unsigned" \
		"linux-image-$1-rt-amd64-unsigned"
}

# Prints "base version" of the newest kernel that apt offers completely, or
# of the one named.
find_kernel()
{
	local bases=${1:-} base version
	local -a pkgs

	[[ -n $bases ]] || bases=$(apt-cache pkgnames linux-headers-6.12. |
		sed -n 's/^linux-headers-\(6\.12\.[^-]*\)-amd64$/\1/p' |
		sort -rV)
	for base in $bases; do
		mapfile -t pkgs < <(kernel_packages "$base")
		for version in $(versions_of linux-source-6.12); do
			if all_offered "$version" "${pkgs[@]}"; then
				printf '%s %s\n' "$base" "$version"
				return
			fi
		done
	done
	return 1
}

# The same for the newest 7.x.
find_next()
{
	local pkg version

	pkg=$(apt-cache pkgnames linux-source-7. | sort -V | tail -n 1)
	version=$(versions_of "${pkg:-none}" | head -n 1)
	[[ -n $version ]] && printf '%s %s\n' "$pkg" "$version"
}

# A choice holds for a day, and for as long as apt offers nothing at all.
fresh()
{
	[[ -n $(find "$1" -mmin -1440 2>/dev/null) ]]
}

# Writes what a command chose to the file $1. apt-cache finds nothing while
# apt-get changes the lists, so nobody else may do that meanwhile.
keep_pick()
(
	lock packages
	mkdir -p "$BUILD/pick"
	"${@:2}" >"$1.tmp" && [[ -s $1.tmp ]] && mv "$1.tmp" "$1"
)

pick_kernel()
{
	local flavour=amd64 want='' kept

	case ${KVER:-} in
	''|amd64)	;;
	rt-amd64)	flavour=rt-amd64 ;;
	6.12.*-rt-amd64) flavour=rt-amd64 want=${KVER%-rt-amd64} ;;
	6.12.*-amd64)	want=${KVER%-amd64} ;;
	*)	die "KVER=$KVER is not a Debian 6.12 kernel" \
			"use amd64, rt-amd64 or a release such as 6.12.117+deb12-amd64" ;;
	esac
	kept=$BUILD/pick/6.12${want:+-$want}
	if ! fresh "$kept"; then
		"$SCRIPTS/packages.sh" lists
		if keep_pick "$kept" find_kernel "$want"; then
			:
		elif [[ -s $kept ]]; then
			say "apt offers no complete kernel ${want:-6.12} now," \
				"keeping $(<"$kept")"
		else
			die "apt offers no kernel ${want:-6.12} whose image, headers (amd64 and rt-amd64) and linux-source-6.12 have one version" \
				"enable Debian 12's security suite, run apt-get update, or choose another KVER="
		fi
	fi
	read -r KBASE KVERSION <"$kept"
	RELEASE=$KBASE-$flavour
}

pick_next()
{
	local kept=$BUILD/pick/7

	if ! fresh "$kept"; then
		"$SCRIPTS/packages.sh" next
		if ! keep_pick "$kept" find_next && [[ ! -s $kept ]]; then
			die "apt offers no linux-source-7.*" \
				"check that trixie-backports is reachable and run apt-get update"
		fi
	fi
	read -r NEXT_PKG NEXT_VERSION <"$kept"
}
