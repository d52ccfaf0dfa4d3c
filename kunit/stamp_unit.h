/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hardware half of a Tx stamp unit: its registers, what an access does
 * besides moving a value, how a stamp is latched and when that interrupts. The
 * KUnit mock and the emulated NIC of tools/testing/nic are both made of it.
 */
#ifndef TXTS_STAMP_UNIT_H
#define TXTS_STAMP_UNIT_H

#include <linux/bits.h>

#include "regfile.h"

/* Registers that all units share; the meaning differs by effect table. */
enum unit_reg {
	REG_VALID,		/* one bit each of slots 0-31 */
	REG_VALID_HIGH,		/* slots 32-63 */
	REG_CAUSE,		/* interrupt cause */
	REG_LINE,		/* bit 0: the next capture interrupts */
	REG_STAMPS = 16,
};

#define REG_LOW(slot)	(REG_STAMPS + 2 * (slot))
#define REG_HIGH(slot)	(REG_STAMPS + 2 * (slot) + 1)
#define CAUSE_TXTS	BIT(0)

/* When a capture raises the interrupt. */
enum unit_irq_kind {
	UNIT_IRQ_NONE,		/* never: the unit is polled */
	UNIT_IRQ_CAUSE,		/* when the cause bit becomes set */
	UNIT_IRQ_LINE,		/* when the line is armed, which disarms it */
	UNIT_IRQ_EACH,		/* always */
};

/* What a capture came to. */
enum stamp_result {
	STAMP_LOCKED,		/* the register still holds a stamp: nothing */
	STAMP_QUIET,		/* latched, no interrupt */
	STAMP_INTERRUPT,	/* latched, and the interrupt is raised */
};

/**
 * struct stamp_unit - one kind of Tx stamp unit
 * @slots: number of slots
 * @irq: when a capture raises the interrupt
 * @effects: what accesses do
 * @nr_effects: number of @effects
 */
struct stamp_unit {
	unsigned int slots;
	enum unit_irq_kind irq;
	const struct rf_effect *effects;
	unsigned int nr_effects;
};

extern const struct rf_effect stamp_effects_82576[1];
extern const struct rf_effect stamp_effects_82580[2];
extern const struct rf_effect stamp_effects_i210[2];
extern const struct rf_effect stamp_effects_i225[6];
extern const struct rf_effect stamp_effects_64[65];

#define STAMP_EFFECTS(name)	.effects = stamp_effects_##name,	\
				.nr_effects = ARRAY_SIZE(stamp_effects_##name)

/* Initialisers of a structure that has the members of struct stamp_unit. */
#define STAMP_UNIT_82576	.slots = 1, STAMP_EFFECTS(82576)
#define STAMP_UNIT_82580	.slots = 1, .irq = UNIT_IRQ_CAUSE,	\
				STAMP_EFFECTS(82580)
#define STAMP_UNIT_I210		.slots = 1, .irq = UNIT_IRQ_CAUSE,	\
				STAMP_EFFECTS(i210)
#define STAMP_UNIT_I225		.slots = 4, .irq = UNIT_IRQ_LINE,	\
				STAMP_EFFECTS(i225)

bool stamp_valid(const struct regfile *rf, unsigned int slot);
enum stamp_result stamp_capture(struct regfile *rf, enum unit_irq_kind irq,
				unsigned int slot, u64 raw);
void stamp_reset(struct regfile *rf);

#endif /* TXTS_STAMP_UNIT_H */
