// SPDX-License-Identifier: GPL-2.0
/*
 * Launch time: packets that were fetched, and reported done, leave when the
 * PHC shows what their context descriptor says.
 *
 * I226: ns from the begin of the current cycle (BASET, QBVCYCLET), in queues
 * that TXQCTL says so of, while TQAVCTRL is in TSN mode. A packet marked as
 * first belongs to the cycle after that of the queue's packet before, if there
 * is one: a driver has to send something in this cycle to use the next. The
 * gates STQT and ENDQT close a queue for a part of each cycle. BASET only gives
 * the phase, also of cycles before it. The offset in GTXOFFSET is taken as what
 * the way to the wire costs, so that a packet starts when it is to.
 *
 * I210: 32 ns from the begin of a second, in queues for streams. What is up to
 * half a second ago is late and leaves, else it is in the next second.
 */
#include <linux/math64.h>
#include <linux/vmalloc.h>

#include "port.h"

bool nic_launch_queue(struct nic *nic, unsigned int queue)
{
	u32 ctrl = *nic_reg(nic, R_TQAVCTRL);

	if (nic->kind->launch == NIC_LAUNCH_NONE || queue >= NIC_GATES ||
	    !(ctrl & TQAVCTRL_MODE))
		return false;
	/* A gate that is always open is one, too. */
	if (nic->kind->launch == NIC_LAUNCH_CYCLE)
		return true;
	return queue < 2 && ctrl & TQAVCTRL_LAUNCH_I210 &&
	       *nic_reg(nic, R_TQAVCC_I210(queue)) & TQAVCC_RESERVED;
}

/* Where the next packet of @queue is to be written. */
struct nic_packet *nic_launch_room(struct nic *nic, unsigned int queue)
{
	struct nic_gate *gate = &nic->gate[queue];

	if (gate->count == NIC_GATE_PACKETS)
		return NULL;
	return &gate->packet[(gate->first + gate->count) % NIC_GATE_PACKETS];
}

static u32 cycle_of(struct nic *nic)
{
	return *nic_reg(nic, R_QBVCYCLET) ?: NSEC_PER_SEC;
}

/* The begin of the cycle in which the PHC shows @ns. */
static u64 cycle_begin(struct nic *nic, u64 ns)
{
	u64 base = *nic_reg(nic, R_BASET_H) * (u64)NSEC_PER_SEC +
		   *nic_reg(nic, R_BASET_L);
	u32 cycle = cycle_of(nic), rest;

	if (ns >= base) {
		div_u64_rem(ns - base, cycle, &rest);
		return ns - rest;
	}
	div_u64_rem(base - ns, cycle, &rest);
	return rest ? ns - (cycle - rest) : ns;
}

static u64 launch_in_cycle(struct nic *nic, unsigned int queue,
			   const struct nic_packet *p)
{
	struct nic_gate *gate = &nic->gate[queue];
	u64 now = cycle_begin(nic, nic_clock_ns(nic));

	if (gate->cycle < now) {
		gate->cycle = now;
		gate->used = false;
	}
	if (p->o.mss_l4len & TXC_FIRST && gate->used)
		gate->cycle += cycle_of(nic);
	gate->used = true;
	if (!(*nic_reg(nic, R_TXQCTL(queue)) & TXQCTL_LAUNCH))
		return 0;
	return gate->cycle + p->o.launch;
}

static u64 launch_in_second(struct nic *nic, const struct nic_packet *p)
{
	u64 now = nic_clock_ns(nic), at;
	u32 rest;

	div_u64_rem(now, NSEC_PER_SEC, &rest);
	at = now - rest + 32 * (u64)TXC_LAUNCH_I210(p->o.launch);
	if (at + NSEC_PER_SEC / 2 < now)
		at += NSEC_PER_SEC;
	else if (at > now + NSEC_PER_SEC / 2)
		at -= min_t(u64, at, NSEC_PER_SEC);
	return at;
}

/* The packet that nic_launch_room() gave the place of has been written. */
void nic_launch_enter(struct nic *nic, unsigned int queue)
{
	struct nic_packet *p = nic_launch_room(nic, queue);

	if (nic->kind->launch == NIC_LAUNCH_CYCLE)
		p->launch = launch_in_cycle(nic, queue, p);
	else
		p->launch = launch_in_second(nic, p);
	nic->gate[queue].count++;
}

/* The first time from @ns on at which the gate of @queue is open. */
static u64 gate_open(struct nic *nic, unsigned int queue, u64 ns)
{
	u32 start = *nic_reg(nic, R_STQT(queue));
	u32 end = *nic_reg(nic, R_ENDQT(queue));
	u64 begin;

	if (nic->kind->launch != NIC_LAUNCH_CYCLE || start >= end)
		return ns;
	begin = cycle_begin(nic, ns);
	if (ns < begin + start)
		return begin + start;
	return ns < begin + end ? ns : begin + cycle_of(nic) + start;
}

/* When the oldest packet of @queue may leave, as nic_now() counts. */
static u64 leaves(struct nic *nic, unsigned int queue,
		  const struct nic_packet *p, u64 now)
{
	u64 ready, ns;

	if (!nic_launch_queue(nic, queue))
		return max(p->ready, now);
	ready = nic_clock_at(nic, p->ready);
	ns = gate_open(nic, queue, max(p->launch, ready));
	return ns == ready ? p->ready : nic_clock_when(nic, ns);
}

/* One packet whose time has come is moved to @to; else @at says when. */
bool nic_launch(struct nic *nic, struct nic_packet *to, u64 now, u64 *at)
{
	struct nic_packet *p;
	struct nic_gate *gate;
	unsigned int i;
	u64 when;

	for (i = 0; i < NIC_GATES; i++) {
		gate = &nic->gate[i];
		if (!gate->count)
			continue;
		p = &gate->packet[gate->first];
		when = leaves(nic, i, p, now);
		if (when > now) {
			nic->count[NIC_TX_LAUNCHED] += !p->held;
			p->held = true;
			*at = min(*at, when);
			continue;
		}
		swap(*p, *to);
		to->held = false;
		to->ready = when;
		gate->first = (gate->first + 1) % NIC_GATE_PACKETS;
		gate->count--;
		return true;
	}
	return false;
}

void nic_launch_reset(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < NIC_GATES; i++) {
		nic->gate[i].count = 0;
		nic->gate[i].cycle = 0;
	}
}

void nic_launch_free(struct nic *nic)
{
	unsigned int i, j;

	for (i = 0; i < NIC_GATES; i++)
		for (j = 0; j < NIC_GATE_PACKETS; j++)
			vfree(nic->gate[i].packet[j].data);
}

bool nic_launch_alloc(struct nic *nic)
{
	struct nic_packet *p;
	unsigned int i, j;

	if (nic->kind->launch == NIC_LAUNCH_NONE)
		return true;
	for (i = 0; i < NIC_GATES; i++) {
		for (j = 0; j < NIC_GATE_PACKETS; j++) {
			p = &nic->gate[i].packet[j];
			p->data = vzalloc(NIC_PACKET_MAX);
			if (!p->data)
				return false;
		}
	}
	return true;
}
