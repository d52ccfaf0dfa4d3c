/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place for differences between kernels. A series exported for a
 * kernel tree leaves this file out.
 */
#ifndef _LIB_TXTS_COMPAT_H
#define _LIB_TXTS_COMPAT_H

#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/sched.h>

/* Before kthread_run_worker() existed, creating a worker started it. */
#ifndef kthread_run_worker
#define kthread_run_worker(flags, ...)	\
	kthread_create_worker(flags, ##__VA_ARGS__)
#endif

/* TXTS_HAVE_HRTIMER_SETUP is set by Kbuild, which looks into the header. */
#ifndef TXTS_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* _LIB_TXTS_COMPAT_H */
