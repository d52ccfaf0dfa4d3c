// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts of the models. An interrupt that can be taken is taken at once,
 * on this CPU and in hard IRQ context, so that a run repeats to the letter.
 */
#include <linux/bottom_half.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>

#include "unit.h"

void unit_in_hardirq(void (*fn)(void *arg), void *arg)
{
	unsigned long flags;

	local_irq_save(flags);
	__irq_enter_raw();
	fn(arg);
	__irq_exit_raw();
	local_irq_restore(flags);

	/* As the end of an interrupt does: softirqs that were raised run. */
	if (!in_interrupt() && !irqs_disabled()) {
		local_bh_disable();
		local_bh_enable();
	}
}

static void unit_run_isr(void *arg)
{
	struct unit *u = arg;

	u->model->isr(u);
}

/* One interrupt, whether or not one is pending. */
void unit_irq(struct unit *u)
{
	if (!u->model->isr)
		return;
	u->irqs++;
	u->in_isr = true;
	unit_in_hardirq(unit_run_isr, u);
	u->in_isr = false;
}

/* Takes what is pending, if interrupts are on here. */
void unit_pump(struct unit *u)
{
	unit_inject_late(u);
	while (u->irq_pending && !u->irq_off && !u->in_isr &&
	       !irqs_disabled()) {
		u->irq_pending = false;
		unit_irq(u);
	}
}

/* The device raises its interrupt. */
void unit_raise(struct unit *u)
{
	if (u->lose_irqs) {
		u->lose_irqs--;
		return;
	}
	u->irq_pending = true;
	unit_pump(u);
}
