# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced after env.sh: links instead of copies.
#
#   link_files FROM TO     makes TO a tree of links to all source files of FROM;
#                          links whose file has gone are removed
#   kernel_overlay TREE TO writable view of a kernel tree with txts added, as
#                          a patch to the kernel would add it

# Sources are linked one by one: a directory that is a link would take the
# build's objects into the repository.
link_files()
{
	local from=$1 to=$2 file

	mkdir -p "$to"
	find "$to" -xtype l -lname "$from/*" -delete
	while IFS= read -r file; do
		[[ $to/$file -ef $from/$file && -L $to/$file ]] && continue
		mkdir -p "$to/$(dirname "$file")"
		ln -sfn "$from/$file" "$to/$file"
	done < <(cd "$from" && find . -type f \( -name '*.[chS]' -o \
		-name Makefile -o -name Kbuild -o -name Kconfig \) \
		-printf '%P\n')
}

# A line at the end of a file that is ours: never written through a link,
# which would change the kernel tree itself.
append_line()
{
	local file=$1 line=$2

	cp --remove-destination "$(readlink -f "$file")" "$file.real"
	mv -f "$file.real" "$file"
	grep -qxF "$line" "$file" || printf '%s\n' "$line" >>"$file"
}

kernel_overlay()
{
	local tree=$1 to=$2

	rm -rf "$to" "$to.part"
	cp -rs "$tree" "$to.part"
	rm -f "$to.part/.txts-version"
	# kunit.py finds the kernel's root by its own real path.
	rm -rf "$to.part/tools/testing/kunit"
	cp -r "$tree/tools/testing/kunit" "$to.part/tools/testing/kunit"
	# shellcheck disable=SC2016
	append_line "$to.part/lib/Makefile" 'obj-$(CONFIG_TXTS) += txts/'
	append_line "$to.part/lib/Kconfig" 'source "lib/txts/Kconfig"'
	mv "$to.part" "$to"
}
