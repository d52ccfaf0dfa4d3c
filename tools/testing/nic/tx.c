// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: descriptors are fetched by DMA soon after their doorbell, reported
 * done, and wait in the MAC for the wire, which carries one frame at a time.
 */
#include <linux/if_ether.h>
#include <linux/string.h>

#include "port.h"

#define FETCH_NS	500	/* from the doorbell to the descriptor */
#define READY_NS	1000	/* from the doorbell to the wire */
#define CABLE_NS	2000	/* on the cable, PHYs included */
#define OVERHEAD	24	/* bytes: FCS, preamble, gap between frames */

struct tx_desc {
	__le64 addr;
	__le32 cmd;
	__le32 olinfo;	/* written back: status */
};

static u32 *queue_reg(struct nic *nic, unsigned int queue, u32 offset)
{
	return nic_reg(nic, R_TXQ(queue) + offset);
}

static struct tx_desc *descriptor(struct nic *nic, unsigned int queue,
				  u32 index)
{
	u64 base = *queue_reg(nic, queue, Q_BAL) |
		   (u64)*queue_reg(nic, queue, Q_BAH) << 32;

	return nic->ops->dma(nic->front, base + index * sizeof(struct tx_desc),
			     sizeof(struct tx_desc));
}

static bool queue_pending(struct nic *nic, unsigned int queue)
{
	return *queue_reg(nic, queue, Q_DCTL) & DCTL_ENABLE &&
	       *queue_reg(nic, queue, Q_LEN) >= sizeof(struct tx_desc) &&
	       *queue_reg(nic, queue, Q_HEAD) !=
	       *queue_reg(nic, queue, Q_TAIL);
}

static struct nic_packet *mac_slot(struct nic *nic, unsigned int i)
{
	return &nic->mac[(nic->mac_first + i) % NIC_MAC_PACKETS];
}

static void take_context(struct nic *nic, unsigned int queue,
			 const struct tx_desc *d)
{
	struct nic_offload *o = &nic->context[queue];

	o->vlan_macip = le32_to_cpu(((const __le32 *)d)[0]);
	o->launch = le32_to_cpu(((const __le32 *)d)[1]);
	o->tucmd = le32_to_cpu(d->cmd);
	o->mss_l4len = le32_to_cpu(d->olinfo);
}

/* Adds what one data descriptor points at. */
static bool take_data(struct nic *nic, struct nic_packet *p, u64 addr, u32 cmd)
{
	unsigned int len = cmd & TXD_LEN;
	void *data = nic->ops->dma(nic->front, addr, len);

	if (!data || p->len + len > NIC_PACKET_MAX)
		return false;
	memcpy(p->data + p->len, data, len);
	p->len += len;
	return true;
}

static struct nic_packet *room_of(struct nic *nic, unsigned int queue)
{
	if (nic_launch_queue(nic, queue))
		return nic_launch_room(nic, queue);
	if (nic->mac_count == NIC_MAC_PACKETS)
		return NULL;
	return mac_slot(nic, nic->mac_count);
}

/* One packet of @queue goes into the MAC. */
static void fetch(struct nic *nic, unsigned int queue)
{
	struct nic_packet *p = room_of(nic, queue);
	u32 entries = *queue_reg(nic, queue, Q_LEN) / sizeof(struct tx_desc);
	u32 *head = queue_reg(nic, queue, Q_HEAD);
	bool first = true, report = false;
	struct tx_desc *d;
	u32 cmd = 0;

	p->len = 0;
	p->sent = 0;
	p->segments = 0;
	p->held = false;
	p->ready = nic->doorbell[queue] + READY_NS;
	while (*head != *queue_reg(nic, queue, Q_TAIL) && !(cmd & TXD_EOP)) {
		d = descriptor(nic, queue, *head);
		*head = (*head + 1) % entries;
		if (!d) {
			nic->count[NIC_TX_BAD]++;
			return;
		}
		cmd = le32_to_cpu(READ_ONCE(d->cmd));
		if ((cmd & TXD_TYPE) == TXD_CONTEXT) {
			take_context(nic, queue, d);
			cmd = 0;
			continue;
		}
		if (first) {
			p->o = nic->context[queue];
			p->o.cmd = cmd;
			p->o.olinfo = le32_to_cpu(d->olinfo);
			first = false;
		}
		if (!take_data(nic, p, le64_to_cpu(d->addr), cmd))
			nic->count[NIC_TX_BAD]++;
		if (cmd & TXD_RS) {
			WRITE_ONCE(d->olinfo, cpu_to_le32(TXD_DD));
			report = true;
		}
	}
	if (p->len >= ETH_HLEN) {
		if (nic_launch_queue(nic, queue))
			nic_launch_enter(nic, queue);
		else
			nic->mac_count++;
	}
	if (report)
		nic_cause_queue(nic, queue, true);
}

/* The next queue in turn whose descriptors can be there; else when they can. */
static int next_queue(struct nic *nic, u64 now, u64 *at)
{
	unsigned int i, queue;

	for (i = 0; i < nic->kind->queues; i++) {
		queue = (nic->next_queue + i) % nic->kind->queues;
		if (!queue_pending(nic, queue) || !room_of(nic, queue))
			continue;
		if (nic->doorbell[queue] + FETCH_NS <= now) {
			nic->next_queue = queue + 1;
			return queue;
		}
		*at = min(*at, nic->doorbell[queue] + FETCH_NS);
	}
	return -1;
}

/* A frame starts at @at; its stamp is of that moment, here and over there. */
static void send(struct nic *nic, struct nic_packet *p, u64 at)
{
	u8 *frame = nic_rx_slot(nic->peer);
	unsigned int len = nic_segment(p, frame);
	u64 bits, took;

	bits = (max_t(unsigned int, len, ETH_ZLEN) + OVERHEAD) * 8;
	took = div_u64(bits * NSEC_PER_USEC, nic_speed);
	nic->count[NIC_TX_FRAMES]++;
	if (p->o.cmd & TXD_STAMP)
		nic_stamp(nic, p, at);
	nic->wire_free = at + took;
	nic_rx_arrive(nic->peer, len, at + CABLE_NS, at + CABLE_NS + took);
	if (p->sent >= p->len) {
		nic->mac_first = (nic->mac_first + 1) % NIC_MAC_PACKETS;
		nic->mac_count--;
	}
}

/* Sends what can leave now; else says when. */
static bool wire(struct nic *nic, u64 now, u64 *at)
{
	struct nic_packet *p = mac_slot(nic, 0);
	u64 start;

	if (!nic->mac_count || !nic->peer)
		return false;
	if (!nic->link || nic->paused) {
		nic->count[NIC_TX_HELD] += !p->held;
		p->held = true;
		return false;
	}
	start = max(p->ready, nic->wire_free);
	if (start > now) {
		*at = min(*at, start);
		return false;
	}
	/* Held frames start when they may, not when they were ready. */
	send(nic, p, p->held ? max(start, now) : start);
	return true;
}

/* A packet whose launch time has come goes on to the wire. */
static bool launch(struct nic *nic, u64 now, u64 *at)
{
	if (nic->mac_count == NIC_MAC_PACKETS ||
	    !nic_launch(nic, mac_slot(nic, nic->mac_count), now, at))
		return false;
	nic->mac_count++;
	return true;
}

void nic_tx_kick(struct nic *nic)
{
	nic_timer_at(&nic->tx_timer, nic_now());
}

enum hrtimer_restart nic_tx_timer(struct hrtimer *timer)
{
	struct nic *nic = container_of(timer, struct nic, tx_timer);
	u64 now = nic_now(), at = U64_MAX;
	unsigned long flags;
	bool more;
	int queue;

	raw_spin_lock_irqsave(nic->lock, flags);
	do {
		queue = next_queue(nic, now, &at);
		if (queue >= 0)
			fetch(nic, queue);
		more = launch(nic, now, &at);
		more |= wire(nic, now, &at);
	} while (more || queue >= 0);
	if (at != U64_MAX)
		nic_timer_at(&nic->tx_timer, at);
	raw_spin_unlock_irqrestore(nic->lock, flags);
	return HRTIMER_NORESTART;
}

void nic_tx_doorbell(struct nic *nic, unsigned int queue)
{
	u64 now = nic_now();

	nic->doorbell[queue] = now;
	if (queue_pending(nic, queue))
		nic_timer_at(&nic->tx_timer, now + FETCH_NS);
}

void nic_tx_reset(struct nic *nic)
{
	nic->mac_count = 0;
	nic->wire_free = 0;
	nic_launch_reset(nic);
}
