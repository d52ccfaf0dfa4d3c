// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: /sys/kernel/debug/txts/, root only, no ABI. A directory for each
 * device, and what the CPUs spend on stamps; all read-only but for the files
 * policy (of a device) and budget_permille, which are there with
 * CONFIG_TXTS_TESTING only.
 */
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "internal.h"

static struct dentry *txts_root;

static const char * const state_names[] = {
	[TXTS_FREE]		= "free",
	[TXTS_RESERVED]		= "reserved",
	[TXTS_ARMED]		= "armed",
	[TXTS_SENT]		= "sent",
	[TXTS_READING]		= "reading",
	[TXTS_QUARANTINE]	= "quarantine",
};

static int counters_show(struct seq_file *m, void *unused)
{
	struct txts *txts = m->private;
	enum txts_counter i;

	for (i = 0; i < TXTS_NR_COUNTERS; i++)
		seq_printf(m, "%s %llu\n", txts_counter_names[i],
			   txts_read_counter(txts, i));
	seq_printf(m, "in_flight %llu\n", txts_in_flight(txts));
	seq_printf(m, "enabled %d\n", READ_ONCE(txts->enabled));
	seq_printf(m, "running %d\n", txts_running(txts));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int slots_show(struct seq_file *m, void *unused)
{
	struct txts *txts = m->private;
	struct txts_slot *slot;
	unsigned int i;

	seq_puts(m, "slot state generation gone suspect max_attempts\n");
	for (i = 0; i < txts->nslots; i++) {
		slot = &txts->slots[i];
		raw_spin_lock_irq(&slot->lock);
		seq_printf(m, "%u %s %u %d %d %u\n", i,
			   state_names[slot->state], slot->gen, slot->gone,
			   slot->suspect, slot->max_attempts);
		raw_spin_unlock_irq(&slot->lock);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(slots);

static int latency_show(struct seq_file *m, void *unused)
{
	struct txts *txts = m->private;
	unsigned int i;
	u64 read, deliver;

	seq_puts(m, "below_ns commit_to_read read_to_delivery\n");
	for (i = 0; i < TXTS_HIST_BUCKETS; i++) {
		read = txts_read_hist(txts, TXTS_HIST_READ, i);
		deliver = txts_read_hist(txts, TXTS_HIST_DELIVER, i);
		if (read || deliver)
			seq_printf(m, "%llu %llu %llu\n", 2ULL << i, read,
				   deliver);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(latency);

static const char * const level_names[] = {
	[TXTS_LEVEL_PROMPT]	= "prompt",
	[TXTS_LEVEL_FREE]	= "free",
	[TXTS_LEVEL_BACKGROUND]	= "background",
};

static unsigned long txts_average(struct txts_load *load, enum txts_cost cost)
{
	/* Of another CPU, which may be changing it. */
	return data_race(ewma_txts_cost_read(&load->average[cost]));
}

static int load_show(struct seq_file *m, void *unused)
{
	struct txts_load *load;
	int cpu;

	seq_puts(m, "cpu level spent_ns spent_ptp_ns budget_ns read_ns deliver_ns\n");
	for_each_online_cpu(cpu) {
		load = txts_load_of(cpu);
		/* A glance at another CPU's account: figures may not match. */
		seq_printf(m, "%d %s %llu %llu %llu %lu %lu\n", cpu,
			   level_names[READ_ONCE(load->level)],
			   READ_ONCE(load->spent[TXTS_ORDINARY]),
			   READ_ONCE(load->spent[TXTS_PTP]),
			   READ_ONCE(load->budget),
			   txts_average(load, TXTS_COST_READ),
			   txts_average(load, TXTS_COST_DELIVER));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(load);

#ifdef CONFIG_TXTS_TESTING
static int budget_get(void *data, u64 *value)
{
	*value = txts_budget();
	return 0;
}

static int budget_set(void *data, u64 value)
{
	if (value < 1 || value > 1000)
		return -EINVAL;
	WRITE_ONCE(txts_budget_permille, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(budget_fops, budget_get, budget_set, "%llu\n");

static void txts_debugfs_add_budget(void)
{
	debugfs_create_file("budget_permille", 0600, txts_root, NULL,
			    &budget_fops);
}

static int policy_show(struct seq_file *m, void *unused)
{
	struct txts *txts = m->private;

	seq_printf(m, "%s\n", txts_policy_names[READ_ONCE(txts->policy)]);
	return 0;
}

static int policy_open(struct inode *inode, struct file *file)
{
	return single_open(file, policy_show, inode->i_private);
}

static ssize_t policy_write(struct file *file, const char __user *ubuf,
			    size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct txts *txts = m->private;
	char buf[16] = {};
	int policy;

	if (count >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, count))
		return -EFAULT;
	policy = match_string(txts_policy_names, TXTS_NR_POLICIES,
			      strim(buf));
	if (policy < 0)
		return policy;
	WRITE_ONCE(txts->policy, policy);
	return count;
}

static const struct file_operations policy_fops = {
	.owner = THIS_MODULE,
	.open = policy_open,
	.read = seq_read,
	.write = policy_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static void txts_debugfs_add_testing(struct txts *txts)
{
	debugfs_create_file("policy", 0600, txts->debugfs, txts, &policy_fops);
}
#else
static void txts_debugfs_add_budget(void)
{
}

static void txts_debugfs_add_testing(struct txts *txts)
{
}
#endif

void txts_debugfs_add(struct txts *txts)
{
	txts->debugfs = debugfs_create_dir(dev_name(txts->dev), txts_root);
	debugfs_create_file("counters", 0400, txts->debugfs, txts,
			    &counters_fops);
	debugfs_create_file("slots", 0400, txts->debugfs, txts, &slots_fops);
	debugfs_create_file("latency", 0400, txts->debugfs, txts,
			    &latency_fops);
	txts_debugfs_add_testing(txts);
}

void txts_debugfs_remove(struct txts *txts)
{
	debugfs_remove_recursive(txts->debugfs);
}

static int __init txts_module_init(void)
{
	txts_root = debugfs_create_dir("txts", NULL);
	debugfs_create_file("load", 0400, txts_root, NULL, &load_fops);
	txts_debugfs_add_budget();
	return 0;
}
subsys_initcall(txts_module_init);

static void __exit txts_module_exit(void)
{
	debugfs_remove_recursive(txts_root);
}
module_exit(txts_module_exit);
