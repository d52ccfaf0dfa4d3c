// SPDX-License-Identifier: GPL-2.0
/* Life of a slot: reserve, commit, abort, tickets. All kinds of units. */
#include <linux/bottom_half.h>

#include "../internal.h"
#include "unit.h"

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

/* G1, G2 */
static void stamp_reaches_its_own_packet_once(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 100 * USEC_PER_MSEC));
	unit_sent(u, pkt);
	EXPECT_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_REQUESTED, 1);
	EXPECT_COUNT(test, u, TXTS_DELIVERED, 1);
	unit_finish(test, u);
}

/* G2, the ticket: an interrupt before Tx completion is normal. */
static void sent_after_delivery_is_not_stale(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_wait(u, 100 * USEC_PER_MSEC);
	unit_sent(u, pkt);
	KUNIT_EXPECT_EQ(test, 0, pkt->ticket.gen);
	EXPECT_COUNT(test, u, TXTS_STALE_TICKET, 0);
	unit_finish(test, u);
}

/* Kind 19: a second report about the same buffer finds nothing to do. */
static void sent_before_the_stamp_is_delivered_too(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	unit_sent(u, pkt);
	unit_sleep_us(u, 300);
	unit_wire(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* G5, kind 1 and case 22: no reference until the last change is made. */
static void reference_is_taken_at_commit_not_before(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);

	local_bh_disable();
	KUNIT_EXPECT_EQ(test, 0, unit_reserve(u, pkt));
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	KUNIT_EXPECT_FALSE(test, skb_shared(pkt->skb));
	unit_commit(u, pkt);
	KUNIT_EXPECT_EQ(test, 2, unit_refs(u, pkt));
	local_bh_enable();
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	unit_finish(test, u);
}

/* Case 24, kind 26: each exit of xmit gives the slot back at once. */
static void abort_gives_the_slot_back(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int i;

	for (i = 0; i < 100; i++) {
		struct pkt *pkt = unit_pkt(u);

		KUNIT_EXPECT_EQ(test, 0, unit_reserve(u, pkt));
		unit_abort(u, pkt);
		KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
		KUNIT_EXPECT_EQ(test, 0, pkt->ticket.gen);
		/* A second exit path runs over the cleared ticket. */
		unit_abort(u, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_ABORTED, 100);
	EXPECT_COUNT(test, u, TXTS_REQUESTED, 100);
	unit_finish(test, u);
}

/* Kinds 9, 10 and 16: the reports of an old frame do not touch a new one. */
static void stale_ticket_is_a_counted_noop(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_ticket sent, dropped;
	struct pkt *old, *pkt;
	unsigned int i;

	old = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, old);
	sent = old->ticket;
	dropped = old->ticket;
	unit_wire(u, old);
	unit_wait(u, 100 * USEC_PER_MSEC);
	EXPECT_STAMP(test, old);

	/* Every slot is in use again, the old packet's among them. */
	for (i = 0; i < u->model->slots; i++)
		KUNIT_EXPECT_NOT_NULL(test, unit_send(u));
	local_bh_disable();
	txts_sent(&u->txts, &sent);
	txts_dropped(&u->txts, &dropped);
	local_bh_enable();
	EXPECT_COUNT(test, u, TXTS_STALE_TICKET, 2);
	KUNIT_EXPECT_EQ(test, 0, sent.gen);
	KUNIT_EXPECT_EQ(test, 0, dropped.gen);

	/* Nobody was taken for SENT: all wait beyond that deadline. */
	unit_sleep_us(u, 500 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, (s64)u->model->slots, unit_in_flight(u));
	for (i = 1; i < u->nr_pkts; i++) {
		pkt = &u->pkts[i];
		unit_wire(u, pkt);
		unit_sent(u, pkt);
	}
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 3 * USEC_PER_SEC));
	EXPECT_COUNT(test, u, TXTS_DELIVERED, u->model->slots + 1);
	unit_finish(test, u);
}

/* Case 3: back to back frames are skipped at once, none of them times out. */
static void burst_of_100_is_served_or_skipped_at_once(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int i, served = 0;

	for (i = 0; i < 100; i++)
		served += !!unit_send(u);
	KUNIT_EXPECT_EQ(test, u->model->slots, served);
	EXPECT_COUNT(test, u, TXTS_SKIP_BUSY, 100 - served);
	for (i = 0; i < u->nr_pkts; i++)
		if (u->pkts[i].committed) {
			unit_wire(u, &u->pkts[i]);
			unit_sent(u, &u->pkts[i]);
		} else {
			KUNIT_EXPECT_EQ(test, 0, u->pkts[i].ticket.gen);
		}
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 3 * USEC_PER_SEC));
	EXPECT_COUNT(test, u, TXTS_DELIVERED, served);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 0);
	unit_finish(test, u);
}

static void send_again(struct unit *u)
{
	struct pkt **again = u->arg;

	u->on_notify = NULL;
	*again = unit_send(u);
}

/* G7, kind 5: a ping-pong sender never sees its next request skipped. */
static void slot_is_free_before_the_sender_wakes(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *again = NULL;
	struct pkt *pkt = NULL;
	unsigned int i;

	/* All slots are taken, so the next request needs this very one. */
	for (i = 0; i < u->model->slots; i++)
		pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->arg = &again;
	u->on_notify = send_again;
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	for (i = 0; i < 100 && !pkt->stamps; i++) {
		unit_sleep_us(u, 2 * USEC_PER_MSEC);
		unit_collect(u);
	}
	KUNIT_EXPECT_NOT_NULL(test, again);
	EXPECT_COUNT(test, u, TXTS_SKIP_BUSY, 0);
	for (i = 0; i < u->nr_pkts; i++) {
		pkt = &u->pkts[i];
		if (!pkt->stamps)
			unit_wire(u, pkt);
		unit_sent(u, pkt);
	}
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 3 * USEC_PER_SEC));
	EXPECT_COUNT(test, u, TXTS_DELIVERED, u->model->slots + 1);
	unit_finish(test, u);
}

/* G7: who is woken finds everything done: counted, and room for the next. */
static void look_at_the_books(struct unit *u)
{
	unsigned int *bad = u->arg;

	*bad = unit_count(u, TXTS_DELIVERED) != 1 || txts_in_flight(&u->txts);
}

static void sender_finds_its_stamp_counted(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	unsigned int bad = 2;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->arg = &bad;
	u->on_notify = look_at_the_books;
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, 0, bad);
	unit_finish(test, u);
}

/* Kind 34: the packet's control block belongs to others all the time. */
static void control_block_of_the_packet_is_left_alone(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);
	const size_t size = sizeof(pkt->skb->cb);

	memset(pkt->skb->cb, 0xa5, size);
	KUNIT_ASSERT_EQ(test, 0, unit_xmit(u, pkt));
	KUNIT_EXPECT_NULL(test, memchr_inv(pkt->skb->cb, 0xa5, size));
	/* The qdisc of the next device writes its own. */
	memset(pkt->skb->cb, 0x5a, size);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
	KUNIT_EXPECT_NULL(test, memchr_inv(pkt->skb->cb, 0x5a, size));
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Kind 28: a clone shares the flags of a packet that waits, not its request. */
static void flags_of_a_packet_prove_nothing(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	struct txts_ticket none = {};
	struct sk_buff *clone;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	clone = skb_clone(pkt->skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clone);
	KUNIT_EXPECT_TRUE(test, skb_shinfo(clone)->tx_flags &
				SKBTX_IN_PROGRESS);
	/* The clone leaves through the same ring, its buffer is cleaned. */
	local_bh_disable();
	txts_sent(&u->txts, &none);
	txts_dropped(&u->txts, &none);
	local_bh_enable();
	kfree_skb(clone);
	KUNIT_EXPECT_EQ(test, 1, unit_in_flight(u));
	KUNIT_EXPECT_EQ(test, 2, unit_refs(u, pkt));
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Delivery lags: what the slot has seen end stays safe, and xmit skips. */
static void sender_that_outruns_delivery_is_skipped(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *pkt;
	unsigned int i;

	/* Of auto's waiters one is for PTP. */
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_INLINE);
	/* The interrupt reads, softirqs do not run. */
	local_bh_disable();
	for (i = 0; i < TXTS_WAITERS; i++) {
		pkt = unit_send(u);
		KUNIT_EXPECT_NOT_NULL(test, pkt);
		if (pkt)
			unit_wire(u, pkt);
	}
	KUNIT_EXPECT_EQ(test, TXTS_FREE, u->txts.slots[0].state);
	KUNIT_EXPECT_NULL(test, unit_send(u));
	EXPECT_COUNT(test, u, TXTS_SKIP_BUSY, 1);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	for (i = 0; i < TXTS_WAITERS; i++) {
		unit_sent(u, &u->pkts[i]);
		EXPECT_STAMP(test, &u->pkts[i]);
	}
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/* A dropped frame: flushed, its slot back by evidence only. */
static void dropped_frame_is_flushed(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_dropped(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 10 * USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	EXPECT_COUNT(test, u, TXTS_WEDGED, 0);
	EXPECT_NO_STAMP(test, pkt);
	unit_finish(test, u);
}

/* G16: who asks for nothing pays nothing, not even a count. */
static void empty_ticket_does_nothing(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_ticket ticket = {};
	unsigned long count = u->rf.count;
	u64 before[TXTS_NR_COUNTERS];
	unsigned int i;

	for (i = 0; i < TXTS_NR_COUNTERS; i++)
		before[i] = unit_count(u, i);
	txts_sent(&u->txts, &ticket);
	txts_dropped(&u->txts, &ticket);
	txts_abort(&u->txts, &ticket);
	for (i = 0; i < TXTS_NR_COUNTERS; i++)
		EXPECT_COUNT(test, u, i, before[i]);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	unit_finish(test, u);
}

/* Many lives in a row; every slot works again and again. */
static void slot_lives_a_hundred_times(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
		unit_sent(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_DELIVERED, 100);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 0);
	EXPECT_COUNT(test, u, TXTS_STALE_READ, 0);
	unit_finish(test, u);
}

static struct kunit_case life_cases[] = {
	KUNIT_CASE_PARAM(stamp_reaches_its_own_packet_once, model_gen_params),
	KUNIT_CASE_PARAM(sent_after_delivery_is_not_stale, model_gen_params),
	KUNIT_CASE_PARAM(sent_before_the_stamp_is_delivered_too,
			 model_gen_params),
	KUNIT_CASE_PARAM(reference_is_taken_at_commit_not_before,
			 model_gen_params),
	KUNIT_CASE_PARAM(abort_gives_the_slot_back, model_gen_params),
	KUNIT_CASE_PARAM(stale_ticket_is_a_counted_noop, model_gen_params),
	KUNIT_CASE_PARAM(burst_of_100_is_served_or_skipped_at_once,
			 model_gen_params),
	KUNIT_CASE_PARAM(slot_is_free_before_the_sender_wakes,
			 model_gen_params),
	KUNIT_CASE_PARAM(sender_finds_its_stamp_counted, model_gen_params),
	KUNIT_CASE_PARAM(control_block_of_the_packet_is_left_alone,
			 model_gen_params),
	KUNIT_CASE_PARAM(flags_of_a_packet_prove_nothing, model_gen_params),
	KUNIT_CASE(sender_that_outruns_delivery_is_skipped),
	KUNIT_CASE_PARAM(dropped_frame_is_flushed, model_gen_params),
	KUNIT_CASE_PARAM(empty_ticket_does_nothing, model_gen_params),
	KUNIT_CASE_PARAM(slot_lives_a_hundred_times, model_gen_params),
	{}
};

static struct kunit_suite life_suite = {
	.name = "txts_life",
	.test_cases = life_cases,
};

kunit_test_suite(life_suite);
