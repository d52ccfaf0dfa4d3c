// SPDX-License-Identifier: GPL-2.0
/*
 * The policy: at which stage the tracker works, and when it tries again.
 *
 * A pure function of its arguments, so that it can be tested alone. Budget,
 * admission and the precedence of PTP event messages belong here as well;
 * today every request for which a slot is free is admitted.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "policy.h"

/* A stamp that is not there after these retries is not worth softirq time. */
#define TXTS_BH_RETRIES		4
#define TXTS_BH_DELAY_NS	(10 * NSEC_PER_USEC)
#define TXTS_AUX_DELAY_NS	(200 * NSEC_PER_USEC)
#define TXTS_MAX_DELAY_NS	NSEC_PER_SEC

const char * const txts_policy_names[TXTS_NR_POLICIES] = {
	[TXTS_POLICY_AUTO]	= "auto",
	[TXTS_POLICY_INLINE]	= "inline",
	[TXTS_POLICY_BH]	= "bh",
	[TXTS_POLICY_AUX]	= "aux",
	[TXTS_POLICY_KWORKER]	= "kworker",
};

const u8 txts_policy_stages[TXTS_NR_POLICIES][TXTS_NR_WORKS] = {
	[TXTS_POLICY_AUTO] = {
		[TXTS_WORK_READ]	= TXTS_STAGE_INLINE,
		[TXTS_WORK_POLL]	= TXTS_STAGE_INLINE,
		[TXTS_WORK_DELIVER]	= TXTS_STAGE_INLINE,
	},
	[TXTS_POLICY_INLINE] = {
		[TXTS_WORK_READ]	= TXTS_STAGE_INLINE,
		[TXTS_WORK_POLL]	= TXTS_STAGE_INLINE,
		[TXTS_WORK_DELIVER]	= TXTS_STAGE_INLINE,
	},
	[TXTS_POLICY_BH] = {
		[TXTS_WORK_READ]	= TXTS_STAGE_BH,
		[TXTS_WORK_POLL]	= TXTS_STAGE_BH,
		[TXTS_WORK_DELIVER]	= TXTS_STAGE_BH,
	},
	[TXTS_POLICY_AUX] = {
		[TXTS_WORK_READ]	= TXTS_STAGE_AUX,
		[TXTS_WORK_POLL]	= TXTS_STAGE_AUX,
		[TXTS_WORK_DELIVER]	= TXTS_STAGE_AUX,
	},
	[TXTS_POLICY_KWORKER] = {
		[TXTS_WORK_READ]	= TXTS_STAGE_WQ,
		[TXTS_WORK_POLL]	= TXTS_STAGE_WQ,
		[TXTS_WORK_DELIVER]	= TXTS_STAGE_WQ,
	},
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
	enum txts_stage stage = txts_policy_stage(policy, TXTS_WORK_POLL);
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
