// SPDX-License-Identifier: GPL-2.0
/*
 * Makes each call of some functions take longer, for the bench: igb_rd32, so
 * that a register read of an emulated NIC costs what one of a true NIC does,
 * for any driver and policy alike; skb_consume_udp, so that a server has more
 * to do for each request. The cost of the probe itself is measured first and
 * is part of it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/clock.h>

#define CALLS		1000
#define TUNE_ROUNDS	100000
#define TUNE_TRIES	5
#define MAX_FUNCTIONS	2
#define MAX_NS		200000

static char *function[MAX_FUNCTIONS] = { "igb_rd32" };
static int nr_functions = 1;
module_param_array(function, charp, &nr_functions, 0444);
MODULE_PARM_DESC(function, "functions, one reads a register (igb_rd32)");

static unsigned int ns[MAX_FUNCTIONS] = { 1000, 1000 };
module_param_array(ns, uint, NULL, 0444);
MODULE_PARM_DESC(ns, "how much longer a call of each takes (1000)");

static unsigned int overhead;
module_param(overhead, uint, 0444);
MODULE_PARM_DESC(overhead, "what of this the probe takes; measured");

struct slow {
	struct kprobe probe;
	unsigned long rounds;
};

/*
 * Without a clock, each look at which takes QEMU longer than it saves, and
 * without cpu_relax(), which lets QEMU go on with another vCPU.
 */
static noinline void spin(unsigned long count)
{
	while (count--)
		barrier();
}

static int spend(struct kprobe *probe, struct pt_regs *regs)
{
	spin(READ_ONCE(container_of(probe, struct slow, probe)->rounds));
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

/* How many rounds take @wanted ns; another vCPU may come in between. */
static unsigned long tune(u64 wanted)
{
	u64 took, best = U64_MAX;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < TUNE_TRIES; i++) {
		local_irq_save(flags);
		took = local_clock();
		spin(TUNE_ROUNDS);
		took = local_clock() - took;
		local_irq_restore(flags);
		best = min(best, max(took, 1ULL));
	}
	return div64_u64(wanted * TUNE_ROUNDS, best);
}

static struct slow own = {
	.probe = { .addr = (void *)probed, .pre_handler = spend },
};

static struct slow slow[MAX_FUNCTIONS];

static int measure(void)
{
	u64 without = time_calls(), with;
	int ret;

	ret = register_kprobe(&own.probe);
	if (ret)
		return ret;
	with = time_calls();
	unregister_kprobe(&own.probe);
	if (with <= without)
		return -EIO;
	overhead = div_u64(with - without, CALLS);
	return 0;
}

static int slow_down(struct slow *slow, const char *name, unsigned int by)
{
	int ret;

	if (by > MAX_NS || by < overhead) {
		pr_err("ns must be from %u, the probe's own cost, to %u\n",
		       overhead, MAX_NS);
		return -ERANGE;
	}
	slow->probe.symbol_name = name;
	slow->probe.pre_handler = spend;
	slow->rounds = tune(by - overhead);
	ret = register_kprobe(&slow->probe);
	if (ret)
		pr_err("cannot probe %s\n", name);
	else
		pr_info("%s takes %u ns longer, %u of them for the probe\n",
			name, by, overhead);
	return ret;
}

static int __init txts_mmio_cost_init(void)
{
	int i, ret;

	ret = measure();
	if (ret)
		return ret;
	for (i = 0; i < nr_functions; i++) {
		ret = slow_down(&slow[i], function[i], ns[i]);
		if (ret) {
			while (i--)
				unregister_kprobe(&slow[i].probe);
			return ret;
		}
	}
	return 0;
}

static void __exit txts_mmio_cost_exit(void)
{
	int i;

	for (i = 0; i < nr_functions; i++)
		unregister_kprobe(&slow[i].probe);
}

module_init(txts_mmio_cost_init);
module_exit(txts_mmio_cost_exit);
MODULE_DESCRIPTION("Cost of a register read, for benches");
MODULE_LICENSE("GPL");
