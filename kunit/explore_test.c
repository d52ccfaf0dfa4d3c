// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer: every event before every access of a life, for each model and
 * policy. A failure is printed as a path; this repeats it alone, with a trace
 * of the accesses:
 *
 *	scripts/kunit.sh VERSION --replay PATH
 *
 * PATH is script,model,policy,event,access,second as printed; the second is the
 * event before the access after that one, -1 if there is none.
 */
#include <linux/module.h>

#include "../internal.h"
#include "explore.h"

static int replay[6] = { -1, -1, -1, -1, -1, -1 };
static int nr_replay;
module_param_array(replay, int, &nr_replay, 0444);
MODULE_PARM_DESC(replay, "script,model,policy,event,access,second of a failed run");

struct explore_path {
	int script;
	int model;
	int policy;
	int event;
	int access;
	int second;
};

/* In hundreds of thousands of lives nobody waits longer than needed. */
#define QUARANTINE_MS	60
#define FASTER		10

struct start {
	u8 script;
	u8 model;
	u8 policy;
	u8 from;	/* the first access, for pairs */
};

#define POLICIES(s, m)							\
	{ s, m, TXTS_POLICY_AUTO }, { s, m, TXTS_POLICY_INLINE },	\
	{ s, m, TXTS_POLICY_BH }, { s, m, TXTS_POLICY_AUX },		\
	{ s, m, TXTS_POLICY_KWORKER }

#define STARTS(s)							\
	POLICIES(s, MODEL_82576), POLICIES(s, MODEL_82580),		\
	POLICIES(s, MODEL_82580_REARM), POLICIES(s, MODEL_I210),	\
	POLICIES(s, MODEL_I225), POLICIES(s, MODEL_64),			\
	POLICIES(s, MODEL_MAILBOX), POLICIES(s, MODEL_PUSH)

static const struct start starts[] = { STARTS(0), STARTS(1), STARTS(2) };

static void start_name(const struct start *s, char *desc)
{
	static const char * const policies[TXTS_NR_POLICIES] = {
		[TXTS_POLICY_AUTO] = "auto",
		[TXTS_POLICY_INLINE] = "inline",
		[TXTS_POLICY_BH] = "bh",
		[TXTS_POLICY_AUX] = "aux",
		[TXTS_POLICY_KWORKER] = "kworker",
	};

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s, %s, %u",
		 explore_scripts[s->script].name, models[s->model].name,
		 policies[s->policy], s->from);
}

KUNIT_ARRAY_PARAM(start, starts, start_name);

static bool replayed(const struct explore_path *p)
{
	const int now[] = { p->script, p->model, p->policy, p->event,
			    p->access, p->second };
	int i;

	for (i = 0; i < nr_replay; i++)
		if (replay[i] >= 0 && now[i] >= 0 && replay[i] != now[i])
			return false;
	return true;
}

static void show_accesses(struct unit *u)
{
	static const char * const ctx[] = { "task", "softirq", "hardirq" };
	const struct rf_access *a;
	unsigned long k;

	for (k = 0; k < u->rf.count; k++) {
		a = rf_at(&u->rf, k);
		if (a)
			pr_info("access %lu: %s register %u: %08x in %s%s\n",
				k, a->op == RF_READ ? "read" : "write", a->reg,
				a->value, ctx[a->ctx],
				a->irqs_off ? ", irqs off" : "");
	}
}

static void no_event(struct unit *u)
{
}

/* Pairs: the second event before the access after the first one's. */
static const struct explore_event *first, *second;

static void both_events(struct unit *u)
{
	first->happen(u);
	unit_inject(u, 1, second->happen, second->software);
}

/*
 * Runs one path; the event is left out if it is negative. Returns how many
 * accesses it had, or a negative number if the event was never reached.
 */
static int run_path(struct kunit *test, const struct explore_path *p)
{
	const struct explore_event *event = NULL;
	struct model model = models[p->model];
	unsigned long base;
	const char *wrong;
	struct unit *u;
	unsigned int i;
	int accesses;

	model.quarantine_ms = QUARANTINE_MS;
	model.timeout_us /= FASTER;
	for (i = 0; i < ARRAY_SIZE(model.read_ms); i++)
		model.read_ms[i] /= FASTER;
	u = unit_new_model(test, &model);
	/* A bus that is slow for once is no reason to refuse more. */
	WRITE_ONCE(txts_budget_permille, 1000);
	base = u->rf.count;
	WRITE_ONCE(u->txts.policy, p->policy);
	if (p->event >= 0) {
		event = &explore_events[p->event];
		first = event;
		second = p->second >= 0 ? &explore_events[p->second] : NULL;
		unit_inject(u, p->access, second ? both_events : event->happen,
			    event->software);
	} else {
		/* The same timing as with an event that is still to come. */
		unit_inject(u, ULONG_MAX / 2, no_event, false);
	}
	explore_scripts[p->script].run(u);
	accesses = u->rf.count - base;
	if (event) {
		/* What found no free moment before finds it now. */
		unit_inject_late(u);
		/* The first ended the life: the second comes after it. */
		if (second && u->inject == second->happen) {
			u->inject = NULL;
			second->happen(u);
		}
		if (!unit_injected(u))
			accesses = -1;
	}
	u->rf.before = NULL;
	u->inject = NULL;

	/* The ring is cleaned at last. */
	for (i = 0; i < u->nr_pkts; i++)
		if (u->pkts[i].skb)
			unit_sent(u, &u->pkts[i]);
	if (!unit_wait(u, 6 * USEC_PER_SEC))
		KUNIT_FAIL(test, "in flight after 6 s");
	if (nr_replay && event)
		show_accesses(u);
	wrong = unit_verdict(u);
	if (wrong)
		KUNIT_FAIL(test,
			   "%s: event %s before access %d, then %s; repeat: txts_kunit.replay=%d,%d,%d,%d,%d,%d",
			   wrong, event ? event->name : "none", p->access,
			   event && second ? second->name : "none", p->script,
			   p->model, p->policy, p->event, p->access,
			   p->second);
	unit_free(test, u);
	return accesses;
}

/* How many accesses the undisturbed life has; a first run may differ. */
static int count_accesses(struct kunit *test, const struct explore_path *p,
			  int limit)
{
	int once = run_path(test, p);
	int twice = run_path(test, p);

	return min3(once, twice, limit);
}

/* Each event at each access: within the accesses of the undisturbed life. */
static void every_event_before_every_access(struct kunit *test)
{
	const struct start *start = test->param_value;
	unsigned int possible = 0, executed = 0;
	struct explore_path p = {
		.script = start->script,
		.model = start->model,
		.policy = start->policy,
		.event = -1,
		.access = -1,
		.second = -1,
	};
	int accesses;

	if (!replayed(&p)) {
		kunit_skip(test, "another path is replayed");
		return;
	}
	accesses = count_accesses(test, &p, EXPLORE_ACCESSES);
	KUNIT_EXPECT_GE(test, accesses, 3);
	for (p.event = p.policy % EXPLORE_STRIDE; p.event < nr_explore_events;
	     p.event += EXPLORE_STRIDE) {
		for (p.access = 0; p.access < accesses; p.access++) {
			if (!replayed(&p))
				continue;
			possible++;
			if (run_path(test, &p) >= 0)
				executed++;
		}
	}
	kunit_info(test, "coverage: %u of %u executed\n", executed, possible);
	KUNIT_EXPECT_EQ(test, possible, executed);
}

#define PARTS(s, m)							\
	{ s, m, TXTS_POLICY_AUTO, 0 },					\
	{ s, m, TXTS_POLICY_AUTO, EXPLORE_PAIRS },			\
	{ s, m, TXTS_POLICY_AUTO, 2 * EXPLORE_PAIRS }

static const struct start pair_starts[] = {
	PARTS(0, MODEL_82576), PARTS(0, MODEL_82580),
	PARTS(0, MODEL_82580_REARM), PARTS(0, MODEL_I210),
	PARTS(0, MODEL_I225), PARTS(0, MODEL_64), PARTS(0, MODEL_MAILBOX),
	PARTS(0, MODEL_PUSH), PARTS(2, MODEL_82576), PARTS(2, MODEL_I210),
	PARTS(2, MODEL_I225),
};
KUNIT_ARRAY_PARAM(pair, pair_starts, start_name);

/* Pairs of events at neighbouring accesses. */
static void every_pair_of_events(struct kunit *test)
{
	const struct start *start = test->param_value;
	unsigned int possible = 0, executed = 0;
	struct explore_path p = {
		.script = start->script,
		.model = start->model,
		.policy = start->policy,
		.event = -1,
		.access = -1,
		.second = -1,
	};
	int accesses;

	if (!replayed(&p)) {
		kunit_skip(test, "another path is replayed");
		return;
	}
	accesses = count_accesses(test, &p, start->from + EXPLORE_PAIRS);
	for (p.event = p.model % EXPLORE_STRIDE; p.event < nr_explore_events;
	     p.event += EXPLORE_STRIDE) {
		for (p.second = p.event % EXPLORE_STRIDE;
		     p.second < nr_explore_events;
		     p.second += EXPLORE_STRIDE) {
			for (p.access = start->from; p.access < accesses;
			     p.access++) {
				if (!replayed(&p))
					continue;
				possible++;
				if (run_path(test, &p) >= 0)
					executed++;
			}
		}
	}
	kunit_info(test, "coverage of pairs: %u of %u executed\n", executed,
		   possible);
	KUNIT_EXPECT_EQ(test, possible, executed);
}

static struct kunit_case explore_cases[] = {
	KUNIT_CASE_PARAM(every_event_before_every_access, start_gen_params),
	KUNIT_CASE_PARAM(every_pair_of_events, pair_gen_params),
	{}
};

static struct kunit_suite explore_suite = {
	.name = "txts_explore",
	.test_cases = explore_cases,
};

kunit_test_suite(explore_suite);
