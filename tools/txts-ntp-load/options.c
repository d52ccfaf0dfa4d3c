// SPDX-License-Identifier: GPL-2.0
/* Command line: everything is checked before anything is touched. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

static const char usage_text[] =
"Usage: txts-ntp-load -i INTERFACE -d ADDRESS -D MAC -r RATES [options]\n"
"Ask an NTP server as thousands of clients in interleaved mode, with their own\n"
"addresses and ports, and account for every answer.\n"
"\n"
"  -i, --interface IF    the port that the requests leave\n"
"  -d, --server ADDR     the server's IPv4 address\n"
"  -D, --server-mac MAC  its Ethernet address\n"
"  -r, --rates LIST      requests per second of each step, such as\n"
"                        1000,2000,4000; \"-\" reads steps from stdin, one\n"
"                        \"RATE [TIME]\" per line\n"
"  -l, --length TIME     how long a step counts (1s)\n"
"  -s, --settle TIME     how long before that it does not (200ms)\n"
"  -w, --drain TIME      how long after it answers may come (200ms)\n"
"  -n, --clients N       clients (2000); each asks in its turn\n"
"  -b, --base ADDR       IPv4 address of the first (10.64.0.1)\n"
"  -M, --mac MAC         their Ethernet address (02:00:00:00:64:01); it must\n"
"                        not be the port's, or the IP stack sees all answers\n"
"  -a, --arrival KIND    poisson: random gaps (default); even: equal ones\n"
"      --seed N          start of the random sequence (1)\n"
"  -t, --tick TIME       how often requests leave and answers are read (100us)\n"
"  -f, --fifo PRIO       run as SCHED_FIFO with this priority\n"
"  -c, --cpu N           run on this CPU only\n"
"  -o, --csv FILE        write the steps as CSV too\n"
"  -R, --ready FILE      make this file once requests could leave\n"
"  -h, --help            this text\n"
"TIME takes ns, us, ms or s. The server needs a route to the clients' addresses\n"
"and a static neighbour entry with their Ethernet address. Each step prints a\n"
"line of JSON. Lost are requests without answer before the client's next turn\n"
"or the end of the drain. What this program itself lost is send_errors and\n"
"ring_drops; behind_ns is how late its schedule was at worst.\n"
"Exit status: 0 all steps done, 1 error, 2 bad arguments.\n";

enum { OPT_SEED = 256 };

static const struct option long_options[] = {
	{ "interface",	required_argument, NULL, 'i' },
	{ "server",	required_argument, NULL, 'd' },
	{ "server-mac",	required_argument, NULL, 'D' },
	{ "rates",	required_argument, NULL, 'r' },
	{ "length",	required_argument, NULL, 'l' },
	{ "settle",	required_argument, NULL, 's' },
	{ "drain",	required_argument, NULL, 'w' },
	{ "clients",	required_argument, NULL, 'n' },
	{ "base",	required_argument, NULL, 'b' },
	{ "mac",	required_argument, NULL, 'M' },
	{ "arrival",	required_argument, NULL, 'a' },
	{ "seed",	required_argument, NULL, OPT_SEED },
	{ "tick",	required_argument, NULL, 't' },
	{ "fifo",	required_argument, NULL, 'f' },
	{ "cpu",	required_argument, NULL, 'c' },
	{ "csv",	required_argument, NULL, 'o' },
	{ "ready",	required_argument, NULL, 'R' },
	{ "help",	no_argument, NULL, 'h' },
	{ }
};

static int parse_address(const char *option, const char *value, uint32_t *out)
{
	struct in_addr addr;

	if (inet_pton(AF_INET, value, &addr) != 1)
		return bad_argument(option, value, "an IPv4 address");
	*out = ntohl(addr.s_addr);
	return 0;
}

static int parse_mac(const char *option, const char *value, unsigned char *out)
{
	unsigned int byte[6], i;
	int end = 0;

	if (sscanf(value, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1],
		   &byte[2], &byte[3], &byte[4], &byte[5], &end) != 6 ||
	    value[end] || byte[0] & 1)
		return bad_argument(option, value,
				    "an Ethernet address of one station");
	for (i = 0; i < 6; i++)
		out[i] = byte[i];
	return 0;
}

/* "RATE [TIME]", which may end with a newline. */
int parse_step(const char *text, const struct options *opts, struct step *step)
{
	char rate[32], length[32], rest;
	int count;

	count = sscanf(text, "%31s %31s %c", rate, length, &rest);
	if (count < 1 || count > 2)
		return bad_argument("--rates", text, "RATE [TIME]");
	step->length = opts->length;
	if (parse_number("--rates", rate, 1, 1000000, &step->rate))
		return -1;
	return count == 1 ? 0 : parse_time("--rates", length, NSEC_PER_MSEC,
					   &step->length);
}

static int parse_rates(char *list, struct options *opts)
{
	char *rate;

	opts->from_stdin = !strcmp(list, "-");
	if (opts->from_stdin)
		return 0;
	while ((rate = strsep(&list, ","))) {
		if (opts->steps == MAX_STEPS)
			return bad_argument("--rates", rate,
					    "one of 64 steps at most");
		if (parse_step(rate, opts, &opts->step[opts->steps++]))
			return -1;
	}
	return 0;
}

static int parse_arrival(const char *value, bool *even)
{
	*even = !strcmp(value, "even");
	if (*even || !strcmp(value, "poisson"))
		return 0;
	return bad_argument("--arrival", value, "poisson or even");
}

static int parse_option(int option, char *value, struct options *opts)
{
	unsigned int number;
	int ret;

	switch (option) {
	case 'i':
		opts->ifname = value;
		return 0;
	case 'd':
		return parse_address("--server", value, &opts->route.target);
	case 'D':
		opts->have_mac = true;
		return parse_mac("--server-mac", value, opts->route.target_mac);
	case 'l':
		return parse_time("--length", value, NSEC_PER_MSEC,
				  &opts->length);
	case 's':
		return parse_time("--settle", value, 0, &opts->settle);
	case 'w':
		return parse_time("--drain", value, 0, &opts->drain);
	case 'n':
		return parse_number("--clients", value, 1, MAX_CLIENTS,
				    &opts->route.clients);
	case 'b':
		return parse_address("--base", value, &opts->route.base);
	case 'M':
		return parse_mac("--mac", value, opts->route.source_mac);
	case 'a':
		return parse_arrival(value, &opts->even);
	case OPT_SEED:
		return parse_number("--seed", value, 0, 1000000, &opts->seed);
	case 't':
		return parse_time("--tick", value, NSEC_PER_USEC, &opts->tick);
	case 'f':
		ret = parse_number("--fifo", value, 1, 99, &number);
		opts->fifo = number;
		return ret;
	case 'c':
		ret = parse_number("--cpu", value, 0, CPU_SETSIZE - 1,
				   &number);
		opts->cpu = number;
		return ret;
	case 'o':
		opts->csv = value;
		return 0;
	case 'R':
		opts->ready = value;
		return 0;
	}
	return -1;
}

static int missing(const char *what)
{
	fprintf(stderr, "txts-ntp-load: which %s?\n", what);
	return -1;
}

static int check(struct options *opts)
{
	if (!opts->ifname)
		return missing("--interface");
	if (!if_nametoindex(opts->ifname)) {
		fprintf(stderr, "txts-ntp-load: no interface \"%s\"\n",
			opts->ifname);
		return -1;
	}
	if (!opts->route.target)
		return missing("--server");
	if (!opts->have_mac)
		return missing("--server-mac");
	if (!opts->steps && !opts->from_stdin)
		return missing("--rates");
	return 0;
}

/* 0, or -1 after a message; 1 if only help was wanted. */
int parse_options(int argc, char **argv, struct options *opts)
{
	char *rates = NULL;
	int option;

	*opts = (struct options) {
		.length = NSEC_PER_SEC,
		.settle = 200 * NSEC_PER_MSEC,
		.drain = 200 * NSEC_PER_MSEC,
		.tick = 100 * NSEC_PER_USEC,
		.seed = 1,
		.cpu = -1,
		.route = {
			.source_mac = { 2, 0, 0, 0, 0x64, 1 },
			.base = 10 << 24 | 64 << 16 | 1,
			.clients = 2000,
		},
	};
	while ((option = getopt_long(argc, argv, "i:d:D:r:l:s:w:n:b:M:a:t:f:c:o:R:h",
				     long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage_text, stdout);
			return 1;
		}
		/* Read last, when the length of a step is known. */
		if (option == 'r')
			rates = optarg;
		else if (parse_option(option, optarg, opts))
			return -1;
	}
	if (optind < argc) {
		fprintf(stderr, "txts-ntp-load: what is \"%s\"?\n",
			argv[optind]);
		return -1;
	}
	if (rates && parse_rates(rates, opts))
		return -1;
	return check(opts);
}
