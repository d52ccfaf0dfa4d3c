/* SPDX-License-Identifier: GPL-2.0 */
/* txts-ntp-load: thousands of NTP clients in interleaved mode. */
#ifndef TXTS_NTP_LOAD_H
#define TXTS_NTP_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../common/arguments.h"

#define NTP_PORT	123
#define FIRST_PORT	1024
#define FRAME_LEN	90	/* Ethernet 14, IPv4 20, UDP 8, NTP 48 */

/* packet.c */
struct route {
	unsigned char source_mac[6];
	unsigned char target_mac[6];
	uint32_t base;		/* address of client 0, host order */
	uint32_t target;	/* of the server, host order */
	unsigned int clients;
};

enum reply_kind {
	REPLY_FOREIGN,		/* no NTP message for one of our clients */
	REPLY_BASIC,
	REPLY_INTERLEAVED,
	REPLY_BOGUS,		/* its origin is nothing that was asked */
	REPLY_REFUSED,		/* stratum 0: a kiss-o'-death */
};

struct reply {
	enum reply_kind kind;
	uint32_t client;
	uint32_t sequence;
	uint64_t receive;	/* the server's receive timestamp */
};

void frame_init(unsigned char *frame, const struct route *route);
void frame_request(unsigned char *frame, const struct route *route,
		   uint32_t client, uint32_t sequence, uint64_t origin);
void frame_parse(const unsigned char *frame, size_t len,
		 const struct route *route, struct reply *reply);

/* spread.c */
#define SPREAD_BUCKETS	2304

struct spread {
	uint64_t bucket[SPREAD_BUCKETS];
	uint64_t count;
	long long max;
};

void spread_add(struct spread *spread, long long ns);
long long spread_share(const struct spread *spread, double share);

/* options.c */
#define MAX_STEPS	64
#define MAX_CLIENTS	60000U

struct step {
	unsigned int rate;	/* requests per second */
	long long length;	/* ns that count */
};

struct options {
	const char *ifname;
	const char *csv;
	const char *ready;	/* file to make when the sockets are open */
	struct route route;
	bool have_mac;
	bool from_stdin;
	bool even;
	unsigned int steps;
	struct step step[MAX_STEPS];
	unsigned int seed;
	long long length;
	long long settle;	/* ns of each step that do not count */
	long long drain;	/* ns to wait for answers after a step */
	long long tick;
	int fifo;
	int cpu;
};

int parse_options(int argc, char **argv, struct options *opts);
int parse_step(const char *text, const struct options *opts,
	       struct step *step);

/* wire.c */
struct wire {
	int tx;
	int rx;
	unsigned char *ring;
	unsigned int frames;
	unsigned int next;
};

#define BATCH		256U

typedef void (*wire_frame)(void *data, const unsigned char *frame, size_t len,
			   long long at);

int wire_open(struct wire *wire, struct options *opts);
unsigned int wire_send(struct wire *wire, unsigned char *frames,
		       unsigned int count);
unsigned int wire_drain(struct wire *wire, wire_frame found, void *data);
unsigned int wire_drops(struct wire *wire);

/* run.c */
struct result {
	struct step step;
	long long length;	/* as it was */
	unsigned int sent;
	unsigned int answered;	/* in time: before the client asked again */
	unsigned int basic;
	unsigned int interleaved;
	unsigned int late;	/* came after the client asked again */
	unsigned int bogus;
	unsigned int refused;
	unsigned int foreign;
	unsigned int duplicate;
	unsigned int send_errors;
	unsigned int ring_drops;
	long long behind;	/* worst delay of the schedule */
	struct spread spread;
};

struct load;

struct load *load_open(struct options *opts);
int load_step(struct load *load, const struct step *step,
	      struct result *result);
void load_close(struct load *load);

#endif /* TXTS_NTP_LOAD_H */
