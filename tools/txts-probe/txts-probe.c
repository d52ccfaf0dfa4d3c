// SPDX-License-Identifier: GPL-2.0
/* Measure hardware Tx timestamps: how long they take, and which are lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "probe.h"

static void on_signal(int sig)
{
	interrupt_probe();
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static int schedule(const struct options *opts)
{
	struct sched_param param = { .sched_priority = opts->prio };
	cpu_set_t set;

	/* The slack of 50 us would be taken for a property of the NIC. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (opts->cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(opts->cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			perror("txts-probe: --cpu");
			return -1;
		}
	}
	if (opts->prio) {
		if (mlockall(MCL_CURRENT | MCL_FUTURE))
			perror("txts-probe: mlockall (going on)");
		if (sched_setscheduler(0, SCHED_FIFO, &param)) {
			perror("txts-probe: --fifo (are you root?)");
			return -1;
		}
	}
	return 0;
}

static int probe(const struct options *opts, struct track *track,
		 struct result *result)
{
	int ret, ifindex = if_nametoindex(opts->ifname);

	if (opts->stats)
		read_nic_stats(opts->ifname, &result->before);
	ret = reconfigure_start(opts);
	if (ret)
		return ret;
	result->duration = now_ns();
	ret = run_probe(opts, ifindex, track);
	result->duration = now_ns() - result->duration;
	reconfigure_stop(result);
	if (opts->stats)
		read_nic_stats(opts->ifname, &result->after);
	result->interrupted = is_interrupted();
	track_finish(track, &result->latency);
	return ret;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct track track;
	struct result result = {
		.opts = &opts,
		.track = &track,
		.driver = "unknown",
		.bus = "unknown",
	};
	int ret;

	ret = parse_options(argc, argv, &opts);
	if (ret)
		return ret < 0 ? EXIT_USAGE : 0;

	if (track_init(&track, opts.count, opts.timeout)) {
		fputs("txts-probe: no memory for that --count\n", stderr);
		return EXIT_ERROR;
	}
	read_nic_driver(opts.ifname, &result);
	catch_signals();
	/* From here on every way out restores the configuration. */
	atexit(hwtstamp_restore);
	if (schedule(&opts) || hwtstamp_enable(&opts, &result.tx_off))
		return EXIT_ERROR;

	ret = probe(&opts, &track, &result);
	print_table(&result, opts.json && !strcmp(opts.json, "-") ? stderr :
								    stdout);
	if (write_json(&result) || write_csv(&result) || ret)
		return EXIT_ERROR;
	if (track.tally[PKT_STAMPED] != track.sent || track.send_errors ||
	    track_remainder(&track) || result.interrupted)
		return EXIT_NOT_ALL;
	return EXIT_ALL_STAMPED;
}
