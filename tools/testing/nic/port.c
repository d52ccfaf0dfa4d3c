// SPDX-License-Identifier: GPL-2.0
/* Life of a port, its link, and the way of an access to BAR 0. */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "port.h"

#define PORTS	8

static struct nic *ports[PORTS];
static DEFINE_MUTEX(ports_lock);

void nic_for_each(void (*fn)(struct nic *nic))
{
	unsigned int i;

	mutex_lock(&ports_lock);
	for (i = 0; i < PORTS; i++)
		if (ports[i])
			fn(ports[i]);
	mutex_unlock(&ports_lock);
}

static void reset(struct nic *nic)
{
	memset(nic->reg, 0, NIC_BAR_REGS_SIZE);
	nic_board_reset(nic);
	nic_clock_tune(nic);
	nic_stamp_drop(nic, NIC_STAMP_RESET);
	stamp_reset(&nic->stamps);
	nic->tsicr = 0;
	nic->stuck_until = 0;
	nic->waiting = 0;
	nic_tx_reset(nic);
}

/* One name for registers that have several. */
static u32 canonical(u32 offset)
{
	if (offset >= R_ICR_LOW && offset <= R_IAM_LOW && !(offset % 8))
		return R_ICR + (offset - R_ICR_LOW) / 2;
	if (offset == R_EERD_LOW)
		return R_EERD;
	if (offset >= R_RXQ_LOW && offset < R_RXQ_LOW + 0x400)
		return R_RXQ((offset - R_RXQ_LOW) / 0x100) + offset % 0x100;
	if (offset >= R_TXQ_LOW && offset < R_TXQ_LOW + 0x400)
		return R_TXQ((offset - R_TXQ_LOW) / 0x100) + offset % 0x100;
	return offset;
}

static u32 status(struct nic *nic)
{
	u32 value = STATUS_FD;

	if (nic->link)
		value |= STATUS_LU;
	if (nic->paused)
		value |= STATUS_TXOFF;
	if (nic_speed >= 1000)
		value |= STATUS_SPEED_1000;
	if (nic_speed == 2500)
		value |= STATUS_SPEED_2500;
	else if (nic_speed == 100)
		value |= STATUS_SPEED_100;
	if (!(*nic_reg(nic, R_CTRL) & CTRL_MASTER_DISABLE))
		value |= STATUS_MASTER_ENABLE;
	return value;
}

static u32 read_locked(struct nic *nic, u32 offset)
{
	u32 value;

	if (nic_intr_read(nic, offset, &value) ||
	    nic_stamp_read(nic, offset, &value) ||
	    nic_clock_read(nic, offset, &value) ||
	    nic_board_read(nic, offset, &value))
		return value;
	if (offset == R_STATUS)
		return status(nic);
	if (offset == R_TDFPC)
		return nic->mac_count;
	/* Statistics are cleared by their read; none is counted. */
	if (offset >= R_STATS && offset < R_STATS_END)
		return 0;
	return *nic_reg(nic, offset);
}

static void write_locked(struct nic *nic, u32 offset, u32 value)
{
	unsigned int i;

	if (nic_intr_write(nic, offset, value) ||
	    nic_stamp_write(nic, offset, value) ||
	    nic_clock_write(nic, offset, value) ||
	    nic_board_write(nic, offset, value))
		return;
	if (offset == R_STATUS)
		return;
	if (offset == R_CTRL) {
		if (value & CTRL_RESETS)
			reset(nic);
		value &= ~CTRL_SELF_CLEARING;
	}
	*nic_reg(nic, offset) = value;
	for (i = 0; i < nic->kind->queues; i++)
		if (offset == R_TXQ(i) + Q_TAIL)
			nic_tx_doorbell(nic, i);
	/* What waits in a queue that has no launch time any more leaves. */
	if (offset == R_TQAVCTRL)
		nic_tx_kick(nic);
}

u32 nic_read(struct nic *nic, u32 offset)
{
	bool irqs_off = irqs_disabled();
	unsigned int cost = READ_ONCE(nic_mmio_read_ns);
	unsigned long flags;
	u32 value;

	if (offset >= NIC_BAR_REGS_SIZE || offset % 4)
		return ~0U;
	if (cost)
		ndelay(cost);
	offset = canonical(offset);
	raw_spin_lock_irqsave(nic->lock, flags);
	value = nic->gone ? ~0U : read_locked(nic, offset);
	nic_trace_access(nic, RF_READ, offset, value, irqs_off);
	raw_spin_unlock_irqrestore(nic->lock, flags);
	return value;
}

void nic_write(struct nic *nic, u32 offset, u32 value)
{
	bool irqs_off = irqs_disabled();
	unsigned int cost = READ_ONCE(nic_mmio_write_ns);
	unsigned long flags;

	if (offset >= NIC_BAR_REGS_SIZE || offset % 4)
		return;
	if (cost)
		ndelay(cost);
	offset = canonical(offset);
	raw_spin_lock_irqsave(nic->lock, flags);
	nic_trace_access(nic, RF_WRITE, offset, value, irqs_off);
	if (!nic->gone)
		write_locked(nic, offset, value);
	raw_spin_unlock_irqrestore(nic->lock, flags);
}

/* Both ends of the cable see the link go. */
void nic_set_link(struct nic *nic, bool up)
{
	unsigned long flags;

	raw_spin_lock_irqsave(nic->lock, flags);
	if (nic->link != up) {
		nic->link = up;
		nic_cause_other(nic, ICR_LSC);
		nic_tx_kick(nic);
	}
	raw_spin_unlock_irqrestore(nic->lock, flags);
}

void nic_set_paused(struct nic *nic, bool paused)
{
	unsigned long flags;

	raw_spin_lock_irqsave(nic->lock, flags);
	nic->paused = paused;
	nic_tx_kick(nic);
	raw_spin_unlock_irqrestore(nic->lock, flags);
}

/* A card that is gone answers nothing; it comes back as from a bus reset. */
void nic_set_gone(struct nic *nic, bool gone)
{
	unsigned long flags;

	raw_spin_lock_irqsave(nic->lock, flags);
	if (nic->gone && !gone) {
		reset(nic);
		nic_config_init(nic);
	}
	nic->gone = gone;
	raw_spin_unlock_irqrestore(nic->lock, flags);
}

unsigned int nic_vectors(const struct nic *nic)
{
	return nic->kind->vectors;
}

static void free_port(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < NIC_MAC_PACKETS; i++)
		vfree(nic->mac[i].data);
	for (i = 0; i < NIC_IN_FLIGHT; i++)
		kvfree(nic->arrival[i].data);
	nic_launch_free(nic);
	vfree(nic->trace);
	vfree(nic->reg);
	vfree(nic);
}

static bool alloc_port(struct nic *nic)
{
	unsigned int i;
	bool good;

	nic->reg = vzalloc(NIC_BAR_REGS_SIZE);
	nic->trace = vzalloc(array_size(NIC_TRACE, sizeof(*nic->trace)));
	good = nic->reg && nic->trace && nic_launch_alloc(nic);
	for (i = 0; good && i < NIC_MAC_PACKETS; i++) {
		nic->mac[i].data = vzalloc(NIC_PACKET_MAX);
		good = nic->mac[i].data;
	}
	for (i = 0; good && i < NIC_IN_FLIGHT; i++) {
		/* and room for a VLAN tag */
		nic->arrival[i].data = kvzalloc(NIC_FRAME_MAX + 4, GFP_KERNEL);
		good = nic->arrival[i].data;
	}
	return good;
}

struct nic *nic_create(const struct nic_kind *kind, unsigned int port,
		       const struct nic_front_ops *ops, void *front)
{
	struct nic *nic;

	if (port >= PORTS || ports[port])
		return NULL;
	nic = vzalloc(sizeof(*nic));
	if (!nic)
		return NULL;
	nic->kind = kind;
	nic->port = port;
	nic->ops = ops;
	nic->front = front;
	nic->random = port + 1;
	raw_spin_lock_init(&nic->own_lock);
	nic->lock = &nic->own_lock;
	if (!alloc_port(nic)) {
		free_port(nic);
		return NULL;
	}
	rf_init(&nic->stamps, kind->stamps.effects, kind->stamps.nr_effects);
	stamp_reset(&nic->stamps);
	nic_config_init(nic);
	nic_board_init(nic);
	nic_clock_init(nic);
	nic_timer_init(&nic->irq_timer, nic_intr_timer);
	nic_timer_init(&nic->stamp_timer, nic_stamp_timer);
	nic_timer_init(&nic->tx_timer, nic_tx_timer);
	nic_timer_init(&nic->rx_timer, nic_rx_timer);
	nic_debug_add(nic);
	mutex_lock(&ports_lock);
	ports[port] = nic;
	mutex_unlock(&ports_lock);
	return nic;
}

void nic_connect(struct nic *a, struct nic *b)
{
	b->lock = a->lock;
	a->peer = b;
	b->peer = a;
	a->link = true;
	b->link = true;
}

static void cancel_timers(struct nic *nic)
{
	hrtimer_cancel(&nic->tx_timer);
	hrtimer_cancel(&nic->rx_timer);
	hrtimer_cancel(&nic->stamp_timer);
	hrtimer_cancel(&nic->irq_timer);
}

/* The other end of the cable stays, without a peer and with its own lock. */
void nic_destroy(struct nic *nic)
{
	struct nic *peer = nic->peer;
	unsigned long flags;

	mutex_lock(&ports_lock);
	ports[nic->port] = NULL;
	mutex_unlock(&ports_lock);
	nic_debug_remove(nic);
	if (peer) {
		raw_spin_lock_irqsave(nic->lock, flags);
		peer->peer = NULL;
		nic->peer = NULL;
		raw_spin_unlock_irqrestore(nic->lock, flags);
	}
	cancel_timers(nic);
	if (peer) {
		cancel_timers(peer);
		peer->lock = &peer->own_lock;
	}
	free_port(nic);
}
