// SPDX-License-Identifier: GPL-2.0
/*
 * Receive: frames come off the cable in order and are written by DMA, with the
 * time of their start in front of them if the queue says so. No checksum is
 * reported: the stack verifies those that the peer inserted.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/string.h>

#include "port.h"

#define STAMP_LEN	16

struct rx_desc {
	__le64 addr;		/* written back: packet type, hash */
	__le64 result;		/* status, from bit 32 the length, tag */
};

static u32 *queue_reg(struct nic *nic, unsigned int queue, u32 offset)
{
	return nic_reg(nic, R_RXQ(queue) + offset);
}

/* Room for one more frame on the cable to @nic. */
u8 *nic_rx_slot(struct nic *nic)
{
	unsigned int i = nic->arrival_first + nic->arrival_count;

	return nic->arrival[i % NIC_IN_FLIGHT].data;
}

void nic_rx_arrive(struct nic *nic, unsigned int len, u64 stamp_at, u64 due)
{
	unsigned int i = nic->arrival_first + nic->arrival_count;
	struct nic_arrival *a = &nic->arrival[i % NIC_IN_FLIGHT];

	/* The last place is kept free: it is where the next one is written. */
	if (!len || nic->arrival_count == NIC_IN_FLIGHT - 1) {
		nic->count[NIC_RX_NO_BUFFER] += !!len;
		return;
	}
	if (len < ETH_ZLEN)
		memset(a->data + len, 0, ETH_ZLEN - len);
	a->len = max_t(unsigned int, len, ETH_ZLEN);
	a->stamp_at = stamp_at;
	a->due = due;
	nic->arrival_count++;
	nic_timer_at(&nic->rx_timer, nic->arrival[nic->arrival_first].due);
}

/* The multicast table counts as full of ones. */
static bool wanted(struct nic *nic, const u8 *frame)
{
	u32 rctl = *nic_reg(nic, R_RCTL);
	unsigned int i;
	__le32 addr[2];

	if (!(rctl & RCTL_EN))
		return false;
	if (rctl & RCTL_UPE || is_multicast_ether_addr(frame))
		return true;
	for (i = 0; i < 16; i++) {
		addr[0] = cpu_to_le32(*nic_reg(nic, R_RAL(i)));
		addr[1] = cpu_to_le32(*nic_reg(nic, R_RAH(i)));
		if (*nic_reg(nic, R_RAH(i)) & RAH_AV &&
		    !memcmp(addr, frame, ETH_ALEN))
			return true;
	}
	return false;
}

/* By the redirection table, with a hash that is not Intel's. */
static unsigned int queue_of(struct nic *nic, const u8 *frame)
{
	const struct iphdr *ip = (const void *)(frame + ETH_HLEN);
	const u8 *reta = (const u8 *)nic_reg(nic, R_RETA);
	unsigned int queue;

	if (!*nic_reg(nic, R_MRQC) ||
	    *(const __be16 *)(frame + 2 * ETH_ALEN) != htons(ETH_P_IP))
		return 0;
	queue = reta[jhash(&ip->saddr, 12, ip->protocol) % 128];
	return queue % nic->kind->queues;
}

static bool has_descriptor(struct nic *nic, unsigned int queue)
{
	return *queue_reg(nic, queue, Q_DCTL) & DCTL_ENABLE &&
	       *queue_reg(nic, queue, Q_LEN) >= sizeof(struct rx_desc) &&
	       *queue_reg(nic, queue, Q_HEAD) !=
	       *queue_reg(nic, queue, Q_TAIL);
}

static unsigned int put_stamp(struct nic *nic, unsigned int queue, u64 at,
			      void *buffer)
{
	__le64 raw[2] = {};

	if (!(*queue_reg(nic, queue, Q_SRRCTL) & SRRCTL_TIMESTAMP) ||
	    !(*nic_reg(nic, R_TSYNCRXCTL) & TSYNC_ENABLED))
		return 0;
	if (!nic->kind->rx_pads)
		raw[0] = cpu_to_le64(nic_clock_raw(nic, 1, at));
	raw[1] = cpu_to_le64(nic_clock_raw(nic, 0, at));
	memcpy(buffer, raw, sizeof(raw));
	return sizeof(raw);
}

/* One descriptor's part of the frame; false if there is none to be had. */
static bool put(struct nic *nic, unsigned int queue,
		const struct nic_arrival *a, unsigned int *done)
{
	u32 *head = queue_reg(nic, queue, Q_HEAD);
	u64 base = *queue_reg(nic, queue, Q_BAL) |
		   (u64)*queue_reg(nic, queue, Q_BAH) << 32;
	unsigned int room = SRRCTL_SIZE(*queue_reg(nic, queue, Q_SRRCTL));
	u64 status = RXD_DD;
	struct rx_desc *d;
	unsigned int pad, len;
	u8 *buffer;

	if (!has_descriptor(nic, queue) || room <= STAMP_LEN)
		return false;
	d = nic->ops->dma(nic->front, base + *head * sizeof(*d), sizeof(*d));
	buffer = d ? nic->ops->dma(nic->front, le64_to_cpu(d->addr), room) :
		     NULL;
	if (!buffer)
		return false;
	pad = *done ? 0 : put_stamp(nic, queue, a->stamp_at, buffer);
	if (pad)
		status |= RXD_TSIP;
	len = min(a->len - *done, room - pad);
	memcpy(buffer + pad, a->data + *done, len);
	*done += len;
	if (*done == a->len)
		status |= RXD_EOP;
	d->addr = 0;
	/* The driver sees the length and status in one, and then the rest. */
	smp_wmb();
	WRITE_ONCE(d->result, cpu_to_le64(status | (u64)(len + pad) << 32));
	*head = (*head + 1) % (*queue_reg(nic, queue, Q_LEN) / sizeof(*d));
	return true;
}

static void receive(struct nic *nic, const struct nic_arrival *a)
{
	unsigned int queue, done = 0;

	if (!wanted(nic, a->data)) {
		nic->count[NIC_RX_FILTERED]++;
		return;
	}
	queue = queue_of(nic, a->data);
	while (done < a->len) {
		if (!put(nic, queue, a, &done)) {
			nic->count[NIC_RX_NO_BUFFER]++;
			return;
		}
	}
	nic->count[NIC_RX_FRAMES]++;
	nic_cause_queue(nic, queue, false);
}

enum hrtimer_restart nic_rx_timer(struct hrtimer *timer)
{
	struct nic *nic = container_of(timer, struct nic, rx_timer);
	struct nic_arrival *a;
	unsigned long flags;

	raw_spin_lock_irqsave(nic->lock, flags);
	while (nic->arrival_count) {
		a = &nic->arrival[nic->arrival_first];
		if (a->due > nic_now()) {
			nic_timer_at(timer, a->due);
			break;
		}
		receive(nic, a);
		nic->arrival_first = (nic->arrival_first + 1) % NIC_IN_FLIGHT;
		nic->arrival_count--;
	}
	raw_spin_unlock_irqrestore(nic->lock, flags);
	return HRTIMER_NORESTART;
}
