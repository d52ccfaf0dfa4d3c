// SPDX-License-Identifier: GPL-2.0
/* What a driver does with a packet that asks for a stamp. */
#include <linux/bottom_half.h>
#include <linux/errqueue.h>
#include <linux/hardirq.h>
#include <net/sock.h>

#include "unit.h"

#define UNIT_PKT_SIZE	128
/* 7.x puts a second bit, of BPF, into the flag. */
#define TX_HW_FLAG	(SKBTX_HW_TSTAMP & -SKBTX_HW_TSTAMP)

/* A packet whose end is told to an owner. */
struct pkt *unit_owner_pkt(struct unit *u)
{
	struct pkt *pkt = &u->pkts[u->nr_pkts];

	if (WARN_ON(u->nr_pkts == UNIT_PKTS))
		return &u->pkts[0];
	pkt->u = u;
	pkt->id = u->nr_pkts++;
	return pkt;
}

/* A packet of the unit's socket; the test holds a reference to the end. */
struct pkt *unit_pkt(struct unit *u)
{
	struct pkt *pkt = unit_owner_pkt(u);
	struct sk_buff *skb = alloc_skb(UNIT_PKT_SIZE, GFP_ATOMIC);

	if (WARN_ON(!skb))
		return pkt;
	skb_put_zero(skb, UNIT_PKT_SIZE);
	skb_set_owner_w(skb, u->sock->sk);
	skb_shinfo(skb)->tx_flags |= TX_HW_FLAG;
	skb_shinfo(skb)->tskey = pkt->id;
	pkt->skb = skb;
	return pkt;
}

unsigned int unit_refs(struct unit *u, struct pkt *pkt)
{
	return refcount_read(&pkt->skb->users);
}

/* The driver's softirq; events may run where it cannot be turned off. */
static bool unit_bh_off(void)
{
	if (in_hardirq() || irqs_disabled())
		return false;
	local_bh_disable();
	return true;
}

static void unit_bh_on(bool was_off)
{
	if (was_off)
		local_bh_enable();
}

int unit_reserve_as(struct unit *u, struct pkt *pkt,
		    struct txts_request *request)
{
	bool bh = unit_bh_off();
	int slot;

	request->skb = pkt->skb;
	request->owner = pkt->skb ? NULL : pkt;
	request->queue = pkt->queue;
	request->timer = pkt->timer;
	/*
	 * One of several slots is for PTP only; tests want them all. And the
	 * softirqs of an emulated CPU are late, which refuses all others.
	 */
	request->ptp |= !u->ordinary && (u->model->slots > 1 ||
					 !IS_ENABLED(CONFIG_UML));
	pkt->asked = true;
	u->asks++;
	slot = txts_reserve(&u->txts, request, &pkt->ticket);
	unit_bh_on(bh);
	if (slot < 0) {
		if (pkt->ticket.gen)
			unit_violated(u, "a skipped packet has a ticket");
		return slot;
	}
	if (slot != pkt->ticket.slot || !pkt->ticket.gen)
		unit_violated(u, "a wrong ticket");
	pkt->slot = slot;
	return 0;
}

int unit_reserve(struct unit *u, struct pkt *pkt)
{
	struct txts_request request = {};

	return unit_reserve_as(u, pkt, &request);
}

void unit_commit(struct unit *u, struct pkt *pkt)
{
	bool bh = unit_bh_off();

	if (pkt->skb)
		skb_shinfo(pkt->skb)->tx_flags |= SKBTX_IN_PROGRESS;
	pkt->on_ring = true;
	pkt->committed = txts_commit(&u->txts, &pkt->ticket);
	unit_bh_on(bh);
}

int unit_xmit(struct unit *u, struct pkt *pkt)
{
	bool bh = unit_bh_off();
	int err;

	err = unit_reserve(u, pkt);
	if (!err)
		unit_commit(u, pkt);
	unit_bh_on(bh);
	return err;
}

/* A packet of the socket on its way, or NULL if it was skipped. */
struct pkt *unit_send(struct unit *u)
{
	struct pkt *pkt = unit_pkt(u);

	return unit_xmit(u, pkt) ? NULL : pkt;
}

/* The frame leaves; what the MAC latches is the truth about the packet. */
void unit_wire(struct unit *u, struct pkt *pkt)
{
	u64 raw = unit_advance(u, 1);

	if (!pkt->on_ring || pkt->vanished)
		return;
	pkt->in_mac = false;
	pkt->raw = raw;
	pkt->truth = unit_convert(u, pkt->timer, raw);
	if (!unit_capture(u, pkt->slot, raw))
		pkt->raw = 0;
}

/* The ring has no buffer of it any more; it may still be on its way. */
static void unit_left_ring(struct pkt *pkt)
{
	pkt->in_mac = pkt->on_ring && !pkt->raw && !pkt->vanished;
}

void unit_sent(struct unit *u, struct pkt *pkt)
{
	bool bh = unit_bh_off();

	unit_left_ring(pkt);
	txts_sent(&u->txts, &pkt->ticket);
	unit_bh_on(bh);
	unit_pump(u);
}

void unit_dropped(struct unit *u, struct pkt *pkt)
{
	bool bh = unit_bh_off();

	unit_left_ring(pkt);
	txts_dropped(&u->txts, &pkt->ticket);
	unit_bh_on(bh);
	unit_pump(u);
}

void unit_abort(struct unit *u, struct pkt *pkt)
{
	bool bh = unit_bh_off();

	txts_abort(&u->txts, &pkt->ticket);
	unit_bh_on(bh);
	unit_pump(u);
}

/* What the socket got since. */
void unit_collect(struct unit *u)
{
	struct sk_buff *skb;
	struct pkt *pkt;
	u32 id;

	while ((skb = skb_dequeue(&u->sock->sk->sk_error_queue))) {
		id = SKB_EXT_ERR(skb)->ee.ee_data;
		if (id < u->nr_pkts) {
			pkt = &u->pkts[id];
			pkt->stamps++;
			pkt->got = skb_hwtstamps(skb)->hwtstamp;
		} else {
			unit_violated(u, "a stamp of an unknown packet");
		}
		kfree_skb(skb);
	}
}

/* Where the MAC has to be asked first, that costs the first sender a skip. */
struct pkt *unit_send_or_ask(struct unit *u)
{
	struct pkt *pkt = unit_send(u);

	if (pkt)
		return pkt;
	unit_sleep_us(u, 5 * USEC_PER_MSEC);
	return unit_send(u);
}

/* Ends what is in flight besides, with its own stamp. */
void unit_serve_all(struct unit *u)
{
	unsigned int i;

	for (i = 0; i < u->nr_pkts; i++) {
		if (!u->pkts[i].committed || !u->pkts[i].ticket.gen)
			continue;
		if (!u->pkts[i].raw)
			unit_wire(u, &u->pkts[i]);
		unit_sent(u, &u->pkts[i]);
	}
	unit_wait(u, 3 * USEC_PER_SEC);
}
