// SPDX-License-Identifier: GPL-2.0
/* Quarantine: the slot of an ended request comes back by evidence only. */
#include <linux/bottom_half.h>

#include "../internal.h"
#include "unit.h"

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static const enum model_id single_models[] = {
	MODEL_82576, MODEL_82580, MODEL_82580_REARM, MODEL_I210,
};
KUNIT_ARRAY_PARAM(single, single_models, model_id_name);

/* Those whose registers are there without a call that sleeps. */
static const enum model_id register_models[] = {
	MODEL_82576, MODEL_82580, MODEL_82580_REARM, MODEL_I210, MODEL_I225,
	MODEL_64,
};
KUNIT_ARRAY_PARAM(reg, register_models, model_id_name);

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

static struct unit *unit_of_id(struct kunit *test)
{
	return unit_new(test, *(const enum model_id *)test->param_value);
}

/* Sends into the same slot as @old; the others are taken up if need be. */
static struct pkt *send_into_slot_of(struct unit *u, struct pkt *old)
{
	struct pkt *pkt;

	do {
		pkt = unit_send(u);
	} while (pkt && pkt->slot != old->slot);
	return pkt;
}

/* Cases 11 and 14, G1, kinds 7, 8, 9: by interrupt, evidence (a). */
static void late_stamp_never_reaches_next_request(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *old = unit_timed_out(test, u), *pkt;

	unit_wire(u, old);
	unit_sleep_us(u, USEC_PER_MSEC);
	txts_poll(&u->txts);
	pkt = send_into_slot_of(u, old);
	if (u->model->flags & TXTS_SLEEPS && !pkt) {
		/* The register of a sleeping unit is read by its thread. */
		unit_sleep_us(u, 60 * USEC_PER_MSEC);
		pkt = send_into_slot_of(u, old);
	}
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_EQ(test, 1, unit_count(u, TXTS_ORPHAN));
	unit_serve_all(u);
	EXPECT_NO_STAMP(test, old);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* (a) without its interrupt: the next reserve reads the readiness. */
static void reserve_finds_the_orphan_in_the_register(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u), *pkt;

	u->lose_irqs = 1;
	unit_wire(u, old);
	pkt = send_into_slot_of(u, old);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 0);
	unit_serve_all(u);
	EXPECT_NO_STAMP(test, old);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Without evidence nobody gets the slot; the sender is told at once. */
static void slot_without_evidence_is_not_handed_out(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned int i;

	unit_timed_out(test, u);
	for (i = 0; i < 9; i++) {
		KUNIT_EXPECT_NULL(test, unit_send(u));
		unit_sleep_us(u, 100 * USEC_PER_MSEC);
	}
	EXPECT_COUNT(test, u, TXTS_SKIP_BUSY, 9);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 0);
	unit_finish(test, u);
}

/* (b): the MAC is empty, and one last look found nothing. */
static void empty_mac_is_evidence(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt;

	u->mac = TXTS_MAC_IDLE;
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 25 * USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	KUNIT_EXPECT_GE(test, u->mac_calls, 1);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 0);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 20 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* The frame leaves just before the question whether any is left. */
static enum txts_mac leaves_then_idle(struct txts *txts)
{
	struct unit *u = container_of(txts, struct unit, txts);

	if (!u->pkts[0].raw)
		unit_wire(u, &u->pkts[0]);
	return TXTS_MAC_IDLE;
}

/* (b), G1: an empty MAC means that its last stamp is there: one last look. */
static void stamp_of_the_frame_that_left_last_is_found(struct kunit *test)
{
	struct model model = models[*(const enum model_id *)test->param_value];
	struct txts_ops ops = *model.ops;
	struct pkt *old, *pkt;
	struct unit *u;

	ops.mac = leaves_then_idle;
	model.ops = &ops;
	u = unit_new_model(test, &model);
	u->lose_irqs = 1;
	old = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, old);
	unit_sent(u, old);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 25 * USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sleep_us(u, USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 20 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	EXPECT_NO_STAMP(test, old);
	unit_finish(test, u);
}

/* (b) counts for frames that are in the MAC, not for those in memory. */
static void empty_mac_says_nothing_about_a_frame_not_sent(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt;

	u->mac = TXTS_MAC_IDLE;
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	txts_flush(&u->txts);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 5 * USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_FLUSHED, 1);
	KUNIT_EXPECT_NULL(test, unit_send(u));
	unit_sleep_us(u, 2 * USEC_PER_SEC);
	KUNIT_EXPECT_NULL(test, unit_send_or_ask(u));
	/* Now it is on the wire, and SENT. */
	unit_sent(u, pkt);
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	KUNIT_EXPECT_NOT_NULL(test, unit_send(u));
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 0);
	unit_serve_all(u);
	unit_finish(test, u);
}

/* xmit asks for a search for evidence; it does not ask the MAC itself. */
static void xmit_makes_the_thread_look_for_evidence(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned int calls;

	unit_timed_out(test, u);
	u->mac = TXTS_MAC_IDLE;
	calls = u->mac_calls;
	local_bh_disable();
	unit_reserve(u, unit_pkt(u));
	KUNIT_EXPECT_EQ(test, calls, u->mac_calls);
	local_bh_enable();
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	KUNIT_EXPECT_NOT_NULL(test, unit_send(u));
	unit_serve_all(u);
	unit_finish(test, u);
}

/* G4: however many senders ask, the MAC is asked once a millisecond. */
static void senders_in_a_row_ask_the_mac_seldom(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	unsigned int i, calls;
	ktime_t began;
	s64 most = 8;

	unit_timed_out(test, u);
	calls = u->mac_calls;
	began = ktime_get();
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_NULL(test, unit_send(u));
		unit_sleep_us(u, 50);
	}
	KUNIT_EXPECT_GE(test, u->mac_calls - calls, 3);
	/* The 5 ms that this takes may be more. */
	if (!IS_ENABLED(CONFIG_UML))
		most = ktime_ms_delta(ktime_get(), began) + 3;
	KUNIT_EXPECT_LE(test, (s64)(u->mac_calls - calls), most);
	unit_finish(test, u);
}

static void turn_off_elsewhere(struct unit *u)
{
	/* The first thing that txts_enable() does on another CPU. */
	WRITE_ONCE(u->txts.enabled, false);
}

/* G8: turned off while xmit looks for a slot: refused, not queued. */
static void off_while_a_slot_is_sought_is_a_skip(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u), *pkt = unit_pkt(u);

	u->lose_irqs = 1;
	unit_wire(u, old);
	/* The readiness read frees the slot; whoever turned it off waits. */
	unit_inject(u, 0, turn_off_elsewhere, false);
	KUNIT_EXPECT_EQ(test, -ENETDOWN, unit_xmit(u, pkt));
	KUNIT_EXPECT_TRUE(test, unit_injected(u));
	EXPECT_COUNT(test, u, TXTS_SKIP_OFF, 1);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	txts_flush(&u->txts);
	txts_enable(&u->txts, true);
	KUNIT_EXPECT_NOT_NULL(test, unit_send(u));
	unit_serve_all(u);
	unit_finish(test, u);
}

/* Valid, but the read says there is none: that is no evidence. */
static void orphan_that_cannot_be_read_stays(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u);

	u->lose_irqs = 1;
	unit_wire(u, old);
	u->read_error = -EAGAIN;
	KUNIT_EXPECT_NULL(test, unit_send(u));
	KUNIT_EXPECT_EQ(test, TXTS_QUARANTINE,
			u->txts.slots[old->slot].state);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 0);
	u->read_error = 0;
	unit_finish(test, u);
}

/* (c), case 13: a reset frees all of them at once. */
static void hardware_reset_is_evidence(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *old = unit_timed_out(test, u), *pkt;

	unit_hw_reset(u);
	unit_sleep_us(u, 60 * USEC_PER_MSEC);
	pkt = send_into_slot_of(u, old);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 0);
	unit_serve_all(u);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Time is no evidence while the link is down. */
static void quarantine_does_not_age_while_the_link_is_down(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u), *pkt;

	txts_link(&u->txts, false);
	unit_sleep_us(u, 3 * USEC_PER_SEC);
	KUNIT_EXPECT_NULL(test, unit_send_or_ask(u));
	txts_link(&u->txts, true);
	unit_sleep_us(u, 900 * USEC_PER_MSEC);
	KUNIT_EXPECT_NULL(test, unit_send(u));
	unit_sleep_us(u, 110 * USEC_PER_MSEC);
	pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 1);
	unit_serve_all(u);
	EXPECT_NO_STAMP(test, old);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* Nor while the MAC says that it is paused. */
static void quarantine_does_not_age_while_paused(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old, *pkt;
	unsigned int i;

	u->mac = TXTS_MAC_HELD;
	old = unit_timed_out(test, u);
	for (i = 0; i < 12; i++) {
		unit_sleep_us(u, 250 * USEC_PER_MSEC);
		KUNIT_EXPECT_NULL(test, unit_send(u));
		unit_sleep_us(u, 5 * USEC_PER_MSEC);
	}
	/* The pause ends: from now on it ages. */
	u->mac = TXTS_MAC_BUSY;
	KUNIT_EXPECT_NULL(test, unit_send_or_ask(u));
	unit_sleep_us(u, 900 * USEC_PER_MSEC);
	KUNIT_EXPECT_NULL(test, unit_send_or_ask(u));
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 0);
	/* The frame leaves, its stamp comes. */
	unit_wire(u, old);
	unit_sleep_us(u, USEC_PER_MSEC);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	unit_serve_all(u);
	EXPECT_NO_STAMP(test, old);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* G3: a slot that never comes back is counted once and costs no polling. */
static void wedged_slot_is_counted_once_and_not_polled(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	unsigned long count;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 5100 * USEC_PER_MSEC));
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	count = u->rf.count;
	unit_sleep_us(u, 30 * USEC_PER_SEC);
	EXPECT_COUNT(test, u, TXTS_WEDGED, 1);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	unit_dropped(u, pkt);
	unit_finish(test, u);
}

/* Kind 22: one slot in quarantine, the others go on. */
static void quarantined_slot_does_not_block_its_neighbours(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I225);
	struct pkt *old = unit_timed_out(test, u), *pkt;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		KUNIT_EXPECT_NE(test, old->slot, pkt->slot);
		unit_wire(u, pkt);
		unit_wait(u, 10 * USEC_PER_MSEC);
		unit_sent(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	unit_finish(test, u);
}

static struct pkt *send_gso(struct kunit *test, struct unit *u)
{
	struct pkt *pkt = unit_pkt(u);

	skb_shinfo(pkt->skb)->gso_size = 50;
	skb_shinfo(pkt->skb)->gso_segs = 2;
	KUNIT_ASSERT_EQ(test, 0, unit_xmit(u, pkt));
	unit_wire(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 10 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	return pkt;
}

/* Section 4: a GSO frame holds its slot until SENT, and no longer. */
static void gso_frame_holds_its_slot_until_sent(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt = send_gso(test, u);

	KUNIT_EXPECT_EQ(test, TXTS_QUARANTINE,
			u->txts.slots[pkt->slot].state);
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, TXTS_QUARANTINE,
			u->txts.slots[pkt->slot].state);
	unit_sent(u, pkt);
	pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_serve_all(u);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* The MAC may stamp more than one segment; those are nobody's. */
static void stamps_of_further_segments_are_orphans(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt = send_gso(test, u);

	unit_capture(u, pkt->slot, unit_advance(u, 1));
	unit_sleep_us(u, USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, pkt->stamps);
	unit_sent(u, pkt);
	unit_sleep_us(u, 1100 * USEC_PER_MSEC);
	while ((pkt = unit_send_or_ask(u)))
		;
	unit_serve_all(u);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	EXPECT_COUNT(test, u, TXTS_DELIVERED, u->model->slots + 1);
	unit_finish(test, u);
}

static struct kunit_case quarantine_cases[] = {
	KUNIT_CASE_PARAM(late_stamp_never_reaches_next_request,
			 model_gen_params),
	KUNIT_CASE_PARAM(reserve_finds_the_orphan_in_the_register,
			 reg_gen_params),
	KUNIT_CASE_PARAM(slot_without_evidence_is_not_handed_out,
			 single_gen_params),
	KUNIT_CASE_PARAM(empty_mac_is_evidence, single_gen_params),
	KUNIT_CASE_PARAM(stamp_of_the_frame_that_left_last_is_found,
			 single_gen_params),
	KUNIT_CASE_PARAM(empty_mac_says_nothing_about_a_frame_not_sent,
			 single_gen_params),
	KUNIT_CASE_PARAM(xmit_makes_the_thread_look_for_evidence,
			 single_gen_params),
	KUNIT_CASE_PARAM(senders_in_a_row_ask_the_mac_seldom,
			 single_gen_params),
	KUNIT_CASE_PARAM(off_while_a_slot_is_sought_is_a_skip,
			 single_gen_params),
	KUNIT_CASE_PARAM(orphan_that_cannot_be_read_stays,
			 single_gen_params),
	KUNIT_CASE_PARAM(hardware_reset_is_evidence, model_gen_params),
	KUNIT_CASE_PARAM(quarantine_does_not_age_while_the_link_is_down,
			 single_gen_params),
	KUNIT_CASE_PARAM(quarantine_does_not_age_while_paused,
			 single_gen_params),
	KUNIT_CASE_PARAM(wedged_slot_is_counted_once_and_not_polled,
			 model_gen_params),
	KUNIT_CASE(quarantined_slot_does_not_block_its_neighbours),
	KUNIT_CASE_PARAM(gso_frame_holds_its_slot_until_sent,
			 reg_gen_params),
	KUNIT_CASE_PARAM(stamps_of_further_segments_are_orphans,
			 reg_gen_params),
	{}
};

static struct kunit_suite quarantine_suite = {
	.name = "txts_quarantine",
	.test_cases = quarantine_cases,
};

kunit_test_suite(quarantine_suite);
