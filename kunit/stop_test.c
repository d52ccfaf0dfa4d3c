// SPDX-License-Identifier: GPL-2.0
/* Stop, start, flush, off, reset: with requests in flight, in any order. */
#include <linux/bottom_half.h>

#include "../internal.h"
#include "unit.h"

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

static void serve(struct unit *u, struct pkt *pkt)
{
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 400 * USEC_PER_MSEC);
}

static void fill(struct kunit *test, struct unit *u)
{
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
}

/* G8, kind 27: after stop returned nothing is referenced, nothing comes. */
static void stop_ends_all_that_is_in_flight(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int i;

	fill(test, u);
	for (i = 0; i < u->nr_pkts; i += 2)
		unit_sent(u, &u->pkts[i]);
	txts_stop(&u->txts);
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	EXPECT_COUNT(test, u, TXTS_FLUSHED, u->model->slots);
	for (i = 0; i < u->nr_pkts; i++) {
		KUNIT_EXPECT_EQ(test, 1, unit_refs(u, &u->pkts[i]));
		/* The frames leave, the ring is cleaned, nobody listens. */
		unit_wire(u, &u->pkts[i]);
		unit_sent(u, &u->pkts[i]);
		EXPECT_NO_STAMP(test, &u->pkts[i]);
	}
	unit_finish(test, u);
}

/* G8: a request or interrupt that comes later is refused, not queued. */
static void stopped_tracker_refuses_all(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned long count;
	struct pkt *pkt;

	txts_stop(&u->txts);
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, -ENETDOWN, unit_xmit(u, pkt));
	EXPECT_COUNT(test, u, TXTS_SKIP_OFF, 1);
	count = u->rf.count;
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
	txts_poll(&u->txts);
	if (u->model->flags & TXTS_PUSHED)
		txts_complete(&u->txts, 0, unit_advance(u, 1));
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 0);
	unit_finish(test, u);
}

static const enum model_id irq_models[] = {
	MODEL_82580, MODEL_82580_REARM, MODEL_I210, MODEL_I225, MODEL_64,
};
KUNIT_ARRAY_PARAM(irq, irq_models, model_id_name);

/* G8, kind 22: a stamp that came while stopped blocks nothing afterwards. */
static void stamp_left_unread_by_stop_blocks_nothing(struct kunit *test)
{
	struct unit *u = unit_new(test, *(enum model_id *)test->param_value);
	struct pkt *old = unit_send(u), *pkt;

	KUNIT_ASSERT_NOT_NULL(test, old);
	txts_stop(&u->txts);
	unit_wire(u, old);
	unit_sent(u, old);
	KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
	unit_pump(u);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	/* By its interrupt: not the deadline's last look. */
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	EXPECT_NO_STAMP(test, old);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

static void clock_is_gone(struct unit *u)
{
	unit_violated(u, "converted after stop");
}

/* G8, kinds 30 and 31: nobody needs the clock, or arms a thing, after stop. */
static void clock_may_go_after_stop(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int i;

	fill(test, u);
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_AUX);
	for (i = 0; i < u->nr_pkts; i++)
		unit_wire(u, &u->pkts[i]);
	txts_stop(&u->txts);
	u->in_convert = clock_is_gone;
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
	txts_poll(&u->txts);
	for (i = 0; i < u->nr_pkts; i++)
		unit_sent(u, &u->pkts[i]);
	unit_sleep_us(u, 200 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	unit_finish(test, u);
}

/* Kind 3: a slot is taken, who holds it is not in the MAC's hands yet. */
static void reserved_slot_is_nobody_elses(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);

	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
	txts_poll(&u->txts);
	txts_enable(&u->txts, true);
	txts_link(&u->txts, false);
	txts_link(&u->txts, true);
	unit_sleep_us(u, 6 * USEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	KUNIT_EXPECT_EQ(test, TXTS_RESERVED,
			u->txts.slots[pkt->slot].state);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 0);
	unit_commit(u, pkt);
	KUNIT_EXPECT_TRUE(test, pkt->committed);
	serve(u, pkt);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

static void stop_begins_elsewhere(struct unit *u, unsigned int slot)
{
	u->in_read = NULL;
	/* The first thing that txts_stop() does on another CPU. */
	WRITE_ONCE(u->txts.running, false);
}

/* G8: stop forbids new work before it waits for the old. */
static void nothing_is_queued_once_stop_has_begun(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	local_bh_disable();
	u->in_read = stop_begins_elsewhere;
	unit_wire(u, pkt);
	KUNIT_EXPECT_NULL(test, u->in_read);
	KUNIT_EXPECT_FALSE(test, work_pending(&u->txts.bh_work));
	local_bh_enable();
	/* Now it goes on. */
	WRITE_ONCE(u->txts.running, true);
	txts_stop(&u->txts);
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	EXPECT_NO_STAMP(test, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/* G9: a stamp that was read but not delivered yet is flushed with the rest. */
static void flush_between_read_out_and_delivery_wins(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	local_bh_disable();
	unit_wire(u, pkt);
	KUNIT_EXPECT_EQ(test, TXTS_FREE, u->txts.slots[0].state);
	txts_enable(&u->txts, false);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/* Section 3: commit cannot fail; after a stop it takes no reference. */
static void commit_after_stop_takes_no_reference(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u), *next;
	unsigned int slot, i;

	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	slot = pkt->slot;
	txts_stop(&u->txts);
	unit_commit(u, pkt);
	KUNIT_EXPECT_FALSE(test, pkt->committed);
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	KUNIT_EXPECT_EQ(test, TXTS_QUARANTINE, u->txts.slots[slot].state);

	/* The quarantine survives the start. */
	KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
	KUNIT_EXPECT_EQ(test, TXTS_QUARANTINE, u->txts.slots[slot].state);
	for (i = 1; i < u->model->slots; i++) {
		next = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, next);
		KUNIT_EXPECT_NE(test, slot, next->slot);
	}
	unit_wire(u, pkt);
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	unit_sent(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	for (i = 1; i < u->nr_pkts; i++)
		serve(u, &u->pkts[i]);
	unit_finish(test, u);
}

/* The same, but it was started again before the commit. */
static void commit_after_stop_and_start_is_flushed(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);

	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	txts_stop(&u->txts);
	txts_start(&u->txts);
	unit_commit(u, pkt);
	KUNIT_EXPECT_FALSE(test, pkt->committed);
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	serve(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	unit_finish(test, u);
}

/* An abort after a stop is an abort; the slot is free at the start. */
static void abort_after_stop_frees_the_slot(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);

	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	txts_stop(&u->txts);
	unit_abort(u, pkt);
	EXPECT_COUNT(test, u, TXTS_ABORTED, 1);
	txts_start(&u->txts);
	fill(test, u);
	unit_finish(test, u);
}

/* G8: idempotent, in any order. */
static void stop_and_start_are_idempotent(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		txts_stop(&u->txts);
		txts_stop(&u->txts);
		txts_hw_reset(&u->txts);
		KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
		KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		serve(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	txts_stop(&u->txts);
	txts_destroy(&u->txts);
	txts_destroy(&u->txts);
	txts_stop(&u->txts);
	unit_free(test, u);
}

/* Cases 13 and 20, kind 27: reset in flight, works again at once. */
static void reset_in_flight_frees_all_slots(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int round, i, first;

	for (round = 0; round < 3; round++) {
		first = u->nr_pkts;
		fill(test, u);
		for (i = first; i < u->nr_pkts; i += 2)
			unit_wire(u, &u->pkts[i]);
		unit_hw_reset(u);
		for (i = first; i < u->nr_pkts; i++)
			unit_dropped(u, &u->pkts[i]);
		/* A mailbox that is being read has to answer first. */
		unit_sleep_us(u, 60 * USEC_PER_MSEC);
	}
	fill(test, u);
	for (i = 0; i < u->nr_pkts; i++)
		if (u->pkts[i].ticket.gen)
			serve(u, &u->pkts[i]);
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 0);
	unit_finish(test, u);
}

/* Case 21, G9: every start of ptp4l or chrony sends the same again. */
static void same_configuration_again_loses_no_stamp(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		txts_enable(&u->txts, true);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		txts_enable(&u->txts, true);
		unit_wire(u, pkt);
		txts_enable(&u->txts, true);
		unit_sent(u, pkt);
		unit_wait(u, 400 * USEC_PER_MSEC);
		EXPECT_STAMP(test, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 0);
	unit_finish(test, u);
}

/* G9, kind 27: off in flight flushes at once. */
static void off_in_flight_flushes_at_once(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt, *next;

	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	txts_enable(&u->txts, false);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_sleep_us(u, 60 * USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	txts_enable(&u->txts, true);
	/* On works as soon as the frame in flight has left. */
	unit_sleep_us(u, 60 * USEC_PER_MSEC);
	next = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, next);
	serve(u, next);
	EXPECT_STAMP(test, next);
	EXPECT_NO_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Case 9: stamping is off, the packet is counted and takes no slot. */
static void request_while_off_takes_no_slot(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int i;

	txts_enable(&u->txts, false);
	for (i = 0; i < 100; i++) {
		struct pkt *pkt = unit_pkt(u);

		KUNIT_EXPECT_EQ(test, -ENETDOWN, unit_xmit(u, pkt));
		KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	}
	EXPECT_COUNT(test, u, TXTS_SKIP_OFF, 100);
	EXPECT_COUNT(test, u, TXTS_SKIP_BUSY, 0);
	EXPECT_COUNT(test, u, TXTS_REQUESTED, 0);
	KUNIT_EXPECT_EQ(test, 100, txts_skipped(&u->txts));
	unit_finish(test, u);
}

/* Turned off between reserve and commit. */
static void off_between_reserve_and_commit_is_flushed(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);

	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	txts_enable(&u->txts, false);
	txts_enable(&u->txts, true);
	unit_commit(u, pkt);
	KUNIT_EXPECT_FALSE(test, pkt->committed);
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	serve(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	unit_finish(test, u);
}

static void flush_from_hardirq(void *arg)
{
	struct unit *u = arg;

	txts_flush(&u->txts);
}

/* G8: the non-waiting half of stop, kind 24. */
static void flush_is_legal_in_hard_irq(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int i;

	fill(test, u);
	unit_in_hardirq(flush_from_hardirq, u);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 5 * USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_FLUSHED, u->model->slots);
	for (i = 0; i < u->nr_pkts; i++)
		unit_dropped(u, &u->pkts[i]);
	unit_finish(test, u);
}

/* Kind 25: one owner's cancel leaves the other queues alone. */
static void flush_of_a_queue_leaves_the_others_alone(struct kunit *test)
{
	static const enum model_id ids[] = {
		MODEL_I225, MODEL_64, MODEL_MAILBOX, MODEL_PUSH,
	};
	struct unit *u;
	unsigned int i, j;

	for (j = 0; j < ARRAY_SIZE(ids); j++) {
		u = unit_new(test, ids[j]);
		for (i = 0; i < u->model->slots; i++) {
			struct pkt *pkt = i & 2 ? unit_pkt(u) :
						  unit_owner_pkt(u);

			pkt->queue = i & 1;
			KUNIT_ASSERT_EQ(test, 0, unit_xmit(u, pkt));
		}
		txts_flush_queue(&u->txts, 1);
		EXPECT_COUNT(test, u, TXTS_FLUSHED, u->model->slots / 2);
		KUNIT_EXPECT_EQ(test, (s64)u->model->slots / 2,
				unit_in_flight(u));
		for (i = 0; i < u->nr_pkts; i++) {
			struct pkt *pkt = &u->pkts[i];

			if (!pkt->skb)
				KUNIT_EXPECT_EQ(test, pkt->queue, pkt->ends);
			unit_wire(u, pkt);
			unit_sent(u, pkt);
		}
		unit_wait(u, 3 * USEC_PER_SEC);
		unit_collect(u);
		for (i = 0; i < u->nr_pkts; i++)
			KUNIT_EXPECT_EQ(test, !u->pkts[i].queue,
					u->pkts[i].stamps);
		unit_check(test, u);
	}
}

/* Its queue is flushed between reserve and commit: nobody is told later. */
static void flush_of_a_queue_before_commit_is_heeded(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_owner_pkt(u);

	pkt->queue = 1;
	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	txts_flush_queue(&u->txts, 0);
	txts_flush_queue(&u->txts, 1);
	unit_commit(u, pkt);
	KUNIT_EXPECT_FALSE(test, pkt->committed);
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	serve(u, pkt);
	KUNIT_EXPECT_EQ(test, 0, pkt->ends);
	unit_finish(test, u);
}

/* Case 7: complete, timeout, stop and abort, interleaved at every access. */
static void event_stop(struct unit *u)
{
	/* The waiting half follows in the oracle. */
	txts_flush(&u->txts);
}

static void event_timeout(struct unit *u)
{
	unit_dropped(u, &u->pkts[0]);
}

static void event_complete(struct unit *u)
{
	if (u->model->flags & TXTS_PUSHED)
		txts_complete(&u->txts, u->pkts[0].slot, u->pkts[0].raw);
	else
		txts_irq(&u->txts, TXTS_ALL_SLOTS);
}

static void event_reset(struct unit *u)
{
	unit_hw_reset(u);
}

static void each_way_to_end_at_every_access_ends_once(struct kunit *test)
{
	static void (*const events[])(struct unit *u) = {
		event_stop, event_timeout, event_complete, event_reset,
	};
	unsigned int e, k, runs = 0;
	bool reached;
	struct unit *u;
	struct pkt *pkt;

	for (e = 0; e < ARRAY_SIZE(events); e++) {
		for (k = 0, reached = true; reached && k < 40; k++) {
			u = unit_of(test);
			pkt = unit_send(u);
			KUNIT_ASSERT_NOT_NULL(test, pkt);
			unit_inject(u, k, events[e], true);
			unit_wire(u, pkt);
			unit_sleep_us(u, 200);
			unit_sent(u, pkt);
			unit_wait(u, 200 * USEC_PER_MSEC);
			unit_pump(u);
			reached = unit_injected(u);
			KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
			unit_check(test, u);
			runs++;
		}
	}
	KUNIT_EXPECT_GT(test, runs, 8);
}

static struct kunit_case stop_cases[] = {
	KUNIT_CASE_PARAM(stop_ends_all_that_is_in_flight, model_gen_params),
	KUNIT_CASE_PARAM(stopped_tracker_refuses_all, model_gen_params),
	KUNIT_CASE_PARAM(stamp_left_unread_by_stop_blocks_nothing,
			 irq_gen_params),
	KUNIT_CASE_PARAM(clock_may_go_after_stop, model_gen_params),
	KUNIT_CASE_PARAM(reserved_slot_is_nobody_elses, model_gen_params),
	KUNIT_CASE(nothing_is_queued_once_stop_has_begun),
	KUNIT_CASE(flush_between_read_out_and_delivery_wins),
	KUNIT_CASE_PARAM(commit_after_stop_takes_no_reference,
			 model_gen_params),
	KUNIT_CASE_PARAM(commit_after_stop_and_start_is_flushed,
			 model_gen_params),
	KUNIT_CASE_PARAM(abort_after_stop_frees_the_slot, model_gen_params),
	KUNIT_CASE_PARAM(stop_and_start_are_idempotent, model_gen_params),
	KUNIT_CASE_PARAM(reset_in_flight_frees_all_slots, model_gen_params),
	KUNIT_CASE_PARAM(same_configuration_again_loses_no_stamp,
			 model_gen_params),
	KUNIT_CASE_PARAM(off_in_flight_flushes_at_once, model_gen_params),
	KUNIT_CASE_PARAM(request_while_off_takes_no_slot, model_gen_params),
	KUNIT_CASE_PARAM(off_between_reserve_and_commit_is_flushed,
			 model_gen_params),
	KUNIT_CASE_PARAM(flush_is_legal_in_hard_irq, model_gen_params),
	KUNIT_CASE(flush_of_a_queue_leaves_the_others_alone),
	KUNIT_CASE_PARAM(flush_of_a_queue_before_commit_is_heeded,
			 model_gen_params),
	KUNIT_CASE_PARAM(each_way_to_end_at_every_access_ends_once,
			 model_gen_params),
	{}
};

static struct kunit_suite stop_suite = {
	.name = "txts_stop",
	.test_cases = stop_cases,
};

kunit_test_suite(stop_suite);
