// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once, on several CPUs: senders on three queues, two works
 * that play the device and clean the rings, an interrupt from a hard timer,
 * and one that stops, flushes, resets and reconfigures. Bounded in steps, not
 * in time. Where a CPU is slow, txts_kunit.stress_rounds= and stress_irq_us= of
 * the kernel's command line make it lighter.
 */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/workqueue.h>

#include "../internal.h"
#include "unit.h"

#define QUEUES		3
#define PER_QUEUE	64
#define DEVICES		2
#define CONTROLS	12	/* a round */
#define QUARANTINE_MS	20
#define TIMEOUT_US	3000

static int stress_seed = 20261130;
module_param(stress_seed, int, 0444);
MODULE_PARM_DESC(stress_seed, "seed of the stress suite");

static int stress_rounds = 40;
module_param(stress_rounds, int, 0444);
MODULE_PARM_DESC(stress_rounds, "rounds of the stress suite");

static int stress_irq_us = 150;
module_param(stress_irq_us, int, 0444);
MODULE_PARM_DESC(stress_irq_us, "period of its timer interrupt");

struct stress;

struct actor {
	struct stress *s;
	struct work_struct work;
	struct rnd_state rnd;
	unsigned int id;
};

struct stress {
	struct unit *u;
	struct workqueue_struct *wq;	/* a thread for each actor */
	struct hrtimer timer;
	raw_spinlock_t mac;		/* what the MAC does is one step */
	struct mutex xmit[QUEUES];	/* as the lock of a netdev queue */
	u64 late[TXTS_MAX_SLOTS];	/* of frames that were outlived */
	atomic_t asks;
	atomic_t sending;
	atomic_t broken;		/* promises, see stress_promised() */
	struct actor senders[QUEUES];
	struct actor devices[DEVICES];
	struct actor control;
};

static u32 below(struct actor *a, u32 limit)
{
	return prandom_u32_state(&a->rnd) % limit;
}

/* Under the lock of the MAC. False if the register is still locked. */
static bool stress_latch(struct unit *u, unsigned int slot, u64 raw)
{
	unsigned int valid = slot < 32 ? REG_VALID : REG_VALID_HIGH;
	struct regfile *rf = &u->rf;
	unsigned long flags;
	bool free;

	/* All of it at a time, as hardware does: nobody reads half of it. */
	raw_spin_lock_irqsave(&rf->lock, flags);
	free = !(rf->reg[valid] & BIT(slot % 32));
	if (free) {
		rf->reg[REG_LOW(slot)] = lower_32_bits(raw);
		rf->reg[REG_HIGH(slot)] = upper_32_bits(raw);
		rf->reg[valid] |= BIT(slot % 32);
		rf->reg[REG_CAUSE] |= CAUSE_TXTS;
	}
	raw_spin_unlock_irqrestore(&rf->lock, flags);
	return free;
}

/* Under the lock of the MAC: the frame leaves. */
static void stress_leave(struct stress *s, struct pkt *pkt)
{
	struct unit *u = s->u;

	if (s->late[pkt->slot])
		stress_latch(u, pkt->slot, s->late[pkt->slot]);
	s->late[pkt->slot] = 0;
	pkt->raw = unit_advance(u, 1);
	pkt->truth = unit_convert(u, pkt->timer, pkt->raw);
	if (!stress_latch(u, pkt->slot, pkt->raw)) {
		pkt->raw = 0;
		pkt->vanished = true;
	}
	WRITE_ONCE(pkt->in_mac, false);
}

/* Under the lock of the MAC: it never leaves, or its stamp does not come. */
static void stress_vanish(struct pkt *pkt)
{
	pkt->vanished = true;
	WRITE_ONCE(pkt->in_mac, false);
}

/*
 * A frame that outlives its request and the time of grace, and leaves only
 * after its slot's next request was committed, cannot be told from that one's:
 * the documentation says so. Here it has left by then; its stamp is late, or
 * lost where the MAC was asked and said that no frame is left in it.
 */
static void stress_outlive(struct stress *s, struct pkt *self)
{
	struct unit *u = s->u;
	unsigned long flags;
	struct pkt *pkt;

	raw_spin_lock_irqsave(&s->mac, flags);
	for (pkt = u->pkts; pkt < u->pkts + u->nr_pkts; pkt++) {
		/* Who finds it on the ring sees its slot. */
		if (pkt == self || !smp_load_acquire(&pkt->on_ring) ||
		    pkt->slot != self->slot || pkt->raw || pkt->vanished)
			continue;
		if (!u->mac_is_honest)
			s->late[self->slot] = unit_advance(u, 1);
		stress_vanish(pkt);
	}
	raw_spin_unlock_irqrestore(&s->mac, flags);
}

static void stress_xmit(struct actor *a, struct pkt *pkt)
{
	struct txts_request request = {
		.skb = pkt->skb,
		.owner = pkt->skb ? NULL : pkt,
		.queue = pkt->queue,
		.timer = pkt->timer,
		.ptp = !below(a, 2),
	};
	struct stress *s = a->s;
	struct unit *u = s->u;
	int slot;

	mutex_lock(&s->xmit[pkt->queue]);
	local_bh_disable();
	atomic_inc(&s->asks);
	slot = txts_reserve(&u->txts, &request, &pkt->ticket);
	if (slot >= 0) {
		pkt->slot = slot;
		stress_outlive(s, pkt);
		if (!below(a, 20)) {
			txts_abort(&u->txts, &pkt->ticket);
		} else {
			WRITE_ONCE(pkt->committed,
				   txts_commit(&u->txts, &pkt->ticket));
			/* The doorbell. */
			smp_store_release(&pkt->on_ring, true);
		}
	}
	local_bh_enable();
	mutex_unlock(&s->xmit[pkt->queue]);
}

static void stress_sender(struct work_struct *work)
{
	struct actor *a = container_of(work, struct actor, work);
	struct stress *s = a->s;
	unsigned int i;

	for (i = 0; i < PER_QUEUE; i++) {
		stress_xmit(a, &s->u->pkts[a->id * PER_QUEUE + i]);
		/* A unit of one slot is busy most of the time: let it work. */
		if (!below(a, s->u->model->slots))
			usleep_range(20, 60);
	}
	atomic_dec(&s->sending);
}

static void stress_isr(void *arg)
{
	struct unit *u = arg;

	u->model->isr(u);
}

static enum hrtimer_restart stress_timer(struct hrtimer *timer)
{
	struct stress *s = container_of(timer, struct stress, timer);

	stress_isr(s->u);
	hrtimer_forward_now(timer, us_to_ktime(stress_irq_us));
	return HRTIMER_RESTART;
}

static void stress_wire(struct actor *a, struct pkt *pkt)
{
	struct stress *s = a->s;
	unsigned long flags;

	raw_spin_lock_irqsave(&s->mac, flags);
	if (!pkt->raw && !pkt->vanished) {
		if (below(a, 16))
			stress_leave(s, pkt);
		else
			stress_vanish(pkt);
	}
	raw_spin_unlock_irqrestore(&s->mac, flags);

	switch (below(a, 4)) {
	case 0:
	case 1:
		unit_in_hardirq(stress_isr, s->u);
		break;
	case 2:
		txts_irq(&s->u->txts, BIT_ULL(pkt->slot));
		break;
	}
}

static void stress_clean(struct actor *a, struct pkt *pkt, bool done)
{
	struct stress *s = a->s;
	unsigned long flags;

	raw_spin_lock_irqsave(&s->mac, flags);
	if (!done)
		stress_vanish(pkt);
	WRITE_ONCE(pkt->in_mac, !pkt->raw && !pkt->vanished);
	raw_spin_unlock_irqrestore(&s->mac, flags);

	local_bh_disable();
	if (done)
		txts_sent(&s->u->txts, &pkt->ticket);
	else
		txts_dropped(&s->u->txts, &pkt->ticket);
	local_bh_enable();
}

/* One step of the device with one frame; false if it has nothing to do. */
static bool stress_device_step(struct actor *a, struct pkt *pkt)
{
	unsigned long flags;
	bool gone;

	/* Who hears the doorbell sees the ticket. */
	if (!smp_load_acquire(&pkt->on_ring))
		return false;
	raw_spin_lock_irqsave(&a->s->mac, flags);
	gone = pkt->raw || pkt->vanished;
	raw_spin_unlock_irqrestore(&a->s->mac, flags);
	if (gone && !pkt->ticket.gen)
		return false;

	switch (below(a, 16)) {
	case 0 ... 7:
		stress_wire(a, pkt);
		break;
	case 8 ... 13:
		stress_clean(a, pkt, true);
		break;
	case 14:
		if (!below(a, 4))
			stress_clean(a, pkt, false);
		break;
	}
	return true;
}

static void stress_device(struct work_struct *work)
{
	struct actor *a = container_of(work, struct actor, work);
	struct unit *u = a->s->u;
	bool busy, more;
	unsigned int i;

	do {
		/* Before the look: who sends the last one is seen sending. */
		more = atomic_read_acquire(&a->s->sending);
		busy = false;
		for (i = a->id; i < u->nr_pkts; i += DEVICES)
			busy |= stress_device_step(a, &u->pkts[i]);
		if (!busy)
			usleep_range(10, 50);
		cond_resched();
	} while (busy || more);
}

/* Owners of @queue whose request was committed before must be told by now. */
static void stress_promised(struct stress *s, const bool *before, int queue)
{
	unsigned int i;

	for (i = 0; i < s->u->nr_pkts; i++) {
		struct pkt *pkt = &s->u->pkts[i];

		if (before[i] && (queue < 0 || queue == pkt->queue) &&
		    READ_ONCE(pkt->ends) != 1)
			atomic_inc(&s->broken);
	}
}

static void stress_snapshot(struct stress *s, bool *before)
{
	unsigned int i;

	for (i = 0; i < s->u->nr_pkts; i++)
		before[i] = !s->u->pkts[i].skb &&
			    READ_ONCE(s->u->pkts[i].committed);
}

static void stress_reset(struct stress *s)
{
	struct unit *u = s->u;
	unsigned long flags;
	unsigned int i;

	/*
	 * As a driver: no xmit meanwhile, and no request that waits, as a
	 * reset between the reads of two words leaves half a stamp.
	 */
	for (i = 0; i < QUEUES; i++)
		mutex_lock_nested(&s->xmit[i], i);
	txts_flush(&u->txts);
	raw_spin_lock_irqsave(&s->mac, flags);
	for (i = 0; i < u->nr_pkts; i++)
		if (u->pkts[i].on_ring)
			stress_vanish(&u->pkts[i]);
	memset(s->late, 0, sizeof(s->late));
	for (i = 0; i < RF_REGS; i++)
		rf_update(&u->rf, i, ~0U, 0);
	txts_hw_reset(&u->txts);
	raw_spin_unlock_irqrestore(&s->mac, flags);
	for (i = QUEUES; i--; )
		mutex_unlock(&s->xmit[i]);
}

static void stress_flush_queue(struct stress *s, unsigned int queue)
{
	bool before[UNIT_PKTS];

	mutex_lock(&s->xmit[queue]);
	stress_snapshot(s, before);
	txts_flush_queue(&s->u->txts, queue);
	stress_promised(s, before, queue);
	mutex_unlock(&s->xmit[queue]);
}

static void stress_restart(struct stress *s)
{
	bool before[UNIT_PKTS];

	stress_snapshot(s, before);
	txts_stop(&s->u->txts);
	stress_promised(s, before, -1);
	txts_start(&s->u->txts);
}

static void stress_control(struct work_struct *work)
{
	struct actor *a = container_of(work, struct actor, work);
	struct stress *s = a->s;
	struct txts *txts = &s->u->txts;
	struct ethtool_ts_stats stats = {};
	unsigned int i;

	for (i = 0; i < CONTROLS; i++) {
		usleep_range(100, 100 + below(a, 1500));
		switch (below(a, 10)) {
		case 0:
			stress_restart(s);
			break;
		case 1:
			txts_flush(txts);
			break;
		case 2:
			stress_flush_queue(s, below(a, QUEUES));
			break;
		case 3:
			txts_enable(txts, false);
			usleep_range(1, 1 + below(a, 200));
			txts_enable(txts, true);
			break;
		case 4:
			unit_clock_step(s->u, below(a, 2),
					(s64)below(a, 2000) - 1000);
			break;
		case 5:
			stress_reset(s);
			break;
		case 6:
			txts_link(txts, false);
			usleep_range(1, 1 + below(a, 200));
			txts_link(txts, true);
			break;
		case 7:
			WRITE_ONCE(txts->policy, below(a, TXTS_NR_POLICIES));
			break;
		case 8:
			txts_poll(txts);
			break;
		case 9:
			txts_get_ts_stats(txts, &stats);
			/* Not even while others count. */
			if ((s64)stats.err < 0 || (s64)txts_refused(txts) < 0)
				unit_violated(s->u, "a sum is negative");
			break;
		}
	}
}

static void stress_actor(struct stress *s, struct actor *a, unsigned int id,
			 work_func_t fn)
{
	a->s = s;
	a->id = id;
	INIT_WORK(&a->work, fn);
}

static void stress_start(struct actor *a, unsigned int *seed)
{
	prandom_seed_state(&a->rnd, (*seed)++);
	queue_work(a->s->wq, &a->work);
}

static void stress_round(struct kunit *test, struct stress *s,
			 unsigned int *seed)
{
	struct unit *u = s->u;
	const char *wrong;
	unsigned int i;

	for (i = 0; i < QUEUES * PER_QUEUE; i++) {
		struct pkt *pkt = i % 2 ? unit_pkt(u) : unit_owner_pkt(u);

		pkt->queue = i / PER_QUEUE;
		pkt->timer = i % 3 == 0;
	}
	atomic_set(&s->sending, QUEUES);
	for (i = 0; i < DEVICES; i++)
		stress_start(&s->devices[i], seed);
	for (i = 0; i < QUEUES; i++)
		stress_start(&s->senders[i], seed);
	stress_start(&s->control, seed);
	for (i = 0; i < QUEUES; i++)
		flush_work(&s->senders[i].work);
	for (i = 0; i < DEVICES; i++)
		flush_work(&s->devices[i].work);
	flush_work(&s->control.work);

	/* All frames were sent or dropped, so every request ends by itself. */
	KUNIT_EXPECT_TRUE_MSG(test, unit_wait(u, 5 * USEC_PER_SEC),
			      "a request is in flight after 5 s");
	txts_stop(&u->txts);
	u->asks += atomic_xchg(&s->asks, 0);
	for (i = 0; i < u->nr_pkts; i++)
		if (!u->pkts[i].skb)
			KUNIT_EXPECT_EQ(test, u->pkts[i].committed,
					u->pkts[i].ends);
	wrong = unit_recycle(u);
	if (wrong)
		KUNIT_FAIL(test, "oracle: %s", wrong);
	KUNIT_EXPECT_EQ_MSG(test, 0, atomic_read(&s->broken),
			    "stop or flush_queue returned before delivery");
	KUNIT_EXPECT_EQ(test, 0, txts_start(&u->txts));
}

/* Without a reset: each frame is gone, so time or the MAC is evidence. */
static void stress_all_slots_come_back(struct kunit *test, struct unit *u)
{
	struct txts_ticket tickets[TXTS_MAX_SLOTS] = {};
	struct txts_request request = { .owner = u };
	unsigned int i, try, got = 0;

	/* Who asks here is no PTP, for which one slot is kept. */
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_INLINE);
	for (try = 0; try < 200 && got != u->model->slots; try++) {
		usleep_range(5000, 6000);
		got = 0;
		local_bh_disable();
		for (i = 0; i < u->model->slots; i++) {
			u->asks++;
			if (txts_reserve(&u->txts, &request, &tickets[i]) >= 0)
				got++;
		}
		for (i = 0; i < u->model->slots; i++)
			txts_abort(&u->txts, &tickets[i]);
		local_bh_enable();
	}
	KUNIT_EXPECT_EQ(test, u->model->slots, got);
}

static const enum model_id stress_models[] = {
	MODEL_I210, MODEL_I225, MODEL_64,
};

KUNIT_ARRAY_PARAM(model, stress_models, model_id_name);

static void everything_at_once_keeps_every_promise(struct kunit *test)
{
	const enum model_id *id = test->param_value;
	struct stress *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int i, seed = stress_seed;
	struct model model = models[*id];
	struct unit *u;

	KUNIT_ASSERT_NOT_NULL(test, s);
	kunit_info(test, "seed %d\n", stress_seed);
	/* The interrupts are raised here. */
	model.irq = UNIT_IRQ_NONE;
	model.quarantine_ms = QUARANTINE_MS;
	model.timeout_us = TIMEOUT_US;
	u = unit_new_model(test, &model);
	/* Evidence by the MAC in one, by time in the others. */
	u->mac_is_honest = *id == MODEL_I210;
	if (u->mac_is_honest)
		u->mac = TXTS_MAC_IDLE;
	s->u = u;
	s->wq = alloc_workqueue("txts-stress", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, s->wq);
	raw_spin_lock_init(&s->mac);
	for (i = 0; i < QUEUES; i++) {
		mutex_init(&s->xmit[i]);
		stress_actor(s, &s->senders[i], i, stress_sender);
	}
	for (i = 0; i < DEVICES; i++)
		stress_actor(s, &s->devices[i], i, stress_device);
	stress_actor(s, &s->control, 0, stress_control);
	hrtimer_setup(&s->timer, stress_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	hrtimer_start(&s->timer, us_to_ktime(stress_irq_us),
		      HRTIMER_MODE_REL_HARD);

	for (i = 0; i < stress_rounds && test->status == KUNIT_SUCCESS; i++)
		stress_round(test, s, &seed);

	hrtimer_cancel(&s->timer);
	destroy_workqueue(s->wq);
	kunit_info(test,
		   "asked %llu, delivered %llu, timeouts %llu, flushed %llu, orphans %llu, suspects %llu\n",
		   u->asks, unit_count(u, TXTS_DELIVERED),
		   unit_count(u, TXTS_TIMEOUT), unit_count(u, TXTS_FLUSHED),
		   unit_count(u, TXTS_ORPHAN), unit_count(u, TXTS_SUSPECT));
	/* The run was what it is meant to be. */
	KUNIT_EXPECT_GT(test, unit_count(u, TXTS_DELIVERED), stress_rounds);
	KUNIT_EXPECT_GT(test, unit_count(u, TXTS_TIMEOUT), 0);
	KUNIT_EXPECT_GT(test, unit_count(u, TXTS_FLUSHED), 0);
	KUNIT_EXPECT_GT(test, unit_count(u, TXTS_ORPHAN), 0);
	stress_all_slots_come_back(test, u);
	unit_check(test, u);
}

static struct kunit_case stress_cases[] = {
	KUNIT_CASE_PARAM(everything_at_once_keeps_every_promise,
			 model_gen_params),
	{}
};

static struct kunit_suite stress_suite = {
	.name = "txts_stress",
	.test_cases = stress_cases,
};

kunit_test_suite(stress_suite);
