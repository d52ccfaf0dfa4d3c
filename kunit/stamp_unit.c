// SPDX-License-Identifier: GPL-2.0
/* The hardware half of a Tx stamp unit. */
#include <linux/array_size.h>

#include "stamp_unit.h"

/* Reading the high word of slot n frees the register. */
#define FREED_BY_HIGH(n)	{ RF_READ, REG_HIGH(n), RF_CLEAR,	\
				  (n) < 32 ? REG_VALID : REG_VALID_HIGH, \
				  BIT((n) % 32) }
#define FREED_4(n)	FREED_BY_HIGH(n), FREED_BY_HIGH((n) + 1),	\
			FREED_BY_HIGH((n) + 2), FREED_BY_HIGH((n) + 3)
#define FREED_16(n)	FREED_4(n), FREED_4((n) + 4),			\
			FREED_4((n) + 8), FREED_4((n) + 12)

const struct rf_effect stamp_effects_82576[] = {
	FREED_BY_HIGH(0),
};

const struct rf_effect stamp_effects_82580[] = {
	FREED_BY_HIGH(0),
	{ RF_WRITE, REG_CAUSE, RF_W1C, REG_CAUSE, CAUSE_TXTS },
};

const struct rf_effect stamp_effects_i210[] = {
	FREED_BY_HIGH(0),
	{ RF_READ, REG_CAUSE, RF_CLEAR, REG_CAUSE, ~0U },
};

const struct rf_effect stamp_effects_i225[] = {
	{ RF_READ, REG_HIGH(0), RF_CLEAR, REG_VALID, 0xf },
	{ RF_READ, REG_HIGH(0), RF_SET, REG_LINE, BIT(0) },
	FREED_BY_HIGH(1), FREED_BY_HIGH(2), FREED_BY_HIGH(3),
	{ RF_READ, REG_CAUSE, RF_CLEAR, REG_CAUSE, ~0U },
};

const struct rf_effect stamp_effects_64[] = {
	FREED_16(0), FREED_16(16), FREED_16(32), FREED_16(48),
	{ RF_READ, REG_CAUSE, RF_CLEAR, REG_CAUSE, ~0U },
};

bool stamp_valid(const struct regfile *rf, unsigned int slot)
{
	return rf->reg[slot < 32 ? REG_VALID : REG_VALID_HIGH] &
	       BIT(slot % 32);
}

static bool stamp_interrupts(struct regfile *rf, enum unit_irq_kind irq)
{
	u32 cause = rf->reg[REG_CAUSE];
	u32 line = rf->reg[REG_LINE];

	rf_update(rf, REG_CAUSE, 0, CAUSE_TXTS);
	switch (irq) {
	case UNIT_IRQ_NONE:
		break;
	case UNIT_IRQ_CAUSE:
		return !(cause & CAUSE_TXTS);
	case UNIT_IRQ_LINE:
		rf_update(rf, REG_LINE, BIT(0), 0);
		return line & BIT(0);
	case UNIT_IRQ_EACH:
		return true;
	}
	return false;
}

/* The MAC latches @raw into @slot, unless the register is still locked. */
enum stamp_result stamp_capture(struct regfile *rf, enum unit_irq_kind irq,
				unsigned int slot, u64 raw)
{
	if (rf->removed || stamp_valid(rf, slot))
		return STAMP_LOCKED;
	rf_update(rf, REG_LOW(slot), ~0U, lower_32_bits(raw));
	rf_update(rf, REG_HIGH(slot), ~0U, upper_32_bits(raw));
	rf_update(rf, slot < 32 ? REG_VALID : REG_VALID_HIGH, 0,
		  BIT(slot % 32));
	return stamp_interrupts(rf, irq) ? STAMP_INTERRUPT : STAMP_QUIET;
}

/* As after a reset of the device: empty, the line armed. */
void stamp_reset(struct regfile *rf)
{
	unsigned int i;

	for (i = 0; i < RF_REGS; i++)
		rf_update(rf, i, ~0U, i == REG_LINE);
}
