// SPDX-License-Identifier: GPL-2.0
/*
 * The models: a stamp unit and a few callbacks each, written the way a driver
 * writes them.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/hardirq.h>

#include "unit.h"

static struct unit *to_unit(struct txts *txts)
{
	return container_of(txts, struct unit, txts);
}

/* Callbacks that read the registers of one slot run under its raw lock. */
static void check_locked(struct unit *u)
{
	if (!irqs_disabled())
		unit_violated(u, "a slot was read with interrupts on");
	if (!unit_locked(u))
		unit_violated(u, "a slot was read without its lock");
	if (in_hardirq())
		u->hardirq_reads++;
}

static void check_unlocked(struct unit *u, const char *what)
{
	if (unit_locked(u))
		unit_violated(u, what);
}

static u64 read_words(struct unit *u, unsigned int slot)
{
	u64 raw = rf_read(&u->rf, REG_LOW(slot));

	return raw | (u64)rf_read(&u->rf, REG_HIGH(slot)) << 32;
}

static u64 read_words_high_first(struct unit *u, unsigned int slot)
{
	u64 raw = (u64)rf_read(&u->rf, REG_HIGH(slot)) << 32;

	return raw | rf_read(&u->rf, REG_LOW(slot));
}

static u64 op_ready(struct txts *txts)
{
	struct unit *u = to_unit(txts);
	u64 mask = rf_read(&u->rf, REG_VALID);

	if (u->model->slots > 32)
		mask |= (u64)rf_read(&u->rf, REG_VALID_HIGH) << 32;
	return mask;
}

static int op_read(struct txts *txts, unsigned int slot, u64 *raw)
{
	struct unit *u = to_unit(txts);

	check_locked(u);
	if (u->in_read)
		u->in_read(u, slot);
	*raw = read_words(u, slot);
	return u->read_error;
}

static int op_convert(struct txts *txts, unsigned int timer, u64 raw,
		      ktime_t *stamp)
{
	struct unit *u = to_unit(txts);

	if (in_hardirq())
		unit_violated(u, "convert in hard IRQ");
	check_unlocked(u, "convert under a slot lock");
	if (u->in_convert)
		u->in_convert(u);
	*stamp = unit_convert(u, timer, raw);
	return u->convert_error;
}

static void op_rearm(struct txts *txts)
{
	struct unit *u = to_unit(txts);

	check_unlocked(u, "rearm under a slot lock");
	u->rearms++;
	if (u->in_rearm)
		u->in_rearm(u);
	if (u->model->irq == UNIT_IRQ_CAUSE)
		rf_write(&u->rf, REG_CAUSE, CAUSE_TXTS);
}

static enum txts_mac op_mac(struct txts *txts)
{
	struct unit *u = to_unit(txts);
	unsigned int i;

	u->mac_calls++;
	rf_tick(&u->rf);
	for (i = 0; u->mac_is_honest && i < u->nr_pkts; i++)
		if (u->pkts[i].in_mac)
			return TXTS_MAC_BUSY;
	return u->mac;
}

static int op_phc(struct txts *txts, unsigned int timer, ktime_t *now)
{
	struct unit *u = to_unit(txts);

	check_unlocked(u, "phc under a slot lock");
	u->phc_calls++;
	if (u->no_phc)
		return -EIO;
	*now = unit_convert(u, timer, unit_advance(u, 1));
	return 0;
}

static void op_deliver(struct txts *txts, void *owner, const ktime_t *stamp)
{
	struct unit *u = to_unit(txts);
	struct pkt *pkt = owner;

	if (in_hardirq())
		unit_violated(u, "owner told in hard IRQ");
	check_unlocked(u, "owner told under a slot lock");
	pkt->ends++;
	if (stamp) {
		pkt->stamps++;
		pkt->got = *stamp;
	}
	if (u->on_notify)
		u->on_notify(u);
}

/*
 * I225 and later: the read of TXSTMPH_0 acknowledges all slots, so a stamp
 * that lands before it can lose its ready bit. At most five reads.
 */
static int op_peek_i225(struct txts *txts, unsigned int slot, bool pending,
			u64 *raw)
{
	struct unit *u = to_unit(txts);
	u32 high;

	check_locked(u);
	if (!pending) {
		if (!slot)
			rf_read(&u->rf, REG_HIGH(0));
		return -EAGAIN;
	}
	*raw = read_words_high_first(u, slot);
	if (rf_read(&u->rf, REG_VALID) & BIT(slot)) {
		*raw = read_words(u, slot);
		return 0;
	}
	/* Another CPU may have acknowledged one that landed in between. */
	if (!slot)
		return 0;
	high = rf_read(&u->rf, REG_HIGH(slot));
	if (high != upper_32_bits(*raw))
		*raw = (u64)high << 32 | rf_read(&u->rf, REG_LOW(slot));
	return 0;
}

static int op_read_mailbox(struct txts *txts, unsigned int slot, u64 *raw)
{
	struct unit *u = to_unit(txts);
	unsigned long us;
	u64 mask;

	might_sleep();
	check_unlocked(u, "a read out that sleeps under a slot lock");
	u->reading++;
	us = u->model->read_ms[slot % 4] * USEC_PER_MSEC;
	usleep_range(us, us + 1);
	if (u->in_read)
		u->in_read(u, slot);
	mask = rf_read(&u->rf, REG_VALID);
	*raw = read_words(u, slot);
	u->reading--;
	if (u->read_error)
		return u->read_error;
	return mask & BIT(slot) ? 0 : -EAGAIN;
}

static const struct txts_ops ops_polled = {
	.ready = op_ready,
	.read = op_read,
	.convert = op_convert,
	.mac = op_mac,
	.phc = op_phc,
	.deliver = op_deliver,
};

static const struct txts_ops ops_rearm = {
	.ready = op_ready,
	.read = op_read,
	.convert = op_convert,
	.rearm = op_rearm,
	.mac = op_mac,
	.phc = op_phc,
	.deliver = op_deliver,
};

static const struct txts_ops ops_i225 = {
	.ready = op_ready,
	.read = op_read,
	.peek = op_peek_i225,
	.convert = op_convert,
	.phc = op_phc,
	.deliver = op_deliver,
};

static const struct txts_ops ops_mailbox = {
	.read = op_read_mailbox,
	.convert = op_convert,
	.phc = op_phc,
	.deliver = op_deliver,
};

static const struct txts_ops ops_push = {
	.convert = op_convert,
	.phc = op_phc,
	.deliver = op_deliver,
};

static void isr_cause(struct unit *u)
{
	if (rf_read(&u->rf, REG_CAUSE) & CAUSE_TXTS)
		txts_irq(&u->txts, BIT_ULL(0));
}

/* 82580: reading the cause does not clear it. */
static void isr_write_to_clear(struct unit *u)
{
	u32 cause = rf_read(&u->rf, REG_CAUSE);

	if (cause & CAUSE_TXTS) {
		rf_write(&u->rf, REG_CAUSE, cause);
		txts_irq(&u->txts, BIT_ULL(0));
	}
}

/* The cause is acknowledged by the rearm callback only. */
static void isr_sticky(struct unit *u)
{
	if (rf_read(&u->rf, REG_CAUSE) & CAUSE_TXTS)
		txts_irq(&u->txts, TXTS_ALL_SLOTS);
}

static void isr_any(struct unit *u)
{
	if (rf_read(&u->rf, REG_CAUSE) & CAUSE_TXTS)
		txts_irq(&u->txts, TXTS_ALL_SLOTS);
}

/* A completion ring: each entry is (id, stamp). */
static void isr_push(struct unit *u)
{
	u32 mask = rf_read(&u->rf, REG_VALID);
	unsigned int slot;

	for (slot = 0; slot < u->model->slots; slot++)
		if (mask & BIT(slot))
			txts_complete(&u->txts, slot, read_words(u, slot));
}

const struct model models[NR_MODELS] = {
	[MODEL_82576] = {
		.name = "82576",
		STAMP_UNIT_82576,
		.flags = TXTS_POLLED,
		.reads_per_stamp = 3,
		.ops = &ops_polled,
	},
	[MODEL_82580] = {
		.name = "82580",
		STAMP_UNIT_82580,
		.reads_per_stamp = 3,
		.ops = &ops_polled,
		.isr = isr_write_to_clear,
	},
	[MODEL_82580_REARM] = {
		.name = "82580 sticky cause",
		STAMP_UNIT_82580,
		.reads_per_stamp = 4,
		.ops = &ops_rearm,
		.isr = isr_sticky,
	},
	[MODEL_I210] = {
		.name = "I210",
		STAMP_UNIT_I210,
		.reads_per_stamp = 3,
		.ops = &ops_polled,
		.isr = isr_cause,
	},
	[MODEL_I225] = {
		.name = "I225",
		STAMP_UNIT_I225,
		.peek_slots = BIT_ULL(0),
		.reads_per_stamp = 8,
		.ops = &ops_i225,
		.isr = isr_any,
	},
	[MODEL_64] = {
		.name = "64 slots",
		.slots = 64,
		.irq = UNIT_IRQ_CAUSE,
		.reads_per_stamp = 6,
		STAMP_EFFECTS(64),
		.ops = &ops_polled,
		.isr = isr_any,
	},
	[MODEL_MAILBOX] = {
		.name = "mailbox",
		.slots = 4,
		.flags = TXTS_SLEEPS,
		.timeout_us = 400 * USEC_PER_MSEC,
		.irq = UNIT_IRQ_EACH,
		.read_ms = { 30, 10, 50, 20 },
		.reads_per_stamp = 6,
		STAMP_EFFECTS(64),
		.ops = &ops_mailbox,
		.isr = isr_any,
	},
	[MODEL_PUSH] = {
		.name = "push",
		.slots = 8,
		.flags = TXTS_PUSHED,
		.irq = UNIT_IRQ_EACH,
		STAMP_EFFECTS(64),
		.ops = &ops_push,
		.isr = isr_push,
	},
};

void model_param_name(const struct model *model, char *desc)
{
	strscpy(desc, model->name, KUNIT_PARAM_DESC_SIZE);
}

void model_id_name(const enum model_id *id, char *desc)
{
	model_param_name(&models[*id], desc);
}
