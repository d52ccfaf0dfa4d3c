// SPDX-License-Identifier: GPL-2.0
/* Response times in buckets of 1/64 of their magnitude: no memory per reply. */
#include "load.h"

#define SUB		64U

/* Exact below 128 ns, then 64 buckets for each doubling. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift = 0, bucket;

	while (ns >> shift >= 2 * SUB)
		shift++;
	bucket = shift * SUB + (ns >> shift);
	return bucket < SPREAD_BUCKETS ? bucket : SPREAD_BUCKETS - 1;
}

/* The highest value that falls into this bucket. */
static long long bucket_end(unsigned int bucket)
{
	unsigned int shift = bucket < 2 * SUB ? 0 : bucket / SUB - 1;

	return ((bucket - shift * SUB + 1ULL) << shift) - 1;
}

void spread_add(struct spread *spread, long long ns)
{
	if (ns < 0)
		ns = 0;
	if (ns > spread->max)
		spread->max = ns;
	spread->bucket[bucket_of(ns)]++;
	spread->count++;
}

/* -1 where there is nothing. */
long long spread_share(const struct spread *spread, double share)
{
	uint64_t want, seen = 0;
	unsigned int i;
	long long end;

	if (!spread->count)
		return -1;
	want = spread->count * share;
	if (want < spread->count * share || !want)
		want++;
	for (i = 0; i < SPREAD_BUCKETS - 1; i++) {
		seen += spread->bucket[i];
		if (seen >= want)
			break;
	}
	end = bucket_end(i);
	return end < spread->max ? end : spread->max;
}
