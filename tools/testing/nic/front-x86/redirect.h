/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included by force (gcc -include) into every file of a driver that is to run
 * on the emulated cards of front.c: its register accesses go there.
 *
 * The library in the same build touches no register. It is left alone, because
 * its namespace has to be known before the kernel's headers are read.
 */
#ifndef TXTS_FRONT_X86_REDIRECT_H
#define TXTS_FRONT_X86_REDIRECT_H

#ifndef DEFAULT_SYMBOL_NAMESPACE
/* What the drivers define themselves, or else it would be the kernel's. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "accessors.h"

#undef readl
#undef writel
#undef memcpy_fromio
#undef ioremap
#undef iounmap
#undef pci_iomap
#undef pci_iounmap
#define readl(addr)		nic_x86_readl(addr)
#define writel(value, addr)	nic_x86_writel(value, addr)
#define memcpy_fromio(to, from, len) nic_x86_memcpy_fromio(to, from, len)
#define ioremap(start, size)	nic_x86_ioremap(start, size)
#define iounmap(addr)		nic_x86_iounmap(addr)
#define pci_iomap(pdev, bar, max) nic_x86_pci_iomap(pdev, bar, max)
#define pci_iounmap(pdev, addr)	nic_x86_pci_iounmap(pdev, addr)
#endif

#endif /* TXTS_FRONT_X86_REDIRECT_H */
