// SPDX-License-Identifier: GPL-2.0
/* Drain: find out which slots hold a stamp, read it, give the slot back. */
#include <linux/export.h>

#include "internal.h"
#include "trace.h"

/* How often an interrupt's drain looks again before BH takes over. */
#define TXTS_MAX_DRAINS		4

/* Sleeping hardware is not asked again closer to the deadline, in ns. */
#define TXTS_LAST_POLL_NS	(2 * NSEC_PER_MSEC)

u64 txts_ready(struct txts *txts)
{
	txts_count(txts, TXTS_CALL_READY);
	return txts->ops->ready(txts) & txts_all(txts);
}

/*
 * The stamp of a suspect is compared with the PHC at commit, in units that
 * only convert() knows, and that takes a lock which is illegal here.
 */
static void txts_start_check(struct txts_slot *slot)
{
	slot->state = TXTS_READING;
	slot->reading = true;
	slot->check = true;
	slot->poll_at = 0;
	set_bit(slot->index, slot->txts->checks);
}

/**
 * txts_take - the waiting request has its stamp and leaves the slot
 * @slot: locked
 *
 * The slot is free before anyone hears of the stamp (G7).
 *
 * Context: any, under the lock of the slot.
 */
void txts_take(struct txts_slot *slot)
{
	struct txts_waiter *waiter = slot->waiter;

	txts_leave(slot);
	waiter->outcome = TXTS_DELIVERED;
	if (slot->multi) {
		/* More segments of a GSO frame may be stamped until SENT. */
		txts_quarantine(slot);
		slot->held = true;
		txts_evidence(slot, waiter->read, true);
	} else {
		txts_free_slot(slot);
	}
	txts_add_ended(waiter);
}

/**
 * txts_accept - a value was read; is it a stamp, and whose?
 * @slot: locked
 * @raw: what was read
 * @now: CLOCK_MONOTONIC
 * @by_value: the hardware did not say that it is fresh; only a difference
 *	to the value read last proves it
 *
 * Return: true if the value was a fresh stamp, be it an orphan.
 *
 * Context: any, under the lock of the slot.
 */
bool txts_accept(struct txts_slot *slot, u64 raw, ktime_t now, bool by_value)
{
	struct txts_waiter *waiter = slot->waiter;
	struct txts *txts = slot->txts;
	u8 timer;

	/* A removed device reads all-ones, perhaps from the high word on. */
	if (!raw || upper_32_bits(raw) == U32_MAX) {
		if (!by_value)
			txts_count(txts, TXTS_INVALID_READ);
		return false;
	}
	if (slot->last_valid && raw == slot->last_raw) {
		if (by_value)
			return false;
		if (slot->last_epoch ==
		    atomic_read(&txts->epoch[slot->last_timer])) {
			txts_count(txts, TXTS_STALE_READ);
			return false;
		}
	}
	timer = waiter ? waiter->timer : slot->last_timer;
	slot->last_raw = raw;
	slot->last_timer = timer;
	slot->last_epoch = atomic_read(&txts->epoch[timer]);
	slot->last_valid = true;

	trace_txts_ready(txts, slot->index, slot->gen, raw);
	switch (slot->state) {
	case TXTS_ARMED:
	case TXTS_SENT:
		waiter->raw = raw;
		waiter->read = now;
		if (waiter->suspect)
			txts_start_check(slot);
		else
			txts_take(slot);
		break;
	default:
		txts_orphan(slot, raw);
		break;
	}
	return true;
}

/* The stamp of a slot that waits is not there: when to look again. */
static void txts_not_ready(struct txts_slot *slot, ktime_t now)
{
	struct txts_waiter *waiter = slot->waiter;
	struct txts *txts = slot->txts;
	enum txts_stage stage;
	u64 delay_ns;
	s64 left;

	if (slot->state != TXTS_ARMED && slot->state != TXTS_SENT)
		return;

	txts_count(txts, TXTS_NOT_READY);
	waiter->attempts++;
	if (waiter->attempts > slot->max_attempts)
		slot->max_attempts = waiter->attempts;
	stage = txts_policy_retry(READ_ONCE(txts->policy), waiter->attempts,
				  &delay_ns);
	if (txts->flags & TXTS_SLEEPS)
		stage = TXTS_STAGE_AUX;
	if (stage != waiter->stage)
		trace_txts_stage(txts, slot->index, waiter->stage, stage);
	waiter->stage = stage;
	slot->poll_at = ktime_add_ns(now, delay_ns);
	/* No last look at the deadline: look once more before it. */
	if ((txts->flags & TXTS_SLEEPS) && waiter->sent) {
		left = ktime_sub(txts_deadline(waiter), now);
		if (delay_ns >= left && left > TXTS_LAST_POLL_NS)
			slot->poll_at = ktime_add_ns(now, left / 2);
	}
	txts_arm_timer(slot, now, slot->poll_at);
}

/**
 * txts_peek - look at a slot whose ready bit is clear
 * @slot: locked
 * @now: CLOCK_MONOTONIC
 *
 * For the side effect of the read, or because another slot's acknowledge may
 * have cleared the bit.
 *
 * Return: true if a stamp was found.
 *
 * Context: any, under the lock of the slot.
 */
bool txts_peek(struct txts_slot *slot, ktime_t now)
{
	bool pending = slot->state != TXTS_FREE && slot->state != TXTS_RESERVED;
	struct txts *txts = slot->txts;
	u64 raw;
	int err;

	if (!txts->ops->peek || slot->check)
		return false;
	txts_count(txts, TXTS_CALL_PEEK);
	err = txts->ops->peek(txts, slot->index, pending, &raw);
	atomic_inc(&txts->readouts);
	return !err && pending && txts_accept(slot, raw, now, true);
}

/*
 * Read a slot whose stamp was ready after @seen was taken. If someone else has
 * read since, the mask may be outdated: a stamp may just be landing, and to
 * read it would mix two of them. Nor does a bit that is clear now prove that
 * somebody had the stamp, where another slot's acknowledge clears it.
 */
static bool txts_read_slot(struct txts_slot *slot, int *seen, ktime_t now)
{
	struct txts *txts = slot->txts;
	unsigned long flags;
	bool fresh = false;
	u64 raw;

	raw_spin_lock_irqsave(&slot->lock, flags);
	if (slot->check)
		goto unlock;	/* one stamp at a time */
	if (atomic_read(&txts->readouts) != *seen &&
	    !(txts_ready(txts) & BIT_ULL(slot->index))) {
		fresh = txts_peek(slot, now);
		goto unlock;
	}

	txts_count(txts, TXTS_CALL_READ);
	if (!txts->ops->read(txts, slot->index, &raw)) {
		/* Our own read outdates nothing, if it is the only one. */
		if (atomic_inc_return(&txts->readouts) == *seen + 1)
			++*seen;
		fresh = txts_accept(slot, raw, now, false);
	}
unlock:
	raw_spin_unlock_irqrestore(&slot->lock, flags);
	return fresh;
}

/* A slot that was not ready, or whose value was no stamp. */
static bool txts_missed(struct txts_slot *slot, bool peek, bool due,
			ktime_t now)
{
	unsigned long flags;
	bool fresh;

	raw_spin_lock_irqsave(&slot->lock, flags);
	/* Its bit may have been acknowledged with another slot's. */
	peek |= due && txts_slot_live(slot);
	fresh = peek && txts_peek(slot, now);
	if (due && !fresh)
		txts_not_ready(slot, now);
	raw_spin_unlock_irqrestore(&slot->lock, flags);
	return fresh;
}

/**
 * txts_drain - read every slot that is ready
 * @txts: the tracker, running; reads its registers without sleeping
 * @due: slots whose stamp was expected: if not there, they are tried again
 * @now: CLOCK_MONOTONIC
 *
 * Goes by what the hardware says, not by what is requested: a stamp left
 * unread may block all further interrupts.
 *
 * Return: the slots that held a fresh stamp.
 *
 * Context: any, under rcu_read_lock(), no slot lock held.
 */
u64 txts_drain(struct txts *txts, u64 due, ktime_t now)
{
	u64 ptp = txts_bits(txts->ptp);
	int seen = atomic_read(&txts->readouts);
	u64 ready, peek, late, fresh = 0;
	u64 began = txts_work_clock();
	unsigned int i;

	/* The mask must not be older than the count it is dated by. */
	smp_rmb();
	ready = txts_ready(txts);

	for (i = 0; i < txts->nslots && ready >> i; i++)
		if ((ready & BIT_ULL(i)) &&
		    txts_read_slot(&txts->slots[i], &seen, now))
			fresh |= BIT_ULL(i);

	/* Neighbours first: a peek may acknowledge them unread. */
	due &= ~fresh;
	late = due;
	peek = txts->peek_slots & ~ready;
	for (i = 0; i < txts->nslots && (due | peek) >> i; i++)
		if (((due | peek) & BIT_ULL(i)) &&
		    txts_missed(&txts->slots[i], peek & BIT_ULL(i),
				due & BIT_ULL(i), now))
			fresh |= BIT_ULL(i);
	txts_charge(txts, TXTS_COST_READ,
		    (fresh | late) & ptp ? TXTS_PTP : TXTS_ORDINARY, began);
	return fresh;
}

/**
 * txts_drain_irq - drain after an interrupt
 * @txts: the tracker, running; reads its registers without sleeping
 * @slots: which slots the cause named
 *
 * Context: as txts_drain().
 */
void txts_drain_irq(struct txts *txts, u64 slots)
{
	ktime_t now = ktime_get();
	unsigned int i;

	if (slots != TXTS_ALL_SLOTS || txts->nslots == 1)
		txts_drain(txts, slots, now);
	else if (!txts_drain(txts, 0, now))
		/* No slot was named and none has a stamp: all are late. */
		txts_drain(txts, TXTS_ALL_SLOTS, now);
	if (!txts->ops->rearm)
		return;

	/* What landed before the interrupt was armed raises none (G6). */
	for (i = 0; i < TXTS_MAX_DRAINS; i++) {
		txts->ops->rearm(txts);
		if (!txts_ready(txts))
			return;
		/* A bit that stays without a stamp would keep us busy. */
		if (!txts_drain(txts, 0, ktime_get()))
			return;
	}
	txts_kick_event(txts, TXTS_EVENT_IRQ, TXTS_STAGE_AUX);
}

/**
 * txts_read_sleeping - read a slot by a call that sleeps
 * @slot: not locked
 *
 * The request may end meanwhile; what is read then is an orphan.
 *
 * Context: the tracker's thread.
 */
void txts_read_sleeping(struct txts_slot *slot)
{
	struct txts *txts = slot->txts;
	unsigned long flags;
	ktime_t now;
	u64 raw;
	int err;

	raw_spin_lock_irqsave(&slot->lock, flags);
	if (slot->reading || slot->state == TXTS_FREE ||
	    slot->state == TXTS_RESERVED) {
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		return;
	}
	slot->reading = true;
	if (slot->state != TXTS_QUARANTINE)
		slot->state = TXTS_READING;
	raw_spin_unlock_irqrestore(&slot->lock, flags);

	txts_count(txts, TXTS_CALL_READ);
	err = txts->ops->read(txts, slot->index, &raw);

	raw_spin_lock_irqsave(&slot->lock, flags);
	now = ktime_get();
	slot->reading = false;
	if (slot->state == TXTS_READING)
		slot->state = slot->waiter->sent ? TXTS_SENT : TXTS_ARMED;
	if (slot->reset) {
		slot->reset = false;
		txts_free_slot(slot);
	} else if (err || !txts_accept(slot, raw, now, false)) {
		txts_not_ready(slot, now);
	}
	raw_spin_unlock_irqrestore(&slot->lock, flags);
}

/**
 * txts_irq - the device raised a timestamp interrupt
 * @txts: the tracker
 * @slots: mask of the slots that the cause register named, or TXTS_ALL_SLOTS
 *
 * Call it after the cause was acknowledged, so that a stamp which lands from
 * here on raises the next interrupt. Reads at once unless the policy moves
 * that elsewhere; delivers at once only in threaded handlers.
 *
 * Context: any. The caller holds no lock that @convert or @deliver take.
 */
void txts_irq(struct txts *txts, u64 slots)
{
	enum txts_stage stage;

	if (WARN_ON_ONCE(!txts->slots))
		return;

	rcu_read_lock();
	if (!txts_running(txts) || (txts->flags & TXTS_PUSHED))
		goto unlock;

	if (READ_ONCE(txts->irq_missed))
		WRITE_ONCE(txts->irq_missed, false);
	stage = txts_stage_of(txts, TXTS_WORK_READ);
	if (stage == TXTS_STAGE_INLINE) {
		txts_drain_irq(txts, slots);
		txts_settle(txts);
	} else {
		if (slots == TXTS_ALL_SLOTS)
			slots = 0;
		set_bit(TXTS_EVENT_IRQ, &txts->events);
		/* Pairs with txts_hurry(): one of us sees the other. */
		smp_mb__after_atomic();
		if (stage == TXTS_STAGE_AUX && txts_bits(txts->ptp))
			stage = TXTS_STAGE_BH;
		txts_kick_due(txts, slots, stage);
		txts_moved_away(txts);
	}
unlock:
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(txts_irq);

/**
 * txts_poll - look for stamps now
 * @txts: the tracker
 *
 * For hardware without a stamp interrupt, from where the driver runs anyway
 * (NAPI). The tracker polls by itself as well; nothing depends on this call.
 *
 * Context: softirq or process. The caller holds no lock that @convert or
 * @deliver take.
 */
void txts_poll(struct txts *txts)
{
	u64 busy;

	if (WARN_ON_ONCE(!txts->slots))
		return;

	busy = ~txts_bits(txts->free) & ~txts_bits(txts->quarantined) &
	       txts_all(txts);
	rcu_read_lock();
	if (busy && txts_running(txts) && !(txts->flags & TXTS_PUSHED)) {
		if (txts->flags & TXTS_SLEEPS) {
			txts_kick_due(txts, busy, TXTS_STAGE_AUX);
		} else {
			txts_drain(txts, 0, ktime_get());
			txts_settle(txts);
		}
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(txts_poll);

/**
 * txts_complete - the device pushed a stamp
 * @txts: the tracker, initialised with TXTS_PUSHED
 * @slot: the slot, as txts_reserve() returned it
 * @raw: the stamp
 *
 * Context: any. The caller holds no lock that @convert or @deliver take.
 */
void txts_complete(struct txts *txts, unsigned int slot, u64 raw)
{
	unsigned long flags;
	struct txts_slot *s;

	if (WARN_ON_ONCE(!txts->slots))
		return;
	if (slot >= txts->nslots) {
		txts_count(txts, TXTS_MISUSE);
		return;
	}

	s = &txts->slots[slot];
	rcu_read_lock();
	if (txts_running(txts)) {
		raw_spin_lock_irqsave(&s->lock, flags);
		if (s->check)
			s->next_raw = raw;	/* one stamp at a time */
		else
			txts_accept(s, raw, ktime_get(), false);
		raw_spin_unlock_irqrestore(&s->lock, flags);
		txts_settle(txts);
		/* No drain tells this CPU's account that time goes by. */
		if (txts_level() != TXTS_LEVEL_PROMPT)
			txts_moved_away(txts);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(txts_complete);
