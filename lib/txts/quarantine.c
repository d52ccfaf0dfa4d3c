// SPDX-License-Identifier: GPL-2.0
/*
 * Quarantine: the request ends by time, the slot by evidence. Until it is
 * certain that the MAC writes no stamp of an ended request any more, nobody
 * else gets the slot.
 */
#include "internal.h"
#include "trace.h"

/* How often xmit may ask for a search for evidence, in ns. */
#define TXTS_EVIDENCE_NS	(1 * NSEC_PER_MSEC)

/* Nobody waits in the slot any more. Under its lock. */
void txts_leave(struct txts_slot *slot)
{
	if (slot->waiter && slot->waiter->class == TXTS_PTP)
		clear_bit(slot->index, slot->txts->ptp);
	slot->waiter = NULL;
}

/* Under the lock of the slot. */
void txts_quarantine(struct txts_slot *slot)
{
	WRITE_ONCE(slot->state, TXTS_QUARANTINE);
	txts_leave(slot);
	slot->poll_at = 0;
	set_bit(slot->index, slot->txts->quarantined);
}

/* Under the lock of the slot. */
void txts_free_slot(struct txts_slot *slot)
{
	if (slot->state == TXTS_QUARANTINE)
		clear_bit(slot->index, slot->txts->quarantined);
	slot->state = TXTS_FREE;
	txts_leave(slot);
	slot->poll_at = 0;
	slot->multi = false;
	slot->held = false;
	slot->paused = false;
	slot->seen = false;
	slot->expired = false;
	/* Who finds the bit sees the slot as it was left. */
	smp_mb__before_atomic();
	set_bit(slot->index, slot->txts->free);
}

/**
 * txts_orphan - a stamp was read that nobody waits for
 * @slot: locked; if a request waits, the stamp is not its own
 * @raw: the stamp
 *
 * Context: any, under the lock of the slot.
 */
void txts_orphan(struct txts_slot *slot, u64 raw)
{
	struct txts *txts = slot->txts;

	txts_count(txts, TXTS_ORPHAN);
	trace_txts_orphan(txts, slot->index, slot->gen, raw);
	if (slot->state != TXTS_QUARANTINE || slot->reading)
		return;
	/* Where more than one may come, one is no evidence. */
	if (slot->multi)
		slot->seen = true;
	else
		txts_free_slot(slot);
}

/*
 * All that is left is to hand the slot out and to compare. Where no PHC can
 * be read that would discard the next stamp, so not after a GSO frame, whose
 * segments are rarely stamped one by one, nor if a stamp came already.
 */
static void txts_free_suspect(struct txts_slot *slot)
{
	struct txts *txts = slot->txts;

	slot->suspect = txts->ops->phc || !(slot->held || slot->seen);
	if (slot->suspect)
		txts_count(txts, TXTS_SUSPECT);
	txts_free_slot(slot);
}

/* Read the orphan if it is there. */
static void txts_look(struct txts_slot *slot, ktime_t now)
{
	struct txts *txts = slot->txts;
	u64 raw;

	if (txts->flags & (TXTS_SLEEPS | TXTS_PUSHED))
		return;
	if (!(txts_ready(txts) & BIT_ULL(slot->index)))
		return;
	txts_count(txts, TXTS_CALL_READ);
	if (txts->ops->read(txts, slot->index, &raw))
		return;
	atomic_inc(&txts->readouts);
	txts_accept(slot, raw, now, false);
}

static bool txts_aged(struct txts_slot *slot, ktime_t now)
{
	struct txts *txts = slot->txts;
	ktime_t since = slot->since;
	ktime_t link_since;

	/* A frame held by the MAC does not age. Pairs with txts_link(). */
	if (!smp_load_acquire(&txts->link))
		return false;
	link_since = atomic64_read(&txts->link_since);
	if (ktime_after(link_since, since))
		since = link_since;
	return ktime_compare(ktime_sub(now, since), txts->quarantine) >= 0;
}

/**
 * txts_evidence - can the slot be handed out again?
 * @slot: locked
 * @now: CLOCK_MONOTONIC
 * @ask_mac: ask the MAC too; xmit does not
 *
 * Return: true if the slot was in quarantine and is free now.
 *
 * Context: any, under the lock of the slot; the tracker runs.
 */
bool txts_evidence(struct txts_slot *slot, ktime_t now, bool ask_mac)
{
	struct txts *txts = slot->txts;

	if (slot->state != TXTS_QUARANTINE || slot->reading)
		return false;

	txts_look(slot, now);
	if (slot->state == TXTS_FREE)
		return true;
	if (!slot->gone)
		return false;

	if (ask_mac && txts->ops->mac) {
		switch (txts->ops->mac(txts)) {
		case TXTS_MAC_IDLE:
			/* It left before the question; its stamp is there. */
			txts_look(slot, now);
			if (slot->state == TXTS_QUARANTINE)
				txts_peek(slot, now);
			if (slot->state != TXTS_QUARANTINE)
				return true;
			/* Or on a bus, or in a ring: no look finds it there. */
			if (txts->flags & (TXTS_SLEEPS | TXTS_PUSHED))
				txts_free_suspect(slot);
			else
				txts_free_slot(slot);
			return true;
		case TXTS_MAC_HELD:
			slot->paused = true;
			return false;
		case TXTS_MAC_BUSY:
			/* Released at some time since it was asked last. */
			if (slot->paused) {
				slot->paused = false;
				slot->since = now;
				return false;
			}
			break;
		}
	}
	/* Time is no evidence while frames are held; xmit did not ask. */
	if (!ask_mac && txts->ops->mac)
		return false;
	/* After a GSO frame SENT is enough, unless more stamps than one came */
	if (!(slot->held && !slot->seen) && !txts_aged(slot, now))
		return false;
	txts_free_suspect(slot);
	return true;
}

/**
 * txts_reclaim - xmit found no free slot; is one in quarantine free by now?
 * @txts: the tracker
 * @now: CLOCK_MONOTONIC
 * @class: of who asks, and pays
 *
 * Reads the readiness of quarantined slots, no other register.
 *
 * Return: true if a slot became free.
 *
 * Context: any, under rcu_read_lock(), no slot lock held.
 */
bool txts_reclaim(struct txts *txts, ktime_t now, enum txts_class class)
{
	u64 quarantined = txts_bits(txts->quarantined);
	u64 began = quarantined ? txts_work_clock() : 0;
	struct txts_slot *slot;
	unsigned long flags;
	bool found = false;
	unsigned int i;
	s64 last;

	for (i = 0; i < txts->nslots && quarantined >> i && !found; i++) {
		if (!(quarantined & BIT_ULL(i)))
			continue;
		slot = &txts->slots[i];
		raw_spin_lock_irqsave(&slot->lock, flags);
		if (txts_running(txts))
			found = txts_evidence(slot, now, false);
		raw_spin_unlock_irqrestore(&slot->lock, flags);
	}
	if (quarantined)
		txts_charge(txts, TXTS_COST_READ, class, began);
	if (found || !quarantined ||
	    !(txts->ops->mac || (txts->flags & TXTS_SLEEPS)))
		return found;

	last = atomic64_read(&txts->evidence_at);
	if (now - last >= TXTS_EVIDENCE_NS &&
	    atomic64_try_cmpxchg(&txts->evidence_at, &last, now))
		txts_kick_event(txts, TXTS_EVENT_EVIDENCE, TXTS_STAGE_AUX);
	return false;
}

/* In the tracker's thread, because xmit asked for it. */
void txts_seek_evidence(struct txts *txts)
{
	struct txts_slot *slot;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < txts->nslots && txts_running(txts); i++) {
		if (!test_bit(i, txts->quarantined))
			continue;
		slot = &txts->slots[i];
		if (txts->flags & TXTS_SLEEPS)
			txts_read_sleeping(slot);
		raw_spin_lock_irqsave(&slot->lock, flags);
		if (txts_running(txts))
			txts_evidence(slot, ktime_get(), true);
		raw_spin_unlock_irqrestore(&slot->lock, flags);
	}
}
