// SPDX-License-Identifier: GPL-2.0
/*
 * Admission: who asks for a stamp, what stamps cost, and who gets none for it.
 * The decisions are the policy's; here are the packets and the clocks.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel_stat.h>
#include <linux/module.h>
#include <linux/ptp_classify.h>
#include <linux/tick.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "internal.h"
#include "trace.h"

/* Stamp work of all trackers counts: it is one CPU that they share. */
static DEFINE_PER_CPU(struct txts_load, txts_loads);

#ifdef CONFIG_TXTS_TESTING
u32 txts_budget_permille = TXTS_BUDGET_PERMILLE;
bool txts_idle_counts = true;
#endif

struct txts_load *txts_load_of(int cpu)
{
	return per_cpu_ptr(&txts_loads, cpu);
}

/* Offset of the PTP header that ptp_classify_raw() found; 0: nowhere. */
static unsigned int txts_ptp_offset(const struct sk_buff *skb,
				    unsigned int type)
{
	unsigned int offset = ETH_HLEN;
	const struct iphdr *ip;
	struct iphdr buf;

	if (type & PTP_CLASS_VLAN)
		offset += VLAN_HLEN;
	switch (type & PTP_CLASS_PMASK) {
	case PTP_CLASS_IPV4:
		ip = skb_header_pointer(skb, offset, sizeof(buf), &buf);
		return ip ? offset + ip->ihl * 4 + sizeof(struct udphdr) : 0;
	case PTP_CLASS_IPV6:
		return offset + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	case PTP_CLASS_L2:
		return offset;
	default:
		return 0;
	}
}

/*
 * Is this a PTP event message from someone who may send one? Not by
 * ptp_parse_header(), as a packet socket that bypasses the queues sets no MAC
 * header.
 */
static bool txts_is_ptp_event(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;
	const struct ptp_header *ptp;
	struct ptp_header ptp_buf;
	const struct udphdr *udp;
	struct udphdr udp_buf;
	unsigned int offset;
	unsigned int type;

	/* Most of those that ask have another port, and need no look inside */
	if (sk && sk_fullsock(sk) && sk->sk_protocol == IPPROTO_UDP &&
	    sk->sk_num != PTP_EV_PORT && sk_is_inet(sk))
		return false;
	type = ptp_classify_raw(skb);
	if (type == PTP_CLASS_NONE)
		return false;
	offset = txts_ptp_offset(skb, type);
	if (!offset)
		return false;
	if (type & PTP_CLASS_L4) {
		/* The classifier looks at the other end's port. */
		udp = skb_header_pointer(skb, offset - sizeof(udp_buf),
					 sizeof(udp_buf), &udp_buf);
		if (!udp || udp->source != htons(PTP_EV_PORT))
			return false;
	}
	ptp = skb_header_pointer(skb, offset, sizeof(ptp_buf), &ptp_buf);
	if (!ptp)
		return false;
	/* Version 1: Sync and Delay_Req; version 2: the first four types. */
	return ptp_get_msgtype(ptp, type) < (type & PTP_CLASS_V1 ? 2 : 4);
}

/* How much of the sender's receive buffer is in use, in 1/1024. */
static u32 txts_backlog(const struct sk_buff *skb)
{
	struct sock *sk = skb ? skb_to_full_sk(skb) : NULL;
	unsigned int used, size;

	if (!sk)
		return 0;
	used = atomic_read(&sk->sk_rmem_alloc);
	size = READ_ONCE(sk->sk_rcvbuf);
	if (!used)
		return 0;
	if (used >= size)
		return TXTS_BACKLOG_FULL;
	return div_u64((u64)used * TXTS_BACKLOG_FULL, size);
}

static bool txts_ptp_active(struct txts *txts, ktime_t now)
{
	s64 seen = atomic64_read(&txts->ptp_seen);

	return seen && ktime_sub(now, seen) < txts->ptp_hold;
}

/**
 * txts_admit - may this request have a slot?
 * @txts: the tracker
 * @request: not malformed
 * @class: result: enum txts_class
 *
 * Fixed policies admit all.
 *
 * Return: 0, or the counter of the skip.
 *
 * Context: as txts_reserve().
 */
enum txts_counter txts_admit(struct txts *txts,
			     const struct txts_request *request, u8 *class)
{
	ktime_t now = 0;
	s64 until;

	*class = TXTS_ORDINARY;
	if (READ_ONCE(txts->policy) != TXTS_POLICY_AUTO)
		return 0;
	if (request->ptp || (request->skb && txts_is_ptp_event(request->skb)))
		*class = TXTS_PTP;

	if (*class == TXTS_PTP || atomic64_read(&txts->ptp_seen))
		now = ktime_get();
	if (*class == TXTS_PTP)
		atomic64_set(&txts->ptp_seen, now);
	else if (txts->nslots == 1 && now && txts_ptp_active(txts, now))
		return TXTS_SKIP_PTP;

	until = atomic64_read(&txts->throttled[*class]);
	if (until && ktime_before(now ?: ktime_get(), until))
		return TXTS_SKIP_THROTTLED;
	if (*class == TXTS_ORDINARY &&
	    !txts_policy_keeps_up(this_cpu_ptr(&txts_loads),
				  txts_backlog(request->skb)))
		return TXTS_SKIP_THROTTLED;
	return 0;
}

/* New requests of a class are refused for so long. */
static void txts_throttle(struct txts *txts, enum txts_class class, u64 ns)
{
	s64 until = ktime_add_ns(ktime_get(), ns);

	/* Once a window is enough to see it. */
	if (until - atomic64_read(&txts->throttled[class]) >
	    (s64)TXTS_WINDOW_NS / 2)
		trace_txts_throttle(txts, class, ns);
	/* Another CPU may have refused them for longer. */
	if (until > atomic64_read(&txts->throttled[class]))
		atomic64_set(&txts->throttled[class], until);
}

/*
 * Nobody else changes the account of this CPU until txts_close_account(). @now
 * is its clock.
 */
static struct txts_load *txts_open_account(u64 *now, unsigned long *flags)
{
	struct txts_load *load;
	u64 idle;

	local_irq_save(*flags);
	load = this_cpu_ptr(&txts_loads);
	*now = txts_work_clock();
	if (txts_policy_over(load, *now) && txts_spare()) {
		/* -1: this kernel does not know, as its tick never stops. */
		idle = get_cpu_idle_time_us(smp_processor_id(), NULL);
		if (idle != U64_MAX)
			load->idle = idle * NSEC_PER_USEC;
	}
	return load;
}

/* What follows from the entries made since the level was @from. */
static void txts_close_account(struct txts *txts, const struct txts_load *load,
			       u8 from, enum txts_class class, u64 refuse,
			       unsigned long flags)
{
	if (refuse)
		txts_throttle(txts, class, refuse);
	if (load->level != from)
		trace_txts_level(txts, from, load->level);
	local_irq_restore(flags);
}

/**
 * txts_charge - stamp work was done on this CPU
 * @txts: the tracker
 * @cost: which kind of work
 * @class: for whom
 * @began: txts_work_clock() before it, in ns
 *
 * Return: txts_work_clock() after it.
 *
 * Context: any. In process context the work may have moved to another CPU:
 * who ends it pays.
 */
u64 txts_charge(struct txts *txts, enum txts_cost cost, enum txts_class class,
		u64 began)
{
	struct txts_charge charge = {
		.cost = cost,
		.class = class,
		.permille = txts_budget(),
	};
	struct txts_load *load;
	unsigned long flags;
	u8 level;

	if (READ_ONCE(txts->policy) != TXTS_POLICY_AUTO)
		return txts_work_clock();
	/* For PTP its share is what it is, active or not. */
	if (class == TXTS_ORDINARY && atomic64_read(&txts->ptp_seen))
		charge.ptp_active = txts_ptp_active(txts, ktime_get());
	load = txts_open_account(&charge.now, &flags);
	level = load->level;
	/* The clocks of two CPUs may differ by more than the work took. */
	charge.took = max_t(s64, charge.now - began, 0);
	txts_close_account(txts, load, level, class,
			   txts_policy_charge(load, &charge), flags);
	return charge.now;
}

/**
 * txts_bh_began - own BH work runs
 * @txts: the tracker
 *
 * Context: softirq.
 */
void txts_bh_began(struct txts *txts)
{
	s64 queued = atomic64_xchg(&txts->bh_queued, 0);
	struct txts_load *load;
	unsigned long flags;
	s64 delay;
	u64 now;
	u8 level;

	if (!queued || READ_ONCE(txts->policy) != TXTS_POLICY_AUTO)
		return;
	delay = max_t(s64, ktime_get() - queued, 0);
	load = txts_open_account(&now, &flags);
	level = load->level;
	txts_close_account(txts, load, level, TXTS_ORDINARY,
			   txts_policy_late(load, now, delay), flags);
}

/**
 * txts_moved_away - an event of this CPU is handled by the thread
 * @txts: the tracker
 *
 * The thread may run on another CPU, whose account it is then.
 *
 * Context: any.
 */
void txts_moved_away(struct txts *txts)
{
	struct txts_load *load;
	unsigned long flags;
	u64 now;
	u8 level;

	if (READ_ONCE(txts->policy) != TXTS_POLICY_AUTO)
		return;
	load = txts_open_account(&now, &flags);
	level = load->level;
	txts_policy_roll(load, now);
	txts_close_account(txts, load, level, TXTS_ORDINARY, 0, flags);
}

enum txts_level txts_level(void)
{
	return READ_ONCE(raw_cpu_ptr(&txts_loads)->level);
}
