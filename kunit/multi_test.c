// SPDX-License-Identifier: GPL-2.0
/* Several slots: neighbours never disturb each other, whatever the order. */
#include <linux/lockdep.h>

#include "unit.h"

static const enum model_id multi_models[] = {
	MODEL_I225, MODEL_64, MODEL_MAILBOX, MODEL_PUSH,
};
KUNIT_ARRAY_PARAM(multi, multi_models, model_id_name);

static struct unit *unit_of_id(struct kunit *test)
{
	return unit_new(test, *(const enum model_id *)test->param_value);
}

static void sent_all(struct unit *u)
{
	unsigned int i;

	for (i = 0; i < u->nr_pkts; i++)
		unit_sent(u, &u->pkts[i]);
}

static void expect_all(struct kunit *test, struct unit *u)
{
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, unit_wait(u, 3 * USEC_PER_SEC));
	for (i = 0; i < u->nr_pkts; i++)
		EXPECT_STAMP(test, &u->pkts[i]);
}

/* Case 27: all in flight at once, in order. */
static void all_slots_in_order(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	for (i = 0; i < u->nr_pkts; i++)
		unit_wire(u, &u->pkts[i]);
	sent_all(u);
	expect_all(test, u);
	unit_finish(test, u);
}

/* Case 27, kinds 12 and 17: and out of order. */
static void all_slots_out_of_order(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	for (i = u->nr_pkts; i--;)
		unit_wire(u, &u->pkts[i]);
	sent_all(u);
	expect_all(test, u);
	unit_finish(test, u);
}

/* All captured while interrupts are masked: one interrupt for all. */
static void one_interrupt_serves_all_slots(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	u->irq_off = true;
	for (i = 0; i < u->nr_pkts; i++)
		unit_wire(u, &u->pkts[i]);
	u->irq_off = false;
	unit_pump(u);
	sent_all(u);
	expect_all(test, u);
	KUNIT_EXPECT_EQ(test, 1, u->irqs);
	unit_finish(test, u);
}

/* Kind 17: one that never comes does not hold up the others. */
static void lost_stamp_does_not_block_its_neighbours(struct kunit *test)
{
	unsigned int lost, i;
	struct unit *u;

	for (lost = 0; lost < 4; lost++) {
		u = unit_of_id(test);
		for (i = 0; i < u->model->slots; i++)
			KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
		for (i = 0; i < u->nr_pkts; i++)
			if (i != lost)
				unit_wire(u, &u->pkts[i]);
		sent_all(u);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 3 * USEC_PER_SEC));
		EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
		EXPECT_COUNT(test, u, TXTS_DELIVERED, u->model->slots - 1);
		EXPECT_NO_STAMP(test, &u->pkts[lost]);
		unit_check(test, u);
	}
}

/* Case 5, kind 22: captures in slots 1-3 only, many rounds. */
static void captures_beside_slot_0_keep_interrupting(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I225);
	unsigned int round, i;
	struct pkt *zero, *pkt;

	for (round = 0; round < 20; round++) {
		zero = unit_pkt(u);
		KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, zero));
		KUNIT_ASSERT_EQ(test, 0, zero->slot);
		for (i = 1; i < 4; i++) {
			pkt = unit_send(u);
			KUNIT_ASSERT_NOT_NULL(test, pkt);
			KUNIT_EXPECT_NE(test, 0, pkt->slot);
			unit_wire(u, pkt);
			/* By interrupt, not by the last look. */
			KUNIT_EXPECT_TRUE(test, u->rf.reg[REG_LINE] & BIT(0));
			unit_sleep_us(u, 100);
			EXPECT_STAMP(test, pkt);
			unit_sent(u, pkt);
		}
		unit_abort(u, zero);
	}
	KUNIT_EXPECT_EQ(test, 60, u->irqs);
	unit_finish(test, u);
}

/* The same with a request that waits in slot 0. */
static void captures_beside_a_waiting_slot_0(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I225);
	struct pkt *zero = unit_send(u), *pkt;
	unsigned int round, i;

	KUNIT_ASSERT_NOT_NULL(test, zero);
	KUNIT_ASSERT_EQ(test, 0, zero->slot);
	for (round = 0; round < 20; round++) {
		for (i = 1; i < 4; i++) {
			pkt = unit_send(u);
			KUNIT_ASSERT_NOT_NULL(test, pkt);
			unit_wire(u, pkt);
			unit_sleep_us(u, 100);
			EXPECT_STAMP(test, pkt);
			unit_sent(u, pkt);
		}
	}
	unit_wire(u, zero);
	unit_sent(u, zero);
	unit_wait(u, 30 * USEC_PER_MSEC);
	EXPECT_STAMP(test, zero);
	unit_finish(test, u);
}

static void wire_arg(struct unit *u)
{
	unit_wire(u, u->arg);
}

/*
 * Case 6: a second capture between any two accesses of the drain of a first,
 * every position, every pair of slots; the rest of the slots wait.
 */
static unsigned int pair(struct kunit *test, unsigned int a, unsigned int b,
			 bool others)
{
	bool reached = true;
	unsigned int k, i;
	struct unit *u;

	for (k = 0; reached && k < 60; k++) {
		u = unit_new(test, MODEL_I225);
		for (i = 0; i < 4; i++)
			KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
		for (i = 0; others && i < 4; i++)
			if (i != a && i != b) {
				unit_wire(u, &u->pkts[i]);
				unit_sleep_us(u, 50);
			}
		u->arg = &u->pkts[b];
		unit_inject(u, k, wire_arg, false);
		unit_wire(u, &u->pkts[a]);
		unit_sleep_us(u, 200);
		reached = unit_injected(u);
		for (i = 0; i < 4; i++)
			if (!u->pkts[i].raw) {
				u->inject = NULL;
				unit_wire(u, &u->pkts[i]);
				unit_sleep_us(u, 200);
			}
		sent_all(u);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
		for (i = 0; i < 4; i++) {
			unit_collect(u);
			KUNIT_EXPECT_EQ_MSG(test, 1, u->pkts[i].stamps,
					    "slot %u: first %u, second %u before access %u",
					    i, a, b, k);
		}
		unit_check(test, u);
	}
	return k;
}

static void capture_between_any_two_accesses_is_not_lost(struct kunit *test)
{
	unsigned int a, b, runs = 0;

	for (a = 0; a < 4; a++)
		for (b = 0; b < 4; b++)
			if (a != b) {
				runs += pair(test, a, b, false);
				runs += pair(test, a, b, true);
			}
	KUNIT_EXPECT_GT(test, runs, 2 * 12 * 4);
}

/* Case 25: timing out slot 0 reads what clears its neighbours' bits. */
static void timeout_of_slot_0_loses_no_neighbour(struct kunit *test)
{
	unsigned int lost, i;
	struct unit *u;

	for (lost = 0; lost < 4; lost++) {
		u = unit_new(test, MODEL_I225);
		for (i = 0; i < 4; i++)
			KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
		unit_sent(u, &u->pkts[lost]);
		unit_sleep_us(u, 19 * USEC_PER_MSEC);
		/* They land just before, and no interrupt tells. */
		u->lose_irqs = 1000;
		for (i = 0; i < 4; i++)
			if (i != lost)
				unit_wire(u, &u->pkts[i]);
		unit_sleep_us(u, 2 * USEC_PER_MSEC);
		EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
		sent_all(u);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
		EXPECT_COUNT(test, u, TXTS_DELIVERED, 3);
		unit_check(test, u);
	}
}

/* The other CPU leaves slot 0 to the drain that is reading it. */
static u64 ready_elsewhere(struct txts *txts)
{
	struct unit *u = container_of(txts, struct unit, txts);
	u64 ready = models[MODEL_64].ops->ready(txts);

	return u->arg ? ready & ~BIT_ULL(0) : ready;
}

/* It reads slot 1, whose next frame is just being stamped. */
static void drain_slot_1_elsewhere(struct unit *u, unsigned int slot)
{
	struct pkt *pkt = &u->pkts[2];

	u->in_read = NULL;
	u->arg = u;
	/* Another CPU's locks are not nested in ours. */
	lockdep_off();
	txts_irq(&u->txts, BIT_ULL(1));
	u->arg = NULL;
	if (unit_xmit(u, pkt) || pkt->slot != 1)
		unit_violated(u, "slot 1 was not free again");
	lockdep_on();
	pkt->raw = unit_advance(u, 1);
	pkt->truth = unit_convert(u, 0, pkt->raw);
	rf_update(&u->rf, REG_LOW(1), ~0U, lower_32_bits(pkt->raw));
}

/* G1: who holds an outdated mask does not read halves of two stamps. */
static void stamp_that_is_landing_is_not_read_by_halves(struct kunit *test)
{
	struct model model = models[MODEL_64];
	struct txts_ops ops = *model.ops;
	struct unit *u;
	unsigned int i;

	ops.ready = ready_elsewhere;
	model.ops = &ops;
	u = unit_new_model(test, &model);
	KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	unit_pkt(u);
	u->irq_off = true;
	unit_wire(u, &u->pkts[0]);
	unit_wire(u, &u->pkts[1]);
	u->in_read = drain_slot_1_elsewhere;
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
	EXPECT_NO_STAMP(test, &u->pkts[2]);
	/* The high word follows, and with it the ready bit. */
	rf_update(&u->rf, REG_HIGH(1), ~0U, upper_32_bits(u->pkts[2].raw));
	rf_update(&u->rf, REG_VALID, 0, BIT(1));
	txts_irq(&u->txts, BIT_ULL(1));
	u->irq_off = false;
	unit_sleep_us(u, USEC_PER_MSEC);
	for (i = 0; i < 3; i++) {
		unit_sent(u, &u->pkts[i]);
		EXPECT_STAMP(test, &u->pkts[i]);
	}
	unit_finish(test, u);
}

/* Case 25: a neighbour's acknowledge took the bit; the value is still there. */
static void stamp_whose_ready_bit_is_lost_is_found_by_value(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I225);
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	u->irq_off = true;
	for (i = 0; i < u->model->slots; i++) {
		unit_wire(u, &u->pkts[i]);
		unit_sent(u, &u->pkts[i]);
	}
	rf_update(&u->rf, REG_VALID, 0xe, 0);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	for (i = 0; i < u->model->slots; i++)
		EXPECT_STAMP(test, &u->pkts[i]);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 0);
	unit_finish(test, u);
}

/* G1: what a register held before the start is nobody's stamp. */
static void value_there_before_the_start_is_no_stamp(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I225);
	u64 left = unit_advance(u, 1);
	struct pkt *pkt;

	txts_stop(&u->txts);
	/* Left by whoever used the device before; its ready bit is gone. */
	rf_update(&u->rf, REG_LOW(0), ~0U, lower_32_bits(left));
	rf_update(&u->rf, REG_HIGH(0), ~0U, upper_32_bits(left));
	KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_ASSERT_EQ(test, 0, pkt->slot);
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
	unit_sleep_us(u, USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 30 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Case 12, kind 13: 64 slots, all lost, then good ones. */
static void all_slots_lost_come_back(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	sent_all(u);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 3 * USEC_PER_SEC));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, u->model->slots);
	unit_sleep_us(u, 1100 * USEC_PER_MSEC);
	for (i = 0; i < u->model->slots; i++) {
		struct pkt *pkt = unit_send(u);

		if (!pkt) {
			/* Evidence by a call that sleeps was asked for. */
			unit_sleep_us(u, 300 * USEC_PER_MSEC);
			pkt = unit_send(u);
		}
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		unit_wait(u, 3 * USEC_PER_SEC);
		EXPECT_STAMP(test, pkt);
	}
	unit_finish(test, u);
}

static struct kunit_case multi_cases[] = {
	KUNIT_CASE_PARAM(all_slots_in_order, multi_gen_params),
	KUNIT_CASE_PARAM(all_slots_out_of_order, multi_gen_params),
	KUNIT_CASE_PARAM(one_interrupt_serves_all_slots, multi_gen_params),
	KUNIT_CASE_PARAM(lost_stamp_does_not_block_its_neighbours,
			 multi_gen_params),
	KUNIT_CASE(captures_beside_slot_0_keep_interrupting),
	KUNIT_CASE(captures_beside_a_waiting_slot_0),
	KUNIT_CASE(capture_between_any_two_accesses_is_not_lost),
	KUNIT_CASE(timeout_of_slot_0_loses_no_neighbour),
	KUNIT_CASE(stamp_that_is_landing_is_not_read_by_halves),
	KUNIT_CASE(stamp_whose_ready_bit_is_lost_is_found_by_value),
	KUNIT_CASE(value_there_before_the_start_is_no_stamp),
	KUNIT_CASE_PARAM(all_slots_lost_come_back, multi_gen_params),
	{}
};

static struct kunit_suite multi_suite = {
	.name = "txts_multi",
	.test_cases = multi_cases,
};

kunit_test_suite(multi_suite);
