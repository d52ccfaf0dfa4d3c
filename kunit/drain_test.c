// SPDX-License-Identifier: GPL-2.0
/* Drain: what is read, when, how often, and what is refused. */
#include <linux/bottom_half.h>

#include "../internal.h"
#include "unit.h"

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static const enum model_id irq_models[] = {
	MODEL_82580, MODEL_82580_REARM, MODEL_I210, MODEL_I225, MODEL_64,
};
KUNIT_ARRAY_PARAM(irq, irq_models, model_id_name);

static const enum model_id register_models[] = {
	MODEL_82576, MODEL_82580, MODEL_82580_REARM, MODEL_I210, MODEL_I225,
	MODEL_64,
};
KUNIT_ARRAY_PARAM(reg, register_models, model_id_name);

static struct unit *unit_of_id(struct kunit *test)
{
	return unit_new(test, *(const enum model_id *)test->param_value);
}

/* G4: xmit reads no register as long as a slot is free. */
static void xmit_reads_no_register(struct kunit *test)
{
	struct unit *u = unit_new_model(test, test->param_value);
	struct pkt *pkt = unit_pkt(u);
	unsigned long count;

	local_bh_disable();
	count = u->rf.count;
	KUNIT_EXPECT_EQ(test, 0, unit_reserve(u, pkt));
	unit_commit(u, pkt);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	local_bh_enable();
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/* G16: three reads a stamp, and no more than the hardware forces. */
static void stamp_costs_few_reads(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned long count, i, others, most = u->model->reads_per_stamp;
	struct pkt *pkt;

	/* One more poll may come just before the frame leaves. */
	if (!IS_ENABLED(CONFIG_UML) && !u->model->isr)
		most++;
	for (i = 0; i < 20; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		if (!u->model->isr)
			/* The first poll has found nothing. */
			unit_sleep_us(u, 5);
		count = u->rf.count;
		others = u->rf.reads[REG_CAUSE] + u->rf.writes[REG_CAUSE];
		unit_wire(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 20 * USEC_PER_MSEC));
		unit_sent(u, pkt);
		others = u->rf.reads[REG_CAUSE] + u->rf.writes[REG_CAUSE] -
			 others;
		KUNIT_EXPECT_LE(test, u->rf.count - count - others, most);
		EXPECT_STAMP(test, pkt);
	}
	unit_finish(test, u);
}

/* G15: low, then high, with nothing of that slot in between. */
static void words_are_read_in_order_with_interrupts_off(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	const struct rf_access *a, *last = NULL;
	struct pkt *pkt = unit_send(u);
	unsigned long k;
	bool found = false;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 20 * USEC_PER_MSEC));
	for (k = 0; k < u->rf.count; k++) {
		a = rf_at(&u->rf, k);
		KUNIT_ASSERT_NOT_NULL(test, a);
		if (a->op == RF_READ && a->reg == REG_HIGH(pkt->slot) &&
		    last && last->reg == REG_LOW(pkt->slot)) {
			found = true;
			KUNIT_EXPECT_TRUE(test, a->irqs_off);
			KUNIT_EXPECT_TRUE(test, last->irqs_off);
		}
		last = a;
	}
	KUNIT_EXPECT_TRUE(test, found);
	unit_finish(test, u);
}

/* Section 5, kind 33: the interrupt reads, what takes locks runs elsewhere. */
static void interrupt_reads_the_stamp_at_once(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	KUNIT_EXPECT_GT(test, u->hardirq_reads, 0);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

static void interrupt_again(struct unit *u)
{
	unit_in_hardirq((void (*)(void *))u->model->isr, u);
}

static void irq_directly(struct unit *u)
{
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
}

/* Case 10, kinds 2 and 4: two retirers, one outcome, at every access. */
static void two_drains_at_once_retire_once(struct kunit *test)
{
	unsigned long k;
	struct pkt *pkt;
	struct unit *u;
	bool reached = true;

	for (k = 0; reached && k < 50; k++) {
		u = unit_of_id(test);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_inject(u, k, irq_directly, true);
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		unit_sleep_us(u, 5 * USEC_PER_MSEC);
		reached = unit_injected(u);
		EXPECT_STAMP(test, pkt);
		EXPECT_COUNT(test, u, TXTS_ORPHAN, 0);
		unit_check(test, u);
	}
	KUNIT_EXPECT_GT(test, k, 3);
}

/* Kind 19: an interrupt without a stamp, and the same one twice. */
static void duplicate_interrupt_is_harmless(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		irq_directly(u);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		interrupt_again(u);
		irq_directly(u);
		unit_wire(u, pkt);
		interrupt_again(u);
		irq_directly(u);
		unit_wait(u, 20 * USEC_PER_MSEC);
		unit_sent(u, pkt);
		irq_directly(u);
		EXPECT_STAMP(test, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 0);
	unit_finish(test, u);
}

/* Case 4: a cause that stays until written, through many stamps. */
static void sticky_cause_keeps_interrupting(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82580);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		/* At once: not the deadline's last look, not a poll. */
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 100));
		EXPECT_STAMP(test, pkt);
		unit_sent(u, pkt);
	}
	KUNIT_EXPECT_EQ(test, 50, u->irqs);
	unit_finish(test, u);
}

/* The frame of the second packet is stamped before the acknowledge. */
static void capture_in_rearm(struct unit *u)
{
	struct pkt *pkt = &u->pkts[1];

	u->in_rearm = NULL;
	if (!unit_xmit(u, pkt))
		unit_wire(u, pkt);
}

/* Case 4, G6, kind 20: the acknowledge swallows the event of a new stamp. */
static void stamp_between_drain_and_rearm_is_not_lost(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82580_REARM);
	struct pkt *pkt = unit_send(u);
	struct pkt *second = unit_pkt(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->in_rearm = capture_in_rearm;
	unit_wire(u, pkt);
	unit_sleep_us(u, USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	EXPECT_STAMP(test, second);
	unit_sent(u, pkt);
	unit_sent(u, second);
	unit_finish(test, u);
}

/* At each rearm the next frame is stamped, for a while. */
static void capture_in_each_rearm(struct unit *u)
{
	struct pkt *pkt;

	if (u->nr_pkts == TXTS_WAITERS)
		return;
	pkt = unit_send(u);
	if (pkt)
		unit_wire(u, pkt);
}

/* G4: an interrupt that never comes to an end is ended. */
static void stamps_at_each_rearm_do_not_hold_the_interrupt(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82580_REARM);
	struct pkt *pkt = unit_send(u);
	unsigned int rearms = u->rearms, i;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "packets are made in hard IRQ");
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_INLINE);
	u->in_rearm = capture_in_each_rearm;
	local_bh_disable();
	unit_wire(u, pkt);
	KUNIT_EXPECT_GT(test, u->rearms - rearms, 1);
	KUNIT_EXPECT_LE(test, u->rearms - rearms, 5);
	local_bh_enable();
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, TXTS_WAITERS, u->nr_pkts);
	for (i = 0; i < u->nr_pkts; i++) {
		unit_sent(u, &u->pkts[i]);
		EXPECT_STAMP(test, &u->pkts[i]);
	}
	unit_finish(test, u);
}

/* G6, kind 21: what counts is the hardware's state, not who waits. */
static void request_that_waits_rearms_once(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82580_REARM);
	struct pkt *pkt = unit_send(u);
	unsigned int rearms = u->rearms;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	irq_directly(u);
	KUNIT_EXPECT_EQ(test, rearms + 1, u->rearms);
	unit_sleep_us(u, 10 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, rearms + 1, u->rearms);
	KUNIT_EXPECT_EQ(test, 0, u->irqs);
	unit_wire(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

static void wire_arg(struct unit *u)
{
	unit_wire(u, u->arg);
}

/* G6: the stamp lands at any point of a drain that found nothing yet. */
static void stamp_landing_during_a_drain_is_delivered(struct kunit *test)
{
	bool reached = true;
	unsigned long k;
	struct pkt *pkt;
	struct unit *u;

	for (k = 0; reached && k < 50; k++) {
		u = unit_of_id(test);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		u->arg = pkt;
		unit_inject(u, k, wire_arg, false);
		irq_directly(u);
		unit_sleep_us(u, USEC_PER_MSEC);
		reached = unit_injected(u);
		if (!reached) {
			u->inject = NULL;
			unit_wire(u, pkt);
		}
		unit_wait(u, 10 * USEC_PER_MSEC);
		EXPECT_STAMP(test, pkt);
		unit_sent(u, pkt);
		unit_check(test, u);
	}
	KUNIT_EXPECT_GT(test, k, 1);
}

/* G6: the interrupt came while the slot's last stamp was being looked at. */
static void stamp_left_by_the_check_of_a_suspect_is_read(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *pkt = unit_send(u);
	u64 late;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	KUNIT_ASSERT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	late = unit_advance(u, 1);
	unit_sleep_us(u, USEC_PER_SEC);
	/* The first sender makes the thread ask the MAC. */
	KUNIT_EXPECT_NULL(test, unit_send(u));
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 1);
	local_bh_disable();
	unit_capture(u, pkt->slot, late);
	unit_wire(u, pkt);
	KUNIT_EXPECT_EQ(test, TXTS_READING, u->txts.slots[0].state);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/*
 * G4, G6: the interrupt is lost; the last look before the deadline finds the
 * stamp. If the cause that nobody has read silences those that follow, they
 * are looked for when their frames are SENT.
 */
static void stamp_whose_interrupt_was_lost_is_delivered(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt = unit_send(u), *next;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->lose_irqs = 1;
	unit_wire(u, pkt);
	unit_sleep_us(u, USEC_PER_MSEC);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 25 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 0);
	next = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, next);
	unit_wire(u, next);
	unit_sent(u, next);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_STAMP(test, next);
	/* Also one that comes after SENT. */
	next = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, next);
	unit_sent(u, next);
	unit_sleep_us(u, 50);
	unit_wire(u, next);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_STAMP(test, next);
	unit_finish(test, u);
}

/* The ready bit is set, but the read says that there is none. */
static void stamp_that_cannot_be_read_is_not_delivered(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->read_error = -EAGAIN;
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_sleep_us(u, 10 * USEC_PER_MSEC);
	/* Where a value is read without its ready bit, that finds it. */
	if (!u->model->peek_slots)
		EXPECT_NO_STAMP(test, pkt);
	u->read_error = 0;
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	unit_finish(test, u);
}

/* G1, kinds 23 and 35: these values are never stamps. */
static void zero_is_never_delivered(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_capture(u, pkt->slot, 0);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	KUNIT_EXPECT_GE(test, unit_count(u, TXTS_INVALID_READ), 1);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	unit_finish(test, u);
}

static void all_ones_are_never_delivered(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_capture(u, pkt->slot, ~0ULL);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	KUNIT_EXPECT_GE(test, unit_count(u, TXTS_INVALID_READ), 1);
	unit_finish(test, u);
}

/* Half of the word pair may be zero or all-ones in a good stamp. */
static void half_zero_half_ones_are_stamps(struct kunit *test)
{
	static const u64 good[] = {
		0x0000000100000000ULL, 0x00000000ffffffffULL,
		0x00000001ffffffffULL, 0x0fffffff00000001ULL,
	};
	struct unit *u = unit_of_id(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		pkt->raw = good[i];
		pkt->truth = unit_convert(u, 0, good[i]);
		unit_capture(u, pkt->slot, good[i]);
		unit_sent(u, pkt);
		unit_wait(u, 30 * USEC_PER_MSEC);
		EXPECT_STAMP(test, pkt);
	}
	unit_finish(test, u);
}

/* G1, kinds 7 and 8: the value read last is not a stamp of the next frame. */
static void value_read_before_is_not_delivered_again(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *first = unit_send(u), *pkt;

	KUNIT_ASSERT_NOT_NULL(test, first);
	unit_wire(u, first);
	unit_wait(u, 20 * USEC_PER_MSEC);
	unit_sent(u, first);
	EXPECT_STAMP(test, first);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	/* The slots of the others are taken to get the same one again. */
	while (pkt->slot != first->slot && pkt) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
	}
	unit_capture(u, pkt->slot, first->raw);
	unit_sleep_us(u, USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	KUNIT_EXPECT_GE(test, unit_count(u, TXTS_STALE_READ), 1);
	/* Its own stamp is still welcome. */
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 19 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Kind 35: a removed device shows every valid bit and all-ones. */
static void removed_device_delivers_nothing(struct kunit *test)
{
	unsigned long k;
	bool reached = true;

	for (k = 0; reached && k < 50; k++) {
		struct unit *u = unit_of_id(test);
		struct pkt *pkt = unit_send(u);

		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_inject(u, k, unit_remove, false);
		unit_wire(u, pkt);
		irq_directly(u);
		unit_sleep_us(u, 5 * USEC_PER_MSEC);
		reached = unit_injected(u);
		unit_remove(u);
		unit_dropped(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
		u->rf.removed = false;
		unit_check(test, u);
	}
	KUNIT_EXPECT_GT(test, k, 3);
}

/* G1: an answer that there is none is no stamp, and it is asked again. */
static void read_that_finds_nothing_is_tried_again(struct kunit *test)
{
	struct unit *u = unit_new_model(test, &models[MODEL_MAILBOX]);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->read_error = -EAGAIN;
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_sleep_us(u, 60 * USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	KUNIT_EXPECT_EQ(test, 1, unit_in_flight(u));
	u->read_error = 0;
	/* That read cleared the mailbox; the unit answers again. */
	unit_capture(u, pkt->slot, pkt->raw);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 300 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* A stamp that nobody asked for frees the register for the next one. */
static void stamp_nobody_asked_for_is_an_orphan(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt;

	unit_capture(u, 0, unit_advance(u, 1));
	unit_sleep_us(u, USEC_PER_MSEC);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 30 * USEC_PER_MSEC);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE_PARAM(xmit_reads_no_register, model_gen_params),
	KUNIT_CASE_PARAM(stamp_costs_few_reads, reg_gen_params),
	KUNIT_CASE_PARAM(words_are_read_in_order_with_interrupts_off,
			 reg_gen_params),
	KUNIT_CASE_PARAM(interrupt_reads_the_stamp_at_once, irq_gen_params),
	KUNIT_CASE_PARAM(two_drains_at_once_retire_once, reg_gen_params),
	KUNIT_CASE_PARAM(duplicate_interrupt_is_harmless, irq_gen_params),
	KUNIT_CASE(sticky_cause_keeps_interrupting),
	KUNIT_CASE(stamp_between_drain_and_rearm_is_not_lost),
	KUNIT_CASE(stamps_at_each_rearm_do_not_hold_the_interrupt),
	KUNIT_CASE(request_that_waits_rearms_once),
	KUNIT_CASE_PARAM(stamp_landing_during_a_drain_is_delivered,
			 reg_gen_params),
	KUNIT_CASE(stamp_left_by_the_check_of_a_suspect_is_read),
	KUNIT_CASE_PARAM(stamp_whose_interrupt_was_lost_is_delivered,
			 irq_gen_params),
	KUNIT_CASE_PARAM(stamp_that_cannot_be_read_is_not_delivered,
			 reg_gen_params),
	KUNIT_CASE_PARAM(zero_is_never_delivered, reg_gen_params),
	KUNIT_CASE_PARAM(all_ones_are_never_delivered, reg_gen_params),
	KUNIT_CASE_PARAM(half_zero_half_ones_are_stamps, reg_gen_params),
	KUNIT_CASE_PARAM(value_read_before_is_not_delivered_again,
			 reg_gen_params),
	KUNIT_CASE_PARAM(removed_device_delivers_nothing, reg_gen_params),
	KUNIT_CASE(read_that_finds_nothing_is_tried_again),
	KUNIT_CASE_PARAM(stamp_nobody_asked_for_is_an_orphan, irq_gen_params),
	{}
};

static struct kunit_suite drain_suite = {
	.name = "txts_drain",
	.test_cases = drain_cases,
};

kunit_test_suite(drain_suite);
