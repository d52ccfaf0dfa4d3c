// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: /sys/kernel/debug/txts_nic/PORT/ with the counters, the registers
 * that are not zero, and the newest accesses to BAR 0 with their context.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#include "port.h"

static struct dentry *root;

static const char * const count_names[] = {
	[NIC_TX_FRAMES]		= "tx_frames",
	[NIC_TX_HELD]		= "tx_held",
	[NIC_TX_BAD]		= "tx_bad",
	[NIC_TX_LAUNCHED]	= "tx_launched",
	[NIC_RX_FRAMES]		= "rx_frames",
	[NIC_RX_FILTERED]	= "rx_filtered",
	[NIC_RX_NO_BUFFER]	= "rx_no_buffer",
	[NIC_STAMP_ASKED]	= "stamp_asked",
	[NIC_STAMP_OFF]		= "stamp_off",
	[NIC_STAMP_LATCHED]	= "stamp_latched",
	[NIC_STAMP_LOCKED]	= "stamp_locked",
	[NIC_STAMP_LOST]	= "stamp_lost",
	[NIC_STAMP_STALE]	= "stamp_stale",
	[NIC_STAMP_DUPLICATED]	= "stamp_duplicated",
	[NIC_STAMP_DELAYED]	= "stamp_delayed",
	[NIC_STAMP_KILLED]	= "stamp_killed",
	[NIC_STAMP_RESET]	= "stamp_reset",
	[NIC_COLLATERAL]	= "collateral",
	[NIC_IRQ_LOST]		= "irq_lost",
	[NIC_IRQ_DUPLICATED]	= "irq_duplicated",
	[NIC_IRQ_STUCK]		= "irq_stuck",
	[NIC_IRQS]		= "irqs",
};

static_assert(ARRAY_SIZE(count_names) == NIC_NR_COUNTS);

static int counters_show(struct seq_file *m, void *unused)
{
	struct nic *nic = m->private;
	unsigned int i;

	for (i = 0; i < NIC_NR_COUNTS; i++)
		seq_printf(m, "%s %llu\n", count_names[i], nic->count[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int registers_show(struct seq_file *m, void *unused)
{
	struct nic *nic = m->private;
	u32 offset;

	for (offset = 0; offset < NIC_BAR_REGS_SIZE; offset += 4)
		if (*nic_reg(nic, offset))
			seq_printf(m, "%05x %08x\n", offset,
				   *nic_reg(nic, offset));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(registers);

static int trace_show(struct seq_file *m, void *unused)
{
	static const char * const contexts[] = {
		[RF_TASK] = "task",
		[RF_SOFTIRQ] = "softirq",
		[RF_HARDIRQ] = "hardirq",
	};
	struct nic *nic = m->private;
	unsigned long i, end = nic->traced;
	struct nic_trace t;

	seq_puts(m, "ns access offset value context interrupts cpu\n");
	for (i = end > NIC_TRACE ? end - NIC_TRACE : 0; i < end; i++) {
		t = nic->trace[i % NIC_TRACE];
		seq_printf(m, "%llu %s %05x %08x %s %s %u\n", t.at,
			   t.op == RF_READ ? "read" : "write", t.offset,
			   t.value, contexts[t.ctx],
			   t.irqs_off ? "off" : "on", t.cpu);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(trace);

/* Under the lock of the port. */
void nic_trace_access(struct nic *nic, u8 op, u32 offset, u32 value,
		      bool irqs_off)
{
	if (!READ_ONCE(nic_trace_on))
		return;
	nic->trace[nic->traced++ % NIC_TRACE] = (struct nic_trace) {
		.at = nic_now(),
		.op = op,
		.offset = offset,
		.value = value,
		.ctx = rf_context(),
		.cpu = raw_smp_processor_id(),
		.irqs_off = irqs_off,
	};
}

void nic_debug_add(struct nic *nic)
{
	char name[8];

	snprintf(name, sizeof(name), "%u", nic->port);
	nic->debugfs = debugfs_create_dir(name, root);
	debugfs_create_file("counters", 0400, nic->debugfs, nic,
			    &counters_fops);
	debugfs_create_file("registers", 0400, nic->debugfs, nic,
			    &registers_fops);
	debugfs_create_file("trace", 0400, nic->debugfs, nic, &trace_fops);
}

void nic_debug_remove(struct nic *nic)
{
	debugfs_remove_recursive(nic->debugfs);
}

int nic_debug_init(void)
{
	root = debugfs_create_dir("txts_nic", NULL);
	return PTR_ERR_OR_ZERO(root);
}

void nic_debug_exit(void)
{
	debugfs_remove_recursive(root);
}
