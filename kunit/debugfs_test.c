// SPDX-License-Identifier: GPL-2.0
/*
 * The files in debugfs: what an admin reads is what happened, and a policy
 * that does not exist changes nothing (G14).
 */
#include <linux/debugfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/seq_file.h>
#include <linux/uio.h>

#include "../internal.h"
#include "unit.h"

#define TEXT_SIZE	PAGE_SIZE

KUNIT_ARRAY_PARAM(model, models, model_param_name);

static struct unit *unit_of(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_DEBUG_FS))
		kunit_skip(test, "the kernel has no debugfs");
	return unit_new_model(test, test->param_value);
}

KUNIT_DEFINE_ACTION_WRAPPER(close_file, __fput_sync, struct file *);
KUNIT_DEFINE_ACTION_WRAPPER(unmount, kern_unmount, struct vfsmount *);

/* A file in a directory of debugfs, closed at the end of the case. */
static struct file *open_file(struct kunit *test, struct dentry *dir,
			      const char *name, int flags)
{
	struct vfsmount *mnt;
	struct file *file;
	struct path path;

	path.dentry = debugfs_lookup(name, dir);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, path.dentry);
	mnt = kern_mount(path.dentry->d_sb->s_type);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unmount, mnt));
	path.mnt = mnt;
	file = dentry_open(&path, flags, current_cred());
	dput(path.dentry);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, close_file, file));
	return file;
}

/* All of a file, with an end of line in front for expect_line(). */
static char *read_file_in(struct kunit *test, struct dentry *dir,
			  const char *name)
{
	struct file *file = open_file(test, dir, name, O_RDONLY);
	char *text = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);
	struct iov_iter iter;
	struct kiocb kiocb;
	struct kvec vec;

	KUNIT_ASSERT_NOT_NULL(test, text);
	text[0] = '\n';
	vec.iov_base = text + 1;
	vec.iov_len = TEXT_SIZE - 2;
	init_sync_kiocb(&kiocb, file);
	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, vec.iov_len);
	KUNIT_ASSERT_GT(test, seq_read_iter(&kiocb, &iter), 0);
	return text;
}

static char *read_file(struct kunit *test, struct unit *u, const char *name)
{
	return read_file_in(test, u->txts.debugfs, name);
}

__printf(3, 4)
static void expect_line(struct kunit *test, const char *text,
			const char *fmt, ...)
{
	char line[96] = "\n";
	va_list args;

	va_start(args, fmt);
	vsnprintf(line + 1, sizeof(line) - 2, fmt, args);
	va_end(args);
	strlcat(line, "\n", sizeof(line));
	KUNIT_EXPECT_TRUE_MSG(test, strstr(text, line), "no line \"%s\" in:%s",
			      line + 1, text);
}

/* The file of slots; and what one of them was like when it was written. */
static char *read_slots(struct kunit *test, struct unit *u, unsigned int slot,
			enum txts_state *state, unsigned int *attempts)
{
	const struct txts_slot *s = &u->txts.slots[slot];
	char *text;

	do {
		*state = READ_ONCE(s->state);
		*attempts = READ_ONCE(s->max_attempts);
		text = read_file(test, u, "slots");
		/* In virtual time nobody polls meanwhile. */
	} while (!IS_ENABLED(CONFIG_UML) &&
		 (READ_ONCE(s->state) != *state ||
		  READ_ONCE(s->max_attempts) != *attempts));
	return text;
}

/* A delivered stamp, a skip, and one request that waits. */
static void counters_file_shows_every_counter(struct kunit *test)
{
	struct unit *u = unit_of(test);
	u64 before[TXTS_NR_COUNTERS];
	enum txts_counter i;
	struct pkt *pkt;
	char *text;

	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_wait(u, 200 * USEC_PER_MSEC);
	unit_sent(u, pkt);
	pkt = unit_send(u);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	for (i = 0; i < TXTS_NR_COUNTERS; i++)
		before[i] = unit_count(u, i);
	text = read_file(test, u, "counters");
	for (i = 0; i < TXTS_NR_COUNTERS; i++)
		/* In virtual time nobody polls meanwhile. */
		if (IS_ENABLED(CONFIG_UML) || before[i] == unit_count(u, i))
			expect_line(test, text, "%s %llu",
				    txts_counter_names[i], before[i]);
	expect_line(test, text, "asked 2");
	expect_line(test, text, "delivered 1");
	expect_line(test, text, "in_flight 1");
	expect_line(test, text, "enabled 1");
	expect_line(test, text, "running 1");
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 200 * USEC_PER_MSEC);

	txts_enable(&u->txts, false);
	unit_send(u);
	txts_stop(&u->txts);
	text = read_file(test, u, "counters");
	expect_line(test, text, "skipped_off 1");
	expect_line(test, text, "in_flight 0");
	expect_line(test, text, "enabled 0");
	expect_line(test, text, "running 0");
	unit_finish(test, u);
}

/* Every state that a request can be seen in. */
static void slots_file_shows_the_state_of_each_slot(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_pkt(u);
	unsigned int i, attempts;
	enum txts_state state;
	char *text;

	text = read_file(test, u, "slots");
	for (i = 0; i < u->model->slots; i++)
		expect_line(test, text, "%u free 0 0 0 0", i);
	KUNIT_ASSERT_EQ(test, 0, unit_reserve(u, pkt));
	text = read_file(test, u, "slots");
	expect_line(test, text, "%u reserved 1 0 0 0", pkt->slot);
	unit_commit(u, pkt);
	text = read_slots(test, u, pkt->slot, &state, &attempts);
	expect_line(test, text, "%u armed 1 0 0 %u", pkt->slot, attempts);
	if (u->model->flags & TXTS_SLEEPS) {
		unit_sleep_us(u, USEC_PER_MSEC);
		text = read_file(test, u, "slots");
		expect_line(test, text, "%u reading 1 0 0 0", pkt->slot);
	}
	txts_flush(&u->txts);
	text = read_slots(test, u, pkt->slot, &state, &attempts);
	expect_line(test, text, "%u quarantine 1 0 0 %u", pkt->slot, attempts);
	unit_dropped(u, pkt);
	text = read_slots(test, u, pkt->slot, &state, &attempts);
	expect_line(test, text, "%u quarantine 1 1 0 %u", pkt->slot, attempts);
	unit_finish(test, u);
}

/* What waits long is seen by its attempts. */
static void slots_file_shows_sent_and_attempts(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	enum txts_state state;
	unsigned int attempts;
	char *text;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	txts_irq(&u->txts, TXTS_ALL_SLOTS);
	unit_sleep_us(u, u->model->flags & TXTS_SLEEPS ? 65000 : 500);
	text = read_slots(test, u, pkt->slot, &state, &attempts);
	expect_line(test, text, "%u %s 1 1 0 %u", pkt->slot,
		    state == TXTS_READING ? "reading" : "sent", attempts);
	if (!(u->model->flags & TXTS_PUSHED))
		KUNIT_EXPECT_GT(test, attempts, 0);
	unit_finish(test, u);
}

/* Every delivered stamp is in one line of each histogram. */
static void latency_file_holds_every_stamp(struct kunit *test)
{
	u64 below, read, deliver, reads = 0, delivers = 0;
	struct unit *u = unit_of(test);
	struct pkt *pkt;
	unsigned int i;
	char *line;

	for (i = 0; i < 5; i++) {
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		unit_sleep_us(u, 1 << i);
		unit_wire(u, pkt);
		unit_wait(u, 200 * USEC_PER_MSEC);
		unit_sent(u, pkt);
	}
	line = read_file(test, u, "latency");
	expect_line(test, line, "below_ns commit_to_read read_to_delivery");
	/* The first line is empty, the second the header. */
	for (line = strchr(line + 1, '\n'); line && line[1];
	     line = strchr(line + 1, '\n')) {
		i = sscanf(line, " %llu %llu %llu", &below, &read, &deliver);
		KUNIT_ASSERT_EQ(test, 3, i);
		KUNIT_EXPECT_TRUE(test, is_power_of_2(below));
		KUNIT_EXPECT_GT(test, read + deliver, 0);
		reads += read;
		delivers += deliver;
	}
	KUNIT_EXPECT_EQ(test, 5, reads);
	KUNIT_EXPECT_EQ(test, 5, delivers);
	unit_finish(test, u);
}

/* Root reads, nobody writes; the policy is an override for tests. */
static void files_are_for_root_and_read_only(struct kunit *test)
{
	static const char * const names[] = { "counters", "slots", "latency" };
	struct unit *u = unit_of(test);
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		file = open_file(test, u->txts.debugfs, names[i], O_RDONLY);
		KUNIT_EXPECT_EQ(test, 0400, file_inode(file)->i_mode & 0777);
		KUNIT_EXPECT_EQ(test, 0, file->f_mode & FMODE_CAN_WRITE);
	}
	unit_finish(test, u);
}

/* The directory is named after the device, and gone with the tracker. */
static void files_go_with_the_tracker(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct dentry *root, *dir;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, u->txts.debugfs);
	root = dget_parent(u->txts.debugfs);
	dir = debugfs_lookup(dev_name(u->dev), root);
	KUNIT_EXPECT_PTR_EQ(test, u->txts.debugfs, dir);
	dput(dir);
	txts_destroy(&u->txts);
	dir = debugfs_lookup(dev_name(u->dev), root);
	KUNIT_EXPECT_NULL(test, dir);
	dput(dir);
	dput(root);
	unit_free(test, u);
}

/* What user space writes has to be in its memory. */
static ssize_t write_file(struct kunit *test, struct file *file,
			  const char *text, size_t size)
{
	unsigned long address;
	loff_t pos = 0;

	if (!text)
		return file->f_op->write(file, NULL, size, &pos);
	address = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE,
				PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, address);
	KUNIT_ASSERT_EQ(test, 0,
			copy_to_user((void __user *)address, text, size));
	return file->f_op->write(file, (void __user *)address, size, &pos);
}

/* What a program reads is in its memory as well. */
static void expect_text(struct kunit *test, struct file *file,
			const char *text)
{
	unsigned long address;
	char buf[16] = {};
	loff_t pos = 0;
	ssize_t size;

	address = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE,
				PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, address);
	size = file->f_op->read(file, (void __user *)address, sizeof(buf) - 1,
				&pos);
	KUNIT_ASSERT_EQ(test, (ssize_t)strlen(text), size);
	KUNIT_ASSERT_EQ(test, 0, copy_from_user(buf, (void __user *)address,
						size));
	KUNIT_EXPECT_STREQ(test, text, buf);
}

static ssize_t write_policy(struct kunit *test, struct unit *u,
			    const char *text, size_t size)
{
	return write_file(test, open_file(test, u->txts.debugfs, "policy",
					  O_RDWR), text, size);
}

static struct unit *unit_with_policy(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_TXTS_TESTING))
		kunit_skip(test, "needs CONFIG_TXTS_TESTING");
	return unit_new(test, MODEL_I210);
}

/* Each name, with and without the end of line that echo writes. */
static void policy_file_sets_each_policy(struct kunit *test)
{
	struct unit *u = unit_with_policy(test);
	char name[16];
	unsigned int i;
	size_t size;

	for (i = 0; i < 2 * TXTS_NR_POLICIES; i++) {
		size = scnprintf(name, sizeof(name), "%s%s",
				 txts_policy_names[i / 2], i & 1 ? "\n" : "");
		KUNIT_EXPECT_EQ(test, (ssize_t)size,
				write_policy(test, u, name, size));
		KUNIT_EXPECT_EQ(test, i / 2, u->txts.policy);
		expect_line(test, read_file(test, u, "policy"), "%s",
			    txts_policy_names[i / 2]);
	}
	unit_finish(test, u);
}

/* A clear error, and the policy stays. */
static void wrong_policy_is_refused_and_changes_nothing(struct kunit *test)
{
	static const char * const wrong[] = {
		"", "\n", "inlin", "inlines", "BH", "0", "aux bh",
		"kworker kworker kworker", "bh              x",
	};
	struct unit *u = unit_with_policy(test);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 3, write_policy(test, u, "aux", 3));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_EQ(test, -EINVAL,
				write_policy(test, u, wrong[i],
					     strlen(wrong[i])));
		KUNIT_EXPECT_EQ(test, TXTS_POLICY_AUX, u->txts.policy);
	}
	KUNIT_EXPECT_EQ(test, -EFAULT, write_policy(test, u, NULL, 3));
	KUNIT_EXPECT_EQ(test, TXTS_POLICY_AUX, u->txts.policy);
	expect_line(test, read_file(test, u, "policy"), "aux");
	unit_finish(test, u);
}

/* What each CPU spends on stamps, next to the directories of the devices. */
static void load_file_shows_each_cpu(struct kunit *test)
{
	struct unit *u = unit_of(test);
	struct pkt *pkt = unit_send(u);
	struct txts_load *load;
	char *text;
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	unit_wait(u, 200 * USEC_PER_MSEC);
	text = read_file_in(test, u->txts.debugfs->d_parent, "load");
	expect_line(test, text,
		    "cpu level spent_ns spent_ptp_ns budget_ns read_ns deliver_ns");
	for_each_online_cpu(cpu) {
		load = txts_load_of(cpu);
		if (load->level == TXTS_LEVEL_PROMPT)
			expect_line(test, text,
				    "%d prompt %llu %llu %llu %lu %lu", cpu,
				    load->spent[TXTS_ORDINARY],
				    load->spent[TXTS_PTP], load->budget,
				    ewma_txts_cost_read(&load->average[0]),
				    ewma_txts_cost_read(&load->average[1]));
	}
	unit_finish(test, u);
}

/* The budget is between 1 and 1000; anything else changes nothing. */
static void budget_file_takes_permille_only(struct kunit *test)
{
	static const char * const wrong[] = { "0", "1001", "-1", "ten", "" };
	struct unit *u = unit_with_policy(test);
	const u32 before = txts_budget_permille;
	struct file *file;
	char good[8];
	unsigned int i;
	size_t size;

	file = open_file(test, u->txts.debugfs->d_parent, "budget_permille",
			 O_RDWR);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_EQ(test, -EINVAL,
				write_file(test, file, wrong[i],
					   strlen(wrong[i])));
		KUNIT_EXPECT_EQ(test, before, txts_budget_permille);
	}
	KUNIT_EXPECT_EQ(test, 4, write_file(test, file, "1000", 4));
	KUNIT_EXPECT_EQ(test, 1000, txts_budget_permille);
	KUNIT_EXPECT_EQ(test, 1, write_file(test, file, "1", 1));
	KUNIT_EXPECT_EQ(test, 1, txts_budget_permille);
	expect_text(test, file, "1\n");
	size = scnprintf(good, sizeof(good), "%u\n", before);
	KUNIT_EXPECT_EQ(test, (ssize_t)size,
			write_file(test, file, good, size));
	KUNIT_EXPECT_EQ(test, before, txts_budget_permille);
	unit_finish(test, u);
}

static struct kunit_case debugfs_cases[] = {
	KUNIT_CASE_PARAM(counters_file_shows_every_counter, model_gen_params),
	KUNIT_CASE_PARAM(slots_file_shows_the_state_of_each_slot,
			 model_gen_params),
	KUNIT_CASE_PARAM(slots_file_shows_sent_and_attempts,
			 model_gen_params),
	KUNIT_CASE_PARAM(latency_file_holds_every_stamp, model_gen_params),
	KUNIT_CASE_PARAM(files_are_for_root_and_read_only, model_gen_params),
	KUNIT_CASE_PARAM(files_go_with_the_tracker, model_gen_params),
	KUNIT_CASE_PARAM(load_file_shows_each_cpu, model_gen_params),
	KUNIT_CASE(budget_file_takes_permille_only),
	KUNIT_CASE(policy_file_sets_each_policy),
	KUNIT_CASE(wrong_policy_is_refused_and_changes_nothing),
	{}
};

static struct kunit_suite debugfs_suite = {
	.name = "txts_debugfs",
	.test_cases = debugfs_cases,
};

kunit_test_suite(debugfs_suite);
