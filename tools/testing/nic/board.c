// SPDX-License-Identifier: GPL-2.0
/*
 * What is around the MAC: NVM, PHY behind MDIO, semaphores with the firmware.
 * All of it answers at once; the firmware is absent.
 */
#include <linux/etherdevice.h>
#include <linux/mii.h>
#include <linux/string.h>

#include "port.h"

#define NVM_SUM		0xbaba	/* of the words of a section */
#define NVM_SECTION	0x40	/* words; one for each port of the product */
#define PHY_PAGE	22	/* of the 88E1xxx family, also in I210 */
#define PHY_STATUS_88E	17	/* speed, duplex, resolved, link */
#define PHY_STATUS_82580 26
#define PHY_MMD_DATA	14

static void nvm_init(struct nic *nic)
{
	u8 mac[ETH_ALEN] = { 0x02, 0x54, 0x58, 0x00, 0x00, nic->port + 1 };
	unsigned int section, i;
	u16 sum;

	memset(nic->nvm, 0xff, sizeof(nic->nvm));
	memcpy(nic->nvm, mac, ETH_ALEN);
	nic->nvm[3] = 0;	/* no media swap, one checksum on 82580 */
	for (section = 0; section < NIC_NVM_WORDS; section += NVM_SECTION) {
		sum = 0;
		for (i = 0; i < NVM_SECTION - 1; i++)
			sum += nic->nvm[section + i];
		nic->nvm[section + i] = NVM_SUM - sum;
	}
}

static void phy_init(struct nic *nic)
{
	u16 *phy = nic->phy[0];

	memset(nic->phy, 0, sizeof(nic->phy));
	phy[MII_BMCR] = BMCR_ANENABLE | BMCR_FULLDPLX | BMCR_SPEED1000;
	phy[MII_BMSR] = BMSR_100FULL | BMSR_100HALF | BMSR_10FULL |
			BMSR_10HALF | BMSR_ESTATEN | BMSR_ANEGCAPABLE |
			BMSR_ANEGCOMPLETE | BMSR_ERCAP;
	phy[MII_PHYSID1] = nic->kind->phy_id >> 16;
	phy[MII_PHYSID2] = nic->kind->phy_id;
	phy[MII_ADVERTISE] = ADVERTISE_ALL | ADVERTISE_CSMA;
	phy[MII_LPA] = LPA_LPACK | LPA_PAUSE_CAP | LPA_100FULL | LPA_100HALF |
		       LPA_10FULL | LPA_10HALF | LPA_SLCT;
	phy[MII_STAT1000] = LPA_1000FULL | LPA_1000LOCALRXOK |
			    LPA_1000REMRXOK;
	phy[MII_ESTATUS] = ESTATUS_1000_TFULL;
	phy[PHY_STATUS_88E] = 0xac00;	/* 1000, full, resolved, link */
	phy[PHY_STATUS_82580] = 0x0200;	/* 1000 */
}

/* The MAC address as a reset loads it from the NVM. */
void nic_board_reset(struct nic *nic)
{
	*nic_reg(nic, R_RAL(0)) = nic->nvm[0] | (u32)nic->nvm[1] << 16;
	*nic_reg(nic, R_RAH(0)) = nic->nvm[2] | RAH_AV;
}

void nic_board_init(struct nic *nic)
{
	nvm_init(nic);
	phy_init(nic);
	nic_board_reset(nic);
	nic->smbi = false;
}

static u16 phy_read(struct nic *nic, unsigned int reg)
{
	u16 page = nic->phy[0][PHY_PAGE] % NIC_PHY_PAGES;

	if (reg == MII_BMSR && !page)
		return nic->phy[0][MII_BMSR] | (nic->link ? BMSR_LSTATUS : 0);
	return nic->phy[reg == PHY_PAGE ? 0 : page][reg];
}

static void phy_write(struct nic *nic, unsigned int reg, u16 value)
{
	u16 page = nic->phy[0][PHY_PAGE] % NIC_PHY_PAGES;

	if (reg == PHY_PAGE) {
		nic->phy[0][PHY_PAGE] = value;
		return;
	}
	if (!page) {
		switch (reg) {
		case MII_BMSR:
		case MII_PHYSID1:
		case MII_PHYSID2:
		case MII_LPA:
		case MII_STAT1000:
		case MII_ESTATUS:
		case PHY_STATUS_88E:
		case PHY_STATUS_82580:
		case PHY_MMD_DATA:	/* MMD registers read as zero */
			return;
		case MII_BMCR:
			value &= ~(BMCR_RESET | BMCR_ANRESTART);
		}
	}
	nic->phy[page][reg] = value;
}

static u32 mdic(struct nic *nic, u32 value)
{
	if (value & MDIC_WRITE)
		phy_write(nic, MDIC_REG(value), value);
	else
		value = (value & ~0xffffU) | phy_read(nic, MDIC_REG(value));
	return value | MDIC_READY;
}

static u32 eerd(struct nic *nic, u32 value)
{
	unsigned int word = EERD_ADDR(value);

	if (!(value & EERD_START))
		return value;
	value = (word < NIC_NVM_WORDS ? nic->nvm[word] : 0xffff) << 16;
	return value | EERD_DONE;
}

bool nic_board_read(struct nic *nic, u32 offset, u32 *value)
{
	u32 now = *nic_reg(nic, offset);

	switch (offset) {
	case R_EECD:
		*value = now | nic->kind->eecd;
		if (now & EECD_REQ)
			*value |= EECD_GNT;
		return true;
	case R_PHPM:
		*value = now | PHPM_RESET_DONE;
		return true;
	case R_EEMNGCTL:
	case R_EEMNGCTL_I210:
		*value = now | EEMNGCTL_DONE;
		return true;
	case R_SWSM:
		/* The read that finds the semaphore free takes it. */
		*value = (now & ~SWSM_SMBI) | nic->smbi;
		nic->smbi = true;
		return true;
	}
	return false;
}

bool nic_board_write(struct nic *nic, u32 offset, u32 value)
{
	switch (offset) {
	case R_MDIC:
		*nic_reg(nic, offset) = mdic(nic, value);
		return true;
	case R_EERD:
		*nic_reg(nic, offset) = eerd(nic, value);
		return true;
	case R_SWSM:
		nic->smbi = value & SWSM_SMBI;
		*nic_reg(nic, offset) = value;
		return true;
	}
	return false;
}
