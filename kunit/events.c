// SPDX-License-Identifier: GPL-2.0
/* The events and the lives of the explorer. */

#include "../internal.h"
#include "explore.h"

/* Packets of a script: the first ended before, its frame is still there. */
#define OLD	0
#define FIRST	1
#define SECOND	2

static void event_interrupt(struct unit *u)
{
	if (u->model->isr && !u->in_isr && !irqs_disabled())
		unit_irq(u);
	else
		u->irq_pending = true;
}

static void event_irq_call(struct unit *u)
{
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
}

static void event_lose_interrupt(struct unit *u)
{
	if (u->irq_pending)
		u->irq_pending = false;
	else
		u->lose_irqs++;
}

static void event_capture_second(struct unit *u)
{
	struct pkt *pkt = &u->pkts[SECOND];

	if (!pkt->raw)
		unit_wire(u, pkt);
}

/* Frames leave in order: none comes after a younger one of its slot. */
static bool younger_left(struct unit *u)
{
	unsigned int i;

	for (i = OLD + 1; i < u->nr_pkts; i++)
		if (u->pkts[i].on_ring && u->pkts[i].raw &&
		    u->pkts[i].slot == u->pkts[OLD].slot)
			return true;
	return false;
}

static void event_capture_old(struct unit *u)
{
	struct pkt *pkt = &u->pkts[OLD];

	if (pkt->in_mac && pkt->raw && !younger_left(u)) {
		pkt->in_mac = false;
		unit_capture(u, pkt->slot, pkt->raw);
	}
}

static void event_remove(struct unit *u)
{
	unit_remove(u);
}

static void event_mac_idle(struct unit *u)
{
	u->mac_is_honest = true;
	u->mac = TXTS_MAC_IDLE;
}

static void event_mac_held(struct unit *u)
{
	u->mac = TXTS_MAC_HELD;
}

static void event_link_down(struct unit *u)
{
	txts_link(&u->txts, false);
}

static void event_slow_bus(struct unit *u)
{
	unit_work_us(25000);
}

static void event_flush(struct unit *u)
{
	txts_flush(&u->txts);
}

static void event_reset(struct unit *u)
{
	unit_hw_reset(u);
}

static void event_off(struct unit *u)
{
	txts_enable(&u->txts, false);
}

static void event_off_on(struct unit *u)
{
	txts_enable(&u->txts, false);
	txts_enable(&u->txts, true);
}

static void event_same_configuration(struct unit *u)
{
	txts_enable(&u->txts, true);
}

static void event_clock_step(struct unit *u)
{
	unit_clock_step(u, 0, 37LL * NSEC_PER_SEC);
}

static void event_sent(struct unit *u)
{
	unit_sent(u, &u->pkts[FIRST]);
}

static void event_dropped(struct unit *u)
{
	unit_dropped(u, &u->pkts[FIRST]);
}

static void event_poll(struct unit *u)
{
	if (!in_hardirq() && !irqs_disabled())
		txts_poll(&u->txts);
	else
		txts_irq(&u->txts, 0);
}

/* Another queue takes a slot; its packet is aborted or goes its way. */
static void event_xmit(struct unit *u)
{
	struct pkt *pkt = unit_pkt(u);

	if (!unit_reserve(u, pkt))
		unit_commit(u, pkt);
}

static void event_reserve_abort(struct unit *u)
{
	struct pkt *pkt = unit_pkt(u);

	if (!unit_reserve(u, pkt))
		unit_abort(u, pkt);
}

static void event_policy(struct unit *u)
{
	WRITE_ONCE(u->txts.policy, (u->txts.policy + 1) % TXTS_NR_POLICIES);
}

const struct explore_event explore_events[] = {
	{ "interrupt", event_interrupt, false },
	{ "txts_irq elsewhere", event_irq_call, true },
	{ "lost interrupt", event_lose_interrupt, false },
	{ "capture of the second", event_capture_second, false },
	{ "capture of the orphan", event_capture_old, false },
	{ "removal", event_remove, false },
	{ "MAC idle", event_mac_idle, false },
	{ "MAC paused", event_mac_held, false },
	{ "link down", event_link_down, true },
	{ "slow bus", event_slow_bus, false },
	{ "flush", event_flush, true },
	{ "reset", event_reset, true },
	{ "off", event_off, true },
	{ "off and on", event_off_on, true },
	{ "same configuration", event_same_configuration, true },
	{ "clock step", event_clock_step, true },
	{ "sent", event_sent, true },
	{ "dropped", event_dropped, true },
	{ "poll", event_poll, true },
	{ "xmit", event_xmit, true },
	{ "reserve and abort", event_reserve_abort, true },
	{ "policy change", event_policy, true },
};

const unsigned int nr_explore_events = ARRAY_SIZE(explore_events);

static void wire_once(struct unit *u, struct pkt *pkt)
{
	if (!pkt->raw)
		unit_wire(u, pkt);
}

/* Two packets that overlap where there are two slots, and a third. */
static void serve(struct unit *u)
{
	struct pkt *a = unit_pkt(u), *b = unit_pkt(u), *c;

	unit_xmit(u, a);
	unit_xmit(u, b);
	unit_sleep_us(u, 50);
	wire_once(u, a);
	unit_sleep_us(u, 200);
	unit_sent(u, a);
	wire_once(u, b);
	unit_sent(u, b);
	unit_sleep_us(u, 500);
	c = unit_pkt(u);
	unit_xmit(u, c);
	wire_once(u, c);
	unit_sleep_us(u, 200);
	unit_sent(u, c);
	unit_sleep_us(u, u->model->flags & TXTS_SLEEPS ? 20000 : 1000);
}

/* The usual life; packet OLD does not exist. */
static void script_life(struct unit *u)
{
	unit_owner_pkt(u);
	serve(u);
}

/* The first frame never leaves, the second is late. */
static void script_lost(struct unit *u)
{
	struct pkt *a, *b, *c;

	unit_owner_pkt(u);
	a = unit_pkt(u);
	b = unit_pkt(u);
	unit_xmit(u, a);
	unit_xmit(u, b);
	unit_sent(u, a);
	unit_sleep_us(u, 10000);
	unit_sent(u, b);
	unit_sleep_us(u, 15000);
	wire_once(u, b);
	unit_sleep_us(u, u->model->timeout_us + 20000);
	wire_once(u, a);
	unit_sleep_us(u, 1000);
	c = unit_pkt(u);
	unit_xmit(u, c);
	wire_once(u, c);
	unit_sent(u, c);
	unit_sleep_us(u, u->model->flags & TXTS_SLEEPS ? 20000 : 1000);
}

/* An older frame in the MAC, its request ended, its slot is suspect. */
static void script_suspect(struct unit *u)
{
	struct pkt *old = unit_pkt(u);

	unit_xmit(u, old);
	unit_sent(u, old);
	unit_sleep_us(u, u->model->timeout_us + 25000);
	/* What it will be stamped with, if ever. */
	old->raw = unit_advance(u, 1);
	old->truth = unit_convert(u, 0, old->raw);
	unit_sleep_us(u, (u->model->quarantine_ms + 5) * USEC_PER_MSEC);
	serve(u);
}

const struct explore_script explore_scripts[] = {
	{ "life", script_life },
	{ "lost", script_lost },
	{ "suspect", script_suspect },
};

const unsigned int nr_explore_scripts = ARRAY_SIZE(explore_scripts);
