// SPDX-License-Identifier: GPL-2.0
/*
 * Deadline: each slot's own timer, in hard mode because on PREEMPT_RT a
 * softirq timer is a thread that a busy one keeps from running.
 *
 * The timer is left armed when a request ends and not moved when the next one
 * starts: it fires at most once per timeout, and looks then what is due.
 */
#include "internal.h"

/* Timers due sooner than that fire when asked, in ns. */
#define TXTS_EXACT_NS	(NSEC_PER_MSEC / 2)

/**
 * txts_deadline - until when a request waits
 * @waiter: committed
 *
 * Return: CLOCK_MONOTONIC.
 *
 * Context: any, under the lock of the slot.
 */
ktime_t txts_deadline(const struct txts_waiter *waiter)
{
	ktime_t limit, deadline;

	limit = ktime_add_us(waiter->committed, TXTS_LIMIT_US);
	if (!waiter->sent)
		return limit;
	deadline = ktime_after(waiter->launch, waiter->sent) ?
		   waiter->launch : waiter->sent;
	deadline = ktime_add(deadline, waiter->timeout);
	return ktime_before(deadline, limit) ? deadline : limit;
}

/**
 * txts_arm_timer - make the timer fire at a time or before
 * @slot: locked
 * @now: CLOCK_MONOTONIC
 * @at: CLOCK_MONOTONIC
 *
 * If @at is far off the timer may fire early, together with another one:
 * most requests are over by then, and an interrupt of its own is saved.
 *
 * Context: any, under the lock of the slot; the tracker runs.
 */
void txts_arm_timer(struct txts_slot *slot, ktime_t now, ktime_t at)
{
	s64 ahead;
	u64 early;

	if (slot->timer_armed && !ktime_before(at, slot->timer_at))
		return;
	ahead = ktime_to_ns(ktime_sub(at, now));
	early = ahead > TXTS_EXACT_NS ? ahead >> 2 : 0;
	slot->timer_armed = true;
	slot->timer_at = at;
	hrtimer_start_range_ns(&slot->timer, ktime_sub_ns(at, early), early,
			       HRTIMER_MODE_ABS_HARD);
}

static bool txts_overdue(const struct txts_slot *slot, ktime_t now)
{
	return txts_slot_live(slot) &&
	       !ktime_before(now, txts_deadline(slot->waiter));
}

/* Returns true if a retry is due. */
static bool txts_on_timer(struct txts_slot *slot, ktime_t now)
{
	struct txts *txts = slot->txts;
	bool due = false;

	if (txts_overdue(slot, now)) {
		if (slot->check) {
			/* The check is about to tell; it decides. */
			slot->expired = true;
		} else if (!txts_peek(slot, now)) {
			txts_end(slot, TXTS_TIMEOUT, now);
			txts_evidence(slot, now, true);
		}
	} else if (slot->poll_at && !ktime_before(now, slot->poll_at)) {
		slot->poll_at = 0;
		due = true;
		txts_learn_sent(slot, now);
	}
	if (!txts_running(txts))
		return false;
	if (txts_slot_live(slot) && !slot->expired)
		txts_arm_timer(slot, now, txts_deadline(slot->waiter));
	if (slot->poll_at)
		txts_arm_timer(slot, now, slot->poll_at);
	return due;
}

enum hrtimer_restart txts_timer(struct hrtimer *timer)
{
	struct txts_slot *slot = container_of(timer, struct txts_slot, timer);
	enum txts_stage stage = TXTS_STAGE_BH;
	struct txts *txts = slot->txts;
	ktime_t now = ktime_get();
	unsigned long flags;
	bool overdue, due;

	rcu_read_lock();
	raw_spin_lock_irqsave(&slot->lock, flags);
	slot->timer_armed = false;
	overdue = txts_overdue(slot, now);
	raw_spin_unlock_irqrestore(&slot->lock, flags);

	/*
	 * One last look. At all slots, because reading one by value may
	 * acknowledge the others.
	 */
	if (overdue && txts_running(txts) &&
	    !(txts->flags & (TXTS_SLEEPS | TXTS_PUSHED)) &&
	    txts_drain(txts, 0, now) &&
	    !test_bit(TXTS_EVENT_IRQ, &txts->events))
		WRITE_ONCE(txts->irq_missed, true);

	raw_spin_lock_irqsave(&slot->lock, flags);
	due = txts_on_timer(slot, now);
	if (due)
		stage = slot->waiter->stage;
	raw_spin_unlock_irqrestore(&slot->lock, flags);

	if (due)
		txts_kick_due(txts, BIT_ULL(slot->index), stage);
	txts_settle(txts);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}
