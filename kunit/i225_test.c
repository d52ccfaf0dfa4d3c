// SPDX-License-Identifier: GPL-2.0
/*
 * I225: what its slot 0 costs, read by the rule of op_peek_i225(), and what it
 * would cost not to use it. Not using it means: each drain still reads
 * TXSTMPH_0, or no further interrupt comes. That is what happens while a
 * request holds slot 0 that is never committed.
 */
#include "unit.h"

#define ROUNDS	50

/* Registers read and stamps got by one kind of traffic. */
struct cost {
	unsigned long reads;
	unsigned int stamps;
	unsigned int refused;
};

struct traffic {
	const char *name;
	unsigned int burst;	/* frames sent at a time */
	bool waits;		/* a frame with a launch time waits meanwhile */
	bool coalesced;		/* one interrupt for the burst */
};

static const struct traffic traffics[] = {
	{ "one frame at a time", 1, false, false },
	{ "one at a time beside one that waits", 1, true, false },
	{ "bursts of 4, an interrupt each", 4, false, false },
	{ "bursts of 4, one interrupt", 4, false, true },
};

static void traffic_name(const struct traffic *t, char *desc)
{
	strscpy(desc, t->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(traffic, traffics, traffic_name);

/* Reads of the stamp unit; those of the cause are the handler's own. */
static unsigned long reads(struct unit *u)
{
	return u->rf.count - u->rf.reads[REG_CAUSE] - u->rf.writes[REG_CAUSE];
}

static void burst(struct kunit *test, struct unit *u, const struct traffic *t,
		  struct cost *cost)
{
	struct pkt *pkts[4];
	unsigned long before = reads(u);
	unsigned int i, n = 0;

	for (i = 0; i < t->burst; i++) {
		pkts[n] = unit_send(u);
		if (pkts[n])
			n++;
		else
			cost->refused++;
	}
	u->irq_off = t->coalesced;
	for (i = 0; i < n; i++) {
		unit_wire(u, pkts[i]);
		if (!t->coalesced)
			unit_sleep_us(u, 50);
	}
	u->irq_off = false;
	unit_pump(u);
	unit_sleep_us(u, 100);
	for (i = 0; i < n; i++) {
		EXPECT_STAMP(test, pkts[i]);
		unit_sent(u, pkts[i]);
	}
	cost->stamps += n;
	cost->reads += reads(u) - before;
}

static struct cost measure(struct kunit *test, const struct traffic *t,
			   bool use_slot_0)
{
	struct unit *u = unit_new(test, MODEL_I225);
	struct pkt *zero = NULL, *waits = NULL;
	struct cost cost = {};
	unsigned int i;

	if (!use_slot_0) {
		zero = unit_pkt(u);
		KUNIT_EXPECT_EQ(test, 0, unit_reserve(u, zero));
		KUNIT_EXPECT_EQ(test, 0, zero->slot);
	}
	if (t->waits) {
		waits = unit_send(u);
		KUNIT_EXPECT_NOT_NULL(test, waits);
	}
	for (i = 0; i < ROUNDS; i++)
		burst(test, u, t, &cost);
	if (waits) {
		unit_wire(u, waits);
		unit_sent(u, waits);
	}
	if (zero)
		unit_abort(u, zero);
	unit_finish(test, u);
	return cost;
}

/* Reads per stamp in hundredths. */
static unsigned long per_stamp(const struct cost *cost)
{
	return cost->reads * 100 / cost->stamps;
}

/* G16: with slot 0, except beside a request that waits there, it is less. */
static void cost_of_slot_0(struct kunit *test)
{
	const struct traffic *t = test->param_value;
	struct cost with = measure(test, t, true);
	struct cost without = measure(test, t, false);

	kunit_info(test,
		   "%s: %lu.%02lu reads per stamp, %u frames refused; without slot 0 %lu.%02lu, %u\n",
		   t->name, per_stamp(&with) / 100, per_stamp(&with) % 100,
		   with.refused, per_stamp(&without) / 100,
		   per_stamp(&without) % 100, without.refused);
	KUNIT_EXPECT_EQ(test, 0, with.refused);
	KUNIT_EXPECT_EQ(test, t->burst == 4 ? ROUNDS : 0, without.refused);
	if (t->waits)
		/* status, low and high of slot 0 again, instead of high only */
		KUNIT_EXPECT_EQ(test, per_stamp(&without) + 200,
				per_stamp(&with));
	else
		KUNIT_EXPECT_LT(test, per_stamp(&with), per_stamp(&without));
}

static void wire_arg(struct unit *u)
{
	unit_wire(u, u->arg);
}

/*
 * Not using slot 0 would not save reading by value: the read of TXSTMPH_0 also
 * clears the ready bit of a stamp in slots 1-3 that landed since the status was
 * read, and no interrupt tells of it.
 */
static void unused_slot_0_hides_neighbours_all_the_same(struct kunit *test)
{
	unsigned int hidden = 0;
	struct pkt *zero, *a, *b;
	bool reached = true;
	unsigned long k;
	struct unit *u;

	for (k = 0; reached && k < 20; k++) {
		u = unit_new(test, MODEL_I225);
		zero = unit_pkt(u);
		KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, zero));
		KUNIT_ASSERT_EQ(test, 0, zero->slot);
		a = unit_send(u);
		b = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, a);
		KUNIT_ASSERT_NOT_NULL(test, b);
		u->arg = b;
		unit_inject(u, k, wire_arg, false);
		unit_wire(u, a);
		unit_sleep_us(u, 100);
		reached = unit_injected(u);
		u->inject = NULL;
		unit_sent(u, a);
		unit_sent(u, b);
		unit_sleep_us(u, 10 * USEC_PER_MSEC);
		EXPECT_STAMP(test, a);
		if (reached && !b->stamps) {
			hidden++;
			/* By value, before its deadline. */
			unit_sleep_us(u, 11 * USEC_PER_MSEC);
			EXPECT_STAMP(test, b);
		}
		unit_abort(u, zero);
		unit_check(test, u);
	}
	KUNIT_EXPECT_GT(test, hidden, 0);
	kunit_info(test, "hidden at %u of %lu accesses, found by value\n",
		   hidden, k - 1);
}

static struct kunit_case i225_cases[] = {
	KUNIT_CASE_PARAM(cost_of_slot_0, traffic_gen_params),
	KUNIT_CASE(unused_slot_0_hides_neighbours_all_the_same),
	{}
};

static struct kunit_suite i225_suite = {
	.name = "txts_i225",
	.test_cases = i225_cases,
};

kunit_test_suite(i225_suite);
