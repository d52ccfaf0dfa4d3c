// SPDX-License-Identifier: GPL-2.0
/*
 * What another context does between two steps of this one: between the look at
 * which slots are ready and the read, between SENT and a thread that is kept
 * from running.
 */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>

#include "../internal.h"
#include "unit.h"

/* The look of a model, after which the test has its turn once. */
static void (*after_ready)(struct unit *u);
static const struct txts_ops *ready_ops;

static u64 ready_and_then(struct txts *txts)
{
	struct unit *u = container_of(txts, struct unit, txts);
	void (*turn)(struct unit *u) = after_ready;
	u64 mask = ready_ops->ready(txts);

	after_ready = NULL;
	if (turn)
		turn(u);
	return mask;
}

static struct model *own_model(struct kunit *test, enum model_id id,
			       struct txts_ops **ops)
{
	struct model *model = kunit_kmalloc(test, sizeof(*model), GFP_KERNEL);

	*ops = kunit_kmalloc(test, sizeof(**ops), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, model);
	KUNIT_ASSERT_NOT_NULL(test, *ops);
	*model = models[id];
	**ops = *model->ops;
	model->ops = *ops;
	return model;
}

static struct unit *new_unit(struct kunit *test, enum model_id id)
{
	struct txts_ops *ops;
	struct model *model = own_model(test, id, &ops);

	after_ready = NULL;
	ready_ops = models[id].ops;
	ops->ready = ready_and_then;
	return unit_new_model(test, model);
}

/* Another CPU's drain found nothing and acknowledges, as the I225 wants it. */
static void other_drain_acknowledges(struct unit *u)
{
	struct txts_slot *slot = &u->txts.slots[0];
	unsigned long flags;

	raw_spin_lock_irqsave(&slot->lock, flags);
	txts_peek(slot, ktime_get());
	raw_spin_unlock_irqrestore(&slot->lock, flags);
}

/* And the next stamp lands, whose interrupt is lost. */
static void other_drain_and_a_stamp(struct unit *u)
{
	other_drain_acknowledges(u);
	u->lose_irqs = 1;
	unit_wire(u, u->arg);
}

static void expect_prompt(struct kunit *test, struct unit *u, struct pkt *pkt)
{
	unit_sleep_us(u, USEC_PER_MSEC);
	EXPECT_STAMP(test, pkt);
}

/* Cases 16, 25: what the interrupt saw is not left to the deadline. */
static void stamp_seen_and_acknowledged_elsewhere_is_read(struct kunit *test)
{
	struct unit *u = new_unit(test, MODEL_I225);
	struct pkt *pkt[2];

	pkt[0] = unit_send(u);
	pkt[1] = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt[1]);
	KUNIT_ASSERT_EQ(test, 1, pkt[1]->slot);
	u->arg = pkt[0];
	after_ready = other_drain_and_a_stamp;
	unit_wire(u, pkt[1]);
	KUNIT_EXPECT_NULL(test, after_ready);
	expect_prompt(test, u, pkt[1]);
	expect_prompt(test, u, pkt[0]);
	unit_sent(u, pkt[0]);
	unit_sent(u, pkt[1]);
	unit_finish(test, u);
}

/* The same before the interrupt looks: nothing is ready, and one is late. */
static void stamp_acknowledged_before_the_interrupt_is_read(struct kunit *test)
{
	struct unit *u = new_unit(test, MODEL_I225);
	struct pkt *pkt[2];

	pkt[0] = unit_send(u);
	pkt[1] = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt[1]);
	u->irq_off = true;
	unit_wire(u, pkt[1]);
	other_drain_acknowledges(u);
	u->irq_off = false;
	unit_pump(u);
	expect_prompt(test, u, pkt[1]);
	unit_wire(u, pkt[0]);
	unit_sent(u, pkt[0]);
	unit_sent(u, pkt[1]);
	unit_sleep_us(u, USEC_PER_MSEC);
	unit_finish(test, u);
}

/* The MAC latches it, and another CPU's read acknowledges it at once. */
static void captured_and_acknowledged(struct unit *u)
{
	struct pkt *pkt = u->arg;

	unit_wire(u, pkt);
	rf_update(&u->rf, REG_VALID, BIT(pkt->slot), 0);
}

/* G1: whatever part of the look has happened by then. */
static void stamp_that_lands_during_a_look_is_not_torn(struct kunit *test)
{
	struct pkt *first, *pkt;
	struct txts_slot *slot;
	unsigned long flags;
	struct unit *u;
	unsigned int k;

	for (k = 0; k < 6; k++) {
		u = unit_new(test, MODEL_I225);
		KUNIT_ASSERT_NOT_NULL(test, unit_send(u));
		/* Something that it could be mixed with. */
		first = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, first);
		unit_wire(u, first);
		unit_sent(u, first);
		expect_prompt(test, u, first);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		KUNIT_ASSERT_EQ(test, first->slot, pkt->slot);
		u->arg = pkt;
		u->irq_off = true;
		unit_inject(u, k, captured_and_acknowledged, false);
		slot = &u->txts.slots[pkt->slot];
		raw_spin_lock_irqsave(&slot->lock, flags);
		txts_peek(slot, ktime_get());
		raw_spin_unlock_irqrestore(&slot->lock, flags);
		u->irq_off = false;
		if (!unit_injected(u)) {
			unit_inject(u, 0, NULL, false);
			unit_wire(u, pkt);
		}
		unit_sent(u, pkt);
		unit_sleep_us(u, 30 * USEC_PER_MSEC);
		EXPECT_STAMP(test, pkt);
		unit_serve_all(u);
		unit_finish(test, u);
		unit_free(test, u);
	}
}

static struct pkt *ptp_pkt;

static void ptp_is_sent(struct unit *u)
{
	ptp_pkt = unit_send(u);
	if (ptp_pkt)
		unit_wire(u, ptp_pkt);
}

/* G12: the thread took an interrupt over and gets no further than its look. */
static void ptp_does_not_wait_for_a_thread_that_drains(struct kunit *test)
{
	struct unit *u = new_unit(test, MODEL_I225);
	struct pkt *pkt;

	unit_set_level(TXTS_LEVEL_BACKGROUND);
	u->ordinary = true;
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	u->ordinary = false;
	unit_wire(u, pkt);
	after_ready = ptp_is_sent;
	ptp_pkt = NULL;
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&u->txts.bh_queued));
	unit_sleep_us(u, USEC_PER_MSEC);
	KUNIT_EXPECT_NULL(test, after_ready);
	KUNIT_ASSERT_NOT_NULL(test, ptp_pkt);
	EXPECT_STAMP(test, ptp_pkt);
	unit_sent(u, pkt);
	unit_sent(u, ptp_pkt);
	unit_finish(test, u);
}

struct blocker {
	struct kthread_work work;
	struct completion release;
};

static void block(struct kthread_work *work)
{
	wait_for_completion(&container_of(work, struct blocker, work)->release);
}

/* Case 1: polls have ended up in the thread, which a hog keeps from running. */
static void sent_looks_though_the_thread_is_about_to(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82576);
	struct blocker blocker;
	struct pkt *pkt;

	kthread_init_work(&blocker.work, block);
	init_completion(&blocker.release);
	kthread_queue_work(u->txts.worker, &blocker.work);
	pkt = unit_send(u);
	KUNIT_EXPECT_NOT_NULL(test, pkt);
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_sleep_us(u, 100);
	unit_collect(u);
	KUNIT_EXPECT_EQ(test, 1, pkt->stamps);
	complete(&blocker.release);
	kthread_flush_work(&blocker.work);
	unit_finish(test, u);
}

static void reset_and_send(struct unit *u)
{
	u32 high = u->rf.reg[REG_HIGH(0)];
	u32 low = u->rf.reg[REG_LOW(0)];

	unit_hw_reset(u);
	ptp_pkt = unit_send(u);
	/* Half of what was there is left; nothing says it is a stamp. */
	rf_update(&u->rf, REG_LOW(0), 0, low);
	rf_update(&u->rf, REG_HIGH(0), 0, high);
}

/* G1: what was seen before a reset says nothing about the request after it. */
static void look_from_before_a_reset_is_outdated(struct kunit *test)
{
	struct unit *u = new_unit(test, MODEL_82580);
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	ptp_pkt = NULL;
	after_ready = reset_and_send;
	unit_wire(u, pkt);
	KUNIT_ASSERT_NOT_NULL(test, ptp_pkt);
	unit_sleep_us(u, 100);
	EXPECT_NO_STAMP(test, pkt);
	EXPECT_NO_STAMP(test, ptp_pkt);
	unit_wire(u, ptp_pkt);
	expect_prompt(test, u, ptp_pkt);
	unit_sent(u, ptp_pkt);
	unit_finish(test, u);
}

static enum txts_mac mac_is_idle(struct txts *txts)
{
	return TXTS_MAC_IDLE;
}

static struct unit *new_unit_with_mac(struct kunit *test, enum model_id id)
{
	struct txts_ops *ops;
	struct model *model = own_model(test, id, &ops);

	ops->mac = mac_is_idle;
	model->slots = 1;
	return unit_new_model(test, model);
}

/*
 * G1: a MAC that is empty says nothing of a stamp on a bus or in a ring, which
 * comes when the next request has the slot.
 */
static void stamp_on_its_way_outlives_an_idle_mac(struct kunit *test)
{
	static const enum model_id ids[] = { MODEL_PUSH, MODEL_MAILBOX };
	struct pkt *old, *pkt;
	struct unit *u;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		u = new_unit_with_mac(test, ids[i]);
		u->irq_off = true;
		old = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, old);
		unit_sent(u, old);
		unit_sleep_us(u, 2 * USEC_PER_SEC);
		KUNIT_EXPECT_EQ(test, 1, unit_count(u, TXTS_TIMEOUT));
		/* A bus is asked once more, by the thread. */
		if (!txts_bits(u->txts.free)) {
			KUNIT_EXPECT_NULL(test, unit_send(u));
			unit_sleep_us(u, 100 * USEC_PER_MSEC);
		}
		unit_wire(u, old);
		unit_advance(u, 1000);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		u->irq_off = false;
		unit_pump(u);
		unit_sleep_us(u, 100 * USEC_PER_MSEC);
		EXPECT_NO_STAMP(test, old);
		EXPECT_NO_STAMP(test, pkt);
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		unit_sleep_us(u, USEC_PER_SEC);
		EXPECT_STAMP(test, pkt);
		unit_finish(test, u);
		unit_free(test, u);
	}
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(stamp_seen_and_acknowledged_elsewhere_is_read),
	KUNIT_CASE(stamp_acknowledged_before_the_interrupt_is_read),
	KUNIT_CASE(stamp_that_lands_during_a_look_is_not_torn),
	KUNIT_CASE(ptp_does_not_wait_for_a_thread_that_drains),
	KUNIT_CASE(sent_looks_though_the_thread_is_about_to),
	KUNIT_CASE(look_from_before_a_reset_is_outdated),
	KUNIT_CASE(stamp_on_its_way_outlives_an_idle_mac),
	{}
};

static struct kunit_suite race_suite = {
	.name = "txts_race",
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);
