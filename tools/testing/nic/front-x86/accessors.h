/* SPDX-License-Identifier: GPL-2.0 */
/* What front.c offers in place of the kernel's register accessors. */
#ifndef TXTS_FRONT_X86_ACCESSORS_H
#define TXTS_FRONT_X86_ACCESSORS_H

#include <linux/io.h>
#include <linux/pci.h>

u32 nic_x86_readl(const void __iomem *addr);
void nic_x86_writel(u32 value, void __iomem *addr);
void nic_x86_memcpy_fromio(void *to, const void __iomem *from,
			   size_t len);
void __iomem *nic_x86_ioremap(resource_size_t start, unsigned long size);
void __iomem *nic_x86_pci_iomap(struct pci_dev *pdev, int bar,
				unsigned long max);
void nic_x86_iounmap(void __iomem *addr);
void nic_x86_pci_iounmap(struct pci_dev *pdev, void __iomem *addr);

#endif /* TXTS_FRONT_X86_ACCESSORS_H */
