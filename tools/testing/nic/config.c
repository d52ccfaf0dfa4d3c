// SPDX-License-Identifier: GPL-2.0
/* PCI configuration space, and the MSI-X table behind BAR 3. */
#include <linux/pci_regs.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "port.h"

#define CAP_PM		0x40
#define CAP_MSIX	0x70
#define CAP_EXP		0xa0
#define MSIX_PBA	0x2000

static void put16(struct nic *nic, unsigned int offset, u16 value)
{
	put_unaligned_le16(value, nic->config + offset);
}

static void put32(struct nic *nic, unsigned int offset, u32 value)
{
	put_unaligned_le32(value, nic->config + offset);
}

void nic_config_init(struct nic *nic)
{
	unsigned int i;

	memset(nic->config, 0, sizeof(nic->config));
	put16(nic, PCI_VENDOR_ID, 0x8086);
	put16(nic, PCI_DEVICE_ID, nic->kind->device);
	put16(nic, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put32(nic, PCI_CLASS_REVISION, 0x02000000 | nic->kind->revision);
	put16(nic, PCI_SUBSYSTEM_VENDOR_ID, 0x8086);
	nic->config[PCI_CAPABILITY_LIST] = CAP_PM;

	put16(nic, CAP_PM, PCI_CAP_ID_PM | CAP_MSIX << 8);
	put16(nic, CAP_PM + PCI_PM_PMC, 3);	/* version 1.2 */
	put16(nic, CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);

	put16(nic, CAP_MSIX, PCI_CAP_ID_MSIX | CAP_EXP << 8);
	put16(nic, CAP_MSIX + PCI_MSIX_FLAGS, nic->kind->vectors - 1);
	put32(nic, CAP_MSIX + PCI_MSIX_TABLE, NIC_BAR_MSIX);
	put32(nic, CAP_MSIX + PCI_MSIX_PBA, NIC_BAR_MSIX | MSIX_PBA);

	put16(nic, CAP_EXP, PCI_CAP_ID_EXP);
	put16(nic, CAP_EXP + PCI_EXP_FLAGS, 2);	/* an endpoint */
	/* x1 at 2.5 GT/s */
	put32(nic, CAP_EXP + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_2_5GB | 0x10);
	put16(nic, CAP_EXP + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_2_5GB |
					     PCI_EXP_LNKSTA_NLW_X1);

	for (i = 0; i < nic->kind->vectors; i++)
		nic->msix[4 * i + 3] = PCI_MSIX_ENTRY_CTRL_MASKBIT;
}

u32 nic_config_read(struct nic *nic, unsigned int offset, int size)
{
	u32 value = 0;

	if (offset + size > NIC_CONFIG_SIZE || size > 4 || READ_ONCE(nic->gone))
		return ~0U;
	memcpy(&value, nic->config + offset, size);
	return value;
}

/* What of a register can be written; a BAR keeps the bits above its size. */
static u32 writable(unsigned int offset)
{
	switch (offset) {
	case PCI_COMMAND:
		return 0xffff;
	case PCI_CACHE_LINE_SIZE:
		return 0xffff;
	case PCI_INTERRUPT_LINE:
		return 0xff;
	case PCI_BASE_ADDRESS_0 + 4 * NIC_BAR_REGS:
		return ~(NIC_BAR_REGS_SIZE - 1U);
	case PCI_BASE_ADDRESS_0 + 4 * NIC_BAR_MSIX:
		return ~(NIC_BAR_MSIX_SIZE - 1U);
	case CAP_PM + PCI_PM_CTRL:
		return PCI_PM_CTRL_STATE_MASK;
	case CAP_MSIX:
		return (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL) << 16;
	case CAP_EXP + PCI_EXP_DEVCTL:
	case CAP_EXP + PCI_EXP_LNKCTL:
	case CAP_EXP + PCI_EXP_DEVCTL2:
	case CAP_EXP + PCI_EXP_LNKCTL2:
		return 0xffff;
	}
	return 0;
}

void nic_config_write(struct nic *nic, unsigned int offset, int size,
		      u32 value)
{
	unsigned int at = offset & ~3U, shift = 8 * (offset & 3);
	u32 mask = writable(at);
	u32 old;

	if (offset + size > NIC_CONFIG_SIZE || size > 4 || READ_ONCE(nic->gone))
		return;
	if (size < 4)
		mask &= (u32)GENMASK(8 * size - 1, 0) << shift;
	old = get_unaligned_le32(nic->config + at);
	put32(nic, at, (old & ~mask) | (value << shift & mask));
	if (at == CAP_MSIX)
		nic_msix_unmasked(nic, ~0U);
}

u32 nic_msix_read(struct nic *nic, u32 offset)
{
	return offset < sizeof(nic->msix) ? nic->msix[offset / 4] : 0;
}

void nic_msix_write(struct nic *nic, u32 offset, u32 value)
{
	unsigned int vector = offset / NIC_MSIX_ENTRY;

	if (vector >= nic->kind->vectors)
		return;
	WRITE_ONCE(nic->msix[offset / 4], value);
	if (offset % NIC_MSIX_ENTRY == PCI_MSIX_ENTRY_VECTOR_CTRL &&
	    !(value & PCI_MSIX_ENTRY_CTRL_MASKBIT))
		nic_msix_unmasked(nic, vector);
}

bool nic_msix_masked(struct nic *nic, unsigned int vector)
{
	u16 flags = get_unaligned_le16(nic->config + CAP_MSIX +
				       PCI_MSIX_FLAGS);

	return !(flags & PCI_MSIX_FLAGS_ENABLE) ||
	       flags & PCI_MSIX_FLAGS_MASKALL ||
	       READ_ONCE(nic->msix[4 * vector + 3]) &
	       PCI_MSIX_ENTRY_CTRL_MASKBIT;
}

u32 nic_msix_data(struct nic *nic, unsigned int vector)
{
	return READ_ONCE(nic->msix[4 * vector + 2]);
}
