// SPDX-License-Identifier: GPL-2.0
/*
 * Makes kernel functions fail, for tests on stock kernels, which are built
 * without CONFIG_FAULT_INJECTION. A kprobe at the entry of each function named
 * returns a given value at once. For tests only, x86-64 only:
 *
 *   insmod txts_fault.ko symbol=register_netdev value=-12
 *   insmod txts_fault.ko symbol=dma_map_page_attrs value=-1 every=3 \
 *	    caller=igb_xmit_frame_ring device=0000:01:00.0
 *
 * Up to four at a time, separated by commas: symbol=a,b value=0,-12. The files
 * calls and hits in /sys/module/txts_fault/parameters tell how many calls of
 * each matched and how many of these failed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#ifndef CONFIG_X86_64
#error "txts_fault: the return from a probed function is written for x86-64"
#endif

#define MAX_FAULTS	4

struct fault {
	struct kprobe kp;
	atomic_long_t calls;
	atomic_long_t hits;
};

static struct fault faults[MAX_FAULTS];

static char *symbol[MAX_FAULTS];
static unsigned int symbols;
module_param_array(symbol, charp, &symbols, 0444);
MODULE_PARM_DESC(symbol, "functions that fail, [module:]name");

static long value[MAX_FAULTS];
static unsigned int values;
module_param_array(value, long, &values, 0444);
MODULE_PARM_DESC(value, "what each returns");

static unsigned long every[MAX_FAULTS] = { [0 ... MAX_FAULTS - 1] = 1 };
static unsigned int everys;
module_param_array(every, ulong, &everys, 0444);
MODULE_PARM_DESC(every, "fail each Nth call that matches (1: all)");

static unsigned long limit[MAX_FAULTS];
static unsigned int limits;
module_param_array(limit, ulong, &limits, 0444);
MODULE_PARM_DESC(limit, "fail no more often than that (0: no limit)");

static char *device[MAX_FAULTS];
static unsigned int devices;
module_param_array(device, charp, &devices, 0444);
MODULE_PARM_DESC(device, "only if the first argument is the struct device of that name");

static char *caller[MAX_FAULTS];
static unsigned int callers;
module_param_array(caller, charp, &callers, 0444);
MODULE_PARM_DESC(caller, "only if called by the function of that name");

static int calls_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < symbols; i++)
		len += sysfs_emit_at(buffer, len, "%s%ld", i ? "," : "",
				     atomic_long_read(&faults[i].calls));
	return len + sysfs_emit_at(buffer, len, "\n");
}

static const struct kernel_param_ops calls_ops = {
	.get = calls_get,
};

module_param_cb(calls, &calls_ops, NULL, 0444);
MODULE_PARM_DESC(calls, "how many calls matched (read-only)");

static int hits_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < symbols; i++)
		len += sysfs_emit_at(buffer, len, "%s%ld", i ? "," : "",
				     atomic_long_read(&faults[i].hits));
	return len + sysfs_emit_at(buffer, len, "\n");
}

static const struct kernel_param_ops hits_ops = {
	.get = hits_get,
};

module_param_cb(hits, &hits_ops, NULL, 0444);
MODULE_PARM_DESC(hits, "how many of them failed (read-only)");

/* What a probed function becomes: it leaves the return register as it is. */
static noinline notrace __kprobes void fault_return(void)
{
}

/* The name may be followed by " [module]" and by what the compiler adds. */
static bool __kprobes called_by(const struct pt_regs *regs, const char *name)
{
	char buffer[KSYM_SYMBOL_LEN];
	size_t len = strlen(name);

	sprint_symbol_no_offset(buffer, *(unsigned long *)regs->sp);
	return !strncmp(buffer, name, len) &&
	       (!buffer[len] || buffer[len] == ' ' || buffer[len] == '.');
}

static bool __kprobes matches(unsigned int i, const struct pt_regs *regs)
{
	const struct device *dev = (void *)regs->di;

	if (device[i] && *device[i] &&
	    (!dev || strcmp(dev_name(dev), device[i])))
		return false;
	return !caller[i] || !*caller[i] || called_by(regs, caller[i]);
}

static int __kprobes fault_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct fault *fault = container_of(kp, struct fault, kp);
	unsigned int i = fault - faults;

	if (!matches(i, regs) ||
	    atomic_long_inc_return(&fault->calls) % every[i] ||
	    !atomic_long_add_unless(&fault->hits, 1, limit[i] ?: LONG_MAX))
		return 0;
	regs_set_return_value(regs, value[i]);
	instruction_pointer_set(regs, (unsigned long)fault_return);
	return 1;
}

/* A probe with this is never turned into a jump, which cannot redirect. */
static void __kprobes fault_post(struct kprobe *kp, struct pt_regs *regs,
				 unsigned long flags)
{
}

static int check_params(void)
{
	unsigned int i;

	if (!symbols) {
		pr_err("symbol= is missing: which function shall fail?\n");
		return -EINVAL;
	}
	if (values != symbols) {
		pr_err("value= needs one number for each symbol: %u, not %u\n",
		       symbols, values);
		return -EINVAL;
	}
	if (max3(everys, limits, max(devices, callers)) > symbols) {
		pr_err("every=, limit=, device= or caller= has more entries than symbol=\n");
		return -EINVAL;
	}
	for (i = 0; i < symbols; i++) {
		if (!*symbol[i]) {
			pr_err("symbol= has an empty name\n");
			return -EINVAL;
		}
		if (!every[i] || every[i] > LONG_MAX || limit[i] > LONG_MAX) {
			pr_err("every= is 1 or more, limit= 0 or more, both below 2^63\n");
			return -EINVAL;
		}
	}
	return 0;
}

static int __init fault_init(void)
{
	unsigned int i;
	int err;

	err = check_params();
	if (err)
		return err;
	for (i = 0; i < symbols; i++) {
		faults[i].kp.symbol_name = symbol[i];
		faults[i].kp.pre_handler = fault_pre;
		faults[i].kp.post_handler = fault_post;
		err = register_kprobe(&faults[i].kp);
		if (err)
			goto fail;
	}
	return 0;

fail:
	pr_err("cannot make %s fail: error %d\n", symbol[i], err);
	while (i--)
		unregister_kprobe(&faults[i].kp);
	synchronize_rcu_tasks();
	return err;
}

static void __exit fault_exit(void)
{
	unsigned int i;

	for (i = 0; i < symbols; i++)
		unregister_kprobe(&faults[i].kp);
	/* Until nobody is in fault_return() any more. */
	synchronize_rcu_tasks();
}

module_init(fault_init);
module_exit(fault_exit);

MODULE_DESCRIPTION("Make kernel functions fail, for tests");
MODULE_LICENSE("GPL");
