// SPDX-License-Identifier: GPL-2.0
/* Tracepoints: each fires when it should, with what happened (G14). */
#include <linux/bottom_half.h>

#include "../internal.h"
#include "../trace.h"
#include "unit.h"

/**
 * struct seen - what the probes saw
 * @txts: only of this tracker
 * @requests: how often a request was traced, and so on
 * @slot: of the last event, whichever
 * @gen: of the last event that has one
 */
struct seen {
	const struct txts *txts;
	unsigned int requests, skips, readies, orphans, delivers, timeouts;
	unsigned int stages, throttles, levels;
	unsigned int slot;
	u32 gen;
	u16 queue;
	enum txts_counter reason;
	enum txts_counter outcome;
	u64 raw;
	ktime_t stamp;
	s64 ns;
	unsigned int attempts;
	unsigned int from, to;
	unsigned int class;
	u64 refused_ns;
	ktime_t refused_at;
};

static void probe_request(void *data, const struct txts *txts,
			  unsigned int slot, u32 gen, u16 queue)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->requests++;
	seen->slot = slot;
	seen->gen = gen;
	seen->queue = queue;
}

static void probe_skip(void *data, const struct txts *txts,
		       enum txts_counter reason)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->skips++;
	seen->reason = reason;
}

static void probe_ready(void *data, const struct txts *txts,
			unsigned int slot, u32 gen, u64 raw)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->readies++;
	seen->slot = slot;
	seen->gen = gen;
	seen->raw = raw;
}

static void probe_orphan(void *data, const struct txts *txts,
			 unsigned int slot, u32 gen, u64 raw)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->orphans++;
	seen->slot = slot;
	seen->gen = gen;
	seen->raw = raw;
}

static void probe_deliver(void *data, const struct txts *txts,
			  unsigned int slot, enum txts_counter outcome,
			  ktime_t stamp, s64 ns)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->delivers++;
	seen->slot = slot;
	seen->outcome = outcome;
	seen->stamp = stamp;
	seen->ns = ns;
}

static void probe_timeout(void *data, const struct txts *txts,
			  unsigned int slot, u32 gen, unsigned int attempts)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->timeouts++;
	seen->slot = slot;
	seen->gen = gen;
	seen->attempts = attempts;
}

static void probe_stage(void *data, const struct txts *txts,
			unsigned int slot, unsigned int from, unsigned int to)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	/* One stage after the other, without a gap. */
	if (seen->stages && from != seen->to)
		seen->txts = NULL;
	seen->stages++;
	seen->slot = slot;
	seen->from = from;
	seen->to = to;
}

static void probe_throttle(void *data, const struct txts *txts,
			   unsigned int class, u64 ns)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->throttles++;
	seen->class = class;
	seen->refused_ns = ns;
	seen->refused_at = ktime_get();
}

static void probe_level(void *data, const struct txts *txts,
			unsigned int from, unsigned int to)
{
	struct seen *seen = data;

	if (txts != seen->txts)
		return;
	seen->levels++;
	seen->from = from;
	seen->to = to;
}

static void stop_watching(void *data)
{
	unregister_trace_txts_request(probe_request, data);
	unregister_trace_txts_skip(probe_skip, data);
	unregister_trace_txts_ready(probe_ready, data);
	unregister_trace_txts_orphan(probe_orphan, data);
	unregister_trace_txts_deliver(probe_deliver, data);
	unregister_trace_txts_timeout(probe_timeout, data);
	unregister_trace_txts_stage(probe_stage, data);
	unregister_trace_txts_throttle(probe_throttle, data);
	unregister_trace_txts_level(probe_level, data);
	tracepoint_synchronize_unregister();
}

/* From here on, until the case ends. */
static struct seen *watch(struct kunit *test, struct unit *u)
{
	struct seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	int err = 0;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->txts = &u->txts;
	err |= register_trace_txts_request(probe_request, seen);
	err |= register_trace_txts_skip(probe_skip, seen);
	err |= register_trace_txts_ready(probe_ready, seen);
	err |= register_trace_txts_orphan(probe_orphan, seen);
	err |= register_trace_txts_deliver(probe_deliver, seen);
	err |= register_trace_txts_timeout(probe_timeout, seen);
	err |= register_trace_txts_stage(probe_stage, seen);
	err |= register_trace_txts_throttle(probe_throttle, seen);
	err |= register_trace_txts_level(probe_level, seen);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_watching,
							   seen));
	KUNIT_ASSERT_EQ(test, 0, err);
	return seen;
}

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static struct unit *unit_of(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "the kernel has no tracepoints");
	return unit_new_model(test, test->param_value);
}

/* The usual life: request, ready, deliver, each once. */
static void life_of_a_request_is_traced(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct seen *seen = watch(test, u);
	struct pkt *pkt = unit_pkt(u);

	pkt->queue = 7;
	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	KUNIT_EXPECT_EQ(test, 1, seen->requests);
	KUNIT_EXPECT_EQ(test, pkt->slot, seen->slot);
	KUNIT_EXPECT_EQ(test, pkt->ticket.gen, seen->gen);
	KUNIT_EXPECT_EQ(test, 7, seen->queue);
	seen->gen = 0;
	seen->slot = ~0;
	unit_commit(u, pkt);
	unit_wire(u, pkt);
	unit_wait(u, 200 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, seen->readies);
	KUNIT_EXPECT_EQ(test, pkt->raw, seen->raw);
	KUNIT_EXPECT_EQ(test, pkt->ticket.gen, seen->gen);
	KUNIT_EXPECT_EQ(test, 1, seen->delivers);
	KUNIT_EXPECT_EQ(test, pkt->slot, seen->slot);
	KUNIT_EXPECT_EQ(test, TXTS_DELIVERED, seen->outcome);
	KUNIT_EXPECT_EQ(test, pkt->truth, seen->stamp);
	KUNIT_EXPECT_GE(test, seen->ns, 0);
	KUNIT_EXPECT_LT(test, seen->ns, 200 * NSEC_PER_MSEC);
	unit_sent(u, pkt);
	KUNIT_EXPECT_EQ(test, 0, seen->skips + seen->orphans + seen->timeouts);
	unit_finish(test, u);
}

/* Each skip with its reason. */
static void skip_is_traced_with_its_reason(struct kunit *test)
{
	struct txts_request request = { .launch = -1 };
	struct unit *u = unit_of(test);
	struct seen *seen = watch(test, u);
	struct pkt *pkt;
	unsigned int i;

	unit_reserve_as(u, unit_pkt(u), &request);
	KUNIT_EXPECT_EQ(test, 1, seen->skips);
	KUNIT_EXPECT_EQ(test, TXTS_SKIP_UNSUPPORTED, seen->reason);
	for (i = 0; i < u->model->slots; i++)
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
	KUNIT_EXPECT_EQ(test, 1, seen->skips);
	KUNIT_EXPECT_NULL(test, unit_send(u));
	KUNIT_EXPECT_EQ(test, 2, seen->skips);
	KUNIT_EXPECT_EQ(test, TXTS_SKIP_BUSY, seen->reason);
	txts_enable(&u->txts, false);
	KUNIT_EXPECT_NULL(test, unit_send(u));
	KUNIT_EXPECT_EQ(test, 3, seen->skips);
	KUNIT_EXPECT_EQ(test, TXTS_SKIP_OFF, seen->reason);
	for (i = 0; i < u->nr_pkts; i++) {
		pkt = &u->pkts[i];
		unit_dropped(u, pkt);
	}
	unit_finish(test, u);
}

/* A lost stamp: the timeout; and the late one: an orphan. */
static void timeout_and_orphan_are_traced(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct seen *seen = watch(test, u);
	struct pkt *pkt = unit_send(u);
	u32 gen = pkt->ticket.gen;

	unit_sent(u, pkt);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 600 * USEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, 1, seen->timeouts);
	KUNIT_EXPECT_EQ(test, gen, seen->gen);
	KUNIT_EXPECT_EQ(test, pkt->slot, seen->slot);
	KUNIT_EXPECT_EQ(test, u->txts.slots[pkt->slot].max_attempts,
			seen->attempts);
	KUNIT_EXPECT_EQ(test, 1, seen->delivers);
	KUNIT_EXPECT_EQ(test, TXTS_TIMEOUT, seen->outcome);
	KUNIT_EXPECT_EQ(test, 0, seen->stamp);
	KUNIT_EXPECT_EQ(test, 0, seen->readies);
	unit_wire(u, pkt);
	unit_sleep_us(u, USEC_PER_MSEC);
	/* Without interrupt the next who asks finds it. */
	unit_send(u);
	unit_sleep_us(u, 60 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, seen->orphans);
	KUNIT_EXPECT_EQ(test, pkt->raw, seen->raw);
	txts_flush(&u->txts);
	unit_finish(test, u);
}

/* A stamp that the clock's step made meaningless. */
static void discard_is_traced_as_such(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct seen *seen = watch(test, u);
	struct pkt *pkt = unit_send(u);

	unit_clock_step(u, 0, 1000);
	unit_wire(u, pkt);
	unit_wait(u, 200 * USEC_PER_MSEC);
	unit_sent(u, pkt);
	KUNIT_EXPECT_EQ(test, 1, seen->readies);
	KUNIT_EXPECT_EQ(test, 1, seen->delivers);
	KUNIT_EXPECT_EQ(test, TXTS_DISCARD_CLOCK, seen->outcome);
	unit_finish(test, u);
}

/* A polled stamp that does not come moves from stage to stage. */
static void stage_change_is_traced(struct kunit *test)
{
	struct seen *seen;
	struct pkt *pkt;
	struct unit *u;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "the kernel has no tracepoints");
	u = unit_new(test, MODEL_82576);
	seen = watch(test, u);
	pkt = unit_send(u);
	unit_sleep_us(u, 50);
	KUNIT_EXPECT_EQ(test, 1, seen->stages);
	KUNIT_EXPECT_EQ(test, TXTS_STAGE_INLINE, seen->from);
	KUNIT_EXPECT_EQ(test, TXTS_STAGE_BH, seen->to);
	unit_sleep_us(u, 2000);
	KUNIT_EXPECT_EQ(test, 2, seen->stages);
	KUNIT_EXPECT_EQ(test, TXTS_STAGE_BH, seen->from);
	KUNIT_EXPECT_EQ(test, TXTS_STAGE_AUX, seen->to);
	KUNIT_EXPECT_EQ(test, pkt->slot, seen->slot);
	unit_wire(u, pkt);
	unit_wait(u, 20 * USEC_PER_MSEC);
	unit_sent(u, pkt);
	KUNIT_EXPECT_PTR_EQ(test, seen->txts, &u->txts);
	unit_finish(test, u);
}

/* More than the budget of a window, whoever it is for. */
static void read_for_2_ms(struct unit *u, unsigned int slot)
{
	unit_work_us(2000);
}

static void send_at_any_cost(struct unit *u, bool ptp)
{
	struct txts_request request = { .ptp = ptp };
	struct pkt *pkt = unit_pkt(u);

	if (unit_reserve_as(u, pkt, &request))
		return;
	unit_commit(u, pkt);
	unit_wire(u, pkt);
	unit_wait(u, 20 * USEC_PER_MSEC);
	unit_sent(u, pkt);
}

static const enum txts_class classes[] = { TXTS_ORDINARY, TXTS_PTP };

static void class_name(const enum txts_class *class, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s",
		 *class == TXTS_PTP ? "ptp" : "ordinary");
}

KUNIT_ARRAY_PARAM(class, classes, class_name);

/* An account that is used up: which, once, and until the window's end. */
static void throttle_is_traced_with_its_class(struct kunit *test)
{
	enum txts_class class = *(const enum txts_class *)test->param_value;
	struct seen *seen;
	struct unit *u;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "the kernel has no tracepoints");
	u = unit_new(test, MODEL_I210);
	seen = watch(test, u);
	u->in_read = read_for_2_ms;
	send_at_any_cost(u, class == TXTS_PTP);
	u->in_read = NULL;
	KUNIT_EXPECT_EQ(test, 1, seen->throttles);
	KUNIT_EXPECT_EQ(test, class, seen->class);
	KUNIT_EXPECT_GT(test, seen->refused_ns, 0);
	KUNIT_EXPECT_LE(test, seen->refused_ns, TXTS_WINDOW_NS);
	/* What was traced is what happens: refused before, not after. */
	while (ktime_before(ktime_get(),
			    ktime_add_ns(seen->refused_at, seen->refused_ns) -
			    NSEC_PER_MSEC)) {
		send_at_any_cost(u, class == TXTS_PTP);
		unit_sleep_us(u, USEC_PER_MSEC);
	}
	KUNIT_EXPECT_GT(test, unit_count(u, TXTS_SKIP_THROTTLED), 0);
	EXPECT_COUNT(test, u, TXTS_DELIVERED, 1);
	unit_sleep_us(u, 2 * USEC_PER_MSEC);
	send_at_any_cost(u, class == TXTS_PTP);
	EXPECT_COUNT(test, u, TXTS_DELIVERED, 2);
	KUNIT_EXPECT_EQ(test, 1, seen->throttles);
	unit_finish(test, u);
}

/* The level that a CPU rises to and, when it is calm, falls back from. */
static void level_change_is_traced(struct kunit *test)
{
	struct seen *seen;
	struct unit *u;
	unsigned int i;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "the kernel has no tracepoints");
	u = unit_new(test, MODEL_I210);
	seen = watch(test, u);
	u->in_read = read_for_2_ms;
	for (i = 0; i < 10 && !seen->levels; i++) {
		send_at_any_cost(u, false);
		unit_sleep_us(u, TXTS_WINDOW_NS / NSEC_PER_USEC);
	}
	KUNIT_EXPECT_EQ(test, 1, seen->levels);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_PROMPT, seen->from);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_FREE, seen->to);
	u->in_read = NULL;
	unit_sleep_us(u, 3 * USEC_PER_SEC);
	send_at_any_cost(u, false);
	KUNIT_EXPECT_EQ(test, 2, seen->levels);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_FREE, seen->from);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_PROMPT, seen->to);
	unit_finish(test, u);
}

static struct kunit_case trace_cases[] = {
	KUNIT_CASE_PARAM(life_of_a_request_is_traced, model_gen_params),
	KUNIT_CASE_PARAM(skip_is_traced_with_its_reason, model_gen_params),
	KUNIT_CASE_PARAM(timeout_and_orphan_are_traced, model_gen_params),
	KUNIT_CASE_PARAM(discard_is_traced_as_such, model_gen_params),
	KUNIT_CASE(stage_change_is_traced),
	KUNIT_CASE_PARAM(throttle_is_traced_with_its_class, class_gen_params),
	KUNIT_CASE(level_change_is_traced),
	{}
};

static struct kunit_suite trace_suite = {
	.name = "txts_trace",
	.test_cases = trace_cases,
};

kunit_test_suite(trace_suite);
