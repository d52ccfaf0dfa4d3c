// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of packet.c and spread.c; the server is played by hand, from the
 * layouts of RFC 791, 768, 5905 and 9769.
 */
#include <string.h>

#include "load.h"

static unsigned int passed, failed;

static void check(bool good, const char *what)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("failed: %s\n", what);
}

static const struct route route = {
	.source_mac = { 2, 0, 0, 0, 0x64, 1 },
	.target_mac = { 0x52, 0x54, 0, 0, 0, 1 },
	.base = 10 << 24 | 64 << 16 | 1,
	.target = 10 << 24 | 9 << 16 | 1,
	.clients = 2000,
};

static unsigned int word(const unsigned char *at)
{
	return at[0] << 8 | at[1];
}

static unsigned int sum16(const unsigned char *at, int len)
{
	unsigned int sum = 0;
	int i;

	for (i = 0; i < len; i += 2)
		sum += word(at + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void request(unsigned char *frame, uint32_t client, uint32_t sequence,
		    uint64_t origin)
{
	frame_init(frame, &route);
	frame_request(frame, &route, client, sequence, origin);
}

/* What a server makes of it; its origin is what stands at @from. */
static void answer(unsigned char *frame, int from)
{
	unsigned char asked[FRAME_LEN];
	static const unsigned char receive[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	memcpy(asked, frame, FRAME_LEN);
	memcpy(frame, asked + 6, 6);
	memcpy(frame + 6, asked, 6);
	memcpy(frame + 26, asked + 30, 4);
	memcpy(frame + 30, asked + 26, 4);
	memcpy(frame + 34, asked + 36, 2);
	memcpy(frame + 36, asked + 34, 2);
	frame[42] = 4 << 3 | 4;
	frame[43] = 1;
	memcpy(frame + 66, asked + from, 8);
	memcpy(frame + 74, receive, 8);
}

static struct reply parse(const unsigned char *frame, size_t len)
{
	struct reply reply;

	frame_parse(frame, len, &route, &reply);
	return reply;
}

static void test_request(void)
{
	static const unsigned char origin[8] = {
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88
	};
	unsigned char frame[FRAME_LEN], other[FRAME_LEN];

	request(frame, 3, 7, 0x1122334455667788);
	check(!memcmp(frame, route.target_mac, 6), "target MAC");
	check(!memcmp(frame + 6, route.source_mac, 6), "source MAC");
	check(word(frame + 12) == 0x800, "type IPv4");
	check(frame[14] == 0x45 && frame[23] == 17, "IPv4 header, UDP");
	check(word(frame + 16) == 76, "IPv4 length");
	check(sum16(frame + 14, 20) == 0xffff, "IPv4 checksum");
	check(frame[26] == 10 && frame[27] == 64 && frame[29] == 4,
	      "source address");
	check(word(frame + 36) == 123 && word(frame + 38) == 56,
	      "UDP port and length");
	check(word(frame + 40) == 0, "no UDP checksum");
	check(frame[42] == (4 << 3 | 3), "version 4, client");
	check(!memcmp(frame + 66, origin, 8), "origin");
	check(memcmp(frame + 74, frame + 82, 8),
	      "receive and transmit differ, which asks for interleaved");
	request(other, 3, 8, 0);
	check(memcmp(frame + 74, other + 74, 8) &&
	      memcmp(frame + 82, other + 82, 8), "names differ by sequence");
	request(other, 4, 7, 0);
	check(memcmp(frame + 74, other + 74, 8) &&
	      memcmp(frame + 34, other + 34, 2),
	      "names and ports differ by client");
	request(other, 1999, 1, 0);
	check(sum16(other + 14, 20) == 0xffff, "IPv4 checksum, last client");
}

static void test_reply(void)
{
	unsigned char frame[FRAME_LEN];
	struct reply reply;

	request(frame, 3, 7, 1);
	answer(frame, 82);
	reply = parse(frame, FRAME_LEN);
	check(reply.kind == REPLY_BASIC, "transmit as origin: basic");
	check(reply.client == 3 && reply.sequence == 7, "whose it is");
	check(reply.receive == 0x0102030405060708, "receive timestamp");
	request(frame, 1999, 0x7fffffff, 1);
	answer(frame, 74);
	reply = parse(frame, FRAME_LEN);
	check(reply.kind == REPLY_INTERLEAVED, "receive as origin: interleaved");
	check(reply.client == 1999 && reply.sequence == 0x7fffffff,
	      "the last client");
	check(parse(frame, FRAME_LEN + 20).kind == REPLY_INTERLEAVED,
	      "extensions are allowed");
	frame[43] = 0;
	check(parse(frame, FRAME_LEN).kind == REPLY_REFUSED, "stratum 0");
	request(frame, 3, 7, 1);
	answer(frame, 66);
	check(parse(frame, FRAME_LEN).kind == REPLY_BOGUS, "another origin");
}

/* One byte made wrong in a good reply. */
static void test_foreign(void)
{
	static const struct {
		int at;
		unsigned char value;
		const char *what;
	} wrong[] = {
		{ 12, 0x86, "not IPv4" },
		{ 14, 0x46, "options in the IPv4 header" },
		{ 20, 0x20, "a fragment" },
		{ 23, 6, "not UDP" },
		{ 29, 99, "another server" },
		{ 32, 99, "an address of none of the clients" },
		{ 35, 124, "not from port 123" },
		{ 37, 0xff, "a port that is not the client's" },
		{ 39, 40, "too short for NTP" },
		{ 42, 4 << 3 | 3, "a request" },
		{ }
	};
	unsigned char frame[FRAME_LEN];
	unsigned int i;

	for (i = 0; wrong[i].what; i++) {
		request(frame, 3, 7, 1);
		answer(frame, 82);
		check(frame[wrong[i].at] != wrong[i].value, wrong[i].what);
		frame[wrong[i].at] = wrong[i].value;
		check(parse(frame, FRAME_LEN).kind == REPLY_FOREIGN,
		      wrong[i].what);
	}
	request(frame, 3, 7, 1);
	answer(frame, 82);
	check(parse(frame, FRAME_LEN - 1).kind == REPLY_FOREIGN, "cut off");
	check(parse(frame, 0).kind == REPLY_FOREIGN, "empty");
}

static void test_spread(void)
{
	static struct spread spread;
	long long ns, share;
	int i;

	check(spread_share(&spread, .5) == -1, "nothing has no median");
	for (i = 1; i <= 100; i++)
		spread_add(&spread, i);
	check(spread_share(&spread, .5) == 50, "median of 1 to 100");
	check(spread_share(&spread, .99) == 99, "p99 of 1 to 100");
	check(spread_share(&spread, 1) == 100 && spread.max == 100, "max");
	check(spread_share(&spread, 0) == 1, "min");
	for (ns = 1; ns < 600 * NSEC_PER_SEC; ns = ns * 3 + 1) {
		memset(&spread, 0, sizeof(spread));
		spread_add(&spread, ns);
		spread_add(&spread, 700 * NSEC_PER_SEC);
		share = spread_share(&spread, .5);
		check(share >= ns && share <= ns + ns / 64,
		      "within 1/64 at any magnitude");
	}
	spread_add(&spread, -5);
	check(spread_share(&spread, 0) == 0, "no time is negative");
}

int main(void)
{
	test_request();
	test_reply();
	test_foreign();
	test_spread();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
