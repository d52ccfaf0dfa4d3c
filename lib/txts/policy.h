/* SPDX-License-Identifier: GPL-2.0 */
/* Where work runs, and who gets a slot; no hardware and no skb in here. */
#ifndef _LIB_TXTS_POLICY_H
#define _LIB_TXTS_POLICY_H

#include <linux/average.h>
#include <linux/time64.h>
#include <linux/types.h>

enum txts_stage {
	TXTS_STAGE_INLINE,	/* where the event was reported */
	TXTS_STAGE_BH,		/* system_bh_wq */
	TXTS_STAGE_AUX,		/* the tracker's own thread */
	TXTS_STAGE_WQ,		/* system workqueue, for comparison only */
};

enum txts_policy {
	TXTS_POLICY_AUTO,
	TXTS_POLICY_INLINE,
	TXTS_POLICY_BH,
	TXTS_POLICY_AUX,
	TXTS_POLICY_KWORKER,
	TXTS_NR_POLICIES,
};

enum txts_work {
	TXTS_WORK_READ,		/* read out after an interrupt or SENT */
	TXTS_WORK_POLL,		/* first poll after commit; INLINE: at SENT */
	TXTS_WORK_DELIVER,	/* hand the stamp to the stack */
	TXTS_NR_WORKS,
};

/* PTP event messages come first. */
enum txts_class {
	TXTS_ORDINARY,
	TXTS_PTP,
	TXTS_NR_CLASSES,
};

enum txts_cost {
	TXTS_COST_READ,
	TXTS_COST_DELIVER,
	TXTS_NR_COSTS,
};

/*
 * How far a CPU's stamp work has moved away from the interrupt. A level is
 * what ordinary requests get; PTP event messages stay where it is fastest.
 */
enum txts_level {
	TXTS_LEVEL_PROMPT,	/* read and deliver at once */
	TXTS_LEVEL_FREE,	/* read at once, deliver in the thread */
	TXTS_LEVEL_BACKGROUND,	/* all in the thread */
	TXTS_NR_LEVELS,
};

/*
 * The budget: of each window of WINDOW, in ns, so many thousandths, and a part
 * of what the CPU was idle in the window before: nobody wanted that.
 */
#define TXTS_WINDOW_NS		(10 * NSEC_PER_MSEC)
#define TXTS_BUDGET_PERMILLE	100
#define TXTS_SPARE_PART		2

/* PTP event messages seen that long ago make others stand back, in ms. */
#define TXTS_PTP_HOLD_MS	4000

/*
 * A socket whose receive buffer is full up to here, in 1/1024, does not keep
 * up with what it gets: the more it lags, the fewer stamps are added.
 */
#define TXTS_BACKLOG_LOW	128
#define TXTS_BACKLOG_HIGH	512
#define TXTS_BACKLOG_FULL	1024

DECLARE_EWMA(txts_cost, 4, 16)

/**
 * struct txts_load - the account of one CPU's stamp work
 * @window: when the current window began, in ns
 * @idle: how long this CPU was idle so far, in ns; who ends a window sets it,
 *	or never if that is not known
 * @idled: the same when the current window began
 * @spare: what the budget of this window gets of that, in ns
 * @budget: of this window, in ns
 * @spent: charged in this one, by class, in ns
 * @refused: it saw a budget used up, or BH work that came late
 * @late: the latter
 * @over: windows in a row that were @late or exceeded the budget by far
 * @level: enum txts_level
 * @calm_since: since then no window used half of the budget, in ns
 * @fell_at: when the level fell last, in ns
 * @dwell: how long it must be calm before the level falls, in ns
 * @credit: part of an admission saved up under backlog, in 1/1024
 * @average: of each kind of work, in ns
 */
struct txts_load {
	u64 window;
	u64 idle;
	u64 idled;
	u64 spare;
	u64 budget;
	u64 spent[TXTS_NR_CLASSES];
	bool refused;
	bool late;
	u8 over;
	u8 level;
	u64 calm_since;
	u64 fell_at;
	u64 dwell;
	u32 credit;
	struct ewma_txts_cost average[TXTS_NR_COSTS];
};

/**
 * struct txts_charge - one piece of work done
 * @now: clock of this CPU, in ns
 * @took: how long it took by that clock, in ns
 * @cost: which kind of work
 * @class: for whom
 * @ptp_active: PTP event messages are about and have their share reserved
 * @permille: the budget
 */
struct txts_charge {
	u64 now;
	u64 took;
	enum txts_cost cost;
	enum txts_class class;
	bool ptp_active;
	u32 permille;
};

/*
 * Where ring cleaning is prompt, and can be made to run, a stamp that no
 * interrupt announces is read when its frame is SENT, and the work of polling
 * for it is saved. Where SENT takes longer than PROMPT on average, polling
 * begins at commit, else after PATIENCE. Both in ns.
 */
#define TXTS_PROMPT_NS		(100 * NSEC_PER_USEC)
#define TXTS_PATIENCE_NS	(4 * NSEC_PER_MSEC)

extern const char * const txts_policy_names[TXTS_NR_POLICIES];

/* One row for each level of AUTO, then one for each fixed policy. */
extern const u8 txts_policy_stages[TXTS_NR_LEVELS + TXTS_NR_POLICIES - 1]
				  [TXTS_NR_WORKS];

/* Where work of a kind runs first. What must not run INLINE goes to BH. */
static inline enum txts_stage txts_policy_stage(enum txts_policy policy,
						enum txts_level level,
						enum txts_work work)
{
	unsigned int row = level;

	if (policy != TXTS_POLICY_AUTO)
		row = TXTS_NR_LEVELS - 1 + policy;
	return txts_policy_stages[row][work];
}

/* Is the current window over? */
static inline bool txts_policy_over(const struct txts_load *load, u64 now)
{
	return now - load->window >= TXTS_WINDOW_NS;
}

enum txts_stage txts_policy_retry(enum txts_policy policy,
				  unsigned int attempts, u64 *delay_ns);
void txts_policy_roll(struct txts_load *load, u64 now);
u64 txts_policy_charge(struct txts_load *load,
		       const struct txts_charge *charge);
u64 txts_policy_late(struct txts_load *load, u64 now, u64 delay);
bool txts_policy_keeps_up(struct txts_load *load, u32 backlog);

#endif /* _LIB_TXTS_POLICY_H */
