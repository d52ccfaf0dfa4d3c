// SPDX-License-Identifier: GPL-2.0
/* Suspects: the request in a slot handed out again without evidence. */
#include "../internal.h"
#include "unit.h"

static const enum model_id single_models[] = {
	MODEL_82576, MODEL_82580, MODEL_82580_REARM, MODEL_I210,
};
KUNIT_ARRAY_PARAM(single, single_models, model_id_name);

static struct unit *unit_of_id(struct kunit *test)
{
	return unit_new(test, *(const enum model_id *)test->param_value);
}

/* After 1 s without evidence: the suspect, compared with the PHC. */
static void suspect_gets_its_own_stamp_not_the_orphan(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u), *pkt;
	u64 late = unit_advance(u, 1);

	unit_sleep_us(u, USEC_PER_SEC);
	pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 1);
	KUNIT_EXPECT_EQ(test, 1, u->phc_calls);
	/* First the late one, which the frame took before this commit. */
	unit_capture(u, old->slot, late);
	unit_sleep_us(u, 6 * USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 20 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	/* The next one in this slot is above suspicion. */
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	EXPECT_COUNT(test, u, TXTS_SUSPECT, 1);
	KUNIT_EXPECT_EQ(test, 1, u->phc_calls);
	unit_serve_all(u);
	unit_finish(test, u);
}

static void convert_slowly(struct unit *u)
{
	u->in_convert = NULL;
	unit_work_us(25 * USEC_PER_MSEC);
}

/* G3: the deadline passes while the orphan is looked at. */
static void suspect_whose_check_is_slow_ends_in_time(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u), *pkt;
	u64 late = unit_advance(u, 1);

	unit_sleep_us(u, USEC_PER_SEC);
	pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	u->in_convert = convert_slowly;
	unit_capture(u, old->slot, late);
	unit_sleep_us(u, 10 * USEC_PER_MSEC);
	KUNIT_EXPECT_NULL(test, u->in_convert);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 16 * USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 1);
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 2);
	unit_finish(test, u);
}

/* A suspect whose predecessor never was stamped. */
static void suspect_without_orphan_is_served(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *pkt;

	unit_timed_out(test, u);
	unit_sleep_us(u, USEC_PER_SEC);
	pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 20 * USEC_PER_MSEC));
	EXPECT_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_ORPHAN, 0);
	unit_finish(test, u);
}

/* Absent rather than wrong: a PHC that cannot be read proves nothing. */
static void suspect_without_phc_gets_no_stamp(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u), *pkt;
	u64 late = unit_advance(u, 1);

	u->no_phc = true;
	unit_sleep_us(u, USEC_PER_SEC);
	pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_capture(u, old->slot, late);
	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	unit_finish(test, u);
}

/* The same for a driver that has no such callback. */
static void suspect_without_phc_callback_is_discarded(struct kunit *test)
{
	struct model model = models[MODEL_I210];
	struct txts_ops ops = *model.ops;
	struct pkt *old, *pkt;
	struct unit *u;

	ops.phc = NULL;
	ops.mac = NULL;
	model.ops = &ops;
	u = unit_new_model(test, &model);
	old = unit_timed_out(test, u);
	unit_sleep_us(u, USEC_PER_SEC);
	pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_capture(u, old->slot, unit_advance(u, 1));
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 5 * USEC_PER_MSEC));
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_COUNT(test, u, TXTS_DISCARD_SUSPECT, 1);
	unit_sent(u, pkt);
	/* The device is not lost for stamps. */
	unit_sleep_us(u, 1100 * USEC_PER_MSEC);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 20 * USEC_PER_MSEC);
	unit_sleep_us(u, 1100 * USEC_PER_MSEC);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 20 * USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

/* The orphan of a suspect that ended too: still never delivered. */
static void suspect_that_ends_leaves_two_frames_behind(struct kunit *test)
{
	struct unit *u = unit_of_id(test);
	struct pkt *old = unit_timed_out(test, u), *suspect, *pkt;
	u64 late = unit_advance(u, 1);

	unit_sleep_us(u, USEC_PER_SEC);
	suspect = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, suspect);
	unit_sent(u, suspect);
	KUNIT_ASSERT_TRUE(test, unit_wait(u, 30 * USEC_PER_MSEC));
	unit_capture(u, old->slot, late);
	unit_sleep_us(u, USEC_PER_MSEC);
	/* One came. The suspect's own may still come. */
	pkt = unit_send(u);
	unit_wire(u, suspect);
	unit_sleep_us(u, USEC_PER_MSEC);
	unit_sleep_us(u, 1100 * USEC_PER_MSEC);
	if (!pkt)
		pkt = unit_send_or_ask(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 30 * USEC_PER_MSEC);
	EXPECT_NO_STAMP(test, old);
	EXPECT_NO_STAMP(test, suspect);
	EXPECT_STAMP(test, pkt);
	unit_finish(test, u);
}

static struct kunit_case suspect_cases[] = {
	KUNIT_CASE_PARAM(suspect_gets_its_own_stamp_not_the_orphan,
			 single_gen_params),
	KUNIT_CASE_PARAM(suspect_whose_check_is_slow_ends_in_time,
			 single_gen_params),
	KUNIT_CASE_PARAM(suspect_without_orphan_is_served,
			 single_gen_params),
	KUNIT_CASE_PARAM(suspect_without_phc_gets_no_stamp,
			 single_gen_params),
	KUNIT_CASE(suspect_without_phc_callback_is_discarded),
	KUNIT_CASE_PARAM(suspect_that_ends_leaves_two_frames_behind,
			 single_gen_params),
	{}
};

static struct kunit_suite suspect_suite = {
	.name = "txts_suspect",
	.test_cases = suspect_cases,
};

kunit_test_suite(suspect_suite);
