// SPDX-License-Identifier: GPL-2.0
/*
 * The products. PCI and PHY ids as in igb's e1000_hw.h and e1000_defines.h and
 * in igc_hw.h; queues and vectors as in the data sheets.
 *
 * The clock of 82580, I350 and I210 ticks every 8 ns, that of I226 every 3.2;
 * TIMINCA is added to it each time, in units of 2^-32 ns.
 */
#include <linux/array_size.h>
#include <linux/string.h>

#include "port.h"

#define EECD_EEPROM	(EECD_AUTO_RD | EECD_PRES | EECD_SIZE(7))
#define EECD_FLASH	(EECD_AUTO_RD | EECD_FLASH_DETECTED | EECD_SIZE(7) | \
			 EECD_FLUDONE)

const struct nic_kind nic_kinds[] = {
	{
		.name = "i210",
		.device = 0x1533,
		.revision = 3,
		.phy_id = 0x01410c00,
		.queues = 4,
		.vectors = 5,
		.clocks = 1,
		.systim = NIC_SYSTIM_SPLIT,
		.adj_mul = 1,
		.adj_shift = 3,
		.rx_pads = true,
		.eecd = EECD_FLASH,
		.launch = NIC_LAUNCH_SECOND,
		.stamps = { STAMP_UNIT_I210 },
	}, {
		.name = "i226",
		.device = 0x125c,
		.revision = 4,
		.phy_id = 0x67c9dcc0,
		.queues = 4,
		.vectors = 5,
		.clocks = 2,
		.systim = NIC_SYSTIM_SPLIT,
		.adj_mul = 5,
		.adj_shift = 4,
		.eecd = EECD_FLASH,
		.launch = NIC_LAUNCH_CYCLE,
		.stamps = { STAMP_UNIT_I225 },
	}, {
		.name = "i350",
		.device = 0x1521,
		.revision = 1,
		.phy_id = 0x015403b0,
		.queues = 8,
		.vectors = 10,
		.clocks = 1,
		.systim = NIC_SYSTIM_40BIT,
		.adj_mul = 1,
		.adj_shift = 3,
		.rx_pads = true,
		.eecd = EECD_EEPROM,
		.stamps = { STAMP_UNIT_I210 },
	}, {
		.name = "82580",
		.device = 0x150e,
		.revision = 1,
		.phy_id = 0x015403a0,
		.queues = 8,
		.vectors = 10,
		.clocks = 1,
		.systim = NIC_SYSTIM_40BIT,
		.adj_mul = 1,
		.adj_shift = 3,
		.rx_pads = true,
		.eecd = EECD_EEPROM,
		.stamps = { STAMP_UNIT_82580 },
	},
	{}
};

const struct nic_kind *nic_kind_by_name(const char *name)
{
	const struct nic_kind *kind;

	for (kind = nic_kinds; kind->name; kind++)
		if (!strcmp(kind->name, name))
			return kind;
	return NULL;
}

const char *nic_kind_names(void)
{
	return "i210, i226, i350, 82580";
}
