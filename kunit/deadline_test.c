// SPDX-License-Identifier: GPL-2.0
/* Deadline: a request ends by time, whatever the hardware does (G3). */
#include <linux/bottom_half.h>
#include <linux/timekeeping.h>

#include "../internal.h"
#include "unit.h"

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

/* In us: the model's own, or 20 ms; and how long a read out may take. */
static u64 timeout_of(struct unit *u)
{
	return u->model->timeout_us ?: 20 * USEC_PER_MSEC;
}

static u64 slack_of(struct unit *u)
{
	return u->model->flags & TXTS_SLEEPS ? 60 * USEC_PER_MSEC :
					       USEC_PER_MSEC;
}

/*
 * Sleeps until shortly before @at, when the request still has to wait. Where
 * sleeping may take longer than it should that proves nothing.
 */
static void expect_waits_until(struct kunit *test, struct unit *u, ktime_t at)
{
	s64 us = ktime_us_delta(at, ktime_get()) - 500;
	s64 waits;

	KUNIT_ASSERT_GT(test, us, 0);
	unit_sleep_us(u, us);
	waits = unit_in_flight(u);
	if (ktime_before(ktime_get(), at))
		KUNIT_EXPECT_EQ(test, 1, waits);
	else
		KUNIT_EXPECT_FALSE(test, IS_ENABLED(CONFIG_UML));
}

/* G3, kinds 6, 11, 17 and 18: nobody else has to send for that. */
static void lost_stamp_ends_20_ms_after_sent(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	ktime_t sent;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sleep_us(u, 30 * USEC_PER_MSEC);
	sent = ktime_get();
	unit_sent(u, pkt);
	expect_waits_until(test, u, ktime_add_us(sent, timeout_of(u)));
	unit_sleep_us(u, 500 + slack_of(u));
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	EXPECT_COUNT(test, u, TXTS_WEDGED, 0);
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	unit_finish(test, u);
}

/* G3: SENT or not, never more than 5 s after commit; reported once. */
static void frame_never_sent_ends_5_s_after_commit(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	ktime_t sent = ktime_get();

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	expect_waits_until(test, u, ktime_add_us(sent, 5 * USEC_PER_SEC));
	unit_sleep_us(u, 1000 + slack_of(u));
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	EXPECT_COUNT(test, u, TXTS_WEDGED, 1);
	unit_finish(test, u);
}

/* G3: a gated frame waits from its launch time on. */
static void launch_time_moves_the_deadline(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_request request = {
		.launch = ktime_add_ms(ktime_get_clocktai(), 300),
	};
	struct pkt *pkt = unit_pkt(u);
	ktime_t sent = ktime_get();

	local_bh_disable();
	KUNIT_ASSERT_EQ(test, 0, unit_reserve_as(u, pkt, &request));
	unit_commit(u, pkt);
	local_bh_enable();
	unit_sent(u, pkt);
	expect_waits_until(test, u, ktime_add_us(sent, 300 * USEC_PER_MSEC +
						 timeout_of(u)));
	unit_sleep_us(u, 2000 + slack_of(u));
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	unit_finish(test, u);
}

/* G3: the 5 s win over a launch time far away. */
static void launch_time_does_not_move_the_limit(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_request request = {
		.launch = ktime_add_ms(ktime_get_clocktai(), 60000),
	};
	struct pkt *pkt = unit_pkt(u);
	ktime_t sent = ktime_get();

	local_bh_disable();
	KUNIT_ASSERT_EQ(test, 0, unit_reserve_as(u, pkt, &request));
	unit_commit(u, pkt);
	local_bh_enable();
	unit_sent(u, pkt);
	expect_waits_until(test, u, ktime_add_us(sent, 5 * USEC_PER_SEC));
	unit_sleep_us(u, 1000 + slack_of(u));
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	unit_finish(test, u);
}

/* Nor does it keep the slot of a request that has ended: case 8. */
static void launch_time_far_away_does_not_keep_the_slot(struct kunit *test)
{
	static const enum model_id ids[] = { MODEL_82576, MODEL_I210 };
	struct txts_request request = {
		.launch = ktime_add_ms(ktime_get_clocktai(), 3600000),
	};
	struct pkt *pkt;
	struct unit *u;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		u = unit_new(test, ids[i]);
		u->mac = TXTS_MAC_BUSY;
		pkt = unit_pkt(u);
		local_bh_disable();
		KUNIT_ASSERT_EQ(test, 0, unit_reserve_as(u, pkt, &request));
		unit_commit(u, pkt);
		local_bh_enable();
		txts_flush(&u->txts);
		unit_dropped(u, pkt);
		unit_sleep_us(u, 7 * USEC_PER_SEC);
		pkt = unit_send_or_ask(u);
		KUNIT_EXPECT_NOT_NULL(test, pkt);
		unit_serve_all(u);
		unit_finish(test, u);
		unit_free(test, u);
	}
}

/* A launch time that has passed is none. */
static void past_launch_time_is_ignored(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_request request = {
		.launch = ktime_sub_us(ktime_get_clocktai(), 5000),
	};
	struct pkt *pkt = unit_pkt(u);
	ktime_t sent;

	local_bh_disable();
	KUNIT_ASSERT_EQ(test, 0, unit_reserve_as(u, pkt, &request));
	unit_commit(u, pkt);
	local_bh_enable();
	sent = ktime_get();
	unit_sent(u, pkt);
	expect_waits_until(test, u, ktime_add_us(sent, timeout_of(u)));
	unit_sleep_us(u, 500 + slack_of(u));
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	unit_finish(test, u);
}

/* AF_XDP asks for 10 ms, so that the ring does not stall. */
static void request_may_have_its_own_timeout(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_request request = { .timeout_us = 10000 };
	struct pkt *pkt = unit_pkt(u);
	ktime_t sent;

	local_bh_disable();
	KUNIT_ASSERT_EQ(test, 0, unit_reserve_as(u, pkt, &request));
	unit_commit(u, pkt);
	local_bh_enable();
	sent = ktime_get();
	unit_sent(u, pkt);
	expect_waits_until(test, u, ktime_add_us(sent, 10000));
	unit_sleep_us(u, 1000 + slack_of(u));
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	unit_finish(test, u);
}

/* A timer armed for an old request does not end a new one early. */
static void deadline_of_the_last_request_spares_the_next(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	unit_wire(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	for (i = 0; i < u->model->slots; i++)
		KUNIT_EXPECT_NOT_NULL(test, unit_send(u));
	unit_sleep_us(u, 2 * timeout_of(u));
	KUNIT_EXPECT_EQ(test, (s64)u->model->slots, unit_in_flight(u));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 0);
	for (i = 1; i < u->nr_pkts; i++) {
		unit_wire(u, &u->pkts[i]);
		unit_sent(u, &u->pkts[i]);
	}
	unit_finish(test, u);
}

/* G10, case 23, kind 29: a lost stamp costs few polls, none after its end. */
static void lost_stamp_costs_fewer_than_20_polls(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	unsigned long count;
	u64 calls;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	unit_irq(u);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, timeout_of(u) + slack_of(u)));
	calls = unit_count(u, TXTS_CALL_READY) + unit_count(u, TXTS_CALL_READ);
	KUNIT_EXPECT_LT(test, calls, 20);
	unit_sleep_us(u, slack_of(u));
	count = u->rf.count;
	unit_sleep_us(u, 10 * USEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	unit_finish(test, u);
}

/* G10: link down or paused, a frame that is not sent: the CPU stays idle. */
static void frame_held_by_the_mac_costs_few_polls(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	txts_link(&u->txts, false);
	unit_sleep_us(u, 4900 * USEC_PER_MSEC);
	KUNIT_EXPECT_LT(test, unit_count(u, TXTS_CALL_READY) +
			unit_count(u, TXTS_CALL_READ), 40);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_finish(test, u);
}

/* G10: nothing to do costs nothing. */
static void idle_tracker_reads_nothing(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	unsigned long count;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_wait(u, 100 * USEC_PER_MSEC);
	unit_sent(u, pkt);
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	count = u->rf.count;
	unit_sleep_us(u, 10 * USEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	unit_finish(test, u);
}

/* G3: a softirq that is starved does not keep the request from ending. */
static void deadline_does_not_need_the_softirq(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	enum txts_state state;
	unsigned int refs;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	local_bh_disable();
	unit_work_us(timeout_of(u) + 1000);
	state = READ_ONCE(u->txts.slots[pkt->slot].state);
	refs = unit_refs(u, pkt);
	local_bh_enable();
	/* On another CPU the thread may be reading just now. */
	if (!IS_ENABLED(CONFIG_SMP) || !(u->model->flags & TXTS_SLEEPS))
		KUNIT_EXPECT_EQ(test, TXTS_QUARANTINE, state);
	/* What takes locks or frees memory was put off, or done elsewhere. */
	if (!IS_ENABLED(CONFIG_SMP))
		KUNIT_EXPECT_EQ(test, 2, refs);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, slack_of(u)));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	unit_finish(test, u);
}

/* Cases 8 and 12: all lost, all slots back, then good ones. */
static void saturation_with_losses_loses_no_slot(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int round, i, lost = 0, good = 0;

	u->mac = TXTS_MAC_IDLE;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < u->model->slots; i++) {
			struct pkt *pkt = unit_send(u);

			if (!pkt && !IS_ENABLED(CONFIG_UML)) {
				/* In real time a read out takes longer. */
				unit_sleep_us(u, 100 * USEC_PER_MSEC);
				pkt = unit_send(u);
			}
			if (!pkt)
				continue;
			if (i % 3 != round % 3) {
				unit_wire(u, pkt);
				good++;
			} else {
				lost++;
			}
			unit_sent(u, pkt);
		}
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 3 * USEC_PER_SEC));
		/* Evidence, by time at the latest. */
		unit_sleep_us(u, 1100 * USEC_PER_MSEC);
	}
	KUNIT_EXPECT_EQ(test, 3 * u->model->slots, good + lost);
	EXPECT_COUNT(test, u, TXTS_DELIVERED, good);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, lost);
	unit_finish(test, u);
}

static struct kunit_case deadline_cases[] = {
	KUNIT_CASE_PARAM(lost_stamp_ends_20_ms_after_sent, model_gen_params),
	KUNIT_CASE_PARAM(frame_never_sent_ends_5_s_after_commit,
			 model_gen_params),
	KUNIT_CASE_PARAM(launch_time_moves_the_deadline, model_gen_params),
	KUNIT_CASE_PARAM(launch_time_does_not_move_the_limit,
			 model_gen_params),
	KUNIT_CASE(launch_time_far_away_does_not_keep_the_slot),
	KUNIT_CASE_PARAM(past_launch_time_is_ignored, model_gen_params),
	KUNIT_CASE_PARAM(request_may_have_its_own_timeout, model_gen_params),
	KUNIT_CASE_PARAM(deadline_of_the_last_request_spares_the_next,
			 model_gen_params),
	KUNIT_CASE_PARAM(lost_stamp_costs_fewer_than_20_polls,
			 model_gen_params),
	KUNIT_CASE_PARAM(frame_held_by_the_mac_costs_few_polls,
			 model_gen_params),
	KUNIT_CASE_PARAM(idle_tracker_reads_nothing, model_gen_params),
	KUNIT_CASE_PARAM(deadline_does_not_need_the_softirq,
			 model_gen_params),
	KUNIT_CASE_PARAM(saturation_with_losses_loses_no_slot,
			 model_gen_params),
	{}
};

static struct kunit_suite deadline_suite = {
	.name = "txts_deadline",
	.test_cases = deadline_cases,
};

kunit_test_suite(deadline_suite);
