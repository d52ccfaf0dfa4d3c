// SPDX-License-Identifier: GPL-2.0
/*
 * Deliver: what happens to a request after it has left its slot. Everything
 * that may take a lock, wake someone or free memory is here, outside the slot
 * lock and never in hard IRQ.
 */
#include <linux/device.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "internal.h"
#include "trace.h"

/**
 * txts_end - end a live request without stamp
 * @slot: locked, live
 * @outcome: TXTS_TIMEOUT, TXTS_FLUSHED or a discard
 * @now: CLOCK_MONOTONIC
 *
 * Leaves the slot in quarantine and the request in the list of ended ones;
 * the caller makes delivery run.
 *
 * Context: any, under the lock of the slot.
 */
void txts_end(struct txts_slot *slot, enum txts_counter outcome, ktime_t now)
{
	struct txts_waiter *waiter = slot->waiter;
	struct txts *txts = slot->txts;

	waiter->outcome = outcome;
	waiter->read = now;
	if (outcome == TXTS_TIMEOUT) {
		waiter->wedged = !waiter->sent;
		trace_txts_timeout(txts, slot->index, slot->gen,
				   waiter->attempts);
	}
	txts_quarantine(slot);
	/* Two frames may still be stamped: its own and the one it suspects. */
	if (waiter->suspect)
		slot->multi = true;
	txts_add_ended(waiter);
}

/* A stamp may wait where the thread has to deliver it, its end may not. */
void txts_add_ended(struct txts_waiter *waiter)
{
	struct txts *txts = waiter->slot->txts;

	/* The ring of an owner waits for it. */
	if (waiter->class == TXTS_ORDINARY && waiter->skb &&
	    waiter->outcome == TXTS_DELIVERED &&
	    READ_ONCE(txts->policy) == TXTS_POLICY_AUTO &&
	    txts_level() != TXTS_LEVEL_PROMPT)
		llist_add(&waiter->node, &txts->ended_later);
	else
		llist_add(&waiter->node, &txts->ended);
}

void txts_put_waiter(struct txts_waiter *waiter)
{
	struct txts_slot *slot = waiter->slot;

	/* Nothing of the waiter is used after this. */
	smp_mb__before_atomic();
	set_bit(waiter - slot->waiters, &slot->idle);
}

/* Convert, and refuse what the clock's step made meaningless (G13). */
static enum txts_counter txts_convert(struct txts *txts,
				      const struct txts_waiter *waiter,
				      ktime_t *stamp)
{
	int err;

	err = txts->ops->convert(txts, waiter->timer, waiter->raw, stamp);
	/* convert() took the lock under which clock_changed() is called. */
	if (atomic_read(&txts->epoch[waiter->timer]) != waiter->epoch)
		return TXTS_DISCARD_CLOCK;
	return err ? TXTS_DISCARD_CONVERT : TXTS_DELIVERED;
}

static void txts_notify_skb(struct sk_buff *skb, const ktime_t *stamp)
{
	struct skb_shared_hwtstamps hwtstamps = {};

	if (stamp) {
		hwtstamps.hwtstamp = *stamp;
		skb_tstamp_tx(skb, &hwtstamps);
		dev_consume_skb_any(skb);
	} else {
		dev_kfree_skb_any(skb);
	}
}

static void txts_deliver(struct txts_waiter *waiter)
{
	enum txts_counter outcome = waiter->outcome;
	struct txts_slot *slot = waiter->slot;
	struct sk_buff *skb = waiter->skb;
	struct txts *txts = slot->txts;
	void *owner = waiter->owner;
	ktime_t stamp = 0;

	if (outcome == TXTS_DELIVERED) {
		if (waiter->flushes != atomic_read(&txts->flushes))
			outcome = TXTS_FLUSHED;
		else
			outcome = txts_convert(txts, waiter, &stamp);
	}
	if (outcome == TXTS_DELIVERED) {
		txts_measure(txts, TXTS_HIST_READ, waiter->committed,
			     waiter->read);
		txts_measure(txts, TXTS_HIST_DELIVER, waiter->read,
			     ktime_get());
	}
	if (waiter->wedged) {
		txts_count(txts, TXTS_WEDGED);
		dev_warn_ratelimited(txts->dev,
				     "txts: slot %u wedged: its frame was never sent\n",
				     slot->index);
	}
	trace_txts_deliver(txts, slot->index, outcome, stamp,
			   ktime_sub(waiter->read, waiter->committed));
	/* Who gets the stamp finds it counted, and can ask again. */
	txts_count(txts, outcome);
	txts_put_waiter(waiter);

	if (skb)
		txts_notify_skb(skb, outcome == TXTS_DELIVERED ? &stamp : NULL);
	else
		txts->ops->deliver(txts, owner,
				   outcome == TXTS_DELIVERED ? &stamp : NULL);
}

static void txts_deliver_list(struct txts *txts, struct llist_head *head)
{
	struct txts_waiter *waiter, *next;
	struct llist_node *list;
	enum txts_class class;
	u64 began;

	if (llist_empty(head))
		return;
	began = txts_work_clock();
	list = llist_reverse_order(llist_del_all(head));
	llist_for_each_entry_safe(waiter, next, list, node) {
		class = waiter->class;
		txts_deliver(waiter);
		began = txts_charge(txts, TXTS_COST_DELIVER, class, began);
	}
}

/**
 * txts_deliver_ended - deliver the requests that have left their slots
 * @txts: the tracker
 *
 * But for those whose stamps the thread has to deliver. Several contexts may
 * do so at a time; each request is in one's list only.
 *
 * Context: softirq or process, no lock held.
 */
void txts_deliver_ended(struct txts *txts)
{
	txts_deliver_list(txts, &txts->ended);
	/* What a stage other than the thread's has read goes there as well. */
	if (!llist_empty(&txts->ended_later))
		txts_kick(txts, TXTS_STAGE_AUX);
}

/**
 * txts_deliver_all - deliver all requests that have left their slots
 * @txts: the tracker
 *
 * Context: process, no lock held.
 */
void txts_deliver_all(struct txts *txts)
{
	txts_deliver_list(txts, &txts->ended);
	txts_deliver_list(txts, &txts->ended_later);
}

/* What the check says about the stamp read for a suspect. */
static void txts_checked(struct txts_slot *slot, enum txts_counter outcome,
			 bool older)
{
	struct txts_waiter *waiter = slot->waiter;
	ktime_t now = ktime_get();
	u64 raw;

	slot->check = false;
	slot->reading = false;
	if (slot->reset) {
		slot->reset = false;
		txts_free_slot(slot);
	} else if (!waiter) {
		/* Ended meanwhile: nobody's stamp. */
		txts_orphan(slot, slot->last_raw);
	} else if (outcome == TXTS_DELIVERED && older) {
		slot->state = waiter->sent ? TXTS_SENT : TXTS_ARMED;
		txts_orphan(slot, waiter->raw);
		/* Its own stamp may be there: the timer takes the last look. */
		if (slot->expired)
			txts_arm_timer(slot, now, now);
		slot->expired = false;
	} else if (outcome == TXTS_DELIVERED) {
		txts_take(slot);
	} else {
		txts_end(slot, outcome, now);
		slot->seen = true;
	}

	/* What the device pushed meanwhile comes second. */
	if (slot->next_raw) {
		raw = slot->next_raw;
		slot->next_raw = 0;
		txts_accept(slot, raw, now, false);
	}
}

/* The stamp read for a suspect: its own, or the orphan's? */
static void txts_check_suspect(struct txts_slot *slot)
{
	struct txts *txts = slot->txts;
	enum txts_counter outcome = TXTS_DISCARD_SUSPECT;
	struct txts_waiter w = {};
	unsigned long flags;
	ktime_t stamp = 0;

	/* The check flag keeps the slot; the waiter may end meanwhile. */
	raw_spin_lock_irqsave(&slot->lock, flags);
	if (slot->waiter)
		w = *slot->waiter;
	raw_spin_unlock_irqrestore(&slot->lock, flags);

	if (w.slot && txts->ops->phc && txts_running(txts))
		outcome = txts_convert(txts, &w, &stamp);

	raw_spin_lock_irqsave(&slot->lock, flags);
	txts_checked(slot, outcome, ktime_before(stamp, w.phc));
	raw_spin_unlock_irqrestore(&slot->lock, flags);
}

/**
 * txts_check_suspects - compare stamps read for suspects with the PHC
 * @txts: the tracker
 *
 * Context: softirq or process, no lock held; in txts_stop() after everything
 * else has stopped.
 */
void txts_check_suspects(struct txts *txts)
{
	u64 checks = txts_bits(txts->checks);
	unsigned int i;

	if (!checks)
		return;
	for (i = 0; i < txts->nslots; i++)
		if (test_and_clear_bit(i, txts->checks))
			txts_check_suspect(&txts->slots[i]);

	/* Slots under check were left unread, perhaps with the interrupt. */
	rcu_read_lock();
	if (txts->flags & TXTS_SLEEPS)
		txts_kick_due(txts, checks, TXTS_STAGE_AUX);
	else if (txts_running(txts) && !(txts->flags & TXTS_PUSHED))
		txts_drain(txts, txts->flags & TXTS_POLLED ? checks : 0,
			   ktime_get());
	if (txts_bits(txts->checks))
		txts_kick(txts, TXTS_STAGE_BH);
	rcu_read_unlock();
}

/**
 * txts_settle - deliver what a drain found, here or at the proper stage
 * @txts: the tracker
 *
 * Context: any, under rcu_read_lock() or in a stage; no lock held.
 */
void txts_settle(struct txts *txts)
{
	enum txts_stage stage;

	if (!llist_empty(&txts->ended_later))
		txts_kick(txts, TXTS_STAGE_AUX);
	if (llist_empty(&txts->ended) && !txts_bits(txts->checks))
		return;

	/* What may be moved away is in the other list. */
	stage = txts_policy_stage(READ_ONCE(txts->policy), TXTS_LEVEL_PROMPT,
				  TXTS_WORK_DELIVER);
	if (stage == TXTS_STAGE_INLINE && !in_hardirq() && !irqs_disabled()) {
		txts_check_suspects(txts);
		txts_deliver_ended(txts);
	} else {
		txts_kick(txts, stage);
	}
}
