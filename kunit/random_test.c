// SPDX-License-Identifier: GPL-2.0
/*
 * A million requests with losses, delays, duplicates, resets and everything
 * else at random. The seed is printed; txts_kunit.seed= sets another one.
 */
#include <linux/module.h>
#include <linux/prandom.h>

#include "../internal.h"
#include "unit.h"

/*
 * A million in all, a tenth of it under a sanitizer. KUnit gives a case 300 s,
 * of which a mailbox needs most.
 */
#define REQUESTS	(IS_ENABLED(CONFIG_KASAN) ? 13750 : 137500)
#define REQUESTS_SLEEP	(IS_ENABLED(CONFIG_KASAN) ? 4000 : 40000)
#define BATCH		200	/* steps until all must have ended */
#define FASTER		10

static int seed = 20261130;
module_param(seed, int, 0444);
MODULE_PARM_DESC(seed, "seed of the random suite");

KUNIT_ARRAY_PARAM(model, models, model_param_name);

struct chaos {
	struct unit *u;
	struct rnd_state rnd;
	/* Frames of ended requests that may still be stamped, by slot. */
	u64 late[TXTS_MAX_SLOTS];
};

static u32 below(struct chaos *c, u32 limit)
{
	return prandom_u32_state(&c->rnd) % limit;
}

/* What leaves later is stamped later: an older frame comes now or never. */
static void chaos_wire(struct chaos *c, struct pkt *pkt)
{
	if (!pkt->on_ring || pkt->raw || pkt->vanished)
		return;
	if (c->late[pkt->slot] && below(c, 2))
		unit_capture(c->u, pkt->slot, c->late[pkt->slot]);
	c->late[pkt->slot] = 0;
	unit_wire(c->u, pkt);
}

/*
 * A frame that outlives its request and the second of grace, and leaves only
 * after its slot's next request was committed, cannot be told from that one's:
 * the documentation says so. Here it has left by then; its stamp is late.
 */
static void chaos_outlive(struct chaos *c, unsigned int slot)
{
	struct pkt *pkt;

	for (pkt = c->u->pkts; pkt < c->u->pkts + c->u->nr_pkts; pkt++) {
		if (!pkt->on_ring || pkt->raw || pkt->vanished ||
		    pkt->slot != slot)
			continue;
		c->late[slot] = unit_advance(c->u, 1);
		pkt->vanished = true;
	}
}

static void chaos_xmit(struct chaos *c)
{
	struct unit *u = c->u;
	struct pkt *pkt;

	if (u->nr_pkts == UNIT_PKTS)
		return;
	pkt = below(c, 2) ? unit_pkt(u) : unit_owner_pkt(u);
	pkt->queue = below(c, 4);
	pkt->timer = below(c, 2);
	if (unit_reserve(u, pkt))
		return;
	chaos_outlive(c, pkt->slot);
	if (below(c, 50))
		unit_commit(u, pkt);
	else
		unit_abort(u, pkt);
}

static void chaos_reset(struct chaos *c)
{
	memset(c->late, 0, sizeof(c->late));
	unit_hw_reset(c->u);
}

static void chaos_restart(struct chaos *c)
{
	struct unit *u = c->u;

	txts_stop(&u->txts);
	if (below(c, 2))
		chaos_reset(c);
	txts_start(&u->txts);
}

static void chaos_late(struct chaos *c)
{
	unsigned int slot = below(c, c->u->model->slots);

	if (c->late[slot])
		unit_capture(c->u, slot, c->late[slot]);
	c->late[slot] = 0;
}

static void chaos_rare(struct chaos *c)
{
	struct unit *u = c->u;

	switch (below(c, 16)) {
	case 0:
		chaos_restart(c);
		break;
	case 1:
		chaos_reset(c);
		break;
	case 2:
		txts_flush(&u->txts);
		break;
	case 3:
		txts_flush_queue(&u->txts, below(c, 4));
		break;
	case 4:
		txts_enable(&u->txts, false);
		if (below(c, 2))
			chaos_xmit(c);
		txts_enable(&u->txts, true);
		break;
	case 5:
		unit_clock_step(u, below(c, 2), (s64)below(c, 2000) - 1000);
		break;
	case 6:
		txts_link(&u->txts, below(c, 2));
		break;
	case 7:
		WRITE_ONCE(u->txts.policy, below(c, TXTS_NR_POLICIES));
		break;
	case 8:
		u->lose_irqs += below(c, 3);
		break;
	case 9:
		u->convert_error = below(c, 2) ? -EINVAL : 0;
		break;
	case 10:
		u->irq_off = below(c, 2);
		break;
	case 11:
		u->no_phc = below(c, 2);
		break;
	case 12:
		unit_sleep_us(u, 25 * USEC_PER_MSEC);
		break;
	default:
		chaos_late(c);
		break;
	}
}

static void chaos_step(struct chaos *c)
{
	struct unit *u = c->u;
	struct pkt *pkt = NULL;

	if (u->nr_pkts)
		pkt = &u->pkts[u->nr_pkts - 1 -
			       below(c, min(u->nr_pkts, 2 * u->model->slots))];

	switch (below(c, 64)) {
	case 0 ... 23:
		chaos_xmit(c);
		break;
	case 24 ... 43:
		if (pkt)
			chaos_wire(c, pkt);
		break;
	case 44 ... 53:
		if (pkt && pkt->on_ring)
			unit_sent(u, pkt);
		break;
	case 54:
		if (pkt && pkt->on_ring)
			unit_dropped(u, pkt);
		break;
	case 55 ... 56:
		unit_irq(u);
		break;
	case 57:
		txts_poll(&u->txts);
		break;
	case 58 ... 61:
		unit_sleep_us(u, 1 + below(c, 300));
		break;
	default:
		if (!below(c, 4))
			chaos_rare(c);
		break;
	}
}

/* The end of a batch: most frames leave, all buffers are cleaned. */
static void chaos_settle(struct kunit *test, struct chaos *c)
{
	struct unit *u = c->u;
	const char *wrong;
	unsigned int i;

	u->irq_off = false;
	u->convert_error = 0;
	txts_link(&u->txts, true);
	for (i = 0; i < u->nr_pkts; i++) {
		struct pkt *pkt = &u->pkts[i];

		if (below(c, 16))
			chaos_wire(c, pkt);
		if (pkt->on_ring)
			unit_sent(u, pkt);
	}
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 6 * USEC_PER_SEC));
	for (i = 0; i < u->nr_pkts; i++) {
		struct pkt *pkt = &u->pkts[i];

		if (pkt->on_ring && !pkt->raw && !pkt->vanished)
			c->late[pkt->slot] = unit_advance(u, 1);
		if (!pkt->skb)
			KUNIT_EXPECT_EQ(test, pkt->committed, pkt->ends);
	}
	wrong = unit_recycle(u);
	if (wrong)
		KUNIT_FAIL(test, "oracle: %s, after %llu requests", wrong,
			   u->asks);
	u->violation = NULL;
}

/* Sums close, no slot is lost, right or absent: the oracle. */
static void sums_close_after_random_requests(struct kunit *test)
{
	struct model model = *(const struct model *)test->param_value;
	struct chaos *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	unsigned int i, n;

	KUNIT_ASSERT_NOT_NULL(test, c);
	model.quarantine_ms = 30;
	model.timeout_us /= FASTER;
	for (i = 0; i < ARRAY_SIZE(model.read_ms); i++)
		model.read_ms[i] /= FASTER;
	prandom_seed_state(&c->rnd, seed);
	kunit_info(test, "seed %d\n", seed);
	c->u = unit_new_model(test, &model);
	n = model.flags & TXTS_SLEEPS ? REQUESTS_SLEEP : REQUESTS;
	while (unit_count(c->u, TXTS_REQUESTED) < n &&
	       test->status == KUNIT_SUCCESS) {
		for (i = 0; i < min(20 * model.slots, BATCH); i++)
			chaos_step(c);
		chaos_settle(test, c);
	}
	kunit_info(test,
		   "asked %llu, requested %llu, delivered %llu, orphans %llu, suspects %llu\n",
		   c->u->asks, unit_count(c->u, TXTS_REQUESTED),
		   unit_count(c->u, TXTS_DELIVERED),
		   unit_count(c->u, TXTS_ORPHAN),
		   unit_count(c->u, TXTS_SUSPECT));
	KUNIT_EXPECT_GT(test, unit_count(c->u, TXTS_DELIVERED), n / 2);
	unit_finish(test, c->u);
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE_PARAM(sums_close_after_random_requests, model_gen_params),
	{}
};

static struct kunit_suite random_suite = {
	.name = "txts_random",
	.test_cases = random_cases,
};

kunit_test_suite(random_suite);
