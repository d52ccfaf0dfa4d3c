#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What txts-probe does with bad arguments: a clear error, status 2, and no
# change. Needs no NIC and no root.
#
#   test.sh PROGRAM        prints KTAP lines
set -euo pipefail

program=${1:?which program}
number=0
failed=0

# Status 2, nothing on stdout, and the reason named on stderr.
refuses()
{
	local reason=$1 rc=0 out err

	shift
	number=$((number + 1))
	err=$(mktemp)
	out=$("$program" "$@" 2>"$err") || rc=$?
	if ((rc == 2)) && [[ -z $out ]] && grep -q -e "$reason" "$err"; then
		echo "ok $number - refuses: $*"
	else
		echo "# status $rc, stdout \"$out\", stderr: $(<"$err")"
		echo "not ok $number - refuses: $*"
		failed=$((failed + 1))
	fi
	rm -f "$err"
}

refuses 'which --interface'
refuses 'no interface' -i txts-none
refuses 'an interface name' -i ''
refuses 'an interface name' -i a-name-that-is-too-long
for value in 0 -1 1x x '' 10000001 99999999999999999999; do
	refuses '--count' -i lo -n "$value"
done
for value in 0 5000 b; do
	refuses '--burst' -i lo -b "$value"
done
for value in 5 5m -1ms ms '' 601s nan 1e99s; do
	refuses '--gap' -i lo -g "$value"
done
refuses '--timeout' -i lo -t 0ms
refuses '--jitter' -i lo -J 3
refuses '--mode' -i lo -m sometimes
refuses '--reconfigure' -i lo -r 0
refuses '--fifo' -i lo -f 100
refuses '--cpu' -i lo -c 1000
refuses '--seed' -i lo --seed x
for value in 1.2.3:319 0 65536 224.0.1.129: 300.1.1.1:319; do
	refuses '--udp' -i lo -u "$value"
done
for value in 1 17 x; do
	refuses '--segments' -i lo -u 319 -S "$value"
done
refuses '--segments needs --udp' -i lo -S 4
for value in 0ms 5 -1s; do
	refuses '--launch' -i lo -L "$value"
done
refuses 'longer than --launch' -i lo -L 1s -t 1s
for value in 7 -1; do
	refuses '--priority' -i lo -P "$value"
done
for value in 256 -1 ''; do
	refuses '--bind-phc' -i lo -B "$value"
done
refuses 'exclude each other' -i lo -k -r 5
refuses 'what is' -i lo extra
refuses 'unrecognized option' -i lo --frequency
refuses 'requires an argument' -i lo -n

echo "1..$number"
((failed == 0))
