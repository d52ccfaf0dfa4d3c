// SPDX-License-Identifier: GPL-2.0
/* What became of each packet. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

int track_init(struct track *track, unsigned int capacity, long long timeout)
{
	memset(track, 0, sizeof(*track));
	track->packets = calloc(capacity, sizeof(*track->packets));
	if (!track->packets)
		return -ENOMEM;
	/* Touched now, so that no page fault lands in a measurement. */
	memset(track->packets, 0, capacity * sizeof(*track->packets));
	track->capacity = capacity;
	track->timeout = timeout;
	track->off_min = 1;	/* above off_max: none yet */
	return 0;
}

struct packet *track_sent(struct track *track, long long now)
{
	struct packet *packet = &track->packets[track->sent++];

	packet->sent = now;
	packet->launch = 0;
	packet->state = PKT_PENDING;
	track->waiting++;
	track->group_waiting++;
	return packet;
}

/* The last packet did not get out. */
void track_unsent(struct track *track)
{
	track->sent--;
	track->waiting--;
	track->group_waiting--;
}

/* No report can come any more for what was sent so far. */
void track_forget(struct track *track)
{
	track->waiting = 0;
	track_group(track);
}

/* What is sent from here on is waited for together. */
void track_group(struct track *track)
{
	track->group = track->sent;
	track->group_waiting = 0;
}

static void track_answered(struct track *track, unsigned int index)
{
	track->waiting--;
	if (index >= track->group)
		track->group_waiting--;
}

void track_dropped(struct track *track, struct packet *packet)
{
	packet->state = PKT_DROPPED;
	track->tally[PKT_DROPPED]++;
	track_answered(track, packet - track->packets);
}

/* A stamp that comes before its packet can have left is somebody else's. */
static void track_launch(struct track *track, const struct packet *packet)
{
	long long off = packet->stamp - packet->launch;
	bool first = track->off_min > track->off_max;

	if (tai_ns() < packet->launch)
		track->early++;
	track->off_min = first || off < track->off_min ? off : track->off_min;
	track->off_max = first || off > track->off_max ? off : track->off_max;
}

void track_report(struct track *track, const struct report *report,
		  unsigned int index, long long now)
{
	struct packet *packet;

	if (index >= track->sent) {
		track->unknown++;
		return;
	}
	packet = &track->packets[index];
	if (packet->state != PKT_PENDING) {
		track->duplicates++;
		return;
	}

	packet->latency = now - packet->sent;
	packet->stamp = report->stamp;
	if (report->software)
		packet->state = PKT_SOFTWARE;
	else if (!report->stamp)
		packet->state = PKT_ZERO;
	else if (packet->latency > track->timeout)
		packet->state = PKT_LATE;
	else
		packet->state = PKT_STAMPED;
	track->tally[packet->state]++;
	track_answered(track, index);
	if (packet->stamp && packet->launch)
		track_launch(track, packet);
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

/* The smallest value that at least this share is not above. */
static long long percentile(const long long *sorted, unsigned int count,
			    unsigned int per_10000)
{
	unsigned long long rank = (unsigned long long)count * per_10000;

	rank = (rank + 9999) / 10000;
	return sorted[rank ? rank - 1 : 0];
}

static void summarise(const struct track *track, struct latency *latency)
{
	unsigned int i, count = 0;
	long long *values;

	memset(latency, 0, sizeof(*latency));
	values = calloc(track->sent + 1, sizeof(*values));
	if (!values) {
		fputs("txts-probe: no memory to sort, latency not shown\n",
		      stderr);
		return;
	}
	for (i = 0; i < track->sent; i++) {
		const struct packet *packet = &track->packets[i];

		if (packet->state == PKT_STAMPED || packet->state == PKT_LATE)
			values[count++] = packet->latency;
	}
	latency->count = count;
	if (count) {
		qsort(values, count, sizeof(*values), compare);
		latency->min = values[0];
		latency->p50 = percentile(values, count, 5000);
		latency->p99 = percentile(values, count, 9900);
		latency->p9999 = percentile(values, count, 9999);
		latency->max = values[count - 1];
	}
	free(values);
}

void track_finish(struct track *track, struct latency *latency)
{
	long long last = 0;
	unsigned int i;

	for (i = 0; i < track->sent; i++) {
		struct packet *packet = &track->packets[i];

		if (packet->state == PKT_PENDING) {
			packet->state = PKT_MISSING;
			track->tally[PKT_MISSING]++;
		}
		if (packet->stamp) {
			if (packet->stamp <= last)
				track->backwards++;
			last = packet->stamp;
		}
	}
	summarise(track, latency);
}

/* Sent packets that no outcome accounts for; anything but 0 is a bug. */
long long track_remainder(const struct track *track)
{
	long long sum = 0;
	int state;

	for (state = PKT_STAMPED; state < PKT_NR_STATES; state++)
		sum += track->tally[state];
	return track->sent - sum;
}
