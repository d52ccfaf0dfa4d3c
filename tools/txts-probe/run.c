// SPDX-License-Identifier: GPL-2.0
/* Send and collect. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define LAUNCH_STEP	NSEC_PER_MSEC	/* between packets of a burst */

struct run {
	const struct options *opts;
	struct track *track;
	int ifindex;
	int fd;
	unsigned int base;	/* index of the packet with OPT_ID 0 */
	unsigned int random;
};

static int stop_flag;

void interrupt_probe(void)
{
	__atomic_store_n(&stop_flag, 1, __ATOMIC_RELAXED);
}

bool is_interrupted(void)
{
	return __atomic_load_n(&stop_flag, __ATOMIC_RELAXED);
}

long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

long long tai_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_TAI, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int drain(struct run *run)
{
	struct report report;
	int ret;

	while ((ret = read_report(run->fd, &report)) > 0)
		track_report(run->track, &report, run->base + report.id,
			     now_ns());
	if (ret < 0)
		fprintf(stderr, "txts-probe: error queue: %s\n",
			strerror(-ret));
	return ret;
}

/* Until the deadline, or until @left is there and zero. */
static int collect(struct run *run, long long deadline,
		   const unsigned int *left)
{
	struct pollfd pfd = { .fd = run->fd };
	struct timespec ts;
	long long ns;
	int ret;

	while (!is_interrupted()) {
		if (left && !*left)
			return 0;
		ns = deadline - now_ns();
		if (ns <= 0)
			return 0;
		ts.tv_sec = ns / NSEC_PER_SEC;
		ts.tv_nsec = ns % NSEC_PER_SEC;
		ret = ppoll(&pfd, 1, &ts, NULL);
		if (ret < 0 && errno != EINTR) {
			perror("txts-probe: poll");
			return -1;
		}
		if (ret > 0) {
			ret = drain(run);
			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

/* Whether the kernel counted an id for a failed send is unknown: start over. */
static int reopen(struct run *run)
{
	int ret;

	ret = collect(run, now_ns() + run->opts->timeout,
		      &run->track->waiting);
	close(run->fd);
	run->fd = -1;
	if (ret)
		return ret;
	run->fd = probe_socket(run->opts, run->ifindex);
	run->base = run->track->sent;
	/* No report can come for these any more. */
	track_forget(run->track);
	return run->fd < 0 ? -1 : 0;
}

/* When the packets of a group leave from: a multiple of the gap. */
static long long launch_base(const struct options *opts)
{
	long long unit = opts->gap ?: 1;

	if (!opts->launch)
		return 0;
	return (tai_ns() + opts->launch + unit - 1) / unit * unit;
}

static int send_one(struct run *run, long long launch)
{
	struct track *track = run->track;
	struct packet *packet;
	int ret;

	packet = track_sent(track, now_ns());
	packet->launch = launch;
	ret = probe_send(run->fd, run->opts, run->ifindex, track->sent - 1,
			 launch);
	switch (-ret) {
	case 0:
		return 0;
	case ENOBUFS:		/* dropped below the socket: the id is used */
		track_dropped(track, packet);
		return 0;
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENXIO:
	case EAGAIN:
	case EINTR:
		track_unsent(track);
		track->send_errors++;
		return reopen(run);
	}
	fprintf(stderr, "txts-probe: send on %s: %s\n", run->opts->ifname,
		strerror(-ret));
	track_unsent(track);
	return -1;
}

static long long next_gap(struct run *run)
{
	long long gap = run->opts->gap;

	if (run->opts->jitter) {
		run->random = run->random * 1103515245 + 12345;
		gap += (run->random >> 8) % (1 << 16) * run->opts->jitter >> 16;
	}
	return gap;
}

static void progress(const struct run *run, unsigned int tried)
{
	unsigned int step = run->opts->count / 10;

	if (run->opts->verbose && step && tried % step == 0)
		fprintf(stderr, "txts-probe: %u of %u\n", tried,
			run->opts->count);
}

static int send_group(struct run *run, unsigned int *tried)
{
	struct track *track = run->track;
	unsigned int size = 1;
	long long start, launch;
	int ret;

	if (run->opts->mode == MODE_BURST)
		size = run->opts->burst;
	track_group(track);
	start = now_ns();
	launch = launch_base(run->opts);
	while (size-- && *tried < run->opts->count && !is_interrupted()) {
		ret = send_one(run, launch);
		if (ret)
			return ret;
		launch += launch ? LAUNCH_STEP : 0;
		progress(run, ++*tried);
	}
	if (run->opts->mode == MODE_STREAM)
		return 0;
	/* Packets of earlier groups are not waited for again. */
	return collect(run, start + run->opts->timeout, &track->group_waiting);
}

/* Bytes in packets that the driver or its tracker still holds after a while. */
static unsigned int unreleased(const struct run *run)
{
	long long deadline = now_ns() + run->opts->timeout;
	int bytes = 0;

	while (!ioctl(run->fd, SIOCOUTQ, &bytes) && bytes &&
	       now_ns() < deadline && !is_interrupted())
		usleep(1000);
	return bytes;
}

int run_probe(const struct options *opts, int ifindex, struct track *track)
{
	struct run run = {
		.opts = opts,
		.track = track,
		.ifindex = ifindex,
		.random = opts->seed,
	};
	unsigned int tried = 0;
	long long next;
	int ret = 0;

	run.fd = probe_socket(opts, ifindex);
	if (run.fd < 0)
		return -1;

	next = now_ns();
	while (!ret && tried < opts->count && !is_interrupted()) {
		ret = collect(&run, next, NULL);
		if (!ret)
			ret = send_group(&run, &tried);
		next += next_gap(&run);
		if (next < now_ns())
			next = now_ns();
	}
	/* Give the stragglers one more timeout, to tell late from missing. */
	if (!ret)
		ret = collect(&run, now_ns() + opts->timeout, &track->waiting);
	if (run.fd >= 0) {
		track->unreleased = unreleased(&run);
		close(run.fd);
	}
	return ret;
}
