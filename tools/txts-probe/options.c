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
#include <unistd.h>

#include "probe.h"

#define MAX_COUNT	10000000U
#define MAX_BURST	4096U

static const char usage_text[] =
"Usage: txts-probe -i INTERFACE [options]\n"
"Send packets that ask for a hardware Tx timestamp, measure how long each\n"
"stamp takes to come back, and account for every one of them.\n"
"\n"
"  -i, --interface IF    network interface with a PTP hardware clock\n"
"  -n, --count N         packets to send (1000)\n"
"  -m, --mode MODE       wait: one at a time (default); burst: --burst at\n"
"                        once, then wait for all; stream: never wait\n"
"  -b, --burst N         packets per burst (16)\n"
"  -g, --gap TIME        from one send (or burst) to the next (1ms)\n"
"  -J, --jitter TIME     lengthen each gap by a repeatable random time\n"
"                        below this, to visit all timer phases (0)\n"
"      --seed N          start of that random sequence (1)\n"
"  -t, --timeout TIME    a stamp that takes longer is late (1s)\n"
"  -u, --udp [ADDR:]PORT send UDP/IPv4; without ADDR to 224.0.1.129. The\n"
"                        default is a PTP Sync in Ethernet (0x88f7). The\n"
"                        messages are of PTP domain 127.\n"
"  -S, --segments N      each packet is UDP that the kernel or the NIC cuts\n"
"                        into N frames (UDP_SEGMENT); needs --udp\n"
"  -L, --launch TIME     ask that each packet leaves (SO_TXTIME, for the ETF\n"
"                        qdisc) at a CLOCK_TAI time that is a multiple of the\n"
"                        gap, TIME ahead or more; those of a burst follow\n"
"                        1ms after each other\n"
"  -P, --priority N      SO_PRIORITY of the socket, 0 to 6 (0)\n"
"  -B, --bind-phc N      stamps of the virtual clock /dev/ptpN, which the NIC\n"
"                        may take from another timer\n"
"  -w, --software        ask for software stamps too: a packet for which\n"
"                        the driver refuses a hardware stamp then shows\n"
"  -s, --stats           compare the NIC's counters before and after\n"
"  -r, --reconfigure HZ  set the same hwtstamp configuration again HZ\n"
"                        times per second meanwhile\n"
"  -k, --keep            do not touch the hwtstamp configuration\n"
"  -f, --fifo PRIO       run as SCHED_FIFO with this priority\n"
"  -c, --cpu N           run on this CPU only\n"
"  -j, --json FILE       write the result as JSON (- for stdout)\n"
"  -o, --csv FILE        write one line per packet\n"
"  -v, --verbose         progress on stderr\n"
"  -h, --help            this text\n"
"TIME takes ns, us, ms or s, for instance 250us. The hwtstamp configuration\n"
"found at the start is restored at the end.\n"
"Exit status: 0 all stamped in time, 1 error, 2 bad arguments, 3 some not.\n";

enum { OPT_SEED = 256 };

static const struct option long_options[] = {
	{ "interface",	required_argument, NULL, 'i' },
	{ "count",	required_argument, NULL, 'n' },
	{ "mode",	required_argument, NULL, 'm' },
	{ "burst",	required_argument, NULL, 'b' },
	{ "gap",	required_argument, NULL, 'g' },
	{ "jitter",	required_argument, NULL, 'J' },
	{ "seed",	required_argument, NULL, OPT_SEED },
	{ "timeout",	required_argument, NULL, 't' },
	{ "udp",	required_argument, NULL, 'u' },
	{ "segments",	required_argument, NULL, 'S' },
	{ "launch",	required_argument, NULL, 'L' },
	{ "priority",	required_argument, NULL, 'P' },
	{ "bind-phc",	required_argument, NULL, 'B' },
	{ "software",	no_argument, NULL, 'w' },
	{ "stats",	no_argument, NULL, 's' },
	{ "reconfigure", required_argument, NULL, 'r' },
	{ "keep",	no_argument, NULL, 'k' },
	{ "fifo",	required_argument, NULL, 'f' },
	{ "cpu",	required_argument, NULL, 'c' },
	{ "json",	required_argument, NULL, 'j' },
	{ "csv",	required_argument, NULL, 'o' },
	{ "verbose",	no_argument, NULL, 'v' },
	{ "help",	no_argument, NULL, 'h' },
	{ }
};

static int parse_mode(const char *value, enum probe_mode *mode)
{
	enum probe_mode m;

	for (m = MODE_WAIT; m <= MODE_STREAM; m++) {
		if (!strcmp(value, mode_name(m))) {
			*mode = m;
			return 0;
		}
	}
	return bad_argument("--mode", value, "wait, burst or stream");
}

static int parse_udp(const char *value, struct options *opts)
{
	const char *colon = strrchr(value, ':');
	char addr[INET_ADDRSTRLEN] = "224.0.1.129";
	unsigned int port;

	if (colon) {
		size_t len = colon - value;

		if (len >= sizeof(addr))
			return bad_argument("--udp", value, "ADDR:PORT");
		memcpy(addr, value, len);
		addr[len] = '\0';
	}
	if (inet_pton(AF_INET, addr, &opts->to.sin_addr) != 1)
		return bad_argument("--udp", value,
				    "an IPv4 address and a port");
	if (parse_number("--udp (port)", colon ? colon + 1 : value, 1, 65535,
			 &port))
		return -1;
	opts->udp = true;
	opts->to.sin_family = AF_INET;
	opts->to.sin_port = htons(port);
	return 0;
}

static int parse_one(int option, const char *arg, struct options *opts)
{
	unsigned int number;

	switch (option) {
	case 'i':
		opts->ifname = arg;
		if (!*arg || strlen(arg) >= IFNAMSIZ)
			return bad_argument("--interface", arg,
					    "an interface name");
		return 0;
	case 'n':
		return parse_number("--count", arg, 1, MAX_COUNT,
				    &opts->count);
	case 'm':
		return parse_mode(arg, &opts->mode);
	case 'b':
		return parse_number("--burst", arg, 1, MAX_BURST,
				    &opts->burst);
	case 'g':
		return parse_time("--gap", arg, 0, &opts->gap);
	case 'J':
		return parse_time("--jitter", arg, 0, &opts->jitter);
	case OPT_SEED:
		return parse_number("--seed", arg, 0, 0x7fffffff,
				    &opts->seed);
	case 't':
		return parse_time("--timeout", arg, 1, &opts->timeout);
	case 'u':
		return parse_udp(arg, opts);
	case 'S':
		return parse_number("--segments", arg, 2, MAX_SEGMENTS,
				    &opts->segments);
	case 'L':
		return parse_time("--launch", arg, 1, &opts->launch);
	case 'P':
		return parse_number("--priority", arg, 0, 6, &opts->priority);
	case 'B':
		if (parse_number("--bind-phc", arg, 0, 255, &number))
			return -1;
		opts->phc = number;
		return 0;
	case 'w':
		opts->software = true;
		return 0;
	case 's':
		opts->stats = true;
		return 0;
	case 'r':
		return parse_number("--reconfigure", arg, 1, 10000,
				    &opts->reconfigure);
	case 'k':
		opts->keep = true;
		return 0;
	case 'f':
		if (parse_number("--fifo", arg, 1, 99, &number))
			return -1;
		opts->prio = number;
		return 0;
	case 'c':
		if (parse_number("--cpu", arg, 0, CPU_SETSIZE - 1, &number))
			return -1;
		opts->cpu = number;
		return 0;
	case 'j':
		opts->json = arg;
		return 0;
	case 'o':
		opts->csv = arg;
		return 0;
	case 'v':
		opts->verbose = true;
		return 0;
	}
	return -1;
}

static int check_together(const struct options *opts)
{
	if (!opts->ifname) {
		fputs("txts-probe: which --interface?\n", stderr);
		return -1;
	}
	if (!if_nametoindex(opts->ifname)) {
		fprintf(stderr, "txts-probe: no interface \"%s\" (see ip link)\n",
			opts->ifname);
		return -1;
	}
	if (opts->keep && opts->reconfigure) {
		fputs("txts-probe: --keep and --reconfigure exclude each other\n",
		      stderr);
		return -1;
	}
	if (opts->segments > 1 && !opts->udp) {
		fputs("txts-probe: --segments needs --udp\n", stderr);
		return -1;
	}
	if (opts->launch >= opts->timeout) {
		fputs("txts-probe: --timeout must be longer than --launch\n",
		      stderr);
		return -1;
	}
	if (opts->cpu >= 0 && opts->cpu >= sysconf(_SC_NPROCESSORS_CONF)) {
		fprintf(stderr, "txts-probe: --cpu: there is no CPU %d here\n",
			opts->cpu);
		return -1;
	}
	return 0;
}

/* 0: go on, 1: help was printed, -1: an error was printed */
int parse_options(int argc, char **argv, struct options *opts)
{
	int option;

	*opts = (struct options){
		.count = 1000,
		.burst = 16,
		.segments = 1,
		.phc = -1,
		.gap = NSEC_PER_MSEC,
		.timeout = NSEC_PER_SEC,
		.seed = 1,
		.cpu = -1,
	};

	while ((option = getopt_long(argc, argv,
				     "i:n:m:b:g:J:t:u:S:L:P:B:wsr:kf:c:j:o:vh",
				     long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage_text, stdout);
			return 1;
		}
		if (parse_one(option, optarg, opts))
			goto fail;
	}
	if (optind < argc) {
		fprintf(stderr, "txts-probe: what is \"%s\"?\n", argv[optind]);
		goto fail;
	}
	if (!check_together(opts))
		return 0;
fail:
	fputs("Try txts-probe --help.\n", stderr);
	return -1;
}
