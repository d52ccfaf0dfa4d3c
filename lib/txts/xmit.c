// SPDX-License-Identifier: GPL-2.0
/* Xmit: from the wish for a stamp to a frame that the device may stamp. */
#include <linux/export.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>

#include "internal.h"
#include "trace.h"

static int txts_skip(struct txts *txts, enum txts_counter reason, int err)
{
	txts_count(txts, reason);
	trace_txts_skip(txts, reason);
	return err;
}

static bool txts_supported(const struct txts *txts,
			   const struct txts_request *request)
{
	if (!request->skb == !request->owner)
		return false;
	if (request->owner && !txts->ops->deliver)
		return false;
	return request->timer < TXTS_MAX_TIMERS &&
	       request->timeout_us <= TXTS_LIMIT_US && request->launch >= 0;
}

/* Under the lock of a free slot. */
static bool txts_reserve_slot(struct txts_slot *slot,
			      const struct txts_request *request, u8 class)
{
	struct txts *txts = slot->txts;
	struct txts_waiter *waiter;
	unsigned long idle;
	ktime_t ahead;

	idle = READ_ONCE(slot->idle);
	if (!idle)
		return false;
	/* What waits for delivery must not keep PTP away from the slot. */
	if (class != TXTS_PTP && !(idle & (idle - 1)) &&
	    READ_ONCE(txts->policy) == TXTS_POLICY_AUTO)
		return false;
	/* Only under the lock are bits cleared. */
	waiter = &slot->waiters[__ffs(idle)];
	clear_bit(__ffs(idle), &slot->idle);

	waiter->skb = request->skb;
	waiter->owner = request->owner;
	waiter->timeout = request->timeout_us ?
			  txts_us(request->timeout_us) : txts->timeout;
	waiter->launch = 0;
	waiter->sent = 0;
	waiter->flushes = atomic_read(&txts->flushes);
	waiter->attempts = 0;
	waiter->queue = request->queue;
	waiter->timer = request->timer;
	waiter->stage = txts_stage_of(txts, TXTS_WORK_POLL);
	waiter->class = class;
	waiter->suspect = slot->suspect;
	waiter->doomed = false;
	waiter->wedged = false;
	if (request->launch) {
		ahead = ktime_sub(request->launch, ktime_get_clocktai());
		if (ahead > 0)
			waiter->launch = ktime_add(ktime_get(), ahead);
	}
	slot->gen = slot->gen + 1 ?: 1;
	slot->waiter = waiter;
	slot->gone = false;
	slot->multi = request->skb && skb_is_gso(request->skb);
	slot->state = TXTS_RESERVED;
	/* After the waiter, which the stages look at once they see the bit. */
	if (class == TXTS_PTP)
		set_bit(slot->index, txts->ptp);
	return true;
}

/* Of several slots one is kept for PTP event messages. */
static bool txts_kept(const struct txts *txts, u8 class)
{
	return class != TXTS_PTP && txts->nslots > 1 &&
	       READ_ONCE(txts->policy) == TXTS_POLICY_AUTO;
}

/*
 * Claim a bit of the map, then the slot. The map has a set bit for each free
 * slot and for no other, so what is claimed stays ours until put back.
 */
static int txts_claim(struct txts *txts, const struct txts_request *request,
		      u8 class, struct txts_ticket *ticket)
{
	struct txts_slot *slot;
	u64 free = txts_bits(txts->free);
	bool kept = txts_kept(txts, class);
	unsigned long flags;
	bool last;
	unsigned int i;

	if (kept && free && !(free & (free - 1)))
		return -EAGAIN;
	for (i = 0; i < txts->nslots && free >> i; i++) {
		if (!(free & BIT_ULL(i)))
			continue;
		/* Nobody is preempted while it holds what it may not keep. */
		preempt_disable();
		if (!test_and_clear_bit(i, txts->free)) {
			preempt_enable();
			continue;
		}
		/* Others may have claimed the rest since. */
		last = kept && !txts_bits(txts->free);
		if (last)
			set_bit(i, txts->free);
		preempt_enable();
		if (last)
			return -EAGAIN;
		slot = &txts->slots[i];
		raw_spin_lock_irqsave(&slot->lock, flags);
		if (!txts_open(txts) ||
		    !txts_reserve_slot(slot, request, class)) {
			txts_free_slot(slot);
			raw_spin_unlock_irqrestore(&slot->lock, flags);
			continue;
		}
		ticket->slot = i;
		ticket->gen = slot->gen;
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		return i;
	}
	return -EBUSY;
}

/*
 * An interrupt left to the thread, which may have begun with it and run no
 * further, may keep the next one away. PTP does not wait for it.
 */
static void txts_hurry(struct txts *txts)
{
	/* The bit of the slot comes before. Pairs with txts_irq(). */
	smp_mb();
	if (test_bit(TXTS_EVENT_IRQ, &txts->events) ||
	    test_bit(TXTS_EVENT_DRAINING, &txts->events))
		txts_kick_event(txts, TXTS_EVENT_IRQ, TXTS_STAGE_BH);
}

/**
 * txts_reserve - ask for the stamp of a packet
 * @txts: the tracker
 * @request: what is asked for; not used after return
 * @ticket: result, stays zero without slot; goes into the Tx buffer
 *
 * Call it for every packet that asks for a hardware stamp, also while
 * stamping is off: that is where skips are counted. No reference is taken;
 * the skb stays the caller's.
 *
 * Context: ndo_start_xmit: softirq, or process with BH off. Never waits,
 * never allocates, reads no register unless no slot is free for it and at
 * least one is in quarantine.
 *
 * Return: the slot, to be written into the descriptor, or a negative error:
 * the packet goes out without stamp and without ticket. -EBUSY: none free,
 * or the policy keeps it for others;
 * -ENETDOWN: off or stopped; -EOPNOTSUPP: the request is malformed or cannot
 * be served; -EINVAL: the tracker was never initialised.
 */
int txts_reserve(struct txts *txts, const struct txts_request *request,
		 struct txts_ticket *ticket)
{
	enum txts_counter reason;
	u8 class;
	int slot;

	*ticket = (struct txts_ticket) {};
	if (WARN_ON_ONCE(!txts->slots))
		return -EINVAL;

	txts_count(txts, TXTS_ASKED);
	if (!txts_open(txts))
		return txts_skip(txts, TXTS_SKIP_OFF, -ENETDOWN);
	if (!txts_supported(txts, request))
		return txts_skip(txts, TXTS_SKIP_UNSUPPORTED, -EOPNOTSUPP);

	txts_assert_reader();
	reason = txts_admit(txts, request, &class);
	if (reason)
		return txts_skip(txts, reason, -EBUSY);
	slot = txts_claim(txts, request, class, ticket);
	/* Also because others hold the kept slot for the time of a glance. */
	if (slot < 0 && (txts_reclaim(txts, ktime_get(), class) ||
			 class == TXTS_PTP))
		slot = txts_claim(txts, request, class, ticket);

	if (slot < 0 && !txts_open(txts))
		return txts_skip(txts, TXTS_SKIP_OFF, -ENETDOWN);
	if (slot < 0)
		return txts_skip(txts, slot == -EAGAIN ? TXTS_SKIP_PTP :
				 TXTS_SKIP_BUSY, -EBUSY);
	if (class == TXTS_PTP)
		txts_hurry(txts);
	txts_count(txts, TXTS_REQUESTED);
	trace_txts_request(txts, slot, ticket->gen, request->queue);
	return slot;
}
EXPORT_SYMBOL_GPL(txts_reserve);

/* Under the lock of the slot: does the ticket name what is reserved there? */
static bool txts_is_reserved(struct txts_slot *slot,
			     const struct txts_ticket *ticket)
{
	if (slot->gen == ticket->gen && slot->state == TXTS_RESERVED)
		return true;
	txts_count(slot->txts, TXTS_MISUSE);
	WARN_ONCE(1, "txts: commit or abort of a request not reserved\n");
	return false;
}

/* Read the PHC for a suspect, without the lock: reserved slots stay put. */
static ktime_t txts_phc_now(struct txts *txts, unsigned int timer)
{
	ktime_t now;

	/* Without PHC every stamp is too old: absent rather than wrong. */
	if (txts->ops->phc(txts, timer, &now))
		return KTIME_MAX;
	return now;
}

/*
 * No interrupt will tell: poll from now on, or rely on SENT and poll only if
 * it does not come? Under the lock of the slot.
 */
static bool txts_poll_at_once(struct txts_slot *slot, ktime_t now)
{
	if (slot->waiter->stage != TXTS_STAGE_INLINE ||
	    !slot->txts->ops->clean ||
	    ewma_txts_sent_read(&slot->sent_ns) > TXTS_PROMPT_NS)
		return true;
	slot->poll_at = ktime_add_ns(slot->since, TXTS_PATIENCE_NS);
	txts_arm_timer(slot, now, slot->poll_at);
	return false;
}

/* See txts_commit(). */
bool __txts_commit(struct txts *txts, const struct txts_ticket *ticket)
{
	struct txts_waiter *waiter;
	bool due = false, clean = false;
	enum txts_stage stage;
	struct txts_slot *slot;
	ktime_t phc = 0, now;
	unsigned long flags;
	unsigned int timer;
	int epoch;
	u16 queue;

	txts_assert_reader();
	slot = txts_slot_of(txts, ticket);
	if (!slot)
		return false;

	raw_spin_lock_irqsave(&slot->lock, flags);
	if (!txts_is_reserved(slot, ticket)) {
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		return false;
	}
	waiter = slot->waiter;
	timer = waiter->timer;
	/* Before the PHC is read and before the frame can be stamped. */
	epoch = atomic_read(&txts->epoch[timer]);
	if (waiter->suspect && txts->ops->phc && txts_open(txts)) {
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		phc = txts_phc_now(txts, timer);
		raw_spin_lock_irqsave(&slot->lock, flags);
	}

	now = ktime_get();
	slot->since = clamp(waiter->launch, now,
			    ktime_add(now, txts_us(TXTS_LIMIT_US)));
	slot->suspect = false;
	if (!txts_open(txts) || waiter->doomed ||
	    waiter->flushes != atomic_read(&txts->flushes)) {
		/* The descriptor asks for the stamp already. */
		txts_quarantine(slot);
		slot->multi |= waiter->suspect;
		txts_put_waiter(waiter);
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		txts_count(txts, TXTS_FLUSHED);
		return false;
	}
	if (waiter->skb)
		skb_get(waiter->skb);
	waiter->committed = now;
	waiter->epoch = epoch;
	waiter->phc = phc;
	slot->state = TXTS_ARMED;
	if (txts->flags & (TXTS_POLLED | TXTS_SLEEPS)) {
		due = txts_poll_at_once(slot, now);
		clean = !due;
	}
	stage = waiter->stage;
	queue = waiter->queue;
	txts_arm_timer(slot, now, ktime_add(now, waiter->timeout));
	raw_spin_unlock_irqrestore(&slot->lock, flags);

	if (due)
		txts_kick_due(txts, BIT_ULL(slot->index), stage);
	else if (clean)
		txts->ops->clean(txts, queue);
	return true;
}
EXPORT_SYMBOL_GPL(__txts_commit);

/* See txts_abort(). */
void __txts_abort(struct txts *txts, struct txts_ticket *ticket)
{
	struct txts_waiter *waiter = NULL;
	struct txts_slot *slot;
	unsigned long flags;

	slot = txts_slot_of(txts, ticket);
	if (slot) {
		raw_spin_lock_irqsave(&slot->lock, flags);
		if (txts_is_reserved(slot, ticket)) {
			waiter = slot->waiter;
			/* No frame exists; what was suspected before, is. */
			txts_free_slot(slot);
			txts_put_waiter(waiter);
		}
		raw_spin_unlock_irqrestore(&slot->lock, flags);
	}
	*ticket = (struct txts_ticket) {};
	if (waiter)
		txts_count(txts, TXTS_ABORTED);
}
EXPORT_SYMBOL_GPL(__txts_abort);
