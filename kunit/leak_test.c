// SPDX-License-Identifier: GPL-2.0
/*
 * The last suite: gives kmemleak the time to scan twice, which it needs to
 * call a block lost. In virtual time that costs nothing. Some blocks are lost
 * on purpose: scripts/kunit_log.py wants to see one of them reported at least,
 * as stale pointers on stacks and in the allocator hide many, and nothing
 * else.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <kunit/test.h>

#define BLOCKS		100
#define BLOCK_SIZE	1024
#define BLOCK_TEXT	"leak_on_purpose"
/* kmemleak scans 60 s after boot and then every 600 s; KUnit allows 300 s. */
#define WAITS		7
#define WAIT_SECONDS	200

/* UML has no backtrace in the report; what it shows is the text. */
static noinline void leak_on_purpose(void)
{
	char *block = kzalloc(BLOCK_SIZE, GFP_KERNEL);

	if (block)
		strscpy(block, BLOCK_TEXT, BLOCK_SIZE);
	OPTIMIZER_HIDE_VAR(block);
}

static bool leak_can_scan(void)
{
	return IS_ENABLED(CONFIG_DEBUG_KMEMLEAK) &&
	       IS_ENABLED(CONFIG_UML_TIME_TRAVEL_SUPPORT);
}

static int leak_init(struct kunit_suite *suite)
{
	unsigned int i;

	for (i = 0; i < BLOCKS && leak_can_scan(); i++)
		leak_on_purpose();
	return 0;
}

static const unsigned int leak_waits[WAITS] = { 1, 2, 3, 4, 5, 6, 7 };

static void leak_wait_name(const unsigned int *wait, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u of %u", *wait, WAITS);
}

KUNIT_ARRAY_PARAM(wait, leak_waits, leak_wait_name);

/* Passes; what the scans found is in the kernel's log. */
static void memory_is_scanned_for_leaks(struct kunit *test)
{
	const unsigned int *wait = test->param_value;

	if (!leak_can_scan())
		kunit_skip(test, "no kmemleak, or no virtual time");
	ssleep(WAIT_SECONDS);
	if (*wait == WAITS)
		pr_info("txts-kunit: leak scans done\n");
}

static struct kunit_case leak_cases[] = {
	KUNIT_CASE_PARAM(memory_is_scanned_for_leaks, wait_gen_params),
	{}
};

static struct kunit_suite leak_suite = {
	.name = "txts_leak",
	.suite_init = leak_init,
	.test_cases = leak_cases,
};

kunit_test_suite(leak_suite);
