// SPDX-License-Identifier: GPL-2.0
/*
 * Knobs: parameters of the module, which can be set while it runs. "every N"
 * counts frames that carry the stamp bit (or stamps latched of such), 0 is
 * never. link_down, pause and gone are masks of ports.
 */
#include <linux/kernel.h>
#include <linux/module.h>

#include "port.h"

unsigned int nic_mmio_read_ns = 1000;
unsigned int nic_mmio_write_ns = 100;
unsigned int nic_stamp_delay_us;
bool nic_stamp_tail;
unsigned int nic_lose_every;
unsigned int nic_lose_ppm;
unsigned int nic_duplicate_every;
unsigned int nic_stale_every;
unsigned int nic_irq_lose_every;
unsigned int nic_irq_duplicate_every;
unsigned int nic_irq_stuck_every;
unsigned int nic_collateral_every;
bool nic_adjust_kills;
int nic_pair_ppb;
bool nic_trace_on;
unsigned int nic_speed = 1000;

static unsigned int link_down;
static unsigned int pause;
static unsigned int gone;

struct knob {
	void *value;	/* int or unsigned int */
	int min;
	int max;
	void (*changed)(struct nic *nic);
};

static int knob_set(const char *text, const struct kernel_param *kp)
{
	const struct knob *knob = kp->arg;
	int value, err;

	err = kstrtoint(text, 0, &value);
	if (err || value < knob->min || value > knob->max) {
		pr_err("%s must be a number from %d to %d\n", kp->name,
		       knob->min, knob->max);
		return err ?: -ERANGE;
	}
	WRITE_ONCE(*(int *)knob->value, value);
	if (knob->changed)
		nic_for_each(knob->changed);
	return 0;
}

static int knob_get(char *text, const struct kernel_param *kp)
{
	const struct knob *knob = kp->arg;

	return sprintf(text, "%d\n", READ_ONCE(*(int *)knob->value));
}

static const struct kernel_param_ops knob_ops = {
	.set = knob_set,
	.get = knob_get,
};

static void link_changed(struct nic *nic)
{
	unsigned int both = BIT(nic->port) | BIT(nic->port ^ 1);

	nic_set_link(nic, nic->peer && !(link_down & both));
}

static void pause_changed(struct nic *nic)
{
	nic_set_paused(nic, pause & BIT(nic->port));
}

static void gone_changed(struct nic *nic)
{
	nic_set_gone(nic, gone & BIT(nic->port));
}

static void ppb_changed(struct nic *nic)
{
	unsigned long flags;

	raw_spin_lock_irqsave(nic->lock, flags);
	nic_clock_tune(nic);
	raw_spin_unlock_irqrestore(nic->lock, flags);
}

#define NIC_KNOB(name, variable, low, high, fn, text)			\
	static const struct knob knob_##name = {			\
		.value = &(variable), .min = low, .max = high,		\
		.changed = fn,						\
	};								\
	module_param_cb(name, &knob_ops, (void *)&knob_##name, 0644);	\
	MODULE_PARM_DESC(name, text)

NIC_KNOB(mmio_read_ns, nic_mmio_read_ns, 0, 100000, NULL, "cost of a read");
NIC_KNOB(mmio_write_ns, nic_mmio_write_ns, 0, 100000, NULL, "cost of a write");
NIC_KNOB(stamp_delay_us, nic_stamp_delay_us, 0, 10000000, NULL,
	 "from the frame to its stamp");
NIC_KNOB(lose_every, nic_lose_every, 0, INT_MAX, NULL, "lose every Nth stamp");
NIC_KNOB(lose_ppm, nic_lose_ppm, 0, 1000000, NULL,
	 "probability that a stamp is lost");
NIC_KNOB(duplicate_every, nic_duplicate_every, 0, INT_MAX, NULL,
	 "latch every Nth stamp a second time, 500 us later");
NIC_KNOB(stale_every, nic_stale_every, 0, INT_MAX, NULL,
	 "every Nth stamp has the value before");
NIC_KNOB(irq_lose_every, nic_irq_lose_every, 0, INT_MAX, NULL,
	 "lose the interrupt of every Nth stamp");
NIC_KNOB(irq_duplicate_every, nic_irq_duplicate_every, 0, INT_MAX, NULL,
	 "interrupt twice for every Nth stamp");
NIC_KNOB(irq_stuck_every, nic_irq_stuck_every, 0, INT_MAX, NULL,
	 "for 50 ms after every Nth stamp the cause cannot be cleared");
NIC_KNOB(collateral_every, nic_collateral_every, 0, INT_MAX, NULL,
	 "reading the Nth stamp frees the other registers");
NIC_KNOB(pair_ppb, nic_pair_ppb, -100000, 100000, ppb_changed,
	 "how much faster the oscillator of every second port is");
NIC_KNOB(link_down, link_down, 0, 255, link_changed, "ports without a link");
NIC_KNOB(pause, pause, 0, 255, pause_changed, "ports that may not send");
NIC_KNOB(gone, gone, 0, 255, gone_changed, "ports that are off the bus");

module_param_named(stamp_tail, nic_stamp_tail, bool, 0644);
MODULE_PARM_DESC(stamp_tail, "stamp_delay_us is the least of a long tail");
module_param_named(adjust_kills, nic_adjust_kills, bool, 0644);
MODULE_PARM_DESC(adjust_kills, "adjusting the PHC loses stamps on their way");
module_param_named(trace, nic_trace_on, bool, 0644);
MODULE_PARM_DESC(trace, "record accesses, see trace in debugfs");

static int speed_set(const char *text, const struct kernel_param *kp)
{
	unsigned int value;

	if (kstrtouint(text, 0, &value) ||
	    (value != 10 && value != 100 && value != 1000 && value != 2500)) {
		pr_err("%s must be 10, 100, 1000 or 2500\n", kp->name);
		return -EINVAL;
	}
	WRITE_ONCE(nic_speed, value);
	return 0;
}

static const struct kernel_param_ops speed_ops = {
	.set = speed_set,
	.get = param_get_uint,
};
module_param_cb(speed, &speed_ops, &nic_speed, 0644);
MODULE_PARM_DESC(speed, "of the next link in Mbit/s");

/* True if the last one that @count counted is an Nth. */
bool nic_every(const struct nic *nic, enum nic_count count, unsigned int n)
{
	return n && nic->count[count] && !(nic->count[count] % n);
}

/* Repeats from boot to boot. */
u32 nic_random(struct nic *nic)
{
	nic->random ^= nic->random << 13;
	nic->random ^= nic->random >> 17;
	nic->random ^= nic->random << 5;
	return nic->random;
}
