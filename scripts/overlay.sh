# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced after env.sh: links instead of copies.
#
#   link_files FROM TO     makes TO a tree of links to all source files of FROM;
#                          links whose file has gone are removed
#   kernel_overlay TREE TO writable view of a kernel tree with txts added, as
#                          a patch to the kernel would add it
#   kunit_overlay VERSION  the same at build/um-VERSION/src, with the tests; the
#                          caller holds the lock um-VERSION so long
#   kunit_config VERSION VARIANT
#                          prints the configuration of the file VARIANT
#   nic_overlay            the same at build/um-7-nic/src for the emulated NICs,
#                          under the lock um-7-nic
#   collect_fini TREE      lets a User Mode Linux built in that view write GCC's
#                          coverage data when it ends

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

# Never write through a link, which would change the kernel tree itself.
own_file()
{
	local file=$1

	[[ -L $file ]] || return 0
	cp --remove-destination "$(readlink -f "$file")" "$file.real"
	mv -f "$file.real" "$file"
}

append_line()
{
	local file=$1 line=$2

	own_file "$file"
	grep -qxF "$line" "$file" || printf '%s\n' "$line" >>"$file"
}

kernel_overlay()
{
	local tree=$1 to=$2

	rm -rf "$to" "$to.part"
	mkdir -p "${to%/*}"
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

# GCC puts the function that writes the data into .fini_array.PRIORITY, which
# UML's linker scripts do not collect.
collect_fini()
{
	local tree=$1 file

	for file in "$tree"/arch/um/kernel/dyn.lds.S \
		"$tree"/arch/um/include/asm/common.lds.S; do
		! grep -qF '.fini_array.*' "$file" || continue
		own_file "$file"
		sed -i 's/\*(\.fini_array)/*(.fini_array .fini_array.*)/' "$file"
		grep -qF '.fini_array.*' "$file" || return 1
	done
}

# A new version of the kernel's package starts again from nothing.
kunit_overlay()
{
	local v=$1 dir=$BUILD/um-$1 version

	version=$(<"$SRC/linux-$v/.txts-version")
	if [[ ! -f $dir/version || $(<"$dir/version") != "$version" ]]; then
		rm -rf "$dir/version" "$BUILD/um-$v"{,-debug,-smp,-coverage}/obj
		step "overlay of linux-$v for KUnit" \
			kernel_overlay "$SRC/linux-$v" "$dir/src"
		printf '%s\n' "$version" >"$dir/version"
	fi
	link_files "$TOP/lib/txts" "$dir/src/lib/txts"
	link_files "$TOP/include" "$dir/src/include"
	link_files "$TOP/kunit" "$dir/src/lib/txts/kunit"
}

# The kernel for the emulated NICs has nothing of txts in it, which comes as
# modules; only the virtual PCI bus is opened for a module.
nic_overlay()
{
	local dir=$BUILD/um-7-nic version

	version=$(<"$SRC/linux-7/.txts-version")
	if [[ ! -f $dir/version || $(<"$dir/version") != "$version" ]]; then
		rm -rf "$dir/version" "$dir/obj"
		step 'overlay of linux-7 for the emulated NICs' \
			kernel_overlay "$SRC/linux-7" "$dir/src"
		printf '%s\n' "$version" >"$dir/version"
	fi
	link_files "$TOP/lib/txts" "$dir/src/lib/txts"
	ln -sfn "$TOP/tools/testing/nic/uml-export.c" \
		"$dir/src/arch/um/drivers/uml-export.c"
	# shellcheck disable=SC2016
	append_line "$dir/src/arch/um/drivers/Makefile" \
		'obj-$(CONFIG_UML_PCI) += uml-export.o'
}

# What kunit.py's own defaults turn on in 6.12 must be given an identifier
# there and does not exist in 7.x.
kunit_config()
{
	cat "$TOP/kunit/kunitconfig.common" "$2"
	[[ $1 != 6.12 ]] || echo CONFIG_UML_PCI_OVER_VIRTIO_DEVICE_ID=4660
}
