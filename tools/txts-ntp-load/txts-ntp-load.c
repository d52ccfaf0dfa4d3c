// SPDX-License-Identifier: GPL-2.0
/*
 * txts-ntp-load: load an NTP server with thousands of clients that ask in
 * interleaved mode, where the server's hardware transmit timestamps matter.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load.h"

static void print_json(const struct result *result, FILE *out)
{
	const struct spread *spread = &result->spread;

	fprintf(out, "{\"rate\": %u, \"length_ns\": %lld, \"sent\": %u, \"answered\": %u, ",
		result->step.rate, result->length, result->sent,
		result->answered);
	fprintf(out, "\"lost\": %u, \"late\": %u, \"basic\": %u, \"interleaved\": %u, ",
		result->sent - result->answered, result->late, result->basic,
		result->interleaved);
	fprintf(out, "\"bogus\": %u, \"refused\": %u, \"foreign\": %u, \"duplicate\": %u, ",
		result->bogus, result->refused, result->foreign,
		result->duplicate);
	fprintf(out, "\"send_errors\": %u, \"ring_drops\": %u, \"behind_ns\": %lld, ",
		result->send_errors, result->ring_drops, result->behind);
	fprintf(out, "\"response_p50_ns\": %lld, \"response_p99_ns\": %lld, \"response_max_ns\": %lld}\n",
		spread_share(spread, .5), spread_share(spread, .99),
		spread->count ? spread->max : -1);
	fflush(out);
}

static void print_csv_header(FILE *out)
{
	fputs("rate,length_ns,sent,answered,lost,late,basic,interleaved,bogus,refused,foreign,duplicate,send_errors,ring_drops,behind_ns,response_p50_ns,response_p99_ns,response_max_ns\n",
	      out);
}

static void print_csv(const struct result *result, FILE *out)
{
	const struct spread *spread = &result->spread;

	fprintf(out, "%u,%lld,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%lld,%lld,%lld,%lld\n",
		result->step.rate, result->length, result->sent,
		result->answered, result->sent - result->answered,
		result->late, result->basic, result->interleaved,
		result->bogus, result->refused, result->foreign,
		result->duplicate, result->send_errors, result->ring_drops,
		result->behind, spread_share(spread, .5),
		spread_share(spread, .99), spread->count ? spread->max : -1);
	fflush(out);
}

static int step(struct load *load, const struct step *step, FILE *csv)
{
	static struct result result;

	if (load_step(load, step, &result)) {
		fprintf(stderr, "txts-ntp-load: sleep: %s\n", strerror(errno));
		return -1;
	}
	print_json(&result, stdout);
	if (csv)
		print_csv(&result, csv);
	return 0;
}

static int run(struct load *load, const struct options *opts, FILE *csv)
{
	struct step next;
	char line[128];
	unsigned int i;

	for (i = 0; i < opts->steps; i++)
		if (step(load, &opts->step[i], csv))
			return 1;
	while (opts->from_stdin && fgets(line, sizeof(line), stdin)) {
		if (parse_step(line, opts, &next))
			return 2;
		if (step(load, &next, csv))
			return 1;
	}
	return 0;
}

static int set_scheduling(const struct options *opts)
{
	struct sched_param param = { .sched_priority = opts->fifo };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (opts->cpu >= 0) {
		CPU_SET(opts->cpu, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus))
			goto fail;
	}
	if (!opts->fifo || !sched_setscheduler(0, SCHED_FIFO, &param))
		return 0;
fail:
	fprintf(stderr, "txts-ntp-load: scheduling: %s\n", strerror(errno));
	return -1;
}

static int tell_ready(const char *path)
{
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	if (fd < 0) {
		fprintf(stderr, "txts-ntp-load: make %s: %s\n", path,
			strerror(errno));
		return -1;
	}
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct load *load;
	FILE *csv = NULL;
	int ret;

	ret = parse_options(argc, argv, &opts);
	if (ret)
		return ret < 0 ? 2 : 0;
	if (set_scheduling(&opts))
		return 1;
	if (opts.csv) {
		csv = fopen(opts.csv, "w");
		if (!csv) {
			fprintf(stderr, "txts-ntp-load: write %s: %s\n",
				opts.csv, strerror(errno));
			return 1;
		}
		print_csv_header(csv);
	}
	/* A page fault in a step would be load of our own making. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	load = load_open(&opts);
	if (!load || tell_ready(opts.ready))
		return 1;
	ret = run(load, &opts, csv);
	load_close(load);
	if (csv && fclose(csv) && !ret)
		ret = 1;
	return ret;
}
