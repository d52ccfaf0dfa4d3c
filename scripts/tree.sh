#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Prepares a tree that "make -C KDIR M=TREE modules" builds:
#
#   tree.sh TREE KSRC
#
# TREE gets links to Kbuild, lib/txts and include, and for each directory
# drivers/NAME that has a NAME.cocci the driver of the kernel source KSRC
# (drivers/net/ethernet/intel/NAME), rewired by the semantic patches there, in
# the order of their names. It is generated again only if one of them or the
# driver changed.
#
# What drivers/NAME holds, and what it has to keep to:
#   NAME.cocci  the semantic patch; other *.cocci may hold more of it. In each a
#               finalize:python rule prints
#               "txts: rule RULE did not match" for each rule that should have
#               matched and did not, or appends RULE to the file that the
#               environment variable TXTS_UNMATCHED names. Either is an error.
#   gone        identifiers, one a line, that must not be left in the result;
#               # begins a comment.
#   Kbuild      includes the kernel's own Makefile ($(src)/Makefile) and adds
#               the objects of NAME_txts.c.
#   *.c, *.h    linked beside the driver's own files.
set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$SCRIPTS/overlay.sh"

usage='use tree.sh TREE KSRC'
(($# == 2)) || die 'wrong number of arguments' "$usage"
tree=$1
ksrc=$2
HINT="scripts/tree.sh $tree $ksrc"
[[ -d $ksrc/drivers/net/ethernet/intel ]] ||
	die "$ksrc is no kernel source" 'set KSRC= to a full kernel source tree'
[[ -f $TOP/lib/txts/Makefile ]] ||
	die 'lib/txts is missing' 'run this in a complete checkout'

rewrite()
{
	local name=$1 dir=$2 cocci

	cd "$dir"
	for cocci in "$TOP/drivers/$name"/*.cocci; do
		TXTS_UNMATCHED=$dir/unmatched timeout 300 spatch \
			--sp-file "$cocci" --in-place --no-includes ./*.c ./*.h ||
			return
	done
}

# spatch leaves blanks where it removed code, and spaces where it added some. A
# file that was free of them before is so afterwards.
tidy()
{
	sed -e 's/[[:blank:]]*$//' -e ':a' -e 's/^\(\t*\) \{8\}/\1\t/;ta' "$1" |
		cat -s
}

tidy_all()
{
	local from=$1 dir=$2 file

	for file in "$dir"/*.[ch]; do
		cmp -s "$file" "$from/${file##*/}" && continue
		tidy "$from/${file##*/}" | cmp -s - "$from/${file##*/}" || continue
		tidy "$file" >"$dir/tidy"
		mv "$dir/tidy" "$file"
	done
}

# Ends the script if the patch did not do all of its work.
verify()
{
	local name=$1 dir=$2 word where rules

	rules=$({ sed -n 's/.*txts: rule \([^ ]*\) did not match.*/\1/p' \
		"$STEP_LOG"; cat "$dir/unmatched" 2>/dev/null || true; } |
		sort -u | xargs)
	[[ -z $rules ]] || die "$name: rule did not match: $rules" \
		"compare the rule in drivers/$name/*.cocci with $ksrc/drivers/net/ethernet/intel/$name"
	((STEP_RC != 124)) || die "$name: the semantic patch did not end" \
		"look for a rule with ... over a loop in drivers/$name/*.cocci"
	((STEP_RC == 0)) || die "$name: spatch failed" \
		"read the output above, all of it is in $STEP_LOG"
	[[ -f $TOP/drivers/$name/gone ]] || return 0
	while IFS= read -r word; do
		where=$(grep -nwF -- "$word" "$dir"/*.[ch] | head -n 3 || true)
		[[ -z $where ]] || die \
			"$name: $word is still there: ${where//"$dir/"/}" \
			"a rule in drivers/$name/*.cocci has to remove it"
	done < <(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' \
		"$TOP/drivers/$name/gone")
}

generate()
{
	local name=$1 from=$ksrc/drivers/net/ethernet/intel/$1
	local to=$tree/drivers/$1 part=$tree/.part-$1 own sum file unchecked

	[[ -f $from/Makefile ]] || die "$ksrc has no driver $name" \
		'set KSRC= to a full kernel source tree'
	own=$(find "$TOP/drivers/$name" -maxdepth 1 \
		\( -name '*.cocci' -o -name gone \) | sort)
	# shellcheck disable=SC2086
	sum=$(cat $own "$from"/*.[ch] "$from/Makefile" "$SCRIPTS/tree.sh" |
		sha256sum)
	if [[ ! -f $to/.inputs || $(<"$to/.inputs") != "$sum" ]]; then
		unchecked=$(grep -L 'finalize:python' \
			"$TOP/drivers/$name"/*.cocci || true)
		[[ -z $unchecked ]] ||
			die "${unchecked//"$TOP/"/} does not check its rules" \
				'add a finalize:python rule, see scripts/tree.sh'
		rm -rf "$part"
		mkdir -p "$part" "$to"
		rm -f "$to/.inputs"
		cp "$from"/*.[ch] "$from/Makefile" "$part/"
		try_step "rewire $name in ${tree#"$BUILD/"}" rewrite "$name" "$part"
		verify "$name" "$part"
		rm -f "$part/unmatched"
		tidy_all "$from" "$part"
		# Unchanged files keep their time, so that make is quick.
		for file in "$part"/*; do
			cmp -s "$file" "$to/${file##*/}" || cp "$file" "$to/"
		done
		find "$to" -maxdepth 1 -type f -name '*.[ch]' \
			! -name '*.mod.c' -printf '%f\n' |
			while IFS= read -r file; do
				[[ -e $part/$file ]] || rm "$to/$file"
			done
		rm -rf "$part"
		printf '%s\n' "$sum" >"$to/.inputs"
	fi
	link_files "$TOP/drivers/$name" "$to"
}

mkdir -p "$tree"
ln -sfn "$TOP/Kbuild" "$tree/Kbuild"
link_files "$TOP/lib/txts" "$tree/lib/txts"
link_files "$TOP/include" "$tree/include"
for cocci in "$TOP"/drivers/*/*.cocci; do
	[[ -f $cocci ]] || continue
	name=$(basename "$(dirname "$cocci")")
	[[ $(basename "$cocci") == "$name.cocci" ]] || continue
	generate "$name"
done
