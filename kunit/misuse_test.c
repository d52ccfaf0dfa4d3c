// SPDX-License-Identifier: GPL-2.0
/*
 * Calls in a wrong state and malformed parameters: refused, counted, nothing
 * lost. The warnings that belong to it stand between two marks in the log.
 */
#include <kunit/device.h>
#include <linux/bottom_half.h>
#include <linux/ethtool.h>
#include <linux/slab.h>

#include "../internal.h"
#include "unit.h"

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static void expect_warning(bool begin)
{
	pr_info("txts-kunit: warning expected: %s\n", begin ? "begin" : "end");
}

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

/* Case 26: zeroed memory is a tracker that refuses everything. */
static void calls_before_init_are_refused(struct kunit *test)
{
	struct txts *txts = kunit_kzalloc(test, sizeof(*txts), GFP_KERNEL);
	struct txts_ticket ticket = { .gen = 1 };
	struct ethtool_ts_stats stats = {};
	struct txts_request request = { .owner = test };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, txts);
	expect_warning(true);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, -EINVAL, txts_reserve(txts, &request, &ticket));
	KUNIT_EXPECT_EQ(test, 0, ticket.gen);
	ticket.gen = 1;
	KUNIT_EXPECT_FALSE(test, txts_commit(txts, &ticket));
	txts_abort(txts, &ticket);
	KUNIT_EXPECT_EQ(test, 0, ticket.gen);
	ticket.gen = 1;
	txts_sent(txts, &ticket);
	KUNIT_EXPECT_EQ(test, 0, ticket.gen);
	ticket.gen = 1;
	txts_dropped(txts, &ticket);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, 0, ticket.gen);
	txts_irq(txts, TXTS_ALL_SLOTS);
	txts_poll(txts);
	txts_complete(txts, 0, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, txts_start(txts));
	txts_stop(txts);
	txts_flush(txts);
	txts_flush_queue(txts, 0);
	txts_hw_reset(txts);
	txts_enable(txts, true);
	txts_link(txts, false);
	txts_clock_changed(txts, 0);
	txts_get_ts_stats(txts, &stats);
	KUNIT_EXPECT_EQ(test, 0, txts_skipped(txts));
	for (i = 0; i < TXTS_NR_COUNTERS; i++)
		KUNIT_EXPECT_EQ(test, 0, txts_read_counter(txts, i));
	txts_destroy(txts);
	expect_warning(false);
	KUNIT_EXPECT_NULL(test, memchr_inv(txts, 0, sizeof(*txts)));
}

/* Initialised, but neither started nor on. */
static void calls_before_start_are_refused(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_params params = {
		.dev = u->dev,
		.ops = u->model->ops,
		.slots = u->model->slots,
		.flags = u->model->flags,
		.peek_slots = u->model->peek_slots,
		.timeout_us = u->model->timeout_us,
	};
	unsigned long count;
	struct pkt *pkt;

	txts_destroy(&u->txts);
	KUNIT_ASSERT_EQ(test, 0, txts_init(&u->txts, &params));
	count = u->rf.count;
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, -ENETDOWN, unit_xmit(u, pkt));
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
	txts_poll(&u->txts);
	txts_enable(&u->txts, true);
	KUNIT_EXPECT_EQ(test, -ENETDOWN, unit_xmit(u, pkt));
	EXPECT_COUNT(test, u, TXTS_SKIP_OFF, 2);
	KUNIT_EXPECT_EQ(test, count, u->rf.count);
	KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
	KUNIT_EXPECT_EQ(test, 0, unit_xmit(u, pkt));
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 300 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

static void second_init_is_refused(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_params params = {
		.dev = u->dev,
		.ops = u->model->ops,
		.slots = 1,
	};
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	expect_warning(true);
	KUNIT_EXPECT_EQ(test, -EBUSY, txts_init(&u->txts, &params));
	expect_warning(false);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 300 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

struct malformed {
	const char *name;
	void (*spoil)(struct txts_params *params, struct txts_ops *ops);
};

static void no_slots(struct txts_params *params, struct txts_ops *ops)
{
	params->slots = 0;
}

static void too_many_slots(struct txts_params *params, struct txts_ops *ops)
{
	params->slots = TXTS_MAX_SLOTS + 1;
}

static void unknown_flag(struct txts_params *params, struct txts_ops *ops)
{
	params->flags = BIT(7);
}

static void no_convert(struct txts_params *params, struct txts_ops *ops)
{
	ops->convert = NULL;
}

static void no_read(struct txts_params *params, struct txts_ops *ops)
{
	ops->read = NULL;
}

static void no_ready(struct txts_params *params, struct txts_ops *ops)
{
	ops->ready = NULL;
}

static void pushed_and_polled(struct txts_params *params, struct txts_ops *ops)
{
	params->flags = TXTS_PUSHED | TXTS_POLLED;
}

static void pushed_and_sleeping(struct txts_params *params,
				struct txts_ops *ops)
{
	params->flags = TXTS_PUSHED | TXTS_SLEEPS;
}

static void peek_without_callback(struct txts_params *params,
				  struct txts_ops *ops)
{
	params->peek_slots = BIT_ULL(0);
}

static void peek_beyond_the_slots(struct txts_params *params,
				  struct txts_ops *ops)
{
	ops->peek = models[MODEL_I225].ops->peek;
	params->peek_slots = BIT_ULL(1);
}

static void peek_of_a_sleeping_unit(struct txts_params *params,
				    struct txts_ops *ops)
{
	ops->peek = models[MODEL_I225].ops->peek;
	params->flags = TXTS_SLEEPS;
}

static void peek_of_a_pushing_unit(struct txts_params *params,
				   struct txts_ops *ops)
{
	ops->peek = models[MODEL_I225].ops->peek;
	params->flags = TXTS_PUSHED;
}

static void long_timeout(struct txts_params *params, struct txts_ops *ops)
{
	params->timeout_us = 5000001;
}

static const struct malformed malformed[] = {
	{ "no slots", no_slots },
	{ "too many slots", too_many_slots },
	{ "unknown flag", unknown_flag },
	{ "no convert", no_convert },
	{ "no read", no_read },
	{ "no ready", no_ready },
	{ "pushed and polled", pushed_and_polled },
	{ "pushed and sleeping", pushed_and_sleeping },
	{ "peek without callback", peek_without_callback },
	{ "peek beyond the slots", peek_beyond_the_slots },
	{ "peek of a sleeping unit", peek_of_a_sleeping_unit },
	{ "peek of a pushing unit", peek_of_a_pushing_unit },
	{ "long timeout", long_timeout },
};
KUNIT_ARRAY_PARAM_DESC(malformed, malformed, name);

/* An error, a reason in the log, and the tracker is as before. */
static void malformed_parameters_are_refused(struct kunit *test)
{
	const struct malformed *m = test->param_value;
	struct txts *txts = kunit_kzalloc(test, sizeof(*txts), GFP_KERNEL);
	struct txts_ops ops = *models[MODEL_I210].ops;
	struct txts_params params = { .ops = &ops, .slots = 1 };

	KUNIT_ASSERT_NOT_NULL(test, txts);
	params.dev = kunit_device_register(test, "txts-malformed");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, params.dev);
	m->spoil(&params, &ops);
	KUNIT_EXPECT_EQ(test, -EINVAL, txts_init(txts, &params));
	KUNIT_EXPECT_NULL(test, memchr_inv(txts, 0, sizeof(*txts)));
	/* Whoever destroys it all the same finds nothing to do. */
	txts_destroy(txts);
}

/* Neither device nor callbacks. */
static void missing_parameters_are_refused(struct kunit *test)
{
	struct txts *txts = kunit_kzalloc(test, sizeof(*txts), GFP_KERNEL);
	struct txts_params params = { .slots = 1 };

	KUNIT_ASSERT_NOT_NULL(test, txts);
	expect_warning(true);
	KUNIT_EXPECT_EQ(test, -EINVAL, txts_init(txts, &params));
	params.dev = kunit_device_register(test, "txts-missing");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, params.dev);
	KUNIT_EXPECT_EQ(test, -EINVAL, txts_init(txts, &params));
	expect_warning(false);
	KUNIT_EXPECT_NULL(test, memchr_inv(txts, 0, sizeof(*txts)));
}

/* A counter that does not exist counts nothing. */
static void unknown_counter_reads_zero(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);

	expect_warning(true);
	KUNIT_EXPECT_EQ(test, 0,
			txts_read_counter(&u->txts, TXTS_NR_COUNTERS));
	expect_warning(false);
	unit_finish(test, u);
}

/* An owner needs somebody who tells it how its request ended. */
static void owner_without_deliver_is_unsupported(struct kunit *test)
{
	struct model model = models[MODEL_I210];
	struct txts_ops ops = *model.ops;
	struct unit *u;

	ops.deliver = NULL;
	model.ops = &ops;
	u = unit_new_model(test, &model);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, unit_xmit(u, unit_owner_pkt(u)));
	EXPECT_COUNT(test, u, TXTS_SKIP_UNSUPPORTED, 1);
	txts_stop(&u->txts);
	unit_free(test, u);
}

/* Reports out of order: counted, one warning, the request is not lost. */
static void reports_out_of_order_are_counted(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_ticket again;
	struct pkt *pkt = unit_pkt(u);

	expect_warning(true);
	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	local_bh_disable();
	/* SENT and dropped before the commit. */
	again = pkt->ticket;
	txts_sent(&u->txts, &again);
	EXPECT_COUNT(test, u, TXTS_MISUSE, 1);
	again = pkt->ticket;
	txts_dropped(&u->txts, &again);
	EXPECT_COUNT(test, u, TXTS_MISUSE, 2);
	unit_commit(u, pkt);
	/* A second commit, and an abort after it. */
	KUNIT_EXPECT_FALSE(test, txts_commit(&u->txts, &pkt->ticket));
	EXPECT_COUNT(test, u, TXTS_MISUSE, 3);
	KUNIT_EXPECT_EQ(test, 2, unit_refs(u, pkt));
	again = pkt->ticket;
	txts_abort(&u->txts, &again);
	EXPECT_COUNT(test, u, TXTS_MISUSE, 4);
	KUNIT_EXPECT_EQ(test, 2, unit_refs(u, pkt));
	/* A ticket of a slot that does not exist. */
	again = (struct txts_ticket) { .gen = 1, .slot = 1000 };
	txts_sent(&u->txts, &again);
	EXPECT_COUNT(test, u, TXTS_MISUSE, 5);
	/* A clock that does not exist. */
	local_bh_enable();
	txts_clock_changed(&u->txts, TXTS_MAX_TIMERS);
	EXPECT_COUNT(test, u, TXTS_MISUSE, 6);
	expect_warning(false);

	unit_wire(u, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 300 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	u->expect_misuse = 6;
	unit_finish(test, u);
}

/* A commit without a request does nothing at all. */
static void commit_of_an_empty_ticket_does_nothing(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct txts_ticket ticket = {};

	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, txts_commit(&u->txts, &ticket));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	unit_finish(test, u);
}

static struct kunit_case misuse_cases[] = {
	KUNIT_CASE(calls_before_init_are_refused),
	KUNIT_CASE_PARAM(calls_before_start_are_refused, model_gen_params),
	KUNIT_CASE_PARAM(second_init_is_refused, model_gen_params),
	KUNIT_CASE_PARAM(malformed_parameters_are_refused,
			 malformed_gen_params),
	KUNIT_CASE(missing_parameters_are_refused),
	KUNIT_CASE(unknown_counter_reads_zero),
	KUNIT_CASE(owner_without_deliver_is_unsupported),
	KUNIT_CASE_PARAM(reports_out_of_order_are_counted, model_gen_params),
	KUNIT_CASE_PARAM(commit_of_an_empty_ticket_does_nothing,
			 model_gen_params),
	{}
};

static struct kunit_suite misuse_suite = {
	.name = "txts_misuse",
	.test_cases = misuse_cases,
};

kunit_test_suite(misuse_suite);
