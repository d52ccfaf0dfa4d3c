/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of lib/txts share; drivers see include/linux/txts.h only. */
#ifndef _LIB_TXTS_INTERNAL_H
#define _LIB_TXTS_INTERNAL_H

#include <linux/average.h>
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/txts.h>

#include "policy.h"

#define TXTS_TIMEOUT_US		20000
#define TXTS_LIMIT_US		5000000
#define TXTS_QUARANTINE_MS	1000

/*
 * Requests of one slot that exist at a time: one waits, the others are on
 * their way to delivery. When delivery lags that far behind, xmit skips.
 */
#define TXTS_WAITERS		8

#define TXTS_HIST_BUCKETS	32	/* powers of two of ns */

enum txts_state {
	TXTS_FREE,
	TXTS_RESERVED,
	TXTS_ARMED,
	TXTS_SENT,
	TXTS_READING,
	TXTS_QUARANTINE,
};

enum txts_hist {
	TXTS_HIST_READ,		/* commit to read out */
	TXTS_HIST_DELIVER,	/* read out to delivery */
	TXTS_NR_HISTS,
};

/* txts->events */
enum txts_event {
	TXTS_EVENT_IRQ,		/* an interrupt waits for its drain */
	TXTS_EVENT_DRAINING,	/* the thread has begun a drain */
	TXTS_EVENT_EVIDENCE,	/* xmit found quarantined slots only */
};

/**
 * struct txts_waiter - a request from reserve to delivery
 * @node: in txts->ended once it has left its slot
 * @slot: the slot it waits or waited in, constant
 * @skb: the packet, referenced from commit on
 * @owner: or another owner
 * @launch: launch time in CLOCK_MONOTONIC, 0: none
 * @timeout: from SENT to the deadline
 * @committed: CLOCK_MONOTONIC of the commit
 * @sent: CLOCK_MONOTONIC of SENT, 0: not yet
 * @read: CLOCK_MONOTONIC of the read out
 * @phc: PHC at commit, of a suspect
 * @raw: what was read
 * @flushes: txts->flushes at reserve; differs: flushed since
 * @epoch: epoch of its clock at commit
 * @attempts: reads that found nothing
 * @outcome: how it ended
 * @queue: key of txts_flush_queue()
 * @timer: which clock stamps it
 * @stage: where the next retry runs
 * @class: enum txts_class
 * @suspect: the slot was handed out without evidence
 * @doomed: its queue was flushed between reserve and commit
 * @wedged: ended 5 s after commit without SENT
 */
struct txts_waiter {
	struct llist_node node;
	struct txts_slot *slot;
	struct sk_buff *skb;
	void *owner;
	ktime_t launch;
	ktime_t timeout;
	ktime_t committed;
	ktime_t sent;
	ktime_t read;
	ktime_t phc;
	u64 raw;
	int flushes;
	int epoch;
	unsigned int attempts;
	enum txts_counter outcome;
	u16 queue;
	u8 timer;
	u8 stage;
	u8 class;
	bool suspect;
	bool doomed;
	bool wedged;
};

DECLARE_EWMA(txts_sent, 4, 8)

/**
 * struct txts_slot - one slot; all under @lock if not said otherwise
 * @lock: taken in every context; callbacks that read registers run under it
 * @txts: the tracker, constant
 * @index: of the slot, constant
 * @state: life of the slot, see include/linux/txts.h
 * @gen: generation, changes at each reserve, never 0
 * @waiter: who holds the slot, RESERVED to READING
 * @last_raw: last value read
 * @last_epoch: epoch of its clock then
 * @last_timer: its clock
 * @last_valid: there is one
 * @gone: the frame was SENT or dropped
 * @multi: more than one stamp may come: a GSO frame, or after a suspect
 * @held: a GSO frame has its stamp, only SENT is missing
 * @seen: while @multi: one came, or a suspect's was discarded
 * @suspect: the next request is one
 * @reading: a read out sleeps, or a suspect's stamp is being checked
 * @check: the latter
 * @next_raw: pushed during the check, 0: nothing
 * @expired: the deadline passed during the check
 * @reset: the device was reset during the read out
 * @paused: the MAC held frames back when it was asked last
 * @since: when @gone was set, or the launch time, at most 5 s after commit,
 *	or the end of @paused
 * @poll_at: next attempt, 0: none
 * @timer: deadline and retries
 * @timer_at: what it is armed for
 * @timer_armed: it is armed
 * @sent_ns: average time from commit to SENT, in ns
 * @max_attempts: of all requests
 * @idle: bitmap of @waiters not in use; atomic
 * @waiters: the requests
 */
struct txts_slot {
	raw_spinlock_t lock;
	struct txts *txts;
	unsigned int index;
	enum txts_state state;
	u32 gen;
	struct txts_waiter *waiter;
	u64 last_raw;
	int last_epoch;
	u8 last_timer;
	bool last_valid;
	bool gone;
	bool multi;
	bool held;
	bool seen;
	bool suspect;
	bool reading;
	bool check;
	bool expired;
	bool reset;
	bool paused;
	u64 next_raw;
	ktime_t since;
	ktime_t poll_at;
	struct hrtimer timer;
	ktime_t timer_at;
	bool timer_armed;
	struct ewma_txts_sent sent_ns;
	unsigned int max_attempts;
	unsigned long idle;
	struct txts_waiter waiters[TXTS_WAITERS];
} ____cacheline_aligned_in_smp;

/* this_cpu_inc(): safe in every context, one instruction where it matters. */
struct txts_pcpu {
	u64 counter[TXTS_NR_COUNTERS];
	u64 hist[TXTS_NR_HISTS][TXTS_HIST_BUCKETS];
};

static inline void txts_count(struct txts *txts, enum txts_counter counter)
{
	this_cpu_inc(txts->pcpu->counter[counter]);
}

static inline u64 txts_all(const struct txts *txts)
{
	return GENMASK_ULL(txts->nslots - 1, 0);
}

/* A bitmap that others change meanwhile. */
static inline u64 txts_bits(const unsigned long *map)
{
	u64 bits = READ_ONCE(map[0]);

	if (BITS_PER_LONG < 64)
		bits |= (u64)READ_ONCE(map[BITS_TO_LONGS(64) - 1]) << 32;
	return bits;
}

/*
 * The frame in this slot was SENT, or was not for so long that a poll is due.
 * Under the lock of the slot, before @since is moved to SENT.
 */
static inline void txts_learn_sent(struct txts_slot *slot, ktime_t now)
{
	s64 ns = ktime_to_ns(ktime_sub(now, slot->since));

	if ((slot->txts->flags & TXTS_POLLED) && !slot->gone)
		ewma_txts_sent_add(&slot->sent_ns,
				   clamp_t(s64, ns, 1, TXTS_PATIENCE_NS));
}

/* How far stamp work has moved away on this CPU. */
enum txts_level txts_level(void);

/* The clock that work is charged by; User Mode Linux's counts jiffies. */
static inline u64 txts_work_clock(void)
{
	return IS_ENABLED(CONFIG_UML) ? ktime_get_mono_fast_ns() :
	       local_clock();
}

static inline ktime_t txts_us(u32 us)
{
	return ns_to_ktime((u64)us * NSEC_PER_USEC);
}

static inline bool txts_running(const struct txts *txts)
{
	return READ_ONCE(txts->running);
}

static inline bool txts_open(const struct txts *txts)
{
	return txts_running(txts) && READ_ONCE(txts->enabled);
}

/* A request that was committed and has not ended waits in this slot. */
static inline bool txts_slot_live(const struct txts_slot *slot)
{
	return slot->state == TXTS_ARMED || slot->state == TXTS_SENT ||
	       slot->state == TXTS_READING;
}

/* The policy's choice, within what the hardware allows. */
static inline enum txts_stage txts_stage_of(const struct txts *txts,
					    enum txts_work work)
{
	enum txts_level level = TXTS_LEVEL_PROMPT;

	/* Which slots hold a stamp is not known yet: one for PTP, perhaps. */
	if (!txts_bits(txts->ptp))
		level = txts_level();
	if ((txts->flags & TXTS_SLEEPS) && work != TXTS_WORK_DELIVER)
		return TXTS_STAGE_AUX;
	return txts_policy_stage(READ_ONCE(txts->policy), level, work);
}

/*
 * xmit and ring cleaning run with BH off, which is a read section of RCU as
 * good as another: that is how txts_stop() waits for them.
 */
static inline void txts_assert_reader(void)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_bh_held() && !rcu_read_lock_held(),
			 "txts: called with BH on");
}

/* The slot that a ticket names; NULL, and counted, if it can name none. */
static inline struct txts_slot *txts_slot_of(struct txts *txts,
					     const struct txts_ticket *ticket)
{
	if (WARN_ON_ONCE(!txts->slots))
		return NULL;
	if (likely(ticket->slot < txts->nslots))
		return &txts->slots[ticket->slot];
	txts_count(txts, TXTS_MISUSE);
	return NULL;
}

/* admit.c */
#ifdef CONFIG_TXTS_TESTING
extern u32 txts_budget_permille;
extern bool txts_idle_counts;
#endif

static inline u32 txts_budget(void)
{
#ifdef CONFIG_TXTS_TESTING
	return READ_ONCE(txts_budget_permille);
#else
	return TXTS_BUDGET_PERMILLE;
#endif
}

/* Does idle time add to the budget? Tests that measure the budget say no. */
static inline bool txts_spare(void)
{
#ifdef CONFIG_TXTS_TESTING
	return READ_ONCE(txts_idle_counts);
#else
	return true;
#endif
}

struct txts_load *txts_load_of(int cpu);
enum txts_counter txts_admit(struct txts *txts,
			     const struct txts_request *request, u8 *class);
u64 txts_charge(struct txts *txts, enum txts_cost cost, enum txts_class class,
		u64 began);
void txts_bh_began(struct txts *txts);
void txts_moved_away(struct txts *txts);

/* deadline.c */
ktime_t txts_deadline(const struct txts_waiter *waiter);
void txts_arm_timer(struct txts_slot *slot, ktime_t now, ktime_t at);
enum hrtimer_restart txts_timer(struct hrtimer *timer);

/* deliver.c */
void txts_end(struct txts_slot *slot, enum txts_counter outcome, ktime_t now);
void txts_put_waiter(struct txts_waiter *waiter);
void txts_check_suspects(struct txts *txts);
void txts_deliver_ended(struct txts *txts);
void txts_deliver_all(struct txts *txts);
void txts_settle(struct txts *txts);

/* drain.c */
u64 txts_ready(struct txts *txts);
u64 txts_drain(struct txts *txts, u64 due, ktime_t now);
void txts_drain_irq(struct txts *txts, u64 slots);
void txts_read_sleeping(struct txts_slot *slot);
void txts_take(struct txts_slot *slot);
void txts_add_ended(struct txts_waiter *waiter);
bool txts_accept(struct txts_slot *slot, u64 raw, ktime_t now, bool by_value);
bool txts_peek(struct txts_slot *slot, ktime_t now);

/* quarantine.c */
void txts_leave(struct txts_slot *slot);
void txts_quarantine(struct txts_slot *slot);
void txts_free_slot(struct txts_slot *slot);
void txts_orphan(struct txts_slot *slot, u64 raw);
bool txts_evidence(struct txts_slot *slot, ktime_t now, bool ask_mac);
bool txts_reclaim(struct txts *txts, ktime_t now, enum txts_class class);
void txts_seek_evidence(struct txts *txts);

/* stage.c */
int txts_init_stages(struct txts *txts);
void txts_cancel_stages(struct txts *txts);
void txts_flush_stages(struct txts *txts);
void txts_kick(struct txts *txts, enum txts_stage stage);
void txts_kick_event(struct txts *txts, enum txts_event event,
		     enum txts_stage stage);
void txts_kick_due(struct txts *txts, u64 due, enum txts_stage stage);

/* stats.c */
extern const char * const txts_counter_names[TXTS_NR_COUNTERS];
void txts_measure(struct txts *txts, enum txts_hist hist, ktime_t from,
		  ktime_t to);
u64 txts_read_hist(struct txts *txts, enum txts_hist hist, unsigned int bucket);
u64 txts_in_flight(struct txts *txts);

/* debugfs.c */
void txts_debugfs_add(struct txts *txts);
void txts_debugfs_remove(struct txts *txts);

#endif /* _LIB_TXTS_INTERNAL_H */
