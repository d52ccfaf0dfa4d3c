// SPDX-License-Identifier: GPL-2.0
/*
 * What only one mode has: read outs that sleep, pushed stamps, units that are
 * polled, owners that are not an skb. What all have in common is elsewhere.
 */
#include <linux/bottom_half.h>

#include "../internal.h"
#include "unit.h"

/* Until then ring cleaning may come and save the polling. */
#define PATIENCE_US	5000

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

/* Case 27: the deadline passes while the mailbox is read: an orphan. */
static void result_after_the_deadline_is_an_orphan(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_MAILBOX);
	struct txts_request request = { .timeout_us = 10000 };
	struct pkt *pkt = unit_pkt(u), *next;

	local_bh_disable();
	KUNIT_ASSERT_EQ(test, 0, unit_reserve_as(u, pkt, &request));
	unit_commit(u, pkt);
	local_bh_enable();
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, u->reading);
	unit_sleep_us(u, 6 * USEC_PER_MSEC);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	KUNIT_EXPECT_EQ(test, 1, u->reading);
	unit_sleep_us(u, 60 * USEC_PER_MSEC);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	EXPECT_NO_STAMP(test, pkt);
	next = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, next);
	KUNIT_EXPECT_EQ(test, pkt->slot, next->slot);
	unit_wire(u, next);
	unit_sent(u, next);
	unit_wait(u, 300 * USEC_PER_MSEC);
	EXPECT_STAMP(test, next);
	unit_finish(test, u);
}

/* G8: stop waits for a read out that sleeps. */
static void stop_waits_for_the_mailbox(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_MAILBOX);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sleep_us(u, 2 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, u->reading);
	txts_stop(&u->txts);
	KUNIT_EXPECT_EQ(test, 0, u->reading);
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

static void reset_in_read(struct unit *u, unsigned int slot)
{
	u->in_read = NULL;
	txts_hw_reset(&u->txts);
}

/* A reset during the read out: flushed, the slot free when it answers. */
static void reset_during_the_mailbox_frees_the_slot(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_MAILBOX);
	struct pkt *pkt = unit_send(u), *next;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->in_read = reset_in_read;
	unit_wire(u, pkt);
	unit_sleep_us(u, 60 * USEC_PER_MSEC);
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	EXPECT_NO_STAMP(test, pkt);
	unit_dropped(u, pkt);
	next = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, next);
	KUNIT_EXPECT_EQ(test, pkt->slot, next->slot);
	unit_wire(u, next);
	unit_sent(u, next);
	unit_wait(u, 300 * USEC_PER_MSEC);
	EXPECT_STAMP(test, next);
	unit_finish(test, u);
}

/* A late result of the mailbox is thrown away by the next who looks. */
static void late_mailbox_result_is_thrown_away(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_MAILBOX);
	unsigned int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	for (i = 0; i < 4; i++)
		unit_sent(u, &u->pkts[i]);
	KUNIT_ASSERT_TRUE(test, unit_wait(u, 700 * USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 4);
	u->lose_irqs = 4;
	for (i = 0; i < 4; i++)
		unit_wire(u, &u->pkts[i]);
	/* Nobody looks until a sender asks. */
	KUNIT_EXPECT_NULL(test, unit_send(u));
	unit_sleep_us(u, 200 * USEC_PER_MSEC);
	KUNIT_EXPECT_NOT_NULL(test, unit_send(u));
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 4);
	unit_finish(test, u);
}

static const u64 bad_values[] = { 0, ~0ULL };

/* G1 for pushed stamps, kinds 10, 12 to 15. */
static void pushed_garbage_is_refused(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_PUSH);
	struct pkt *pkt = unit_send(u);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	for (i = 0; i < ARRAY_SIZE(bad_values); i++)
		txts_complete(&u->txts, pkt->slot, bad_values[i]);
	EXPECT_COUNT(test, u, TXTS_INVALID_READ, 2);
	EXPECT_NO_STAMP(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	EXPECT_STAMP(test, pkt);
	/* The same entry of the ring, read twice. */
	txts_complete(&u->txts, pkt->slot, pkt->raw);
	EXPECT_COUNT(test, u, TXTS_STALE_READ, 1);
	unit_finish(test, u);
}

/* Nobody waits there: an orphan, and the slot stays free. */
static void push_to_a_free_slot_is_an_orphan(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_PUSH);
	struct pkt *pkt;

	txts_complete(&u->txts, 3, unit_advance(u, 1));
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	pkt = unit_pkt(u);
	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	txts_complete(&u->txts, pkt->slot, unit_advance(u, 1));
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 2);
	unit_commit(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_sleep_us(u, 100);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* An id that no slot has: counted, nothing harmed. */
static void push_to_a_slot_that_does_not_exist(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_PUSH);

	txts_complete(&u->txts, u->model->slots, unit_advance(u, 1));
	txts_complete(&u->txts, UINT_MAX, unit_advance(u, 1));
	EXPECT_COUNT(test, u, TXTS_MISUSE, 2);
	u->expect_misuse = 2;
	unit_finish(test, u);
}

/* The orphan is pushed, and while it is looked at, the suspect's own. */
static void push_during_the_check_of_a_suspect_is_kept(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_PUSH);
	struct pkt *old = unit_send(u), *pkt;
	u64 late;

	KUNIT_ASSERT_NOT_NULL(test, old);
	unit_sent(u, old);
	KUNIT_ASSERT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	late = unit_advance(u, 1);
	unit_sleep_us(u, 1100 * USEC_PER_MSEC);
	/* The slot comes last: all others are free. */
	do {
		pkt = unit_send(u);
	} while (pkt && pkt->slot != old->slot);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 1);
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_BH);
	local_bh_disable();
	txts_complete(&u->txts, pkt->slot, late);
	unit_wire(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	local_bh_enable();
	unit_sleep_us(u, USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	txts_flush(&u->txts);
	unit_finish(test, u);
}

/* G10, case 23: with nothing in flight a poll reads nothing. */
static void poll_without_request_reads_nothing(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned long count = u->rf.count;
	unsigned int i;

	for (i = 0; i < 100; i++)
		txts_poll(&u->txts);
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	unit_finish(test, u);
}

/* Case 26: no interrupt, and the first reads always fail. */
static void polled_unit_backs_off_and_delivers(struct kunit *test)
{
	static const unsigned int late_us[] = { 5, 50, 500, 5000, 50000 };
	struct unit *u = unit_new(test, MODEL_82576);
	struct pkt *pkt;
	unsigned int i;
	u64 calls;

	for (i = 0; i < ARRAY_SIZE(late_us); i++) {
		calls = unit_count(u, TXTS_CALL_READY);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_sleep_us(u, late_us[i]);
		unit_wire(u, pkt);
		/* Never longer than it has waited already, and a bit. */
		KUNIT_EXPECT_TRUE(test, unit_wait(u, late_us[i] + PATIENCE_US));
		EXPECT_STAMP(test, pkt);
		unit_sent(u, pkt);
		calls = unit_count(u, TXTS_CALL_READY) - calls;
		KUNIT_EXPECT_LT(test, calls, 20);
	}
	unit_finish(test, u);
}

/* Ring cleaning is when the stamp is there: it is read at once. */
static void sent_reads_a_polled_unit_at_once(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82576);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sleep_us(u, 10 * USEC_PER_MSEC);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

static void count_cleaning(struct txts *txts, u16 queue)
{
	struct unit *u = container_of(txts, struct unit, txts);
	unsigned int *calls = u->arg;

	if (unit_locked(u))
		unit_violated(u, "clean under a slot lock");
	calls[queue]++;
}

/* A polled unit whose driver can make ring cleaning run. */
static struct unit *unit_with_cleaning(struct kunit *test, unsigned int *calls)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct txts_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);
	struct unit *u;

	KUNIT_ASSERT_NOT_NULL(test, model);
	KUNIT_ASSERT_NOT_NULL(test, ops);
	*model = models[MODEL_82576];
	*ops = *model->ops;
	ops->clean = count_cleaning;
	model->ops = ops;
	u = unit_new_model(test, model);
	u->arg = calls;
	return u;
}

/* G16: where ring cleaning comes by itself, nothing is polled before it. */
static void prompt_ring_cleaning_saves_the_polling(struct kunit *test)
{
	unsigned int calls[2] = {}, i;
	struct unit *u = unit_with_cleaning(test, calls);
	unsigned long count;
	struct pkt *pkt;

	if (!IS_ENABLED(CONFIG_UML))
		kunit_skip(test, "sleeping takes too long to be prompt");
	for (i = 0; i < 10; i++) {
		pkt = unit_pkt(u);
		pkt->queue = 1;
		count = u->rf.count;
		KUNIT_ASSERT_EQ(test, 0, unit_xmit(u, pkt));
		KUNIT_EXPECT_EQ(test, i + 1, calls[1]);
		unit_sleep_us(u, 20);
		KUNIT_EXPECT_EQ(test, count, u->rf.count);
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		EXPECT_STAMP(test, pkt);
		/* Valid, low, high. */
		KUNIT_EXPECT_EQ(test, count + 3, u->rf.count);
	}
	KUNIT_EXPECT_EQ(test, 0, calls[0]);
	unit_finish(test, u);
}

/* Ring cleaning that does not come is not waited for. */
static void late_ring_cleaning_is_made_up_by_polls(struct kunit *test)
{
	unsigned int calls[2] = {};
	struct unit *u = unit_with_cleaning(test, calls);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_EQ(test, 1, calls[0]);
	unit_wire(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, PATIENCE_US));
	EXPECT_STAMP(test, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/* Where it is slow on average, polling begins at commit again. */
static void slow_ring_cleaning_is_learnt(struct kunit *test)
{
	unsigned int calls[2] = {}, i;
	struct unit *u = unit_with_cleaning(test, calls);
	struct pkt *pkt;

	for (i = 0; i < 20; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		unit_sleep_us(u, 1000);
		unit_sent(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	KUNIT_EXPECT_LT(test, calls[0], 10);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 100));
	EXPECT_STAMP(test, pkt);
	unit_sent(u, pkt);
	/* And forgotten once it is prompt again. */
	for (i = 0; i < 40; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	calls[0] = 0;
	KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	/* An emulated CPU may not have been prompt. */
	if (IS_ENABLED(CONFIG_UML))
		KUNIT_EXPECT_EQ(test, 1, calls[0]);
	unit_finish(test, u);
}

/* G6: a slot that came back from quarantine is polled like any other. */
static void poll_looks_at_a_slot_that_came_back(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82576);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	KUNIT_ASSERT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	unit_wire(u, pkt);
	/* No other look than that of the poll. */
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_AUX);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	unit_wire(u, pkt);
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_AUTO);
	txts_poll(&u->txts);
	EXPECT_STAMP(test, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/* The owner is told of every end, exactly once. */
static void owner_is_told_once_of_each_end(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		pkt = unit_owner_pkt(u);
		KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
		if (i == 0) {
			unit_abort(u, pkt);
			KUNIT_EXPECT_EQ(test, 0, pkt->ends);
			continue;
		}
		unit_commit(u, pkt);
		if (i == 1)
			unit_dropped(u, pkt);
		if (i == 2)
			txts_flush(&u->txts);
		if (i == 3)
			unit_clock_step(u, 0, 1000);
		if (i == 4)
			u->convert_error = -ERANGE;
		if (i >= 3)
			unit_wire(u, pkt);
		unit_sent(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 600 * USEC_PER_MSEC));
		KUNIT_EXPECT_EQ(test, 1, pkt->ends);
		KUNIT_EXPECT_EQ(test, i == 5, pkt->stamps);
		u->convert_error = 0;
		unit_hw_reset(u);
		unit_sleep_us(u, 100 * USEC_PER_MSEC);
	}
	unit_finish(test, u);
}

/* Owner and stop: told before stop returns, never after. */
static void owner_is_told_before_stop_returns(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_owner_pkt(u), *late = unit_owner_pkt(u);

	KUNIT_ASSERT_EQ(test, 0, unit_xmit(u, pkt));
	if (u->model->slots > 1)
		KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, late));
	txts_stop(&u->txts);
	KUNIT_EXPECT_EQ(test, 1, pkt->ends);
	KUNIT_EXPECT_EQ(test, 0, pkt->stamps);
	if (u->model->slots > 1) {
		/* Flushed at commit: it says so by itself. */
		unit_commit(u, late);
		KUNIT_EXPECT_FALSE(test, late->committed);
	}
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 0, late->ends);
	unit_finish(test, u);
}

static struct kunit_case modes_cases[] = {
	KUNIT_CASE(result_after_the_deadline_is_an_orphan),
	KUNIT_CASE(stop_waits_for_the_mailbox),
	KUNIT_CASE(reset_during_the_mailbox_frees_the_slot),
	KUNIT_CASE(late_mailbox_result_is_thrown_away),
	KUNIT_CASE(pushed_garbage_is_refused),
	KUNIT_CASE(push_to_a_free_slot_is_an_orphan),
	KUNIT_CASE(push_to_a_slot_that_does_not_exist),
	KUNIT_CASE(push_during_the_check_of_a_suspect_is_kept),
	KUNIT_CASE_PARAM(poll_without_request_reads_nothing,
			 model_gen_params),
	KUNIT_CASE(polled_unit_backs_off_and_delivers),
	KUNIT_CASE(sent_reads_a_polled_unit_at_once),
	KUNIT_CASE(prompt_ring_cleaning_saves_the_polling),
	KUNIT_CASE(late_ring_cleaning_is_made_up_by_polls),
	KUNIT_CASE(slow_ring_cleaning_is_learnt),
	KUNIT_CASE(poll_looks_at_a_slot_that_came_back),
	KUNIT_CASE_PARAM(owner_is_told_once_of_each_end, model_gen_params),
	KUNIT_CASE_PARAM(owner_is_told_before_stop_returns,
			 model_gen_params),
	{}
};

static struct kunit_suite modes_suite = {
	.name = "txts_modes",
	.test_cases = modes_cases,
};

kunit_test_suite(modes_suite);
