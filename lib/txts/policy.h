/* SPDX-License-Identifier: GPL-2.0 */
/* Where work runs, and who gets a slot; no hardware and no skb in here. */
#ifndef _LIB_TXTS_POLICY_H
#define _LIB_TXTS_POLICY_H

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

/*
 * Where ring cleaning is prompt, and can be made to run, a stamp that no
 * interrupt announces is read when its frame is SENT, and the work of polling
 * for it is saved. Where SENT takes longer than PROMPT on average, polling
 * begins at commit, else after PATIENCE. Both in ns.
 */
#define TXTS_PROMPT_NS		(100 * NSEC_PER_USEC)
#define TXTS_PATIENCE_NS	(4 * NSEC_PER_MSEC)

extern const char * const txts_policy_names[TXTS_NR_POLICIES];

extern const u8 txts_policy_stages[TXTS_NR_POLICIES][TXTS_NR_WORKS];

/* Where work of a kind runs first. What must not run INLINE goes to BH. */
static inline enum txts_stage txts_policy_stage(enum txts_policy policy,
						enum txts_work work)
{
	return txts_policy_stages[policy][work];
}

enum txts_stage txts_policy_retry(enum txts_policy policy,
				  unsigned int attempts, u64 *delay_ns);

#endif /* _LIB_TXTS_POLICY_H */
