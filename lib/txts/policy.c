// SPDX-License-Identifier: GPL-2.0
/*
 * The policy: at which stage the tracker works, when it tries again, and what
 * it may cost. Functions of their arguments only, so that they can be tested
 * alone.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "policy.h"

/* A stamp that is not there after these retries is not worth softirq time. */
#define TXTS_BH_RETRIES		4
#define TXTS_BH_DELAY_NS	(10 * NSEC_PER_USEC)
#define TXTS_AUX_DELAY_NS	(200 * NSEC_PER_USEC)
#define TXTS_MAX_DELAY_NS	NSEC_PER_SEC

/* Work is charged at most that many times its average. */
#define TXTS_MAX_COST		4

/*
 * Work moves away if it exceeds the budget by more than this part of it, though
 * requests are refused, or if softirqs are late, for so many windows in a row.
 * It costs more CPU time there: where refusing is enough it would do harm.
 */
#define TXTS_OVERRUN_PART	4
#define TXTS_RISE_WINDOWS	2

/*
 * How long it must be calm before work comes back, in ns. Doubled if the last
 * time was a mistake, which shows within four times as long.
 */
#define TXTS_MIN_DWELL_NS	(1ULL * NSEC_PER_SEC)
#define TXTS_MAX_DWELL_NS	(64ULL * NSEC_PER_SEC)

/* BH work that runs later than this meets a softirq that cannot keep up. */
#define TXTS_LATE_NS		NSEC_PER_MSEC

const char * const txts_policy_names[TXTS_NR_POLICIES] = {
	[TXTS_POLICY_AUTO]	= "auto",
	[TXTS_POLICY_INLINE]	= "inline",
	[TXTS_POLICY_BH]	= "bh",
	[TXTS_POLICY_AUX]	= "aux",
	[TXTS_POLICY_KWORKER]	= "kworker",
};

#define STAGES(read, poll, deliver) {				\
	[TXTS_WORK_READ]	= TXTS_STAGE_##read,		\
	[TXTS_WORK_POLL]	= TXTS_STAGE_##poll,		\
	[TXTS_WORK_DELIVER]	= TXTS_STAGE_##deliver,		\
}

const u8 txts_policy_stages[TXTS_NR_LEVELS + TXTS_NR_POLICIES - 1]
			   [TXTS_NR_WORKS] = {
	[TXTS_LEVEL_PROMPT]	= STAGES(INLINE, INLINE, INLINE),
	[TXTS_LEVEL_FREE]	= STAGES(INLINE, INLINE, AUX),
	[TXTS_LEVEL_BACKGROUND]	= STAGES(AUX, INLINE, AUX),
	[TXTS_NR_LEVELS - 1 + TXTS_POLICY_INLINE] =
				  STAGES(INLINE, INLINE, INLINE),
	[TXTS_NR_LEVELS - 1 + TXTS_POLICY_BH] = STAGES(BH, BH, BH),
	[TXTS_NR_LEVELS - 1 + TXTS_POLICY_AUX] = STAGES(AUX, AUX, AUX),
	[TXTS_NR_LEVELS - 1 + TXTS_POLICY_KWORKER] = STAGES(WQ, WQ, WQ),
};

/**
 * txts_policy_retry - when and where to try again
 * @policy: the policy of the tracker
 * @attempts: how often this request's stamp was not ready, at least 1
 * @delay_ns: result: wait that long first, in ns; never 0
 *
 * Delays double, in BH for the first few, then in the tracker's thread, and
 * never exceed one second: a lost stamp costs less than 20 attempts in the
 * 20 ms from SENT to its deadline.
 *
 * Context: any.
 *
 * Return: the stage to try again at.
 */
enum txts_stage txts_policy_retry(enum txts_policy policy,
				  unsigned int attempts, u64 *delay_ns)
{
	enum txts_stage stage = txts_policy_stage(policy, TXTS_LEVEL_PROMPT,
						  TXTS_WORK_POLL);
	unsigned int shift;

	if (stage == TXTS_STAGE_INLINE)
		stage = TXTS_STAGE_BH;
	if (attempts <= TXTS_BH_RETRIES) {
		*delay_ns = TXTS_BH_DELAY_NS << (attempts - 1);
		return stage;
	}
	shift = min(attempts - TXTS_BH_RETRIES - 1, 20U);
	*delay_ns = min_t(u64, (u64)TXTS_AUX_DELAY_NS << shift,
			  TXTS_MAX_DELAY_NS);
	return stage == TXTS_STAGE_BH ? TXTS_STAGE_AUX : stage;
}

static void txts_policy_rise(struct txts_load *load, u64 now)
{
	load->over = 0;
	if (load->level == TXTS_NR_LEVELS - 1)
		return;
	WRITE_ONCE(load->level, load->level + 1);
	if (load->fell_at && now - load->fell_at < 4 * load->dwell)
		load->dwell = min(2 * load->dwell, TXTS_MAX_DWELL_NS);
	else
		load->dwell = TXTS_MIN_DWELL_NS;
	load->fell_at = 0;
}

/* How much of a window like the one that is over the CPU can do without. */
static u64 txts_policy_spare(const struct txts_load *load, u64 now)
{
	s64 idle = load->idle - load->idled;
	u64 share;

	/* The kernel's account of iowait may take idle time back. */
	if (idle <= 0)
		return 0;
	share = mul_u64_u64_div_u64(idle, TXTS_WINDOW_NS, now - load->window);
	return min_t(u64, share, TXTS_WINDOW_NS) / TXTS_SPARE_PART;
}

/* A window is over: what follows from it? */
static void txts_policy_window(struct txts_load *load, u64 now)
{
	u64 spent = load->spent[TXTS_ORDINARY] + load->spent[TXTS_PTP];
	u64 limit = load->budget + load->budget / TXTS_OVERRUN_PART;

	if (load->refused || spent > load->budget / 2)
		load->calm_since = load->window + TXTS_WINDOW_NS;
	if ((!load->late && spent <= limit) ||
	    now - load->window >= 2 * TXTS_WINDOW_NS)
		load->over = 0;
	else if (++load->over >= TXTS_RISE_WINDOWS)
		txts_policy_rise(load, now);

	if (load->level && now - load->calm_since >= load->dwell) {
		WRITE_ONCE(load->level, load->level - 1);
		load->calm_since = now;
		load->fell_at = now;
	}
	load->spare = txts_policy_spare(load, now);
	load->idled = load->idle;
	load->window = now;
	load->spent[TXTS_ORDINARY] = 0;
	load->spent[TXTS_PTP] = 0;
	load->refused = false;
	load->late = false;
}

/**
 * txts_policy_roll - time goes by
 * @load: account of a CPU
 * @now: clock of this CPU, in ns
 *
 * For a CPU whose work is done elsewhere: what it is charged for does not tell
 * it that it is calm.
 *
 * Context: any, one caller per @load at a time.
 */
void txts_policy_roll(struct txts_load *load, u64 now)
{
	/* Idle windows need no account: they were calm. */
	if (txts_policy_over(load, now))
		txts_policy_window(load, now);
}

/**
 * txts_policy_charge - work was done
 * @load: account of the CPU that did it
 * @charge: the work
 *
 * What exceeds a small multiple of the average is not this work's: something
 * else ran in between. Ordinary requests leave the share of PTP event
 * messages alone while there are any, which may use no more than that.
 *
 * Context: any, one caller per @load at a time.
 *
 * Return: for how long new requests of the class are to be refused, in ns; 0:
 * its budget is not used up.
 */
u64 txts_policy_charge(struct txts_load *load, const struct txts_charge *charge)
{
	struct ewma_txts_cost *average = &load->average[charge->cost];
	u64 limit = ewma_txts_cost_read(average) * TXTS_MAX_COST;
	u64 took = min_t(u64, charge->took, TXTS_WINDOW_NS);

	if (limit && took > limit)
		took = limit;
	ewma_txts_cost_add(average, took);

	txts_policy_roll(load, charge->now);
	load->budget = TXTS_WINDOW_NS / 1000 * charge->permille + load->spare;
	load->spent[charge->class] += took;

	limit = load->budget;
	if (charge->class == TXTS_PTP || charge->ptp_active)
		limit /= 2;
	if (load->spent[charge->class] < limit || charge->permille >= 1000)
		return 0;
	load->refused = true;
	return load->window + TXTS_WINDOW_NS - charge->now;
}

/**
 * txts_policy_late - own BH work ran
 * @load: account of the CPU that ran it
 * @now: clock of this CPU, in ns
 * @delay: since it was queued, in ns
 *
 * Context: any, one caller per @load at a time.
 *
 * Return: for how long new ordinary requests are to be refused, in ns.
 */
u64 txts_policy_late(struct txts_load *load, u64 now, u64 delay)
{
	if (delay < TXTS_LATE_NS)
		return 0;
	txts_policy_roll(load, now);
	load->refused = true;
	load->late = true;
	return load->window + TXTS_WINDOW_NS - now;
}

/**
 * txts_policy_keeps_up - does a socket keep up with what it gets?
 * @load: account of this CPU
 * @backlog: how much of its receive buffer is in use, in 1/1024
 *
 * Each stamp is one more thing to receive. A socket that lags gets fewer the
 * more it lags: what it loses first are stamps, not what it was sent.
 *
 * Context: xmit, BH off.
 *
 * Return: true if another stamp is welcome.
 */
bool txts_policy_keeps_up(struct txts_load *load, u32 backlog)
{
	u32 credit;

	if (backlog <= TXTS_BACKLOG_LOW)
		return true;
	if (backlog >= TXTS_BACKLOG_HIGH)
		return false;
	/* On PREEMPT_RT others may come in between: an update is lost then. */
	credit = READ_ONCE(load->credit);
	credit += TXTS_BACKLOG_FULL * (TXTS_BACKLOG_HIGH - backlog) /
		  (TXTS_BACKLOG_HIGH - TXTS_BACKLOG_LOW);
	WRITE_ONCE(load->credit, credit % TXTS_BACKLOG_FULL);
	return credit >= TXTS_BACKLOG_FULL;
}
