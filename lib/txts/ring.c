// SPDX-License-Identifier: GPL-2.0
/* Ring cleaning: the frame of a request was sent, or will never be. */
#include <linux/export.h>

#include "internal.h"

/*
 * Under the lock of the slot: false if it was reused since. Whatever the report
 * says is about another request then.
 */
static bool txts_is_current(struct txts_slot *slot, u32 gen)
{
	if (slot->gen == gen)
		return true;
	txts_count(slot->txts, TXTS_STALE_TICKET);
	return false;
}

/* The slot waits for evidence, which counts from now on. */
static void txts_gone(struct txts_slot *slot, ktime_t now)
{
	struct txts *txts = slot->txts;

	slot->gone = true;
	slot->since = ktime_after(slot->since, now) ? slot->since : now;
	if (slot->state == TXTS_QUARANTINE && txts_running(txts))
		txts_evidence(slot, now, true);
}

/* See txts_sent(). */
void __txts_sent(struct txts *txts, struct txts_ticket *ticket)
{
	struct txts_slot *slot = txts_slot_of(txts, ticket);
	unsigned int index = ticket->slot;
	u32 gen = ticket->gen;
	enum txts_stage stage;
	unsigned long flags;
	bool waits = false, late = false;
	ktime_t now;

	txts_assert_reader();
	*ticket = (struct txts_ticket) {};
	if (!slot)
		return;

	raw_spin_lock_irqsave(&slot->lock, flags);
	if (!txts_is_current(slot, gen)) {
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		return;
	}
	now = ktime_get();
	switch (slot->state) {
	case TXTS_ARMED:
		slot->state = TXTS_SENT;
		fallthrough;
	case TXTS_READING:
		/* The cause of a lost interrupt may keep others from coming. */
		waits = (txts->flags & (TXTS_POLLED | TXTS_SLEEPS)) ||
			READ_ONCE(txts->irq_missed);
		late = slot->waiter->stage == TXTS_STAGE_AUX;
		slot->waiter->sent = now;
		/* From now on it is worth looking more often again. */
		slot->waiter->attempts = 0;
		txts_learn_sent(slot, now);
		txts_gone(slot, now);
		txts_arm_timer(slot, now, txts_deadline(slot->waiter));
		break;
	case TXTS_QUARANTINE:
		txts_gone(slot, now);
		break;
	case TXTS_FREE:		/* delivered before, as usual */
		txts_learn_sent(slot, now);
		break;
	case TXTS_RESERVED:	/* sent before it was committed? */
	case TXTS_SENT:		/* sent twice? */
		txts_count(txts, TXTS_MISUSE);
		WARN_ONCE(1, "txts: txts_sent() out of order\n");
		break;
	}
	raw_spin_unlock_irqrestore(&slot->lock, flags);

	/*
	 * No interrupt will tell: now is when the stamp is there. If a stage
	 * is about to look anyway, once is enough; but the thread may be late.
	 */
	if (waits && txts_running(txts) &&
	    (late || !test_bit(index, txts->due))) {
		stage = txts_stage_of(txts, TXTS_WORK_READ);
		if (stage == TXTS_STAGE_INLINE)
			txts_drain(txts, BIT_ULL(index), now);
		else
			txts_kick_due(txts, BIT_ULL(index), stage);
		if (stage != TXTS_STAGE_INLINE)
			txts_moved_away(txts);
	}
	/* What is left when the tracker stops is txts_stop()'s. */
	if (txts_running(txts))
		txts_settle(txts);
}
EXPORT_SYMBOL_GPL(__txts_sent);

/* See txts_dropped(). */
void __txts_dropped(struct txts *txts, struct txts_ticket *ticket)
{
	struct txts_slot *slot = txts_slot_of(txts, ticket);
	u32 gen = ticket->gen;
	unsigned long flags;
	ktime_t now;

	*ticket = (struct txts_ticket) {};
	if (!slot)
		return;

	rcu_read_lock();
	raw_spin_lock_irqsave(&slot->lock, flags);
	if (!txts_is_current(slot, gen)) {
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		goto unlock;
	}
	now = ktime_get();
	switch (slot->state) {
	case TXTS_ARMED:
	case TXTS_SENT:
	case TXTS_READING:
		txts_end(slot, TXTS_FLUSHED, now);
		fallthrough;
	case TXTS_QUARANTINE:
		txts_gone(slot, now);
		break;
	case TXTS_FREE:
		break;
	case TXTS_RESERVED:
		txts_count(txts, TXTS_MISUSE);
		WARN_ONCE(1, "txts: txts_dropped() before commit\n");
		break;
	}
	raw_spin_unlock_irqrestore(&slot->lock, flags);

	/* The caller may hold anything: release the skb elsewhere. */
	if (!llist_empty(&txts->ended))
		txts_kick(txts, TXTS_STAGE_BH);
unlock:
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__txts_dropped);
