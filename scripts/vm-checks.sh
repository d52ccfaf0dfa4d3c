# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced after env.sh by scripts whose checks run in VMs, one for each kernel:
#
#   boot_all RELEASE...    boots all, as many at a time as there are CPUs, and
#                          shows how far they are
#   report NAME RELEASE    prints the checks of one and records its result as
#                          NAME-RELEASE
#
# The script that sources this has out_of RELEASE, which prints where the files
# of a VM are, and run_vm RELEASE OUT, which boots it, with ktap, a line for each
# check, among what it leaves in OUT.

count()
{
	grep -c "$1" "$2" 2>/dev/null || true
}

show_checks()
{
	local release

	while sleep 10; do
		for release; do
			printf '%s: %s checks  ' "${release##*+deb12-}" \
				"$(count '^ok \|^not ok ' \
				"$(out_of "$release")/console.log")"
		done
		echo
	done
}

boot()
{
	local out rc=0

	out=$(out_of "$1")
	mkdir -p "$out"
	rm -f "$out"/{ktap,vm-status}
	run_vm "$1" "$out" || rc=$?
	echo "$rc" >"$out/vm-status"
	return "$rc"
}

# A VM keeps one CPU of the host busy.
boot_all()
{
	local release pid ticker rc=0
	local -a pids=()

	show_checks "$@" &
	ticker=$!
	for release; do
		boot "$release" &
		pids+=($!)
		((JOBS > 1)) || wait $! || true
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || rc=1
	done
	kill "$ticker"
	return "$rc"
}

report()
{
	local name=$1 release=$2 out passed failed planned

	out=$(out_of "$release")
	# A VM that crashed shows only on its console how far it came.
	[[ -f $out/ktap ]] || tr -d '\r' <"$out/console.log" |
		grep -a '^ok \|^not ok ' >"$out/ktap" || true
	passed=$(count '^ok ' "$out/ktap")
	failed=$(count '^not ok ' "$out/ktap")
	planned=$(sed -n 's/^1\.\.//p' "$out/ktap" 2>/dev/null || true)
	say "$name on $release:"
	sed '/^KTAP\|^1\.\./d' "$out/ktap" 2>/dev/null || true
	# A VM that died, or warned after its last check, is a failure as well.
	if [[ $planned != $((passed + failed)) ]] ||
		{ [[ $(<"$out/vm-status") != 0 ]] && ((failed == 0)); }; then
		say "$release: the VM did not end well, see $out/console.log"
		failed=$((failed + 1))
	fi
	result "$name-$release" "$passed" "$failed" 0
}
