// SPDX-License-Identifier: GPL-2.0
/* Life of a tracker: init, start, flush, stop, destroy, and what resets it. */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "compat.h"
#include "internal.h"

static const char *txts_bad_params(const struct txts_params *params)
{
	const struct txts_ops *ops = params->ops;
	bool pushed = params->flags & TXTS_PUSHED;
	bool sleeps = params->flags & TXTS_SLEEPS;

	if (!params->slots || params->slots > TXTS_MAX_SLOTS)
		return "number of slots not in 1..64";
	if (params->flags & ~(TXTS_POLLED | TXTS_SLEEPS | TXTS_PUSHED))
		return "unknown flag";
	if (pushed && params->flags != TXTS_PUSHED)
		return "pushed stamps are neither polled nor read";
	if (!ops->convert)
		return "no convert()";
	if (!pushed && !ops->read)
		return "no read()";
	if (!pushed && !sleeps && !ops->ready)
		return "no ready()";
	if (ops->peek && (pushed || sleeps))
		return "peek() is for registers that are read";
	if (params->peek_slots && !ops->peek)
		return "slots to peek at, but no peek()";
	if (params->peek_slots & ~GENMASK_ULL(params->slots - 1, 0))
		return "slots to peek at that do not exist";
	if (params->timeout_us > TXTS_LIMIT_US)
		return "timeout above 5 s";
	return NULL;
}

static void txts_init_slot(struct txts_slot *slot, struct txts *txts,
			   unsigned int index)
{
	unsigned int i;

	raw_spin_lock_init(&slot->lock);
	slot->txts = txts;
	slot->index = index;
	slot->idle = GENMASK(TXTS_WAITERS - 1, 0);
	for (i = 0; i < TXTS_WAITERS; i++)
		slot->waiters[i].slot = slot;
	hrtimer_setup(&slot->timer, txts_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);
	set_bit(index, txts->free);
}

/**
 * txts_init - make a tracker out of zeroed memory
 * @txts: the tracker, embedded in the driver's data
 * @params: what to track; not used after return, but @params->ops is
 *
 * Before the netdev is registered. The tracker is stopped and stamping is off
 * until txts_start() and txts_enable(). Needs no PHC.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL: malformed parameters (the reason is logged); -EBUSY:
 * initialised already; -ENOMEM and what starting a thread returns. After an
 * error the tracker is as before.
 */
int txts_init(struct txts *txts, const struct txts_params *params)
{
	const char *reason;
	unsigned int i;
	int err;

	if (WARN_ON_ONCE(txts->slots))
		return -EBUSY;
	if (WARN_ON_ONCE(!params->dev || !params->ops))
		return -EINVAL;
	reason = txts_bad_params(params);
	if (reason) {
		dev_err(params->dev, "txts: %s\n", reason);
		return -EINVAL;
	}

	*txts = (struct txts) {
		.ops = params->ops,
		.dev = params->dev,
		.nslots = params->slots,
		.flags = params->flags,
		.peek_slots = params->peek_slots,
		.timeout = txts_us(params->timeout_us ?: TXTS_TIMEOUT_US),
		.quarantine = ms_to_ktime(params->quarantine_ms ?:
					  TXTS_QUARANTINE_MS),
		.ptp_hold = ms_to_ktime(params->ptp_hold_ms ?:
					TXTS_PTP_HOLD_MS),
		.link = true,
	};
	init_llist_head(&txts->ended);
	init_llist_head(&txts->ended_later);

	txts->pcpu = alloc_percpu(struct txts_pcpu);
	if (!txts->pcpu)
		return -ENOMEM;

	err = txts_init_stages(txts);
	if (err)
		goto free_pcpu;

	txts->slots = kcalloc(txts->nslots, sizeof(*txts->slots), GFP_KERNEL);
	if (!txts->slots) {
		err = -ENOMEM;
		goto destroy_worker;
	}
	for (i = 0; i < txts->nslots; i++)
		txts_init_slot(&txts->slots[i], txts, i);
	txts_debugfs_add(txts);
	return 0;

destroy_worker:
	kthread_destroy_worker(txts->worker);
free_pcpu:
	free_percpu(txts->pcpu);
	memset(txts, 0, sizeof(*txts));
	return err;
}
EXPORT_SYMBOL_GPL(txts_init);

/**
 * txts_destroy - stop a tracker and free what it has
 * @txts: the tracker; afterwards as before txts_init()
 *
 * After the last thing that may call into it is gone (netdev unregistered,
 * interrupts freed). Does nothing to a tracker that was not initialised.
 *
 * Context: process, may sleep.
 */
void txts_destroy(struct txts *txts)
{
	if (!txts->slots)
		return;
	txts_stop(txts);
	txts_debugfs_remove(txts);
	kthread_destroy_worker(txts->worker);
	kfree(txts->slots);
	free_percpu(txts->pcpu);
	memset(txts, 0, sizeof(*txts));
}
EXPORT_SYMBOL_GPL(txts_destroy);

/*
 * What a register holds that is read by value was there before: without this
 * the first peek would take it for a stamp.
 */
static void txts_learn_values(struct txts *txts)
{
	struct txts_slot *slot;
	unsigned long flags;
	unsigned int i;
	u64 raw;

	if (!txts->ops->peek)
		return;
	for (i = 0; i < txts->nslots; i++) {
		slot = &txts->slots[i];
		raw_spin_lock_irqsave(&slot->lock, flags);
		if (slot->state == TXTS_QUARANTINE) {
			/* Here a difference is the orphan. */
			txts_peek(slot, ktime_get());
		} else {
			txts_count(txts, TXTS_CALL_PEEK);
			if (!txts->ops->peek(txts, i, true, &raw)) {
				slot->last_raw = raw;
				slot->last_valid = true;
			}
		}
		raw_spin_unlock_irqrestore(&slot->lock, flags);
	}
}

/**
 * txts_start - accept requests and interrupts
 * @txts: the tracker
 *
 * After the device was set up, before its queues are started. Slots that were
 * in quarantine when the tracker stopped still are. Starting a started
 * tracker does nothing. Stamping stays as txts_enable() set it.
 *
 * Context: process, may sleep.
 *
 * Return: 0, or -EINVAL if the tracker was never initialised.
 */
int txts_start(struct txts *txts)
{
	if (WARN_ON_ONCE(!txts->slots))
		return -EINVAL;
	if (txts_running(txts))
		return 0;

	txts_learn_values(txts);
	WRITE_ONCE(txts->running, true);
	/* An interrupt that came before was refused and must not be the last */
	if (!(txts->flags & (TXTS_POLLED | TXTS_SLEEPS | TXTS_PUSHED))) {
		rcu_read_lock();
		txts_drain_irq(txts, 0);
		txts_settle(txts);
		rcu_read_unlock();
	}
	return 0;
}
EXPORT_SYMBOL_GPL(txts_start);

static void txts_end_all(struct txts *txts)
{
	struct txts_slot *slot;
	unsigned long flags;
	unsigned int i;

	/* Requests reserved before this are flushed at their commit. */
	atomic_inc(&txts->flushes);
	for (i = 0; i < txts->nslots; i++) {
		slot = &txts->slots[i];
		raw_spin_lock_irqsave(&slot->lock, flags);
		if (txts_slot_live(slot))
			txts_end(slot, TXTS_FLUSHED, ktime_get());
		raw_spin_unlock_irqrestore(&slot->lock, flags);
	}
}

/**
 * txts_stop - end all requests and wait until nothing runs any more
 * @txts: the tracker
 *
 * After return no callback runs, no timer is armed and no reference is held.
 * What comes later is refused, not queued; txts_sent() and txts_dropped()
 * stay legal, and a commit after this keeps its slot in quarantine. Stopping a
 * stopped tracker does nothing.
 *
 * Context: process, may sleep. The caller holds no lock that @convert or
 * @deliver take.
 */
void txts_stop(struct txts *txts)
{
	unsigned int i;

	might_sleep();
	if (!txts->slots || !txts_running(txts))
		return;

	WRITE_ONCE(txts->running, false);
	txts_end_all(txts);

	/* Everyone who saw the tracker running has left. */
	synchronize_net();
	for (i = 0; i < txts->nslots; i++)
		hrtimer_cancel(&txts->slots[i].timer);
	txts_cancel_stages(txts);
	for (i = 0; i < txts->nslots; i++)
		txts->slots[i].timer_armed = false;
	bitmap_zero(txts->due, TXTS_MAX_SLOTS);
	txts->events = 0;
	atomic64_set(&txts->bh_queued, 0);

	txts_check_suspects(txts);
	txts_deliver_all(txts);
}
EXPORT_SYMBOL_GPL(txts_stop);

/**
 * txts_flush - end all requests that wait
 * @txts: the tracker
 *
 * They are counted as flushed; their slots go to quarantine. Does not wait:
 * references are dropped shortly afterwards, in BH or by the tracker's thread.
 *
 * Context: any; the caller may hold any lock.
 */
void txts_flush(struct txts *txts)
{
	if (!txts->slots)
		return;
	rcu_read_lock();
	txts_end_all(txts);
	if (!llist_empty(&txts->ended))
		txts_kick(txts, TXTS_STAGE_BH);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(txts_flush);

/**
 * txts_flush_queue - end the requests of one queue and wait for them
 * @txts: the tracker
 * @queue: as in struct txts_request
 *
 * After return @deliver neither runs nor will run for an owner of that queue
 * whose txts_commit() returned before the call. The caller keeps the queue's
 * xmit away meanwhile. Other queues are not disturbed.
 *
 * Context: process, may sleep. The caller holds no lock that @convert or
 * @deliver take.
 */
void txts_flush_queue(struct txts *txts, u16 queue)
{
	struct txts_slot *slot;
	unsigned long flags;
	unsigned int i;

	might_sleep();
	if (!txts->slots)
		return;
	for (i = 0; i < txts->nslots; i++) {
		slot = &txts->slots[i];
		raw_spin_lock_irqsave(&slot->lock, flags);
		if (slot->waiter && slot->waiter->queue == queue) {
			slot->waiter->doomed = true;
			if (txts_slot_live(slot))
				txts_end(slot, TXTS_FLUSHED, ktime_get());
		}
		raw_spin_unlock_irqrestore(&slot->lock, flags);
	}
	/* In the section that another one who waits for owners waits for. */
	rcu_read_lock();
	txts_deliver_all(txts);
	rcu_read_unlock();
	/* Others may still be in the middle of what they took before. */
	synchronize_net();
	txts_flush_stages(txts);
}
EXPORT_SYMBOL_GPL(txts_flush_queue);

/**
 * txts_hw_reset - the device was reset: no register holds a stamp
 * @txts: the tracker
 *
 * Frees all slots in quarantine. Requests that wait are flushed. The PHC is
 * another matter: see txts_clock_changed().
 *
 * Context: any; the caller may hold any lock.
 */
void txts_hw_reset(struct txts *txts)
{
	struct txts_slot *slot;
	unsigned long flags;
	unsigned int i;

	if (!txts->slots)
		return;
	txts_flush(txts);
	/* Who looked at the registers before must look again. */
	atomic_inc(&txts->readouts);
	for (i = 0; i < txts->nslots; i++) {
		slot = &txts->slots[i];
		raw_spin_lock_irqsave(&slot->lock, flags);
		slot->suspect = false;
		/* A counter that restarts may well give this value again. */
		slot->last_epoch =
			~atomic_read(&txts->epoch[slot->last_timer]);
		if (slot->state == TXTS_QUARANTINE && slot->reading)
			slot->reset = true;
		else if (slot->state == TXTS_QUARANTINE)
			txts_free_slot(slot);
		raw_spin_unlock_irqrestore(&slot->lock, flags);
	}
}
EXPORT_SYMBOL_GPL(txts_hw_reset);

/**
 * txts_enable - hwtstamp_config's tx_type
 * @txts: the tracker
 * @on: HWTSTAMP_TX_ON (or one step), not HWTSTAMP_TX_OFF
 *
 * Turning off flushes; turning on works as soon as a frame that is still in
 * flight has left. Setting what is set does nothing, so the driver calls it
 * for each configuration that succeeds: off before the registers are
 * changed, on afterwards.
 *
 * Context: any; the caller may hold any lock.
 */
void txts_enable(struct txts *txts, bool on)
{
	if (!txts->slots || READ_ONCE(txts->enabled) == on)
		return;
	WRITE_ONCE(txts->enabled, on);
	if (!on)
		txts_flush(txts);
}
EXPORT_SYMBOL_GPL(txts_enable);

/**
 * txts_link - the link went up or down
 * @txts: the tracker
 * @up: it is up
 *
 * Frames that the MAC holds while the link is down do not age: their slots
 * stay in quarantine. Optional; a tracker starts with the link up.
 *
 * Context: any; the caller may hold any lock.
 */
void txts_link(struct txts *txts, bool up)
{
	if (!txts->slots || READ_ONCE(txts->link) == up)
		return;
	if (up)
		atomic64_set(&txts->link_since, ktime_get());
	/* Who sees the link up sees since when. */
	smp_store_release(&txts->link, up);
}
EXPORT_SYMBOL_GPL(txts_link);

/**
 * txts_clock_changed - the clock that stamps was set
 * @txts: the tracker
 * @timer: which one
 *
 * For settime, adjtime, and re-initialisation after a reset; not for changes
 * of frequency. Requests that span it are discarded.
 *
 * Context: any, inside the lock that @convert takes, after the change.
 */
void txts_clock_changed(struct txts *txts, unsigned int timer)
{
	if (!txts->slots)
		return;
	if (WARN_ON_ONCE(timer >= TXTS_MAX_TIMERS)) {
		txts_count(txts, TXTS_MISUSE);
		return;
	}
	atomic_inc(&txts->epoch[timer]);
}
EXPORT_SYMBOL_GPL(txts_clock_changed);

MODULE_DESCRIPTION("Tx hardware timestamp tracker");
MODULE_LICENSE("GPL");
