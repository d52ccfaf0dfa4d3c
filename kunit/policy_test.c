// SPDX-License-Identifier: GPL-2.0
/* Stages: each fixed policy serves each model; waiting never spins. */
#include "../internal.h"
#include "unit.h"

struct combination {
	u8 model;
	u8 policy;
};

#define POLICIES(m)	{ m, TXTS_POLICY_AUTO }, { m, TXTS_POLICY_INLINE }, \
			{ m, TXTS_POLICY_BH }, { m, TXTS_POLICY_AUX },	\
			{ m, TXTS_POLICY_KWORKER }

static const struct combination combinations[] = {
	POLICIES(MODEL_82576), POLICIES(MODEL_82580),
	POLICIES(MODEL_82580_REARM), POLICIES(MODEL_I210),
	POLICIES(MODEL_I225), POLICIES(MODEL_64), POLICIES(MODEL_MAILBOX),
	POLICIES(MODEL_PUSH),
};

static const char * const policies[TXTS_NR_POLICIES] = {
	[TXTS_POLICY_AUTO] = "auto",
	[TXTS_POLICY_INLINE] = "inline",
	[TXTS_POLICY_BH] = "bh",
	[TXTS_POLICY_AUX] = "aux",
	[TXTS_POLICY_KWORKER] = "kworker",
};

static void combination_name(const struct combination *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s", models[c->model].name,
		 policies[c->policy]);
}

KUNIT_ARRAY_PARAM(combination, combinations, combination_name);

static struct unit *unit_of(struct kunit *test)
{
	const struct combination *c = test->param_value;
	struct unit *u = unit_new(test, c->model);

	WRITE_ONCE(u->txts.policy, c->policy);
	return u;
}

/* The life of a slot, with the stamp before and after SENT. */
static void stamp_is_delivered_at_every_stage(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		if (i & 1)
			unit_sent(u, pkt);
		unit_sleep_us(u, i & 2 ? 5000 : 0);
		unit_wire(u, pkt);
		if (i & 4)
			unit_sent(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 300 * USEC_PER_MSEC));
		unit_sent(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 0);
	unit_finish(test, u);
}

/* G10 holds for all of them. */
static void lost_stamp_costs_few_polls(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	u64 calls;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	/* An interrupt for nothing is one more reason to look. */
	unit_irq(u);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 500 * USEC_PER_MSEC));
	calls = unit_count(u, TXTS_CALL_READY) + unit_count(u, TXTS_CALL_READ);
	KUNIT_EXPECT_LT(test, calls, 20);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	unit_finish(test, u);
}

/* The orphan is nobody's stamp at any stage. */
static void orphan_is_thrown_away_at_every_stage(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u), *next;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 500 * USEC_PER_MSEC));
	unit_wire(u, pkt);
	txts_poll(&u->txts);
	unit_sleep_us(u, 100 * USEC_PER_MSEC);
	next = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, next);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	KUNIT_EXPECT_EQ(test, pkt->slot, next->slot);
	unit_wire(u, next);
	unit_sent(u, next);
	unit_wait(u, 300 * USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_STAMP(test, next);
	unit_finish(test, u);
}

/* G8: stop at each stage, with the stamp read or not. */
static void stop_at_every_stage_ends_it(struct kunit *test)
{
	static const unsigned int after_us[] = { 0, 1, 20, 100, 1000, 25000 };
	unsigned int i;
	struct unit *u;
	struct pkt *pkt;

	for (i = 0; i < ARRAY_SIZE(after_us); i++) {
		u = unit_of(test);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		if (after_us[i])
			unit_sleep_us(u, after_us[i]);
		txts_stop(&u->txts);
		KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
		KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
		unit_sent(u, pkt);
		unit_check(test, u);
	}
}

/* Changing the policy while requests wait loses none. */
static void policy_change_in_flight_loses_nothing(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 2 * TXTS_NR_POLICIES; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		WRITE_ONCE(u->txts.policy, i % TXTS_NR_POLICIES);
		unit_wire(u, pkt);
		WRITE_ONCE(u->txts.policy, (i + 2) % TXTS_NR_POLICIES);
		unit_wait(u, 300 * USEC_PER_MSEC);
		unit_sent(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	unit_finish(test, u);
}

/* G10, the policy alone: never at once, never for ever, seldom enough. */
static void policy_backs_off(struct kunit *test)
{
	enum txts_policy policy;
	unsigned int attempts;
	u64 delay, last, sum;

	for (policy = 0; policy < TXTS_NR_POLICIES; policy++) {
		last = 0;
		sum = 0;
		for (attempts = 1; attempts < 10000; attempts++) {
			delay = 0;
			txts_policy_retry(policy, attempts, &delay);
			KUNIT_ASSERT_GE(test, delay, 1000);
			KUNIT_ASSERT_GE(test, delay, last);
			KUNIT_ASSERT_LE(test, delay, NSEC_PER_SEC);
			last = delay;
			sum += delay;
			if (sum < 20 * NSEC_PER_MSEC)
				KUNIT_ASSERT_LT(test, attempts, 20);
		}
	}
}

/* Section 5: softirq time is for the first retries only. */
static void policy_moves_up_the_stages(struct kunit *test)
{
	u64 delay;

	KUNIT_EXPECT_EQ(test, TXTS_STAGE_BH,
			txts_policy_retry(TXTS_POLICY_AUTO, 1, &delay));
	KUNIT_EXPECT_EQ(test, TXTS_STAGE_AUX,
			txts_policy_retry(TXTS_POLICY_AUTO, 10, &delay));
	KUNIT_EXPECT_EQ(test, TXTS_STAGE_AUX,
			txts_policy_retry(TXTS_POLICY_AUX, 1, &delay));
	KUNIT_EXPECT_EQ(test, TXTS_STAGE_WQ,
			txts_policy_retry(TXTS_POLICY_KWORKER, 100, &delay));
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE(policy_backs_off),
	KUNIT_CASE(policy_moves_up_the_stages),
	KUNIT_CASE_PARAM(stamp_is_delivered_at_every_stage,
			 combination_gen_params),
	KUNIT_CASE_PARAM(lost_stamp_costs_few_polls, combination_gen_params),
	KUNIT_CASE_PARAM(orphan_is_thrown_away_at_every_stage,
			 combination_gen_params),
	KUNIT_CASE_PARAM(stop_at_every_stage_ends_it, combination_gen_params),
	KUNIT_CASE_PARAM(policy_change_in_flight_loses_nothing,
			 combination_gen_params),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "txts_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
