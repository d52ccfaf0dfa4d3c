/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TXTS_PROBE_H
#define TXTS_PROBE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>

#include "../common/arguments.h"

#define MAX_SEGMENTS	16U

enum exit_code {
	EXIT_ALL_STAMPED = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_ALL = 3,
};

enum probe_mode {
	MODE_WAIT,		/* one packet, wait for its stamp, gap */
	MODE_BURST,		/* a burst, wait for all its stamps, gap */
	MODE_STREAM,		/* one packet per gap, never wait */
};

struct options {
	const char *ifname;
	enum probe_mode mode;
	unsigned int count;
	unsigned int burst;
	long long gap;
	long long jitter;
	long long timeout;
	unsigned int seed;
	unsigned int reconfigure;	/* calls per second, 0: off */
	bool udp;
	struct sockaddr_in to;
	unsigned int segments;		/* of each packet, 1: it is one */
	long long launch;		/* ahead of it, 0: no launch time */
	unsigned int priority;		/* of the socket */
	int phc;			/* it is bound to, -1: none */
	bool software;
	bool stats;
	bool keep;
	bool verbose;
	int prio;			/* 0: leave the scheduler alone */
	int cpu;			/* -1: not pinned */
	const char *json;
	const char *csv;
};

/* Each packet ends in exactly one of these. */
enum packet_state {
	PKT_PENDING,		/* becomes PKT_MISSING at the end */
	PKT_STAMPED,
	PKT_LATE,		/* its stamp came after the timeout */
	PKT_SOFTWARE,		/* only a software stamp came */
	PKT_ZERO,		/* a report came that carries no time */
	PKT_DROPPED,		/* the queueing discipline dropped it */
	PKT_MISSING,
	PKT_NR_STATES,
};

struct packet {
	long long sent;		/* CLOCK_MONOTONIC */
	long long latency;	/* send to stamp, valid unless it is missing */
	long long stamp;	/* PHC time, 0 if there is none */
	long long launch;	/* CLOCK_TAI, 0 if there is none */
	enum packet_state state;
};

struct track {
	struct packet *packets;
	unsigned int capacity;
	unsigned int sent;
	unsigned int send_errors;
	unsigned int waiting;		/* packets without any answer */
	unsigned int group;		/* first packet of the current group */
	unsigned int group_waiting;
	unsigned int tally[PKT_NR_STATES];
	unsigned int duplicates;
	unsigned int unknown;		/* reports with an id never sent */
	unsigned int backwards;		/* not later than the one before */
	unsigned int unreleased;	/* bytes still held at the end */
	unsigned int early;		/* stamps that came before the launch */
	long long off_min, off_max;	/* from launch to stamp */
	long long timeout;
};

/* Of the hardware stamps, late ones included. */
struct latency {
	unsigned int count;
	long long min, p50, p99, p9999, max;
};

struct nic_stats {
	bool has_timeouts, has_skipped, has_ts_stats;
	long long timeouts, skipped;
	long long ts_pkts, ts_lost, ts_err;
};

struct result {
	const struct options *opts;
	const struct track *track;
	struct latency latency;
	struct nic_stats before, after;
	unsigned int reconfigured;
	unsigned int reconfigure_errors;
	bool tx_off;			/* the NIC's tx_type is "off" */
	bool interrupted;
	long long duration;
	char driver[32];
	char bus[32];
};

/* options.c */
int parse_options(int argc, char **argv, struct options *opts);

/* socket.c */
int probe_socket(const struct options *opts, int ifindex);
int probe_send(int fd, const struct options *opts, int ifindex,
	       unsigned int seq, long long launch);

/* errqueue.c: 1 for a report, 0 when the queue is empty, < 0 for an error */
struct report {
	unsigned int id;
	bool software;
	long long stamp;
};

int read_report(int fd, struct report *report);

/* track.c */
int track_init(struct track *track, unsigned int capacity, long long timeout);
struct packet *track_sent(struct track *track, long long now);
void track_unsent(struct track *track);
void track_forget(struct track *track);
void track_group(struct track *track);
void track_dropped(struct track *track, struct packet *packet);
void track_report(struct track *track, const struct report *report,
		  unsigned int index, long long now);
void track_finish(struct track *track, struct latency *latency);
long long track_remainder(const struct track *track);

/* run.c */
void interrupt_probe(void);
bool is_interrupted(void);
long long now_ns(void);
long long tai_ns(void);
int run_probe(const struct options *opts, int ifindex, struct track *track);

/* hwtstamp.c */
int hwtstamp_enable(const struct options *opts, bool *tx_off);
void hwtstamp_restore(void);
int reconfigure_start(const struct options *opts);
void reconfigure_stop(struct result *result);

/* nic.c */
void read_nic_stats(const char *ifname, struct nic_stats *stats);
void read_nic_driver(const char *ifname, struct result *result);

/* tsinfo.c */
void read_ts_stats(const char *ifname, struct nic_stats *stats);

/* report.c, json.c */
long long explained_by_nic(const struct result *result, bool *known);
long long recommended_timeout(const struct result *result);
void print_table(const struct result *result, FILE *out);
int write_json(const struct result *result);
int write_csv(const struct result *result);
const char *mode_name(enum probe_mode mode);

#endif
