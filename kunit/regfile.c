// SPDX-License-Identifier: GPL-2.0
/*
 * A register file with side effects that records every access in order.
 */
#include <linux/hardirq.h>
#include <linux/string.h>

#include "regfile.h"

void rf_init(struct regfile *rf, const struct rf_effect *effects,
	     unsigned int nr_effects)
{
	memset(rf, 0, sizeof(*rf));
	raw_spin_lock_init(&rf->lock);
	rf->effects = effects;
	rf->nr_effects = nr_effects;
}

enum rf_ctx rf_context(void)
{
	if (in_hardirq())
		return RF_HARDIRQ;
	if (in_serving_softirq())
		return RF_SOFTIRQ;
	return RF_TASK;
}

static void rf_apply(struct regfile *rf, enum rf_op on, unsigned int reg,
		     u32 value)
{
	const struct rf_effect *e;
	unsigned int i;

	for (i = 0; i < rf->nr_effects; i++) {
		e = &rf->effects[i];
		if (e->on != on || e->reg != reg)
			continue;
		switch (e->action) {
		case RF_CLEAR:
			rf->reg[e->target] &= ~e->mask;
			break;
		case RF_SET:
			rf->reg[e->target] |= e->mask;
			break;
		case RF_W1C:
			rf->reg[e->target] &= ~(e->mask & value);
			break;
		}
	}
}

/* Room for the event of a test; no lock of the register file is held. */
void rf_tick(struct regfile *rf)
{
	if (rf->before)
		rf->before(rf, rf->count);
}

static void rf_record(struct regfile *rf, enum rf_op op, unsigned int reg,
		      u32 value, bool irqs_off)
{
	struct rf_access *a = &rf->log[rf->count++ % RF_LOG];

	*a = (struct rf_access) {
		.op = op,
		.reg = reg,
		.ctx = rf_context(),
		.irqs_off = irqs_off,
		.value = value,
	};
}

u32 rf_read(struct regfile *rf, unsigned int reg)
{
	bool irqs_off = irqs_disabled();
	unsigned long flags;
	u32 value;

	rf_tick(rf);
	raw_spin_lock_irqsave(&rf->lock, flags);
	rf->reads[reg]++;
	value = rf->removed ? ~0U : rf->reg[reg];
	rf_record(rf, RF_READ, reg, value, irqs_off);
	if (!rf->removed)
		rf_apply(rf, RF_READ, reg, 0);
	raw_spin_unlock_irqrestore(&rf->lock, flags);
	return value;
}

void rf_write(struct regfile *rf, unsigned int reg, u32 value)
{
	bool irqs_off = irqs_disabled();
	unsigned long flags;

	rf_tick(rf);
	raw_spin_lock_irqsave(&rf->lock, flags);
	rf->writes[reg]++;
	rf_record(rf, RF_WRITE, reg, value, irqs_off);
	if (!rf->removed)
		rf_apply(rf, RF_WRITE, reg, value);
	raw_spin_unlock_irqrestore(&rf->lock, flags);
}

/* The hardware itself changes a register: no access, no side effect. */
void rf_update(struct regfile *rf, unsigned int reg, u32 clear, u32 set)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rf->lock, flags);
	rf->reg[reg] = (rf->reg[reg] & ~clear) | set;
	raw_spin_unlock_irqrestore(&rf->lock, flags);
}

/* Access number @k, or NULL if it did not happen or is too old. */
const struct rf_access *rf_at(const struct regfile *rf, unsigned long k)
{
	if (k >= rf->count || rf->count - k > RF_LOG)
		return NULL;
	return &rf->log[k % RF_LOG];
}
