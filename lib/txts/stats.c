// SPDX-License-Identifier: GPL-2.0
/* Statistics: every request and every skip is counted exactly once. */
#include <linux/ethtool.h>
#include <linux/export.h>
#include <linux/log2.h>

#include "internal.h"

const char * const txts_counter_names[TXTS_NR_COUNTERS] = {
	[TXTS_ASKED]		= "asked",
	[TXTS_REQUESTED]	= "requested",
	[TXTS_SKIP_BUSY]	= "skipped_busy",
	[TXTS_SKIP_THROTTLED]	= "skipped_throttled",
	[TXTS_SKIP_PTP]		= "skipped_ptp",
	[TXTS_SKIP_UNSUPPORTED]	= "skipped_unsupported",
	[TXTS_SKIP_OFF]		= "skipped_off",
	[TXTS_DELIVERED]	= "delivered",
	[TXTS_TIMEOUT]		= "timeout",
	[TXTS_ABORTED]		= "aborted",
	[TXTS_FLUSHED]		= "flushed",
	[TXTS_DISCARD_CLOCK]	= "discarded_clock",
	[TXTS_DISCARD_CONVERT]	= "discarded_convert",
	[TXTS_DISCARD_SUSPECT]	= "discarded_suspect",
	[TXTS_ORPHAN]		= "orphans",
	[TXTS_STALE_TICKET]	= "stale_tickets",
	[TXTS_STALE_READ]	= "stale_reads",
	[TXTS_INVALID_READ]	= "invalid_reads",
	[TXTS_NOT_READY]	= "not_ready",
	[TXTS_SUSPECT]		= "suspects",
	[TXTS_WEDGED]		= "wedged",
	[TXTS_MISUSE]		= "misuse",
	[TXTS_CALL_READY]	= "mmio_ready",
	[TXTS_CALL_READ]	= "mmio_read",
	[TXTS_CALL_PEEK]	= "mmio_peek",
};

/* Add to a histogram of powers of two of ns. */
void txts_measure(struct txts *txts, enum txts_hist hist, ktime_t from,
		  ktime_t to)
{
	s64 ns = max_t(s64, ktime_to_ns(ktime_sub(to, from)), 1);
	unsigned int bucket;

	bucket = min_t(unsigned int, ilog2((u64)ns), TXTS_HIST_BUCKETS - 1);
	this_cpu_inc(txts->pcpu->hist[hist][bucket]);
}

/* Where a u64 is two words, half of an old and half of a new one is wrong. */
static u64 txts_read_stat(const u64 *stat)
{
	u64 value;

	do {
		value = READ_ONCE(*stat);
	} while (BITS_PER_LONG < 64 && value != READ_ONCE(*stat));
	return value;
}

u64 txts_read_hist(struct txts *txts, enum txts_hist hist, unsigned int bucket)
{
	u64 __percpu *stat = &txts->pcpu->hist[hist][bucket];
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += txts_read_stat(per_cpu_ptr(stat, cpu));
	return sum;
}

/* Requests not delivered yet, in a slot or on their way from it. */
u64 txts_in_flight(struct txts *txts)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < txts->nslots; i++)
		sum += hweight_long(~READ_ONCE(txts->slots[i].idle) &
				    GENMASK(TXTS_WAITERS - 1, 0));
	return sum;
}

/**
 * txts_read_counter - read one counter
 * @txts: the tracker
 * @counter: which
 *
 * Context: any. Counters are read one by one: while packets are in flight
 * their sums need not close.
 *
 * Return: the sum over all CPUs since txts_init(); 0 if not initialised.
 */
u64 txts_read_counter(struct txts *txts, enum txts_counter counter)
{
	u64 __percpu *stat;
	u64 sum = 0;
	int cpu;

	if (!txts->slots || WARN_ON_ONCE(counter >= TXTS_NR_COUNTERS))
		return 0;
	stat = &txts->pcpu->counter[counter];
	for_each_possible_cpu(cpu)
		sum += txts_read_stat(per_cpu_ptr(stat, cpu));
	return sum;
}
EXPORT_SYMBOL_GPL(txts_read_counter);

static u64 txts_sum(struct txts *txts, enum txts_counter first,
		    enum txts_counter last)
{
	u64 sum = 0;

	while (first <= last)
		sum += txts_read_counter(txts, first++);
	return sum;
}

/**
 * txts_skipped - packets that asked and got no request, for any reason
 * @txts: the tracker
 *
 * Context: any.
 *
 * Return: the sum of all skip counters.
 */
u64 txts_skipped(struct txts *txts)
{
	return txts_sum(txts, TXTS_SKIP_BUSY, TXTS_SKIP_OFF);
}
EXPORT_SYMBOL_GPL(txts_skipped);

/**
 * txts_refused - packets that asked while stamping was on and got no request
 * @txts: the tracker
 *
 * For drivers whose statistics never counted the others. Not txts_skipped()
 * less those: counters go on while they are read.
 *
 * Context: any.
 *
 * Return: the sum of all skip counters but that of off.
 */
u64 txts_refused(struct txts *txts)
{
	return txts_sum(txts, TXTS_SKIP_BUSY, TXTS_SKIP_UNSUPPORTED);
}
EXPORT_SYMBOL_GPL(txts_refused);

/**
 * txts_get_ts_stats - fill in what ethtool reports
 * @txts: the tracker
 * @stats: result
 *
 * delivered: pkts; timed out: lost; skipped for want of resources, or
 * discarded: err. Off, aborted and flushed are no errors.
 *
 * Context: any.
 */
void txts_get_ts_stats(struct txts *txts, struct ethtool_ts_stats *stats)
{
	if (!txts->slots)
		return;
	stats->pkts = txts_read_counter(txts, TXTS_DELIVERED);
	stats->lost = txts_read_counter(txts, TXTS_TIMEOUT);
	stats->err = txts_refused(txts) +
		     txts_sum(txts, TXTS_DISCARD_CLOCK, TXTS_DISCARD_SUSPECT);
}
EXPORT_SYMBOL_GPL(txts_get_ts_stats);
