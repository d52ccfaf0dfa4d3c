// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that runs out: each allocation made on behalf of the tracker fails
 * once. Needs failslab, which the debug kernel has.
 */
#include <kunit/device.h>
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "unit.h"

#define MOST_ALLOCATIONS	100

#if defined(CONFIG_FAILSLAB) && defined(CONFIG_FAULT_INJECTION_DEBUG_FS)

/* By default allocations that may sleep never fail; the switch is a file. */
static bool *alloc_switch(void)
{
	struct dentry *dir = debugfs_lookup("failslab", NULL);
	struct dentry *file;
	bool *value;

	if (!dir)
		return NULL;
	file = debugfs_lookup("ignore-gfp-wait", dir);
	value = file ? d_inode(file)->i_private : NULL;
	dput(file);
	dput(dir);
	return value;
}

static void alloc_fail(unsigned int nth)
{
	WRITE_ONCE(current->fail_nth, nth);
}

/* True if the allocation that was to fail came. */
static bool alloc_failed(void)
{
	bool failed = !READ_ONCE(current->fail_nth);

	WRITE_ONCE(current->fail_nth, 0);
	return failed;
}

#else

static bool *alloc_switch(void)
{
	return NULL;
}

static void alloc_fail(unsigned int nth)
{
}

static bool alloc_failed(void)
{
	return false;
}

#endif

static bool *alloc_setup(struct kunit *test)
{
	bool *ignore = alloc_switch();

	if (!ignore)
		kunit_skip(test, "this kernel has no failslab");
	return ignore;
}

/* G8 and the contract of txts_init(): after an error all is as before. */
static void init_without_memory_leaves_nothing(struct kunit *test)
{
	bool *ignore = alloc_setup(test);
	const struct model *model = &models[MODEL_82576];
	struct device *dev = kunit_device_register(test, "txts-alloc");
	struct txts *txts = kunit_kzalloc(test, sizeof(*txts), GFP_KERNEL);
	struct txts_params params = {
		.dev = dev,
		.ops = model->ops,
		.slots = model->slots,
		.flags = model->flags,
	};
	unsigned int n, refused = 0;
	bool failed = true;
	int err;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, txts);
	for (n = 1; failed && n < MOST_ALLOCATIONS; n++) {
		*ignore = false;
		alloc_fail(n);
		err = txts_init(txts, &params);
		failed = alloc_failed();
		*ignore = true;
		if (err) {
			KUNIT_EXPECT_EQ(test, -ENOMEM, err);
			KUNIT_EXPECT_TRUE(test, failed);
			KUNIT_EXPECT_NULL(test, memchr_inv(txts, 0,
							   sizeof(*txts)));
			refused++;
		} else {
			/* Files for debugging may be missing, that is all. */
			KUNIT_EXPECT_EQ(test, 0, txts_start(txts));
			txts_destroy(txts);
		}
	}
	/* The thread and the slots, at least. */
	KUNIT_EXPECT_GE(test, refused, 2);
	KUNIT_EXPECT_FALSE_MSG(test, failed, "init allocates without end");
	kunit_info(test, "%u allocations, %u of them needed\n", n - 2, refused);
}

/* The stamp may get lost on its way to the socket, and nothing else. */
static void delivery_without_memory_keeps_the_sums(struct kunit *test)
{
	bool *ignore = alloc_setup(test);
	struct unit *u;
	struct pkt *pkt;
	bool failed = true;
	unsigned int n, lost = 0;

	for (n = 1; failed && n < MOST_ALLOCATIONS; n++) {
		u = unit_new(test, MODEL_82576);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_wire(u, pkt);
		*ignore = false;
		alloc_fail(n);
		/* A polled unit is read, and the stamp delivered, right here */
		unit_sent(u, pkt);
		failed = alloc_failed();
		*ignore = true;
		EXPECT_COUNT(test, u, TXTS_DELIVERED, 1);
		KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
		KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
		unit_collect(u);
		/* What fails may also be a note of the kernel's checkers. */
		KUNIT_EXPECT_LE(test, pkt->stamps, 1);
		if (!failed)
			KUNIT_EXPECT_EQ(test, 1, pkt->stamps);
		lost += !pkt->stamps;
		unit_free(test, u);
	}
	KUNIT_EXPECT_GE_MSG(test, lost, 1, "no allocation of a stamp failed");
	KUNIT_EXPECT_FALSE(test, failed);
}

static struct kunit_case alloc_cases[] = {
	KUNIT_CASE(init_without_memory_leaves_nothing),
	KUNIT_CASE(delivery_without_memory_keeps_the_sums),
	{}
};

static struct kunit_suite alloc_suite = {
	.name = "txts_alloc",
	.test_cases = alloc_cases,
};

kunit_test_suite(alloc_suite);
