// SPDX-License-Identifier: GPL-2.0
/*
 * A flood of work on system_wq, for the bench: on each CPU some work items
 * that compute for a while and queue themselves again, until the module is
 * unloaded.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

static unsigned int works = 4;
module_param(works, uint, 0444);
MODULE_PARM_DESC(works, "work items per CPU (4)");

static unsigned int spin_us = 200;
module_param(spin_us, uint, 0444);
MODULE_PARM_DESC(spin_us, "how long each computes, in us, at most 1000 (200)");

static struct work_struct *items;
static unsigned int nitems;
static bool stopping;

static void flood(struct work_struct *work)
{
	udelay(spin_us);
	if (!READ_ONCE(stopping))
		queue_work(system_wq, work);
}

static int __init txts_work_flood_init(void)
{
	unsigned int cpu, i;

	if (!works || works > 256 || spin_us > 1000)
		return -EINVAL;
	items = kcalloc(nr_cpu_ids, works * sizeof(*items), GFP_KERNEL);
	if (!items)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		for (i = 0; i < works; i++) {
			INIT_WORK(&items[nitems], flood);
			queue_work_on(cpu, system_wq, &items[nitems++]);
		}
	}
	cpus_read_unlock();
	return 0;
}

static void __exit txts_work_flood_exit(void)
{
	WRITE_ONCE(stopping, true);
	while (nitems--)
		cancel_work_sync(&items[nitems]);
	kfree(items);
}

module_init(txts_work_flood_init);
module_exit(txts_work_flood_exit);
MODULE_DESCRIPTION("Flood of system_wq, for benches");
MODULE_LICENSE("GPL");
