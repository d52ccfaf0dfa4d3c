// SPDX-License-Identifier: GPL-2.0
/* Statistics: every sum closes, and what ethtool shows is what happened. */
#include <linux/bottom_half.h>
#include <linux/ethtool.h>

#include "../internal.h"
#include "unit.h"

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

/* G14: delivered, lost, and what the tracker itself refused. */
static void ts_stats_say_what_happened(struct kunit *test)
{
	struct ethtool_ts_stats stats = {};
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *pkt;
	unsigned int i;

	/* Two delivered. */
	pkt = unit_send(u);
	unit_wire(u, pkt);
	unit_wait(u, USEC_PER_MSEC);
	unit_sent(u, pkt);
	pkt = unit_send(u);
	unit_wire(u, pkt);
	unit_wait(u, USEC_PER_MSEC);
	unit_sent(u, pkt);
	/* One discarded, three skipped for want of a slot. */
	pkt = unit_send(u);
	unit_send(u);
	unit_send(u);
	unit_send(u);
	unit_clock_step(u, 0, 1000);
	unit_wire(u, pkt);
	unit_wait(u, USEC_PER_MSEC);
	unit_sent(u, pkt);
	/* Two flushed, two while off: nobody's fault. */
	for (i = 0; i < 2; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		txts_enable(&u->txts, false);
		unit_send(u);
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		txts_enable(&u->txts, true);
	}
	/* One lost. */
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 30 * USEC_PER_MSEC);

	txts_get_ts_stats(&u->txts, &stats);
	KUNIT_EXPECT_EQ(test, 2, stats.pkts);
	KUNIT_EXPECT_EQ(test, 1, stats.lost);
	KUNIT_EXPECT_EQ(test, 4, stats.err);
	KUNIT_EXPECT_EQ(test, 5, txts_skipped(&u->txts));
	KUNIT_EXPECT_EQ(test, 5 - unit_count(u, TXTS_SKIP_OFF),
			txts_refused(&u->txts));
	unit_finish(test, u);
}

/* Case 17: what is in flight explains the rest at any moment. */
static void sums_close_with_requests_in_flight(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int i;

	for (i = 0; i < u->model->slots; i++) {
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
		KUNIT_EXPECT_EQ(test, i + 1, unit_in_flight(u));
		KUNIT_EXPECT_EQ(test, i + 1, txts_in_flight(&u->txts));
	}
	for (i = 0; i < u->model->slots; i++) {
		unit_wire(u, &u->pkts[i]);
		unit_sent(u, &u->pkts[i]);
	}
	unit_wait(u, 3 * USEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, 0, txts_in_flight(&u->txts));
	unit_finish(test, u);
}

/* Kind 32: each outcome has its counter, and only its own. */
static void each_outcome_is_counted_once(struct kunit *test)
{
	static const enum txts_counter outcomes[] = {
		TXTS_DELIVERED, TXTS_TIMEOUT, TXTS_ABORTED, TXTS_FLUSHED,
		TXTS_DISCARD_CLOCK, TXTS_DISCARD_CONVERT,
	};
	unsigned int i, j;
	struct unit *u;
	struct pkt *pkt;

	for (i = 0; i < ARRAY_SIZE(outcomes); i++) {
		u = unit_of(test);
		pkt = unit_pkt(u);
		KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
		if (outcomes[i] == TXTS_ABORTED)
			unit_abort(u, pkt);
		else
			unit_commit(u, pkt);
		if (outcomes[i] == TXTS_FLUSHED)
			unit_dropped(u, pkt);
		if (outcomes[i] == TXTS_DISCARD_CLOCK)
			unit_clock_step(u, 0, -5);
		if (outcomes[i] == TXTS_DISCARD_CONVERT)
			u->convert_error = -EINVAL;
		if (pkt->committed && outcomes[i] != TXTS_TIMEOUT &&
		    outcomes[i] != TXTS_FLUSHED)
			unit_wire(u, pkt);
		unit_sent(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 600 * USEC_PER_MSEC));
		for (j = 0; j < ARRAY_SIZE(outcomes); j++)
			EXPECT_COUNT(test, u, outcomes[j], i == j);
		EXPECT_COUNT(test, u, TXTS_REQUESTED, 1);
		EXPECT_COUNT(test, u, TXTS_ASKED, 1);
		unit_check(test, u);
	}
}

/* A request that cannot be served is a skip with its own reason. */
static void request_that_cannot_be_served_is_unsupported(struct kunit *test)
{
	struct txts_request request;
	struct txts_ticket ticket = { 1, 1 };
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);
	unsigned int i;

	for (i = 0; i < 5; i++) {
		request = (struct txts_request) { .skb = pkt->skb };
		if (i == 0)
			request.timer = TXTS_MAX_TIMERS;
		if (i == 1)
			request.skb = NULL;
		if (i == 2)
			request.owner = pkt;
		if (i == 3)
			request.timeout_us = 5000001;
		if (i == 4)
			request.launch = -1;
		u->asks++;
		local_bh_disable();
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
				txts_reserve(&u->txts, &request, &ticket));
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, 0, ticket.gen);
		EXPECT_COUNT(test, u, TXTS_SKIP_UNSUPPORTED, i + 1);
	}
	EXPECT_COUNT(test, u, TXTS_REQUESTED, 0);
	unit_finish(test, u);
}

/* G14: the latency of every delivered stamp is in both histograms. */
static void histograms_hold_every_delivered_stamp(struct kunit *test)
{
	struct unit *u = unit_of(test);
	u64 sums[TXTS_NR_HISTS] = {};
	struct pkt *pkt;
	unsigned int i, h;

	for (i = 0; i < 10; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		unit_wait(u, 300 * USEC_PER_MSEC);
		unit_sent(u, pkt);
	}
	for (h = 0; h < TXTS_NR_HISTS; h++)
		for (i = 0; i < TXTS_HIST_BUCKETS; i++)
			sums[h] += txts_read_hist(&u->txts, h, i);
	KUNIT_EXPECT_EQ(test, 10, sums[TXTS_HIST_READ]);
	KUNIT_EXPECT_EQ(test, 10, sums[TXTS_HIST_DELIVER]);
	unit_finish(test, u);
}

/* A latency beyond the last bucket is in it; one of 1 us is not above it. */
static void histogram_tells_short_from_long(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_PUSH);
	unsigned int i, last = TXTS_HIST_BUCKETS - 1;
	/* 4 us; an emulated CPU may need up to 1 ms. */
	unsigned int end = IS_ENABLED(CONFIG_UML) ? 12 : 20;
	struct pkt *pkt;
	u64 low = 0;

	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	for (i = 0; i < end; i++)
		low += txts_read_hist(&u->txts, TXTS_HIST_READ, i);
	KUNIT_EXPECT_EQ(test, 1, low);
	unit_sent(u, pkt);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sleep_us(u, 4900 * USEC_PER_MSEC);
	unit_wire(u, pkt);
	KUNIT_EXPECT_EQ(test, 1,
			txts_read_hist(&u->txts, TXTS_HIST_READ, last));
	unit_sent(u, pkt);
	EXPECT_COUNT(test, u, TXTS_DELIVERED, 2);
	unit_finish(test, u);
}

/* Case 19: stamping is off: that is how it looks, not like zero asked. */
static void off_is_shown_as_off(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct ethtool_ts_stats stats = {};

	txts_enable(&u->txts, false);
	unit_send(u);
	txts_get_ts_stats(&u->txts, &stats);
	KUNIT_EXPECT_EQ(test, 0, stats.pkts);
	KUNIT_EXPECT_EQ(test, 0, stats.lost);
	KUNIT_EXPECT_EQ(test, 0, stats.err);
	EXPECT_COUNT(test, u, TXTS_ASKED, 1);
	EXPECT_COUNT(test, u, TXTS_SKIP_OFF, 1);
	unit_finish(test, u);
}

/* The calls are counted as the register file saw them. */
static void calls_are_counted_as_they_happened(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		pkt = unit_send(u);
		unit_wire(u, pkt);
		unit_wait(u, 5 * USEC_PER_MSEC);
		unit_sent(u, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_CALL_READY, u->rf.reads[REG_VALID]);
	EXPECT_COUNT(test, u, TXTS_CALL_READ, u->rf.reads[REG_LOW(0)]);
	EXPECT_COUNT(test, u, TXTS_CALL_READ, 10);
	unit_finish(test, u);
}

static struct kunit_case stats_cases[] = {
	KUNIT_CASE(ts_stats_say_what_happened),
	KUNIT_CASE_PARAM(sums_close_with_requests_in_flight,
			 model_gen_params),
	KUNIT_CASE_PARAM(each_outcome_is_counted_once, model_gen_params),
	KUNIT_CASE_PARAM(request_that_cannot_be_served_is_unsupported,
			 model_gen_params),
	KUNIT_CASE_PARAM(histograms_hold_every_delivered_stamp,
			 model_gen_params),
	KUNIT_CASE(histogram_tells_short_from_long),
	KUNIT_CASE_PARAM(off_is_shown_as_off, model_gen_params),
	KUNIT_CASE(calls_are_counted_as_they_happened),
	{}
};

static struct kunit_suite stats_suite = {
	.name = "txts_stats",
	.test_cases = stats_cases,
};

kunit_test_suite(stats_suite);
