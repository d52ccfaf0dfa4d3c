// SPDX-License-Identifier: GPL-2.0
/* G11 and G12: who gets a slot, and who stands back. */
#include <linux/bottom_half.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel_stat.h>
#include <linux/preempt.h>
#include <linux/ptp_classify.h>
#include <linux/smp.h>
#include <linux/tick.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "../internal.h"
#include "unit.h"

#define HOLD_US		(4 * USEC_PER_SEC)

static const enum model_id single_models[] = {
	MODEL_82576, MODEL_82580, MODEL_I210,
};

KUNIT_ARRAY_PARAM(single, single_models, model_id_name);

static const enum model_id several_models[] = {
	MODEL_I225, MODEL_64, MODEL_MAILBOX, MODEL_PUSH,
};

KUNIT_ARRAY_PARAM(several, several_models, model_id_name);

static struct unit *ordinary_unit(struct kunit *test)
{
	const enum model_id *id = test->param_value;
	struct unit *u = unit_new(test, *id);

	WRITE_ONCE(txts_budget_permille, TXTS_BUDGET_PERMILLE);
	u->ordinary = true;
	return u;
}

static int ask(struct unit *u, struct pkt *pkt, bool ptp)
{
	struct txts_request request = { .ptp = ptp };

	return unit_reserve_as(u, pkt, &request);
}

/* A frame of each kind, and whether it comes first. */
struct frame {
	const char *name;
	bool event;
	bool vlan;
	u16 protocol;	/* ETH_P_1588, ETH_P_IP or ETH_P_IPV6 */
	u16 source;
	u16 dest;
	u8 version;
	u8 type;
	u8 size;	/* of the PTP message, 0: whole */
};

#define L2(n, e, v, t)		{ n, e, v, ETH_P_1588, 0, 0, 2, t, 0 }
#define UDP(n, e, p, s, d, t)	{ n, e, false, p, s, d, 2, t, 0 }

static const struct frame frames[] = {
	L2("Sync", true, false, 0),
	L2("Delay_Req", true, false, 1),
	L2("Pdelay_Req", true, false, 2),
	L2("Pdelay_Resp", true, false, 3),
	L2("Sync in a VLAN", true, true, 0),
	L2("Follow_Up", false, false, 8),
	L2("Announce", false, false, 11),
	L2("Announce in a VLAN", false, true, 11),
	UDP("Sync over IPv4", true, ETH_P_IP, 319, 319, 0),
	UDP("Sync over IPv6", true, ETH_P_IPV6, 319, 319, 0),
	UDP("Announce over IPv4", false, ETH_P_IP, 319, 319, 11),
	UDP("unprivileged IPv4", false, ETH_P_IP, 12345, 319, 0),
	UDP("unprivileged IPv6", false, ETH_P_IPV6, 12345, 319, 0),
	UDP("general port", false, ETH_P_IP, 320, 320, 0),
	UDP("NTP", false, ETH_P_IP, 123, 123, 0),
	{ "version 1 Sync", true, false, ETH_P_IP, 319, 319, 1, 0, 0 },
	{ "version 1 Follow_Up", false, false, ETH_P_IP, 319, 319, 1, 2, 0 },
	{ "cut short", false, false, ETH_P_1588, 0, 0, 2, 0, 20 },
};

static void frame_name(const struct frame *frame, char *desc)
{
	strscpy(desc, frame->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(frame, frames, frame_name);

static void put_udp(struct sk_buff *skb, const struct frame *f)
{
	struct udphdr *udp = skb_put_zero(skb, sizeof(*udp));

	udp->source = htons(f->source);
	udp->dest = htons(f->dest);
}

static struct sk_buff *frame_skb(struct kunit *test, const struct frame *f)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct ptp_header ptp = {};
	struct ipv6hdr *ip6;
	struct ethhdr *eth;
	struct iphdr *ip;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	eth = skb_put_zero(skb, ETH_HLEN);
	eth->h_proto = htons(f->vlan ? ETH_P_8021Q : f->protocol);
	if (f->vlan) {
		skb_put_zero(skb, sizeof(__be16));
		*(__be16 *)skb_put(skb, sizeof(__be16)) = htons(f->protocol);
	}
	if (f->protocol == ETH_P_IP) {
		ip = skb_put_zero(skb, sizeof(*ip));
		ip->version = 4;
		ip->ihl = 5;
		ip->protocol = IPPROTO_UDP;
		put_udp(skb, f);
	} else if (f->protocol == ETH_P_IPV6) {
		ip6 = skb_put_zero(skb, sizeof(*ip6));
		ip6->version = 6;
		ip6->nexthdr = IPPROTO_UDP;
		put_udp(skb, f);
	}
	ptp.ver = f->version;
	if (f->version == 1) {
		/* The version is the first two bytes there. */
		ptp.tsmt = 0;
		ptp.ver = 1;
		ptp.control = f->type;
	} else {
		ptp.tsmt = f->type;
	}
	skb_put_data(skb, &ptp, f->size ?: sizeof(ptp));
	return skb;
}

/* Also by a packet socket that sets no MAC header. */
static void event_messages_are_recognised(struct kunit *test)
{
	const struct frame *f = test->param_value;
	struct unit *u = unit_new(test, MODEL_I210);
	struct txts_request request = { .skb = frame_skb(test, f) };
	u8 class;

	local_bh_disable();
	KUNIT_EXPECT_EQ(test, 0, txts_admit(&u->txts, &request, &class));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, f->event ? TXTS_PTP : TXTS_ORDINARY, class);
	kfree_skb(request.skb);
}

/* An UDP socket with another port is not looked at, one with this port is. */
static void sender_is_known_by_its_port(struct kunit *test)
{
	static const struct frame sync = UDP("", true, ETH_P_IP, 319, 319, 0);
	struct unit *u = unit_new(test, MODEL_I210);
	struct txts_request request = { .skb = frame_skb(test, &sync) };
	struct sock *sk = u->sock->sk;
	u8 other, own;

	skb_set_owner_w(request.skb, sk);
	local_bh_disable();
	sk->sk_num = 12345;
	KUNIT_EXPECT_EQ(test, 0, txts_admit(&u->txts, &request, &other));
	sk->sk_num = PTP_EV_PORT;
	KUNIT_EXPECT_EQ(test, 0, txts_admit(&u->txts, &request, &own));
	/* Not bound: it is not to be unhashed. */
	sk->sk_num = 0;
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, TXTS_ORDINARY, other);
	KUNIT_EXPECT_EQ(test, TXTS_PTP, own);
	kfree_skb(request.skb);
}

/* cases.md 16. One slot: others stand back, but not for ever. */
static void flood_stands_back_while_ptp_is_active(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);
	struct pkt *pkt;
	unsigned int i;

	pkt = unit_pkt(u);
	KUNIT_ASSERT_EQ(test, 0, ask(u, pkt, true));
	unit_abort(u, pkt);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_EQ(test, -EBUSY, ask(u, unit_pkt(u), false));
	EXPECT_COUNT(test, u, TXTS_SKIP_PTP, 100);
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, 0, ask(u, pkt, true));
	unit_abort(u, pkt);
	unit_sleep_us(u, HOLD_US - 1000);
	KUNIT_EXPECT_EQ(test, -EBUSY, ask(u, unit_pkt(u), false));
	unit_sleep_us(u, 2000);
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, 0, ask(u, pkt, false));
	unit_abort(u, pkt);
	unit_finish(test, u);
}

/* cases.md 16. Several slots: the flood never gets the last one. */
static void one_slot_is_kept_for_ptp(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);
	unsigned int slots = u->model->slots, i, round;
	struct pkt *pkts[TXTS_MAX_SLOTS], *ptp;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < slots; i++)
			pkts[i] = unit_pkt(u);
		for (i = 0; i < slots - 1; i++)
			KUNIT_ASSERT_EQ(test, 0, ask(u, pkts[i], false));
		KUNIT_EXPECT_EQ(test, -EBUSY, ask(u, pkts[i], false));
		EXPECT_COUNT(test, u, TXTS_SKIP_PTP, round + 1);
		ptp = unit_pkt(u);
		KUNIT_EXPECT_EQ(test, 0, ask(u, ptp, true));
		/* None at all is another matter. */
		KUNIT_EXPECT_EQ(test, -EBUSY, ask(u, unit_pkt(u), true));
		EXPECT_COUNT(test, u, TXTS_SKIP_BUSY, round + 1);
		for (i = 0; i < slots - 1; i++)
			unit_abort(u, pkts[i]);
		unit_abort(u, ptp);
	}
	unit_finish(test, u);
}

/* Each read out takes long: what a slow bus does to a flood. */
static void slow_read(struct unit *u, unsigned int slot)
{
	unit_work_us(40);
}

static void send_for(struct unit *u, u64 us, unsigned int every_us, bool ptp)
{
	ktime_t end = ktime_add_us(ktime_get(), us);
	struct pkt *pkt;

	while (ktime_before(ktime_get(), end)) {
		pkt = unit_pkt(u);
		if (!ask(u, pkt, ptp)) {
			unit_commit(u, pkt);
			unit_wire(u, pkt);
			unit_sent(u, pkt);
		}
		unit_sleep_us(u, every_us);
		unit_wait(u, 10000);
		unit_recycle(u);
	}
}

/*
 * Half a second of a flood gets so much time of it, 40 us each, and one more in
 * each window. An emulated CPU may not even have time for as much.
 */
static void expect_throttled(struct kunit *test, struct unit *u, u64 most_us)
{
	u64 delivered = unit_count(u, TXTS_DELIVERED);

	KUNIT_EXPECT_GT(test, delivered, 0);
	if (!IS_ENABLED(CONFIG_UML))
		return;
	KUNIT_EXPECT_GT(test, unit_count(u, TXTS_SKIP_THROTTLED), 0);
	KUNIT_EXPECT_LE(test, delivered * 40, most_us + 51 * 40);
}

/* G11: over any window the read outs take what the budget gives: 10 %. */
static void flood_is_throttled(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);

	u->in_read = slow_read;
	send_for(u, USEC_PER_SEC / 2, 100, false);
	expect_throttled(test, u, 50000);
	unit_finish(test, u);
}

/*
 * Nobody else wants the CPU: half of that time is for stamps as well. An
 * emulated one cannot send as many.
 */
static void flood_may_use_idle_time(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);

	WRITE_ONCE(txts_idle_counts, true);
	u->in_read = slow_read;
	send_for(u, USEC_PER_SEC / 2, 100, false);
	if (get_cpu_idle_time_us(0, NULL) == U64_MAX)
		expect_throttled(test, u, 50000);
	else if (IS_ENABLED(CONFIG_UML))
		KUNIT_EXPECT_GT(test, unit_count(u, TXTS_DELIVERED) * 40,
				2 * 50000);
	unit_finish(test, u);
}

/* One that needs little is not refused. */
static void sparse_sender_is_never_throttled(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);

	u->in_read = slow_read;
	send_for(u, 2 * USEC_PER_SEC, 10000, false);
	EXPECT_COUNT(test, u, TXTS_SKIP_THROTTLED, 0);
	KUNIT_EXPECT_GT(test, unit_count(u, TXTS_DELIVERED), 100);
	unit_finish(test, u);
}

/* G12: the class is no bypass. */
static void flood_of_ptp_is_throttled(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);

	u->in_read = slow_read;
	send_for(u, USEC_PER_SEC / 2, 100, true);
	expect_throttled(test, u, 25000);
	unit_finish(test, u);
}

/* G12: and half of the budget stays its own while there are any. */
static void ordinary_flood_leaves_ptp_its_half(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I225);
	struct pkt *pkt = unit_pkt(u);

	WRITE_ONCE(txts_budget_permille, TXTS_BUDGET_PERMILLE);
	u->ordinary = true;
	KUNIT_ASSERT_EQ(test, 0, ask(u, pkt, true));
	unit_abort(u, pkt);
	u->in_read = slow_read;
	send_for(u, USEC_PER_SEC / 2, 100, false);
	expect_throttled(test, u, 25000);
	unit_finish(test, u);
}

/* G11: a softirq that comes late has enough to do, for a window. */
static void late_softirq_refuses_ordinary_requests(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_82576);
	struct pkt *pkt = unit_pkt(u);
	int err;

	u->ordinary = true;
	local_bh_disable();
	err = ask(u, pkt, false);
	unit_commit(u, pkt);
	/* A retry is due soon, in softirq. */
	unit_work_us(3000);
	unit_wire(u, pkt);
	local_bh_enable();
	KUNIT_ASSERT_EQ(test, 0, err);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, 1000));
	EXPECT_STAMP(test, pkt);
	unit_sent(u, pkt);
	KUNIT_EXPECT_EQ(test, -EBUSY, ask(u, unit_pkt(u), false));
	EXPECT_COUNT(test, u, TXTS_SKIP_THROTTLED, 1);
	unit_sleep_us(u, 10 * USEC_PER_MSEC);
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, 0, ask(u, pkt, false));
	unit_abort(u, pkt);
	unit_finish(test, u);
}

/* The reference for those above: a fixed policy admits all. */
static void fixed_policy_admits_all(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);
	struct pkt *pkt = unit_pkt(u);

	WRITE_ONCE(u->txts.policy, TXTS_POLICY_INLINE);
	u->in_read = slow_read;
	KUNIT_ASSERT_EQ(test, 0, ask(u, pkt, true));
	unit_abort(u, pkt);
	send_for(u, USEC_PER_SEC / 2, 100, false);
	EXPECT_COUNT(test, u, TXTS_SKIP_THROTTLED, 0);
	EXPECT_COUNT(test, u, TXTS_SKIP_PTP, 0);
	unit_finish(test, u);
}

static void lagging_socket_gets_no_stamp(struct kunit *test)
{
	struct unit *u = ordinary_unit(test);
	struct sock *sk = u->sock->sk;
	struct pkt *pkt;

	atomic_add(sk->sk_rcvbuf, &sk->sk_rmem_alloc);
	KUNIT_EXPECT_EQ(test, -EBUSY, ask(u, unit_pkt(u), false));
	EXPECT_COUNT(test, u, TXTS_SKIP_THROTTLED, 1);
	/* PTP event messages have nothing to do with it. */
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, 0, ask(u, pkt, true));
	unit_abort(u, pkt);
	atomic_sub(sk->sk_rcvbuf, &sk->sk_rmem_alloc);
	unit_sleep_us(u, HOLD_US + 1000);
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, 0, ask(u, pkt, false));
	unit_abort(u, pkt);
	unit_finish(test, u);
}

/* At each level of each model: all stamps come, those of PTP at once. */
struct level {
	u8 model;
	u8 level;
};

#define LEVELS(m)	{ m, TXTS_LEVEL_PROMPT }, { m, TXTS_LEVEL_FREE }, \
			{ m, TXTS_LEVEL_BACKGROUND }

static const struct level levels[] = {
	LEVELS(MODEL_82576), LEVELS(MODEL_82580), LEVELS(MODEL_82580_REARM),
	LEVELS(MODEL_I210), LEVELS(MODEL_I225), LEVELS(MODEL_64),
	LEVELS(MODEL_MAILBOX), LEVELS(MODEL_PUSH),
};

static void level_name(const struct level *l, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, level %u",
		 models[l->model].name, l->level);
}

KUNIT_ARRAY_PARAM(level, levels, level_name);

static void stamps_come_at_every_level(struct kunit *test)
{
	const struct level *l = test->param_value;
	struct unit *u = unit_new(test, l->model);
	struct pkt *pkt;
	unsigned int i;
	bool ptp;

	u->ordinary = true;
	unit_set_level(l->level);
	for (i = 0; i < 20; i++) {
		ptp = i > 9;
		pkt = unit_pkt(u);
		KUNIT_ASSERT_EQ(test, 0, ask(u, pkt, ptp));
		unit_commit(u, pkt);
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 300 * USEC_PER_MSEC));
		EXPECT_STAMP(test, pkt);
	}
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 0);
	unit_finish(test, u);
}

/* G6: also those that a retry in BH has read. */
static void late_stamp_comes_soon_at_every_level(struct kunit *test)
{
	static const enum model_id ids[] = { MODEL_82580, MODEL_I210 };
	struct unit *u;
	struct pkt *pkt;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids) * TXTS_NR_LEVELS; i++) {
		u = unit_new(test, ids[i / TXTS_NR_LEVELS]);
		unit_set_level(i % TXTS_NR_LEVELS);
		pkt = unit_send(u);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		/* An interrupt too early, and none when it is there. */
		txts_irq(&u->txts, BIT_ULL(0));
		u->lose_irqs = 1;
		unit_wire(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
		EXPECT_STAMP(test, pkt);
		unit_sent(u, pkt);
		unit_finish(test, u);
	}
}

/* G12: nor does what waits for delivery keep PTP out. */
static void one_waiter_is_kept_for_ptp(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I225);
	struct pkt *pkt;

	u->ordinary = true;
	/* The interrupt reads, nobody delivers. */
	local_bh_disable();
	do {
		pkt = unit_send(u);
		if (pkt)
			unit_wire(u, pkt);
	} while (pkt && u->nr_pkts < UNIT_PKTS - 1);
	KUNIT_EXPECT_NULL(test, pkt);
	pkt = unit_pkt(u);
	KUNIT_EXPECT_EQ(test, 0, ask(u, pkt, true));
	unit_abort(u, pkt);
	local_bh_enable();
	unit_finish(test, u);
}

/* Work that was moved to another CPU leaves this one's level alone. */
static void calm_cpu_comes_back_without_work(struct kunit *test)
{
	struct unit *u = unit_new(test, MODEL_I210);
	struct txts_load *load;

	unit_set_level(TXTS_LEVEL_BACKGROUND);
	preempt_disable();
	load = txts_load_of(smp_processor_id());
	load->dwell = NSEC_PER_SEC;
	preempt_enable();
	unit_sleep_us(u, 2 * USEC_PER_SEC);
	/* No charge, only an event for the thread. */
	txts_moved_away(&u->txts);
	KUNIT_EXPECT_EQ(test, TXTS_LEVEL_FREE, load->level);
	unit_finish(test, u);
}

/* Stop finds those that wait for the thread, too. */
static void stop_at_every_level_ends_all(struct kunit *test)
{
	const struct level *l = test->param_value;
	struct unit *u = unit_new(test, l->model);
	struct pkt *pkt;

	u->ordinary = true;
	unit_set_level(l->level);
	pkt = unit_pkt(u);
	KUNIT_ASSERT_EQ(test, 0, ask(u, pkt, false));
	unit_commit(u, pkt);
	unit_wire(u, pkt);
	unit_sent(u, pkt);
	txts_stop(&u->txts);
	KUNIT_EXPECT_EQ(test, 0, unit_in_flight(u));
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, pkt));
	unit_check(test, u);
}

static struct kunit_case ptp_cases[] = {
	KUNIT_CASE_PARAM(event_messages_are_recognised, frame_gen_params),
	KUNIT_CASE(sender_is_known_by_its_port),
	KUNIT_CASE_PARAM(flood_stands_back_while_ptp_is_active,
			 single_gen_params),
	KUNIT_CASE_PARAM(one_slot_is_kept_for_ptp, several_gen_params),
	KUNIT_CASE_PARAM(flood_is_throttled, single_gen_params),
	KUNIT_CASE_PARAM(flood_may_use_idle_time, single_gen_params),
	KUNIT_CASE_PARAM(sparse_sender_is_never_throttled, single_gen_params),
	KUNIT_CASE_PARAM(flood_of_ptp_is_throttled, single_gen_params),
	KUNIT_CASE(ordinary_flood_leaves_ptp_its_half),
	KUNIT_CASE(late_softirq_refuses_ordinary_requests),
	KUNIT_CASE_PARAM(fixed_policy_admits_all, single_gen_params),
	KUNIT_CASE_PARAM(lagging_socket_gets_no_stamp, single_gen_params),
	KUNIT_CASE_PARAM(stamps_come_at_every_level, level_gen_params),
	KUNIT_CASE_PARAM(stop_at_every_level_ends_all, level_gen_params),
	KUNIT_CASE(late_stamp_comes_soon_at_every_level),
	KUNIT_CASE(one_waiter_is_kept_for_ptp),
	KUNIT_CASE(calm_cpu_comes_back_without_work),
	{}
};

static struct kunit_suite ptp_suite = {
	.name = "txts_ptp",
	.test_cases = ptp_cases,
};

kunit_test_suite(ptp_suite);
