// SPDX-License-Identifier: GPL-2.0
/* The clients and their schedule. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

#define GAPS		8192U

struct client {
	uint64_t origin;	/* the server's last receive timestamp */
	long long sent;
	uint32_t sequence;
	bool waiting;
	bool counted;
};

struct load {
	const struct options *opts;
	struct wire wire;
	struct client *clients;
	struct result *result;
	unsigned int turn;
	unsigned int gap_at;
	float gaps[GAPS];	/* from one request to the next; mean 1 */
	unsigned char frames[BATCH * FRAME_LEN];
};

static long long now_on(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Drawn once: a logarithm per request would be part of the load. */
static void draw_gaps(struct load *load)
{
	unsigned int i, seed = load->opts->seed;
	double sum = 0;

	for (i = 0; i < GAPS; i++) {
		load->gaps[i] = 1;
		if (!load->opts->even)
			load->gaps[i] = -log(1 - rand_r(&seed) /
					     (RAND_MAX + 1.0));
		sum += load->gaps[i];
	}
	for (i = 0; i < GAPS; i++)
		load->gaps[i] *= GAPS / sum;
}

struct load *load_open(struct options *opts)
{
	struct load *load = calloc(1, sizeof(*load));
	unsigned int i;

	if (!load)
		return NULL;
	load->opts = opts;
	load->clients = calloc(opts->route.clients, sizeof(*load->clients));
	if (!load->clients || wire_open(&load->wire, opts)) {
		free(load->clients);
		free(load);
		return NULL;
	}
	for (i = 0; i < BATCH; i++)
		frame_init(load->frames + i * FRAME_LEN, &opts->route);
	draw_gaps(load);
	return load;
}

void load_close(struct load *load)
{
	free(load->clients);
	free(load);
}

static void take_answer(struct load *load, struct client *client,
			const struct reply *reply, long long at)
{
	struct result *result = load->result;

	client->origin = reply->receive;
	client->waiting = false;
	if (!client->counted)
		return;
	result->answered++;
	if (reply->kind == REPLY_BASIC)
		result->basic++;
	else
		result->interleaved++;
	spread_add(&result->spread, at - client->sent);
}

static void take_frame(void *data, const unsigned char *frame, size_t len,
		       long long at)
{
	struct load *load = data;
	struct result *result = load->result;
	struct client *client;
	struct reply reply;

	frame_parse(frame, len, &load->opts->route, &reply);
	if (reply.kind == REPLY_FOREIGN) {
		result->foreign++;
		return;
	}
	client = &load->clients[reply.client];
	if (reply.kind == REPLY_REFUSED)
		result->refused++;
	else if (reply.kind == REPLY_BOGUS ||
		 reply.sequence > client->sequence)
		result->bogus++;
	else if (reply.sequence < client->sequence)
		result->late++;
	else if (!client->waiting)
		result->duplicate++;
	else
		take_answer(load, client, &reply, at);
}

/* The next of the clients ask, each at most once per turn of them all. */
static void send_requests(struct load *load, unsigned int count, bool counted)
{
	const struct route *route = &load->opts->route;
	struct result *result = load->result;
	unsigned int i, sent, turn = load->turn;
	struct client *client;
	long long now;

	for (i = 0; i < count; i++) {
		client = &load->clients[turn];
		client->sequence++;
		frame_request(load->frames + i * FRAME_LEN, route, turn,
			      client->sequence, client->origin);
		turn = (turn + 1) % route->clients;
	}
	now = now_on(CLOCK_REALTIME);
	sent = wire_send(&load->wire, load->frames, count);
	for (i = 0; i < count; i++) {
		client = &load->clients[load->turn];
		client->waiting = i < sent;
		client->counted = counted && i < sent;
		client->sent = now;
		load->turn = (load->turn + 1) % route->clients;
	}
	if (counted)
		result->sent += sent;
	result->send_errors += count - sent;
}

static int sleep_until(long long at)
{
	struct timespec ts = {
		.tv_sec = at / NSEC_PER_SEC,
		.tv_nsec = at % NSEC_PER_SEC,
	};
	int ret;

	do {
		ret = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts,
				      NULL);
	} while (ret == EINTR);
	return ret;
}

/* How many requests are due by @now; @next is when the first of them was. */
static unsigned int due(struct load *load, double *next, double gap,
			long long now)
{
	unsigned int count = 0;

	while (*next <= now && count < BATCH) {
		*next += load->gaps[load->gap_at] * gap;
		load->gap_at = (load->gap_at + 1) % GAPS;
		count++;
	}
	return count;
}

int load_step(struct load *load, const struct step *step,
	      struct result *result)
{
	const struct options *opts = load->opts;
	long long start, counts, end, now, tick;
	unsigned int count;
	double next, gap;

	memset(result, 0, sizeof(*result));
	result->step = *step;
	load->result = result;
	wire_drops(&load->wire);
	gap = (double)NSEC_PER_SEC / step->rate;
	start = now_on(CLOCK_MONOTONIC);
	counts = start + opts->settle;
	end = counts + step->length;
	next = start + gap;
	now = start;
	for (tick = start; now < end; ) {
		count = due(load, &next, gap, now);
		if (count)
			send_requests(load, count, now >= counts);
		wire_drain(&load->wire, take_frame, load);
		/* A full batch: the rest is due as well. */
		if (count < BATCH) {
			tick += opts->tick;
			if (sleep_until(tick))
				return -1;
		}
		now = now_on(CLOCK_MONOTONIC);
		if (now - tick > result->behind)
			result->behind = now - tick;
		/* Lost ticks are not made up for, what was due in them is. */
		if (now - tick > opts->tick)
			tick = now;
	}
	result->length = now - counts;
	for (end = now + opts->drain; now < end; ) {
		if (sleep_until(now + NSEC_PER_MSEC))
			return -1;
		now = now_on(CLOCK_MONOTONIC);
		wire_drain(&load->wire, take_frame, load);
	}
	result->ring_drops = wire_drops(&load->wire);
	return 0;
}
