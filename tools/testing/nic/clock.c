// SPDX-License-Identifier: GPL-2.0
/*
 * The PHC: a clock that gains what TIMINCA says, on an oscillator that is off
 * by the knob pair_ppb on every second port.
 *
 * Fractions of a ns are kept, else every adjustment of the frequency would
 * set the clock back by half a ns.
 */
#include <linux/math64.h>

#include "port.h"

#define RATE_SHIFT	44
#define CHUNK_NS	BIT_ULL(34)	/* at 6 % the product fits 64 bit */

static s64 rate_of_ppb(s64 ppb)
{
	return div_s64(ppb * (1LL << RATE_SHIFT), NSEC_PER_SEC);
}

static s64 rate_of_inca(const struct nic *nic, u32 inca)
{
	s64 rate = (u64)(inca & ~TIMINCA_MINUS) * nic->kind->adj_mul <<
		   (RATE_SHIFT - 32 - nic->kind->adj_shift);

	return inca & TIMINCA_MINUS ? -rate : rate;
}

/* 2^-32 ns that the clock gains in @ns. */
static s64 gain(const struct nic_clock *c, u64 ns)
{
	u64 size = mul_u64_u64_shr(ns, abs(c->rate), RATE_SHIFT - 32);

	return c->rate < 0 ? -(s64)size : size;
}

static void add(struct nic_clock *c, u64 ns)
{
	s64 fraction = (s64)c->frac + gain(c, ns);

	c->ns += ns + (fraction >> 32);
	c->frac = lower_32_bits(fraction);
	c->at += ns;
}

static void advance(struct nic_clock *c, u64 now)
{
	while (now > c->at)
		add(c, min(now - c->at, CHUNK_NS));
}

/* The rate changes now. */
static void tune(struct nic *nic, unsigned int clock)
{
	s64 ppb = nic->port & 1 ? rate_of_ppb(nic_pair_ppb) : 0;
	s64 inca = rate_of_inca(nic, *nic_reg(nic, R_TIMINCA(clock)));

	advance(&nic->clock[clock], nic_now());
	nic->clock[clock].rate = ppb + inca +
				 div_s64(ppb * (inca >> 22),
					 1 << (RATE_SHIFT - 22));
}

void nic_clock_tune(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->kind->clocks; i++)
		tune(nic, i);
}

void nic_clock_init(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->kind->clocks; i++)
		nic->clock[i].at = nic_now();
	nic_clock_tune(nic);
}

static u64 to_raw(const struct nic *nic, u64 ns)
{
	u32 rest;

	if (nic->kind->systim == NIC_SYSTIM_40BIT)
		return ns & GENMASK_ULL(39, 0);
	ns = div_u64_rem(ns, NSEC_PER_SEC, &rest);
	return ns << 32 | rest;
}

/* What the clock showed at @at, which may lie a little before its last use. */
u64 nic_clock_raw(struct nic *nic, unsigned int clock, u64 at)
{
	struct nic_clock *c = &nic->clock[clock];
	s64 back;

	if (at >= c->at) {
		advance(c, at);
		return to_raw(nic, c->ns);
	}
	back = (s64)c->frac - gain(c, c->at - at);
	return to_raw(nic, c->ns - (c->at - at) + (back >> 32));
}

/* What the first clock shows now. */
u64 nic_clock_ns(struct nic *nic)
{
	advance(&nic->clock[0], nic_now());
	return nic->clock[0].ns;
}

/* What it shows, or showed, at @at: some ns off if that is far away. */
u64 nic_clock_at(struct nic *nic, u64 at)
{
	const struct nic_clock *c = &nic->clock[0];
	u64 now = nic_clock_ns(nic);

	if (at < c->at)
		return now - (c->at - at) - (gain(c, c->at - at) >> 32);
	return now + (at - c->at) + (gain(c, min(at - c->at, CHUNK_NS)) >> 32);
}

/* When it shows, or showed, @ns: the other way round. */
u64 nic_clock_when(struct nic *nic, u64 ns)
{
	const struct nic_clock *c = &nic->clock[0];
	u64 now = nic_clock_ns(nic);

	if (ns < now)
		return c->at - (now - ns) + (gain(c, now - ns) >> 32);
	return c->at + (ns - now) - (gain(c, min(ns - now, CHUNK_NS)) >> 32);
}

static void latch(struct nic *nic, unsigned int clock)
{
	u64 raw = nic_clock_raw(nic, clock, nic_now());

	nic->clock[clock].latched[0] = lower_32_bits(raw);
	nic->clock[clock].latched[1] = upper_32_bits(raw);
}

/* The lowest register that is read latches the others. */
bool nic_clock_read(struct nic *nic, u32 offset, u32 *value)
{
	struct nic_clock *c;
	unsigned int i;

	for (i = 0; i < nic->kind->clocks; i++) {
		c = &nic->clock[i];
		if (offset == R_SYSTIMR(i)) {
			latch(nic, i);
			c->by_residue = true;
			*value = c->frac;
			return true;
		}
		if (offset == R_SYSTIML(i)) {
			if (!c->by_residue)
				latch(nic, i);
			c->by_residue = false;
			*value = c->latched[0];
			return true;
		}
		if (offset == R_SYSTIMH(i)) {
			*value = c->latched[1];
			return true;
		}
	}
	return false;
}

static void set(struct nic *nic, struct nic_clock *c, u32 high)
{
	c->at = nic_now();
	c->frac = 0;
	if (nic->kind->systim == NIC_SYSTIM_40BIT)
		c->ns = (u64)high << 32 | c->set_low;
	else
		c->ns = (u64)high * NSEC_PER_SEC + c->set_low;
}

bool nic_clock_write(struct nic *nic, u32 offset, u32 value)
{
	unsigned int i;

	for (i = 0; i < nic->kind->clocks; i++) {
		if (offset == R_SYSTIML(i)) {
			nic->clock[i].set_low = value;
			return true;
		}
		if (offset == R_SYSTIMH(i)) {
			set(nic, &nic->clock[i], value);
			nic_tx_kick(nic);
			return true;
		}
		if (offset == R_TIMINCA(i)) {
			*nic_reg(nic, offset) = value;
			tune(nic, i);
			nic_tx_kick(nic);
			if (nic_adjust_kills)
				nic_stamp_drop(nic, NIC_STAMP_KILLED);
			return true;
		}
	}
	return false;
}
