// SPDX-License-Identifier: GPL-2.0
/* Stages: carry work from where it was noticed to where it may run. */
#include <linux/device.h>
#include <linux/err.h>

#include "compat.h"
#include "internal.h"

/* Take what is due; what becomes due from here on is for the next run. */
static u64 txts_take_due(struct txts *txts)
{
	u64 due = txts_bits(txts->due);
	unsigned int i;

	for (i = 0; i < txts->nslots && due >> i; i++)
		if ((due & BIT_ULL(i)) && !test_and_clear_bit(i, txts->due))
			due &= ~BIT_ULL(i);
	return due;
}

/* Read out by register, common to all stages. */
static void txts_run(struct txts *txts)
{
	u64 due;

	rcu_read_lock();
	if (txts_running(txts) && !(txts->flags & TXTS_SLEEPS)) {
		due = txts_take_due(txts) & ~txts_bits(txts->free);
		if (test_and_clear_bit(TXTS_EVENT_IRQ, &txts->events))
			txts_drain_irq(txts, due ?: TXTS_ALL_SLOTS);
		else if (due)
			txts_drain(txts, due, ktime_get());
	}
	rcu_read_unlock();
}

static void txts_run_sleeping(struct txts *txts)
{
	u64 due = txts_take_due(txts);
	unsigned int i;

	if (test_and_clear_bit(TXTS_EVENT_IRQ, &txts->events))
		due = txts_all(txts);
	for (i = 0; i < txts->nslots && txts_running(txts); i++)
		if (due & BIT_ULL(i))
			txts_read_sleeping(&txts->slots[i]);
}

static void txts_bh_work(struct work_struct *work)
{
	struct txts *txts = container_of(work, struct txts, bh_work);

	txts_bh_began(txts);
	txts_run(txts);
	txts_check_suspects(txts);
	txts_deliver_ended(txts);
}

static void txts_wq_work(struct work_struct *work)
{
	struct txts *txts = container_of(work, struct txts, wq_work);

	txts_run(txts);
	txts_check_suspects(txts);
	txts_deliver_ended(txts);
}

static void txts_aux_work(struct kthread_work *work)
{
	struct txts *txts = container_of(work, struct txts, aux_work);

	if (txts->flags & TXTS_SLEEPS) {
		txts_run_sleeping(txts);
	} else if (!(txts->flags & TXTS_PUSHED)) {
		set_bit(TXTS_EVENT_DRAINING, &txts->events);
		/* Visible before the event is taken, see txts_hurry(). */
		smp_mb__after_atomic();
		txts_run(txts);
		clear_bit(TXTS_EVENT_DRAINING, &txts->events);
	}
	if (test_and_clear_bit(TXTS_EVENT_EVIDENCE, &txts->events))
		txts_seek_evidence(txts);
	txts_check_suspects(txts);
	txts_deliver_all(txts);
}

int txts_init_stages(struct txts *txts)
{
	struct kthread_worker *worker;

	worker = kthread_run_worker(0, "txts/%s", dev_name(txts->dev));
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	txts->worker = worker;
	INIT_WORK(&txts->bh_work, txts_bh_work);
	INIT_WORK(&txts->wq_work, txts_wq_work);
	kthread_init_work(&txts->aux_work, txts_aux_work);
	return 0;
}

/* Process context, after the last txts_kick() that saw the tracker running. */
void txts_cancel_stages(struct txts *txts)
{
	cancel_work_sync(&txts->bh_work);
	cancel_work_sync(&txts->wq_work);
	kthread_cancel_work_sync(&txts->aux_work);
}

/* Process context: whatever was queued before has run afterwards. */
void txts_flush_stages(struct txts *txts)
{
	flush_work(&txts->bh_work);
	flush_work(&txts->wq_work);
	kthread_flush_work(&txts->aux_work);
}

/**
 * txts_kick - make a stage run
 * @txts: the tracker
 * @stage: where; INLINE is no place to kick, it means BH
 *
 * Under rcu_read_lock(), in a timer or in a stage, so that txts_stop() can
 * wait for it. Refused when the tracker is stopped.
 *
 * Context: any, no slot lock held.
 */
void txts_kick(struct txts *txts, enum txts_stage stage)
{
	if (!txts_running(txts))
		return;

	switch (stage) {
	case TXTS_STAGE_INLINE:
	case TXTS_STAGE_BH:
		/* Before it can run; it takes the time away. */
		atomic64_cmpxchg(&txts->bh_queued, 0, ktime_get());
		queue_work(system_bh_wq, &txts->bh_work);
		break;
	case TXTS_STAGE_AUX:
		kthread_queue_work(txts->worker, &txts->aux_work);
		break;
	case TXTS_STAGE_WQ:
		schedule_work(&txts->wq_work);
		break;
	}
}

void txts_kick_event(struct txts *txts, enum txts_event event,
		     enum txts_stage stage)
{
	set_bit(event, &txts->events);
	txts_kick(txts, stage);
}

void txts_kick_due(struct txts *txts, u64 due, enum txts_stage stage)
{
	unsigned int i;

	for (i = 0; i < txts->nslots && due >> i; i++)
		if (due & BIT_ULL(i))
			set_bit(i, txts->due);
	txts_kick(txts, stage);
}
