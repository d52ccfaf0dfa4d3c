// SPDX-License-Identifier: GPL-2.0
/* G11, the policy alone: what stamps may cost, and what follows from it. */
#include "../internal.h"
#include "unit.h"

#define BUDGET_NS	(TXTS_WINDOW_NS * TXTS_BUDGET_PERMILLE / 1000)
#define WINDOWS_PER_S	(NSEC_PER_SEC / TXTS_WINDOW_NS)

/*
 * A CPU that works for a flood at a constant rate. So much work still comes in
 * a window after requests were refused: the slots of big units are full then.
 */
struct cpu {
	struct txts_load load;
	u64 now;
	u64 refused_until;
	unsigned int in_flight;
	u64 others;			/* what the rest takes of a window */
	bool ptp_active;
	unsigned int changes;		/* of the level */
};

static void fresh_cpu(struct cpu *cpu)
{
	*cpu = (struct cpu) { .now = 1000 * NSEC_PER_SEC };
}

static u64 cpu_charge(struct cpu *cpu, enum txts_class class, u64 took)
{
	struct txts_charge charge = {
		.now = cpu->now,
		.took = took,
		.class = class,
		.ptp_active = cpu->ptp_active,
		.permille = TXTS_BUDGET_PERMILLE,
	};
	u8 level = cpu->load.level;
	u64 refuse = txts_policy_charge(&cpu->load, &charge);

	cpu->changes += cpu->load.level != level;
	return refuse;
}

/* One window's requests, @took[level] ns each; returns how many got a slot. */
static unsigned int cpu_window(struct cpu *cpu, unsigned int requests,
			       const u64 *took)
{
	unsigned int i, admitted = 0, left = cpu->in_flight;
	u64 gap, refuse, spent = 0;

	if (!requests) {
		cpu->now += TXTS_WINDOW_NS;
		return 0;
	}
	gap = div_u64(TXTS_WINDOW_NS, requests);
	for (i = 0; i < requests; i++) {
		cpu->now += gap;
		if (cpu->now < cpu->refused_until && !left)
			continue;
		if (cpu->now < cpu->refused_until)
			left--;
		admitted++;
		spent += took[cpu->load.level];
		refuse = cpu_charge(cpu, TXTS_ORDINARY, took[cpu->load.level]);
		if (refuse)
			cpu->refused_until = cpu->now + refuse;
	}
	if (cpu->others && cpu->others + spent < TXTS_WINDOW_NS)
		cpu->load.idle += TXTS_WINDOW_NS - cpu->others - spent;
	return admitted;
}

static void run_for(struct cpu *cpu, unsigned int seconds,
		    unsigned int requests, const u64 *took)
{
	unsigned int i;

	for (i = 0; i < seconds * WINDOWS_PER_S; i++)
		cpu_window(cpu, requests, took);
}

static void budget_is_used_up_exactly_at_its_end(struct kunit *test)
{
	unsigned int i;
	struct cpu cpu;

	fresh_cpu(&cpu);
	for (i = 1; i < BUDGET_NS / 1000; i++)
		KUNIT_ASSERT_EQ(test, 0, cpu_charge(&cpu, TXTS_ORDINARY, 1000));
	cpu.now += NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, TXTS_WINDOW_NS - NSEC_PER_MSEC,
			cpu_charge(&cpu, TXTS_ORDINARY, 1000));
	/* The next window has a budget of its own. */
	cpu.now += TXTS_WINDOW_NS - NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, 0, cpu_charge(&cpu, TXTS_ORDINARY, 1000));
}

static void window_ends_at_its_end(struct kunit *test)
{
	struct cpu cpu;
	unsigned int i;

	fresh_cpu(&cpu);
	for (i = 0; i < BUDGET_NS / 1000; i++)
		cpu_charge(&cpu, TXTS_ORDINARY, 1000);
	cpu.now += TXTS_WINDOW_NS - 1;
	KUNIT_EXPECT_EQ(test, 1, cpu_charge(&cpu, TXTS_ORDINARY, 1000));
	cpu.now++;
	KUNIT_EXPECT_EQ(test, 0, cpu_charge(&cpu, TXTS_ORDINARY, 1000));
}

/* G12: no bypass, and nothing taken away from it. */
static void each_class_has_half_while_both_are_about(struct kunit *test)
{
	struct cpu cpu;
	unsigned int i;

	fresh_cpu(&cpu);
	cpu.ptp_active = true;
	for (i = 1; i < BUDGET_NS / 2000; i++) {
		KUNIT_ASSERT_EQ(test, 0, cpu_charge(&cpu, TXTS_ORDINARY, 1000));
		KUNIT_ASSERT_EQ(test, 0, cpu_charge(&cpu, TXTS_PTP, 1000));
	}
	KUNIT_EXPECT_NE(test, 0, cpu_charge(&cpu, TXTS_ORDINARY, 1000));
	KUNIT_EXPECT_NE(test, 0, cpu_charge(&cpu, TXTS_PTP, 1000));
}

static void flood_of_ptp_gets_half(struct kunit *test)
{
	struct cpu cpu;
	unsigned int i;

	fresh_cpu(&cpu);
	for (i = 1; i < BUDGET_NS / 2000; i++)
		KUNIT_ASSERT_EQ(test, 0, cpu_charge(&cpu, TXTS_PTP, 1000));
	KUNIT_EXPECT_NE(test, 0, cpu_charge(&cpu, TXTS_PTP, 1000));
	KUNIT_EXPECT_EQ(test, 0, cpu_charge(&cpu, TXTS_ORDINARY, 1000));
}

/* A nested interrupt, or a task that preempted this one on PREEMPT_RT. */
static void interruption_is_not_charged(struct kunit *test)
{
	struct cpu cpu;
	unsigned int i;

	fresh_cpu(&cpu);
	for (i = 0; i < 100; i++)
		cpu_charge(&cpu, TXTS_ORDINARY, 1000);
	KUNIT_EXPECT_EQ(test, 0, cpu_charge(&cpu, TXTS_ORDINARY,
					    NSEC_PER_SEC));
	KUNIT_EXPECT_LE(test, cpu.load.spent[TXTS_ORDINARY], 110000);
}

/* But work that has become dearer is, soon. */
static void dearer_work_is_charged(struct kunit *test)
{
	struct cpu cpu;
	unsigned int i;

	fresh_cpu(&cpu);
	for (i = 0; i < 100; i++)
		cpu_charge(&cpu, TXTS_ORDINARY, 1000);
	for (i = 0; i < 100; i++)
		cpu_charge(&cpu, TXTS_ORDINARY, 20000);
	cpu.now += TXTS_WINDOW_NS;
	cpu_charge(&cpu, TXTS_ORDINARY, 20000);
	KUNIT_EXPECT_EQ(test, 20000, cpu.load.spent[TXTS_ORDINARY]);
}

/* In the thread it costs more CPU time: not without need. */
static void flood_that_is_refused_moves_nothing(struct kunit *test)
{
	static const u64 took[] = { 2000, 3000, 3000 };
	struct cpu cpu;

	fresh_cpu(&cpu);
	run_for(&cpu, 10, 1000, took);
	KUNIT_EXPECT_EQ(test, 0, cpu.changes);
}

/* The most that may come too much, and one more. */
static void flood_that_goes_on_moves_work_away(struct kunit *test)
{
	static const u64 took[] = { 2000, 2000, 2000 };
	struct cpu cpu;

	fresh_cpu(&cpu);
	cpu.in_flight = BUDGET_NS / 4 / 2000;
	run_for(&cpu, 10, 1000, took);
	KUNIT_EXPECT_EQ(test, 0, cpu.changes);

	fresh_cpu(&cpu);
	cpu.in_flight = BUDGET_NS / 4 / 2000 + 1;
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_PROMPT, cpu.load.level);
	run_for(&cpu, 1, 1000, took);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_BACKGROUND, cpu.load.level);
	KUNIT_EXPECT_EQ(test, 2, cpu.changes);
	run_for(&cpu, 10, 1000, took);
	KUNIT_EXPECT_EQ(test, 2, cpu.changes);
}

static void one_burst_moves_nothing(struct kunit *test)
{
	static const u64 took[] = { 2000, 2000, 2000 };
	struct cpu cpu;
	unsigned int i;

	fresh_cpu(&cpu);
	cpu.in_flight = 1000;
	for (i = 0; i < 100; i++) {
		cpu_window(&cpu, 1000, took);
		cpu_window(&cpu, 10, took);
		cpu_window(&cpu, 10, took);
	}
	KUNIT_EXPECT_EQ(test, 0, cpu.changes);
}

static void work_comes_back_after_the_flood(struct kunit *test)
{
	static const u64 took[] = { 2000, 2000, 2000 };
	struct cpu cpu;

	fresh_cpu(&cpu);
	cpu.in_flight = 1000;
	run_for(&cpu, 2, 1000, took);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_BACKGROUND, cpu.load.level);
	/* Just above half of the budget: it could be too much at once. */
	run_for(&cpu, 10, 260, took);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_BACKGROUND, cpu.load.level);
	run_for(&cpu, 3, 240, took);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_PROMPT, cpu.load.level);
	KUNIT_EXPECT_EQ(test, 4, cpu.changes);
}

/* Nothing to do at all is calm, too. */
static void silence_brings_work_back(struct kunit *test)
{
	static const u64 took[] = { 2000, 2000, 2000 };
	struct cpu cpu;

	fresh_cpu(&cpu);
	cpu.in_flight = 1000;
	run_for(&cpu, 2, 1000, took);
	cpu.now += 3 * NSEC_PER_SEC;
	cpu_charge(&cpu, TXTS_ORDINARY, 2000);
	cpu.now += 3 * NSEC_PER_SEC;
	cpu_charge(&cpu, TXTS_ORDINARY, 2000);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_PROMPT, cpu.load.level);
}

/* Issue: at 20 levels of constant load no oscillation after a second. */
static const unsigned int rates[] = {
	1, 10, 50, 100, 150, 200, 240, 249, 250, 251, 260, 300, 400, 490, 499,
	500, 501, 510, 600, 5000,
};

static void rate_name(const unsigned int *rate, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u requests a window", *rate);
}

KUNIT_ARRAY_PARAM(rate, rates, rate_name);

static void constant_load_settles(struct kunit *test)
{
	static const u64 costs[][TXTS_NR_LEVELS] = {
		{ 2000, 2000, 2000 },
		{ 2000, 2500, 3000 },	/* the thread costs a switch */
		{ 2000, 1500, 1100 },	/* it serves several at once */
	};
	const unsigned int *rate = test->param_value;
	unsigned int i, n, least, most, c;
	struct cpu cpu;

	for (c = 0; c < ARRAY_SIZE(costs); c++) {
		fresh_cpu(&cpu);
		run_for(&cpu, 1, *rate, costs[c]);
		cpu.changes = 0;
		least = UINT_MAX;
		most = 0;
		for (i = 0; i < 9 * WINDOWS_PER_S; i++) {
			n = cpu_window(&cpu, *rate, costs[c]);
			least = min(least, n);
			most = max(most, n);
		}
		KUNIT_EXPECT_LE(test, cpu.changes, 2);
		KUNIT_EXPECT_LE(test, most * costs[c][cpu.load.level],
				BUDGET_NS + BUDGET_NS / 50);
		/* A budget that is there is given out. */
		if (*rate * 2000 <= BUDGET_NS)
			KUNIT_EXPECT_GT(test, least, 0);
	}
}

/* A load that is too much at once and a trifle in the thread. */
static void mistakes_become_rare(struct kunit *test)
{
	static const u64 took[] = { 4000, 2000, 100 };
	unsigned int first;
	struct cpu cpu;

	fresh_cpu(&cpu);
	cpu.in_flight = 1000;
	run_for(&cpu, 60, 1000, took);
	first = cpu.changes;
	KUNIT_EXPECT_GT(test, first, 2);
	run_for(&cpu, 120, 1000, took);
	KUNIT_EXPECT_LE(test, cpu.changes - first, 12);
}

/* Long after the last one a rise is like the first. */
static void old_mistakes_are_forgotten(struct kunit *test)
{
	static const u64 took[] = { 2000, 2000, 100 };
	unsigned int i;
	struct cpu cpu;
	u64 dwell;

	fresh_cpu(&cpu);
	cpu.in_flight = 1000;
	run_for(&cpu, 1, 1000, took);
	dwell = cpu.load.dwell;
	run_for(&cpu, 60, 1000, took);
	KUNIT_EXPECT_GT(test, cpu.load.dwell, dwell);
	for (i = 0; i < TXTS_NR_LEVELS; i++) {
		cpu.now += 3600 * NSEC_PER_SEC;
		cpu_charge(&cpu, TXTS_ORDINARY, 1);
	}
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_PROMPT, cpu.load.level);
	cpu.now += 3600 * NSEC_PER_SEC;
	run_for(&cpu, 1, 1000, took);
	KUNIT_EXPECT_NE(test, TXTS_LEVEL_PROMPT, cpu.load.level);
	KUNIT_EXPECT_EQ(test, dwell, cpu.load.dwell);
}

/* In a window that is over half of @idle_us of it is spare for the next. */
static void end_window(struct cpu *cpu, u64 idle_us)
{
	cpu->load.idle += idle_us * NSEC_PER_USEC;
	cpu->now += TXTS_WINDOW_NS;
	cpu_charge(cpu, TXTS_ORDINARY, 1);
}

static void idle_time_adds_to_the_budget(struct kunit *test)
{
	struct cpu cpu;

	fresh_cpu(&cpu);
	end_window(&cpu, 0);
	KUNIT_EXPECT_EQ(test, BUDGET_NS, cpu.load.budget);
	end_window(&cpu, 3000);
	KUNIT_EXPECT_EQ(test, BUDGET_NS + 1500 * NSEC_PER_USEC,
			cpu.load.budget);
	/* For one window only. */
	end_window(&cpu, 0);
	KUNIT_EXPECT_EQ(test, BUDGET_NS, cpu.load.budget);
	/* More than there was cannot be. */
	end_window(&cpu, 30000);
	KUNIT_EXPECT_EQ(test, BUDGET_NS + TXTS_WINDOW_NS / 2, cpu.load.budget);
	/* The kernel may correct itself. */
	end_window(&cpu, -5000);
	KUNIT_EXPECT_EQ(test, BUDGET_NS, cpu.load.budget);
}

static void long_silence_counts_by_its_share(struct kunit *test)
{
	struct cpu cpu;

	fresh_cpu(&cpu);
	end_window(&cpu, 0);
	cpu.now += 99 * TXTS_WINDOW_NS;
	end_window(&cpu, 100 * 4000);
	KUNIT_EXPECT_EQ(test, BUDGET_NS + 2000 * NSEC_PER_USEC,
			cpu.load.budget);
}

/* A flood takes half of what is left at the most, and stays there. */
static void spare_time_settles(struct kunit *test)
{
	static const u64 took[] = { 2000, 2000, 2000 };
	const unsigned int percents[] = { 10, 50, 70, 90, 95, 100 };
	unsigned int i, w, n, least, most;
	struct cpu cpu;
	u64 fair;

	for (i = 0; i < ARRAY_SIZE(percents); i++) {
		fresh_cpu(&cpu);
		cpu.others = TXTS_WINDOW_NS / 100 * percents[i];
		run_for(&cpu, 1, 5000, took);
		least = UINT_MAX;
		most = 0;
		for (w = 0; w < 9 * WINDOWS_PER_S; w++) {
			n = cpu_window(&cpu, 5000, took);
			least = min(least, n);
			most = max(most, n);
		}
		/* s = budget + (window - others - s) / 2, if that is left */
		fair = (2 * BUDGET_NS + TXTS_WINDOW_NS - cpu.others) / 3;
		fair = max(fair, BUDGET_NS) / 2000;
		KUNIT_EXPECT_LE(test, most, fair + fair / 50);
		KUNIT_EXPECT_GE(test, least + fair / 50, fair);
		KUNIT_EXPECT_EQ(test, 0, cpu.changes);
	}
}

static void late_softirq_refuses_the_flood(struct kunit *test)
{
	struct cpu cpu;

	fresh_cpu(&cpu);
	KUNIT_EXPECT_EQ(test, 0, txts_policy_late(&cpu.load, cpu.now, 0));
	KUNIT_EXPECT_EQ(test, 0, txts_policy_late(&cpu.load, cpu.now,
						  NSEC_PER_MSEC - 1));
	KUNIT_EXPECT_EQ(test, TXTS_WINDOW_NS,
			txts_policy_late(&cpu.load, cpu.now, NSEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_PROMPT, cpu.load.level);
	cpu.now += TXTS_WINDOW_NS;
	txts_policy_late(&cpu.load, cpu.now, NSEC_PER_MSEC);
	cpu.now += TXTS_WINDOW_NS;
	txts_policy_late(&cpu.load, cpu.now, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_FREE, cpu.load.level);
}

static void socket_gets_fewer_the_more_it_lags(struct kunit *test)
{
	static const struct {
		u32 backlog;
		unsigned int admitted;
	} rows[] = {
		{ 0, 1000 }, { TXTS_BACKLOG_LOW, 1000 },
		{ (TXTS_BACKLOG_LOW + TXTS_BACKLOG_HIGH) / 2, 500 },
		{ TXTS_BACKLOG_HIGH - 4, 9 }, { TXTS_BACKLOG_HIGH, 0 },
		{ TXTS_BACKLOG_FULL, 0 },
	};
	unsigned int i, n, admitted;
	struct txts_load load;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		load = (struct txts_load) {};
		admitted = 0;
		for (n = 0; n < 1000; n++)
			admitted += txts_policy_keeps_up(&load,
							 rows[i].backlog);
		KUNIT_EXPECT_GE(test, admitted + 2, rows[i].admitted);
		KUNIT_EXPECT_LE(test, admitted, rows[i].admitted + 2);
	}
}

static struct kunit_case budget_cases[] = {
	KUNIT_CASE(budget_is_used_up_exactly_at_its_end),
	KUNIT_CASE(window_ends_at_its_end),
	KUNIT_CASE(each_class_has_half_while_both_are_about),
	KUNIT_CASE(flood_of_ptp_gets_half),
	KUNIT_CASE(interruption_is_not_charged),
	KUNIT_CASE(dearer_work_is_charged),
	KUNIT_CASE(flood_that_is_refused_moves_nothing),
	KUNIT_CASE(flood_that_goes_on_moves_work_away),
	KUNIT_CASE(one_burst_moves_nothing),
	KUNIT_CASE(work_comes_back_after_the_flood),
	KUNIT_CASE(silence_brings_work_back),
	KUNIT_CASE_PARAM(constant_load_settles, rate_gen_params),
	KUNIT_CASE(mistakes_become_rare),
	KUNIT_CASE(old_mistakes_are_forgotten),
	KUNIT_CASE(idle_time_adds_to_the_budget),
	KUNIT_CASE(long_silence_counts_by_its_share),
	KUNIT_CASE(spare_time_settles),
	KUNIT_CASE(late_softirq_refuses_the_flood),
	KUNIT_CASE(socket_gets_fewer_the_more_it_lags),
	{}
};

static struct kunit_suite budget_suite = {
	.name = "txts_budget",
	.test_cases = budget_cases,
};

kunit_test_suite(budget_suite);
