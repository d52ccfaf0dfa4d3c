// SPDX-License-Identifier: GPL-2.0
/*
 * From a frame with the stamp bit to the stamp registers, and all that the
 * knobs make go wrong on the way. The registers are those of the stamp unit
 * that the KUnit mock has, too.
 */
#include <linux/math64.h>

#include "port.h"

#define STUCK_NS	(50 * NSEC_PER_MSEC)
#define DUPLICATE_NS	(500 * NSEC_PER_USEC)
#define TAIL_MAX	6	/* doublings of the delay */

/* The Tx stamp's cause, as the interrupt part of the MAC sees it. */
static void raise(struct nic *nic)
{
	if (*nic_reg(nic, R_TSIM) & TSICR_TXTS)
		nic_cause_other(nic, ICR_TS);
}

/* The interrupt is there; what do the knobs make of it? */
static void interrupt(struct nic *nic)
{
	if (nic_every(nic, NIC_STAMP_LATCHED, nic_irq_lose_every)) {
		nic->count[NIC_IRQ_LOST]++;
		return;
	}
	if (nic_every(nic, NIC_STAMP_LATCHED, nic_irq_stuck_every)) {
		nic->count[NIC_IRQ_STUCK]++;
		nic->stuck_until = nic_now() + STUCK_NS;
	}
	raise(nic);
}

static void timer_arm(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nic->pending); i++)
		if (nic->pending[i].used)
			nic_timer_at(&nic->stamp_timer, nic->pending[i].due);
}

static void later(struct nic *nic, unsigned int slot, u64 raw, u64 due,
		  bool duplicate)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nic->pending); i++) {
		if (nic->pending[i].used)
			continue;
		nic->pending[i] = (struct nic_pending) {
			.used = true, .duplicate = duplicate,
			.slot = slot, .raw = raw, .due = due,
		};
		timer_arm(nic);
		return;
	}
	/* As in a MAC that is still busy with an earlier one. */
	if (!duplicate)
		nic->count[NIC_STAMP_LOCKED]++;
}

static void latch(struct nic *nic, const struct nic_pending *p)
{
	enum stamp_result result;

	result = stamp_capture(&nic->stamps, nic->kind->stamps.irq, p->slot,
			       p->raw);
	if (result == STAMP_LOCKED) {
		if (!p->duplicate)
			nic->count[NIC_STAMP_LOCKED]++;
		return;
	}
	if (p->duplicate) {
		nic->count[NIC_STAMP_DUPLICATED]++;
		if (result == STAMP_INTERRUPT)
			raise(nic);
		return;
	}
	nic->count[NIC_STAMP_LATCHED]++;
	nic->last_raw[p->slot] = p->raw;
	if (result == STAMP_INTERRUPT)
		interrupt(nic);
	if (nic_every(nic, NIC_STAMP_LATCHED, nic_irq_duplicate_every)) {
		nic->count[NIC_IRQ_DUPLICATED]++;
		raise(nic);
	}
	if (nic_every(nic, NIC_STAMP_LATCHED, nic_duplicate_every))
		later(nic, p->slot, p->raw, nic_now() + DUPLICATE_NS, true);
}

enum hrtimer_restart nic_stamp_timer(struct hrtimer *timer)
{
	struct nic *nic = container_of(timer, struct nic, stamp_timer);
	struct nic_pending *p, now;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(nic->lock, flags);
	for (i = 0; i < ARRAY_SIZE(nic->pending); i++) {
		p = &nic->pending[i];
		if (!p->used || p->due > nic_now())
			continue;
		now = *p;
		p->used = false;
		latch(nic, &now);
	}
	timer_arm(nic);
	raw_spin_unlock_irqrestore(nic->lock, flags);
	return HRTIMER_NORESTART;
}

/* Fixed, or with a tail: each doubling half as likely as the one before. */
static u64 delay(struct nic *nic)
{
	u64 ns = (u64)nic_stamp_delay_us * NSEC_PER_USEC;
	unsigned int i;

	for (i = 0; ns && nic_stamp_tail && i < TAIL_MAX; i++) {
		if (nic_random(nic) & 1)
			break;
		ns *= 2;
	}
	return ns;
}

/* A frame that carries the stamp bit starts to leave at @at. */
void nic_stamp(struct nic *nic, const struct nic_packet *packet, u64 at)
{
	unsigned int slot = TXD_SLOT(packet->o.cmd);
	unsigned int clock = packet->o.olinfo & TXD_TIMER_1 ? 1 : 0;
	u64 wait = delay(nic);
	struct nic_pending now;

	if (slot >= nic->kind->stamps.slots)
		slot = 0;
	if (clock >= nic->kind->clocks)
		clock = 0;
	nic->count[NIC_STAMP_ASKED]++;
	if (!(*nic_reg(nic, R_TSYNCTXCTL) & TSYNC_ENABLED)) {
		nic->count[NIC_STAMP_OFF]++;
		return;
	}
	if (nic_every(nic, NIC_STAMP_ASKED, nic_lose_every) ||
	    (nic_lose_ppm && nic_random(nic) % 1000000 < nic_lose_ppm)) {
		nic->count[NIC_STAMP_LOST]++;
		return;
	}
	now = (struct nic_pending) {
		.slot = slot,
		.raw = nic_clock_raw(nic, clock, at),
	};
	if (nic->last_raw[slot] &&
	    nic_every(nic, NIC_STAMP_ASKED, nic_stale_every)) {
		nic->count[NIC_STAMP_STALE]++;
		now.raw = nic->last_raw[slot];
	}
	if (!wait) {
		latch(nic, &now);
		return;
	}
	nic->count[NIC_STAMP_DELAYED]++;
	later(nic, slot, now.raw, at + wait, false);
}

/* Stamps on their way do not arrive. */
void nic_stamp_drop(struct nic *nic, enum nic_count why)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nic->pending); i++) {
		if (!nic->pending[i].used)
			continue;
		nic->pending[i].used = false;
		if (!nic->pending[i].duplicate)
			nic->count[why]++;
	}
}

/* The high word of @slot was read: a fault may free the others as well. */
static void collateral(struct nic *nic, unsigned int slot, bool valid)
{
	u32 others = nic->stamps.reg[REG_VALID] & ~BIT(slot);

	if (!valid || !others ||
	    !nic_every(nic, NIC_STAMP_LATCHED, nic_collateral_every))
		return;
	nic->count[NIC_COLLATERAL] += hweight32(others);
	rf_update(&nic->stamps, REG_VALID, others, 0);
}

static u32 read_cause(struct nic *nic)
{
	u32 cause = nic->tsicr;

	if (rf_read(&nic->stamps, REG_CAUSE) & CAUSE_TXTS)
		cause |= TSICR_TXTS;
	/* Stuck: the read did not clear it, so no later stamp interrupts. */
	if (nic_now() < nic->stuck_until)
		rf_update(&nic->stamps, REG_CAUSE, 0, CAUSE_TXTS);
	nic->tsicr = 0;
	return cause;
}

bool nic_stamp_read(struct nic *nic, u32 offset, u32 *value)
{
	unsigned int i;
	bool valid;
	u32 low;

	if (offset == R_TSYNCTXCTL) {
		*value = (*nic_reg(nic, offset) & ~0xfU) |
			 rf_read(&nic->stamps, REG_VALID);
		return true;
	}
	if (offset == R_TSICR) {
		*value = read_cause(nic);
		return true;
	}
	for (i = 0; i < nic->kind->stamps.slots; i++) {
		low = i ? R_TXSTMP(i) : R_TXSTMP_0;
		if (offset == low) {
			*value = rf_read(&nic->stamps, REG_LOW(i));
			return true;
		}
		if (offset == low + 4) {
			valid = stamp_valid(&nic->stamps, i);
			*value = rf_read(&nic->stamps, REG_HIGH(i));
			collateral(nic, i, valid);
			return true;
		}
	}
	return false;
}

bool nic_stamp_write(struct nic *nic, u32 offset, u32 value)
{
	if (offset != R_TSICR)
		return false;
	if (nic_now() >= nic->stuck_until)
		rf_write(&nic->stamps, REG_CAUSE,
			 value & TSICR_TXTS ? CAUSE_TXTS : 0);
	return true;
}
