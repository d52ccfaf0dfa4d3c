# SPDX-License-Identifier: GPL-2.0
#
# The objects of the model, for a front's Kbuild, which lies in one directory
# with these files and with regfile.[ch] and stamp_unit.[ch] of kunit/.

nic-model := port.o config.o board.o clock.o intr.o stamps.o tx.o segment.o \
	     rx.o launch.o kinds.o knobs.o debug.o regfile.o stamp_unit.o

# Seen by the preprocessor only as a function, so look into the header.
ccflags-$(if $(shell grep -sw hrtimer_setup $(srctree)/include/linux/hrtimer.h),y) += \
	-DNIC_HAVE_HRTIMER_SETUP
