/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A register file with side effects that records every access in order.
 *
 * Tests run "before access k" through a callback: at that point the access has
 * not happened yet, so whatever the callback changes is what it will see.
 */
#ifndef TXTS_KUNIT_REGFILE_H
#define TXTS_KUNIT_REGFILE_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define RF_REGS		160	/* enough for 64 slots of two words */
#define RF_LOG		256	/* accesses kept, the newest ones */

enum rf_ctx {
	RF_TASK,
	RF_SOFTIRQ,
	RF_HARDIRQ,
};

enum rf_op {
	RF_READ,
	RF_WRITE,
};

enum rf_action {
	RF_CLEAR,	/* clear @mask in @target */
	RF_SET,		/* set @mask in @target */
	RF_W1C,		/* clear the written ones, within @mask, in @target */
};

/**
 * struct rf_effect - what an access does besides moving a value
 * @on: the kind of access
 * @reg: the register accessed
 * @action: what happens, after a read has taken its value
 * @target: the register that changes
 * @mask: the bits that change
 */
struct rf_effect {
	u8 on;
	u8 reg;
	u8 action;
	u8 target;
	u32 mask;
};

/**
 * struct rf_access - one access
 * @op: RF_READ or RF_WRITE
 * @reg: the register
 * @ctx: enum rf_ctx
 * @irqs_off: interrupts were off
 * @value: read or written
 */
struct rf_access {
	u8 op;
	u8 reg;
	u8 ctx;
	bool irqs_off;
	u32 value;
};

struct regfile {
	raw_spinlock_t lock;
	u32 reg[RF_REGS];
	const struct rf_effect *effects;
	unsigned int nr_effects;
	bool removed;		/* all reads give ~0, writes do nothing */
	unsigned long count;	/* accesses since init */
	unsigned long reads[RF_REGS];
	unsigned long writes[RF_REGS];
	struct rf_access log[RF_LOG];
	void (*before)(struct regfile *rf, unsigned long k);
	void *arg;
};

void rf_init(struct regfile *rf, const struct rf_effect *effects,
	     unsigned int nr_effects);
u32 rf_read(struct regfile *rf, unsigned int reg);
void rf_write(struct regfile *rf, unsigned int reg, u32 value);
void rf_update(struct regfile *rf, unsigned int reg, u32 clear, u32 set);
void rf_tick(struct regfile *rf);
const struct rf_access *rf_at(const struct regfile *rf, unsigned long k);
enum rf_ctx rf_context(void);

#endif /* TXTS_KUNIT_REGFILE_H */
