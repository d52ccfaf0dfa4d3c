// SPDX-License-Identifier: GPL-2.0
/* Epochs: a stamp whose life spans a step of its clock is discarded (G13). */
#include "unit.h"

#define STEP	(37 * (s64)NSEC_PER_SEC)	/* TAI against UTC */

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static const enum model_id register_models[] = {
	MODEL_82576, MODEL_82580, MODEL_82580_REARM, MODEL_I210, MODEL_I225,
	MODEL_64,
};
KUNIT_ARRAY_PARAM(reg, register_models, model_id_name);

static struct unit *unit_of(struct kunit *test)
{
	return unit_new_model(test, test->param_value);
}

static void serve(struct unit *u, struct pkt *pkt)
{
	unit_wire(u, pkt);
	unit_wait(u, 200 * USEC_PER_MSEC);
	unit_sent(u, pkt);
}

static void step(struct unit *u)
{
	unit_clock_step(u, 0, STEP);
}

/* Case 15: between commit and capture. */
static void step_before_the_capture_discards(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	step(u);
	serve(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_DISCARD_CLOCK, 1);
	unit_finish(test, u);
}

/* Case 15: between capture and read out. */
static void step_between_capture_and_read_out_discards(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->irq_off = true;
	unit_wire(u, pkt);
	step(u);
	u->irq_off = false;
	unit_pump(u);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 200 * USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_DISCARD_CLOCK, 1);
	unit_finish(test, u);
}

static void step_once(struct unit *u)
{
	u->in_convert = NULL;
	step(u);
}

/* Between read out and conversion. */
static void step_before_the_conversion_discards(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->in_convert = step_once;
	serve(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_DISCARD_CLOCK, 1);
	unit_finish(test, u);
}

/* At every register access of a life: right or absent, never shifted. */
static void step_at_any_access_is_never_delivered(struct kunit *test)
{
	const enum model_id *id = test->param_value;
	bool reached = true;
	unsigned long k;
	struct pkt *pkt;
	struct unit *u;

	for (k = 0; reached && k < 50; k++) {
		u = unit_new(test, *id);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_inject(u, k, step, false);
		serve(u, pkt);
		unit_sleep_us(u, USEC_PER_MSEC);
		unit_collect(u);
		reached = unit_injected(u);
		/* The oracle compares with the truth before the step. */
		KUNIT_EXPECT_EQ(test, !reached, pkt->stamps);
		unit_check(test, u);
	}
	KUNIT_EXPECT_GT(test, k, 2);
}

/* A step before the request does not concern it. */
static void request_after_the_step_is_served(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		step(u);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		serve(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_DISCARD_CLOCK, 0);
	unit_finish(test, u);
}

/* Per-request timer choice: the other clock's step is no reason. */
static void step_of_another_timer_does_not_disturb(struct kunit *test)
{
	struct unit *u = unit_of(test);
	unsigned int timer;
	struct pkt *pkt;

	for (timer = 0; timer < TXTS_MAX_TIMERS; timer++) {
		u->offset[timer] = 1000000 * timer;
		pkt = unit_pkt(u);
		pkt->timer = timer;
		KUNIT_ASSERT_EQ(test, 0, unit_xmit(u, pkt));
		unit_clock_step(u, (timer + 1) % TXTS_MAX_TIMERS, STEP);
		serve(u, pkt);
		EXPECT_STAMP(test, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_DISCARD_CLOCK, 0);
	unit_finish(test, u);
}

/* After a step the counter may show the same value again: a new stamp. */
static void same_raw_value_in_a_new_epoch_is_a_stamp(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *first = unit_send(u), *pkt;

	KUNIT_ASSERT_NOT_NULL(test, first);
	serve(u, first);
	EXPECT_STAMP(test, first);
	step(u);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	pkt->raw = first->raw;
	pkt->truth = unit_convert(u, 0, pkt->raw);
	unit_capture(u, pkt->slot, pkt->raw);
	unit_sent(u, pkt);
	unit_wait(u, 30 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* A counter that starts anew at a reset shows old values again. */
static void same_raw_value_after_a_reset_is_a_stamp(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct pkt *first = unit_send(u), *pkt;

	KUNIT_ASSERT_NOT_NULL(test, first);
	serve(u, first);
	EXPECT_STAMP(test, first);
	unit_hw_reset(u);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	pkt->raw = first->raw;
	pkt->truth = unit_convert(u, 0, pkt->raw);
	unit_capture(u, pkt->slot, pkt->raw);
	unit_sent(u, pkt);
	unit_wait(u, 30 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* The clock is set right after it was read for a suspect. */
static int phc_then_step(struct txts *txts, unsigned int timer, ktime_t *now)
{
	struct unit *u = container_of(txts, struct unit, txts);
	int err = models[MODEL_I210].ops->phc(txts, timer, now);

	step(u);
	return err;
}

/* G13: what is younger by the new clock may be older by the old one. */
static void step_while_a_suspect_is_committed_discards(struct kunit *test)
{
	struct model model = models[MODEL_I210];
	struct txts_ops ops = *model.ops;
	struct pkt *pkt;
	struct unit *u;
	u64 late;

	ops.phc = phc_then_step;
	model.ops = &ops;
	u = unit_new_model(test, &model);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	KUNIT_ASSERT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	late = unit_advance(u, 1);
	unit_sleep_us(u, USEC_PER_SEC);
	/* The first sender makes the thread ask the MAC. */
	unit_send(u);
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 1);
	unit_capture(u, pkt->slot, late);
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	unit_finish(test, u);
}

/* The slot lives on by the rules of quarantine. */
static void slot_of_a_discarded_request_lives_on(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		if (i & 1)
			step(u);
		serve(u, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_DISCARD_CLOCK, 5);
	EXPECT_COUNT(test, u, TXTS_DELIVERED, 5);
	unit_finish(test, u);
}

/* The link speed is not known: convert refuses. */
static void refused_conversion_is_discarded(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->convert_error = -EINVAL;
	serve(u, pkt);
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_DISCARD_CONVERT, 1);
	u->convert_error = 0;
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	serve(u, pkt);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

static struct kunit_case epoch_cases[] = {
	KUNIT_CASE_PARAM(step_before_the_capture_discards, model_gen_params),
	KUNIT_CASE_PARAM(step_between_capture_and_read_out_discards,
			 model_gen_params),
	KUNIT_CASE_PARAM(step_before_the_conversion_discards,
			 model_gen_params),
	KUNIT_CASE_PARAM(step_at_any_access_is_never_delivered,
			 reg_gen_params),
	KUNIT_CASE_PARAM(request_after_the_step_is_served, model_gen_params),
	KUNIT_CASE_PARAM(step_of_another_timer_does_not_disturb,
			 model_gen_params),
	KUNIT_CASE(same_raw_value_in_a_new_epoch_is_a_stamp),
	KUNIT_CASE(same_raw_value_after_a_reset_is_a_stamp),
	KUNIT_CASE(step_while_a_suspect_is_committed_discards),
	KUNIT_CASE_PARAM(slot_of_a_discarded_request_lives_on,
			 model_gen_params),
	KUNIT_CASE_PARAM(refused_conversion_is_discarded, model_gen_params),
	{}
};

static struct kunit_suite epoch_suite = {
	.name = "txts_epoch",
	.test_cases = epoch_cases,
};

kunit_test_suite(epoch_suite);
