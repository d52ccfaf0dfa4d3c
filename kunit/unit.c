// SPDX-License-Identifier: GPL-2.0
/* Life of a unit, its hardware and its clock. */
#include <kunit/device.h>
#include <linux/delay.h>
#include <linux/errqueue.h>
#include <linux/in.h>
#include <linux/net.h>
#include <linux/net_tstamp.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "../internal.h"
#include "unit.h"

#define UNIT_TSFLAGS	(SOF_TIMESTAMPING_TX_HARDWARE |		\
			 SOF_TIMESTAMPING_RAW_HARDWARE |	\
			 SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY)

void unit_violated(struct unit *u, const char *what)
{
	if (!u->violation)
		u->violation = what;
}

/*
 * True if this context holds the lock of a slot. Without DEBUG_SPINLOCK a
 * kernel for one CPU has no such lock; then both answers would be a guess.
 */
bool unit_locked(struct unit *u)
{
#ifdef CONFIG_DEBUG_SPINLOCK
	unsigned int i;

	for (i = 0; u->txts.slots && i < u->model->slots; i++)
		if (raw_spin_is_locked(&u->txts.slots[i].lock) &&
		    READ_ONCE(u->txts.slots[i].lock.owner) == current)
			return true;
	return false;
#else
	return irqs_disabled();
#endif
}

static void unit_error_report(struct sock *sk)
{
	struct unit *u = sk->sk_user_data;

	if (in_hardirq())
		unit_violated(u, "stamp delivered in hard IRQ");
	if (unit_locked(u))
		unit_violated(u, "stamp delivered under a slot lock");
	if (u->on_notify)
		u->on_notify(u);
}

static int unit_open_socket(struct unit *u)
{
	struct sock *sk;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
			       &u->sock);
	if (err)
		return err;
	sk = u->sock->sk;
	lock_sock(sk);
	sk->sk_user_data = u;
	sk->sk_error_report = unit_error_report;
	WRITE_ONCE(sk->sk_tsflags, UNIT_TSFLAGS);
	release_sock(sk);
	return 0;
}

static void unit_close(void *arg)
{
	struct unit *u = arg;
	unsigned int i;

	u->rf.before = NULL;
	u->on_notify = NULL;
	txts_stop(&u->txts);
	txts_destroy(&u->txts);
	for (i = 0; i < u->nr_pkts; i++)
		kfree_skb(u->pkts[i].skb);
	if (u->sock) {
		skb_queue_purge(&u->sock->sk->sk_error_queue);
		sock_release(u->sock);
	}
	kfree(u);
}

static struct device *unit_device(struct kunit *test)
{
	struct device *dev = test->priv;

	if (!dev) {
		dev = kunit_device_register(test, "txts-kunit");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
		test->priv = dev;
	}
	return dev;
}

/*
 * What other tests cost is not charged to this one; nor, where code takes
 * time, what the checkers of the kernel cost.
 */
static void unit_clear_loads(void)
{
	struct txts_load *load;
	int cpu;

	for_each_possible_cpu(cpu) {
		load = txts_load_of(cpu);
		*load = (struct txts_load) {};
	}
	WRITE_ONCE(txts_idle_counts, false);
	WRITE_ONCE(txts_budget_permille,
		   IS_ENABLED(CONFIG_UML) ? TXTS_BUDGET_PERMILLE : 1000);
}

/* As after a flood that did not end; it stays so. */
void unit_set_level(u8 level)
{
	struct txts_load *load;
	int cpu;

	for_each_possible_cpu(cpu) {
		load = txts_load_of(cpu);
		load->level = level;
		load->window = txts_work_clock();
		load->calm_since = txts_work_clock();
		load->dwell = 3600 * NSEC_PER_SEC;
	}
}

/* A unit that is initialised, started and on. */
struct unit *unit_new_model(struct kunit *test, const struct model *model)
{
	struct txts_params params = {
		.dev = unit_device(test),
		.ops = model->ops,
		.slots = model->slots,
		.flags = model->flags,
		.peek_slots = model->peek_slots,
		.timeout_us = model->timeout_us,
		.quarantine_ms = model->quarantine_ms,
	};
	struct unit *u = kzalloc(sizeof(*u), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, u);
	unit_clear_loads();
	u->model = model;
	u->dev = params.dev;
	u->now = 1000 * RAW_STEP;
	raw_spin_lock_init(&u->clock_lock);
	rf_init(&u->rf, model->effects, model->nr_effects);
	rf_update(&u->rf, REG_LINE, 0, 1);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unit_close,
							   u));
	KUNIT_ASSERT_EQ(test, 0, unit_open_socket(u));
	KUNIT_ASSERT_EQ(test, 0, txts_init(&u->txts, &params));
	KUNIT_ASSERT_EQ(test, 0, txts_start(&u->txts));
	txts_enable(&u->txts, true);
	txts_link(&u->txts, true);
	return u;
}

struct unit *unit_new(struct kunit *test, enum model_id model)
{
	return unit_new_model(test, &models[model]);
}

void unit_free(struct kunit *test, struct unit *u)
{
	kunit_release_action(test, unit_close, u);
}

/* Works for so long, by the clock: udelay() may count loops that are quick. */
void unit_work_us(u64 us)
{
	ktime_t end = ktime_add_us(ktime_get(), us);
	u64 rest;

	for (rest = us; rest > 100; rest -= 100)
		udelay(100);
	udelay(rest);
	while (ktime_before(ktime_get(), end))
		udelay(1);
}

/* The clock goes on; returns what a frame sent now would be stamped with. */
u64 unit_advance(struct unit *u, u64 steps)
{
	unsigned long flags;
	u64 now;

	raw_spin_lock_irqsave(&u->clock_lock, flags);
	u->now += steps * RAW_STEP;
	now = u->now;
	raw_spin_unlock_irqrestore(&u->clock_lock, flags);
	return now;
}

ktime_t unit_convert(struct unit *u, unsigned int timer, u64 raw)
{
	unsigned long flags;
	ktime_t stamp;

	raw_spin_lock_irqsave(&u->clock_lock, flags);
	stamp = ns_to_ktime(raw + u->offset[timer]);
	raw_spin_unlock_irqrestore(&u->clock_lock, flags);
	return stamp;
}

/* As a driver does it: the core hears of it inside the clock's lock. */
void unit_clock_step(struct unit *u, unsigned int timer, s64 step)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&u->clock_lock, flags);
	u->offset[timer] += step;
	txts_clock_changed(&u->txts, timer);
	raw_spin_unlock_irqrestore(&u->clock_lock, flags);
}

/* The MAC latches @raw into @slot; false if the register is still locked. */
bool unit_capture(struct unit *u, unsigned int slot, u64 raw)
{
	switch (stamp_capture(&u->rf, u->model->irq, slot, raw)) {
	case STAMP_LOCKED:
		u->lost++;
		return false;
	case STAMP_INTERRUPT:
		unit_raise(u);
		break;
	case STAMP_QUIET:
		break;
	}
	return true;
}

/* Registers and rings lose what they hold: stamps and frames are gone. */
void unit_hw_reset(struct unit *u)
{
	unsigned int i;

	for (i = 0; i < u->nr_pkts; i++) {
		u->pkts[i].vanished = u->pkts[i].on_ring;
		u->pkts[i].in_mac = false;
	}
	stamp_reset(&u->rf);
	u->irq_pending = false;
	txts_hw_reset(&u->txts);
}

/* The device is pulled out. */
void unit_remove(struct unit *u)
{
	u->rf.removed = true;
}
