// SPDX-License-Identifier: GPL-2.0
/*
 * MSI-X interrupts. A queue's cause goes to EICR by IVAR, all others first to
 * ICR; EIMS masks vectors, EITR spaces them, EIAC and EIAM clear and mask a
 * vector when its message is sent. Messages are sent from a hard timer.
 */
#include "port.h"

#define MESSAGE_NS	500	/* from the cause to the CPU */

static void intr_arm(struct nic *nic)
{
	unsigned long todo = *nic_reg(nic, R_EICR) & *nic_reg(nic, R_EIMS) &
			     ~nic->waiting;
	u64 first = nic_now() + MESSAGE_NS;
	u64 at = U64_MAX;
	unsigned int i;

	for_each_set_bit(i, &todo, nic->kind->vectors)
		at = min(at, max(first, nic->irq_free[i]));
	if (at != U64_MAX)
		nic_timer_at(&nic->irq_timer, at);
}

void nic_cause(struct nic *nic, u32 vectors)
{
	*nic_reg(nic, R_EICR) |= vectors;
	intr_arm(nic);
}

/* Two queues a register: Rx and Tx of the even one, then of the odd one. */
void nic_cause_queue(struct nic *nic, unsigned int queue, bool tx)
{
	u32 ivar = *nic_reg(nic, R_IVAR(queue / 2)) >>
		   ((queue & 1) * 16 + tx * 8);

	if (ivar & IVAR_VALID)
		nic_cause(nic, BIT(ivar & 0x1f));
}

void nic_cause_other(struct nic *nic, u32 icr)
{
	u32 ivar = *nic_reg(nic, R_IVAR_MISC) >> 8;

	*nic_reg(nic, R_ICR) |= icr;
	if (*nic_reg(nic, R_ICR) & *nic_reg(nic, R_IMS) && ivar & IVAR_VALID)
		nic_cause(nic, BIT(ivar & 0x1f));
}

bool nic_intr_read(struct nic *nic, u32 offset, u32 *value)
{
	switch (offset) {
	case R_ICR:
	case R_EICR:
		*value = *nic_reg(nic, offset);
		*nic_reg(nic, offset) = 0;
		return true;
	case R_ICS:
	case R_IMC:
	case R_EICS:
	case R_EIMC:
		*value = 0;
		return true;
	}
	return false;
}

bool nic_intr_write(struct nic *nic, u32 offset, u32 value)
{
	switch (offset) {
	case R_ICR:
	case R_EICR:
		*nic_reg(nic, offset) &= ~value;
		return true;
	case R_ICS:
		nic_cause_other(nic, value);
		return true;
	case R_IMS:
		*nic_reg(nic, R_IMS) |= value;
		nic_cause_other(nic, 0);
		return true;
	case R_IMC:
		*nic_reg(nic, R_IMS) &= ~value;
		return true;
	case R_EICS:
		nic_cause(nic, value);
		return true;
	case R_EIMS:
		*nic_reg(nic, R_EIMS) |= value;
		intr_arm(nic);
		return true;
	case R_EIMC:
		*nic_reg(nic, R_EIMS) &= ~value;
		return true;
	}
	return false;
}

/* Vectors whose message goes out now. */
static u32 intr_take(struct nic *nic)
{
	unsigned long todo = *nic_reg(nic, R_EICR) & *nic_reg(nic, R_EIMS) &
			     ~nic->waiting;
	u64 now = nic_now();
	u32 taken = 0;
	unsigned int i;

	for_each_set_bit(i, &todo, nic->kind->vectors) {
		if (nic->irq_free[i] > now)
			continue;
		nic->irq_free[i] = now + EITR_US(*nic_reg(nic, R_EITR(i))) *
					 NSEC_PER_USEC;
		taken |= BIT(i);
	}
	*nic_reg(nic, R_EICR) &= ~(taken & *nic_reg(nic, R_EIAC));
	*nic_reg(nic, R_EIMS) &= ~(taken & *nic_reg(nic, R_EIAM));
	return taken;
}

enum hrtimer_restart nic_intr_timer(struct hrtimer *timer)
{
	struct nic *nic = container_of(timer, struct nic, irq_timer);
	unsigned long flags, taken;
	u32 refused = 0;
	unsigned int i;

	raw_spin_lock_irqsave(nic->lock, flags);
	taken = nic->gone ? 0 : intr_take(nic);
	raw_spin_unlock_irqrestore(nic->lock, flags);
	for_each_set_bit(i, &taken, NIC_MAX_VECTORS)
		if (!nic->ops->interrupt(nic->front, i))
			refused |= BIT(i);
	raw_spin_lock_irqsave(nic->lock, flags);
	nic->count[NIC_IRQS] += hweight32(taken & ~refused);
	/* Pending in the PBA: the message goes out when its mask goes. */
	nic->waiting |= refused;
	*nic_reg(nic, R_EICR) |= refused;
	*nic_reg(nic, R_EIMS) |= refused;
	if (!nic->gone)
		intr_arm(nic);
	raw_spin_unlock_irqrestore(nic->lock, flags);
	return HRTIMER_NORESTART;
}

/* @vector, or any if there is none of that number, is tried again. */
void nic_msix_unmasked(struct nic *nic, unsigned int vector)
{
	u32 mask = vector < NIC_MAX_VECTORS ? BIT(vector) : ~0U;
	unsigned long flags;

	raw_spin_lock_irqsave(nic->lock, flags);
	nic->waiting &= ~mask;
	intr_arm(nic);
	raw_spin_unlock_irqrestore(nic->lock, flags);
}
