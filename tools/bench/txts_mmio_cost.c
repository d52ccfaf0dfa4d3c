// SPDX-License-Identifier: GPL-2.0
/*
 * Makes each call of a function take longer, for the bench: igb_rd32, so that
 * a register read of an emulated NIC costs what one of a true NIC does, for
 * any driver and policy alike. The cost of the probe itself is measured first
 * and is part of it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/clock.h>

#define CALLS	1000

static char function[64] = "igb_rd32";
module_param_string(function, function, sizeof(function), 0444);
MODULE_PARM_DESC(function, "the function that reads a register (igb_rd32)");

static unsigned int ns = 1000;
module_param(ns, uint, 0444);
MODULE_PARM_DESC(ns, "how much longer a call takes, at most 10000 (1000)");

static unsigned int overhead;
module_param(overhead, uint, 0444);
MODULE_PARM_DESC(overhead, "what of this the probe takes; measured");

static unsigned int spin;

/* Without cpu_relax(), which lets QEMU go on with another vCPU. */
static int spend(struct kprobe *probe, struct pt_regs *regs)
{
	u64 end = local_clock() + spin;

	while (spin && local_clock() < end)
		barrier();
	return 0;
}

static noinline void probed(void)
{
	barrier();
}

static noinline u64 time_calls(void)
{
	unsigned int i;
	u64 start;

	start = local_clock();
	for (i = 0; i < CALLS; i++)
		probed();
	return local_clock() - start;
}

static struct kprobe own = { .addr = (void *)probed, .pre_handler = spend };
static struct kprobe target = { .symbol_name = function,
				.pre_handler = spend };

static int measure(void)
{
	u64 without = time_calls(), with;
	int ret;

	ret = register_kprobe(&own);
	if (ret)
		return ret;
	with = time_calls();
	unregister_kprobe(&own);
	if (with <= without)
		return -EIO;
	overhead = div_u64(with - without, CALLS);
	return 0;
}

static int __init txts_mmio_cost_init(void)
{
	int ret;

	ret = measure();
	if (ret)
		return ret;
	if (ns > 10000 || ns < overhead) {
		pr_err("ns must be from %u, the probe's own cost, to 10000\n",
		       overhead);
		return -ERANGE;
	}
	spin = ns - overhead;
	ret = register_kprobe(&target);
	if (ret)
		pr_err("cannot probe %s\n", function);
	else
		pr_info("%s takes %u ns longer, %u of them for the probe\n",
			function, ns, overhead);
	return ret;
}

static void __exit txts_mmio_cost_exit(void)
{
	unregister_kprobe(&target);
}

module_init(txts_mmio_cost_init);
module_exit(txts_mmio_cost_exit);
MODULE_DESCRIPTION("Cost of a register read, for benches");
MODULE_LICENSE("GPL");
