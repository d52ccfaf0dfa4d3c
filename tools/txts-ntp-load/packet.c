// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and replies as bytes. The timestamps of a request are not times
 * but name it: a reply repeats one of them as its origin, the transmit one in
 * basic mode and the receive one in interleaved mode (RFC 9769).
 */
#include <arpa/inet.h>
#include <string.h>

#include "load.h"

enum {
	AT_ETHERTYPE = 12,
	AT_IP = 14,
	AT_IP_LENGTH = AT_IP + 2,
	AT_IP_FRAGMENT = AT_IP + 6,
	AT_IP_TTL = AT_IP + 8,
	AT_IP_PROTOCOL = AT_IP + 9,
	AT_IP_CHECKSUM = AT_IP + 10,
	AT_IP_SOURCE = AT_IP + 12,
	AT_IP_TARGET = AT_IP + 16,
	AT_UDP = AT_IP + 20,
	AT_UDP_TARGET = AT_UDP + 2,
	AT_UDP_LENGTH = AT_UDP + 4,
	AT_NTP = AT_UDP + 8,
	AT_NTP_STRATUM = AT_NTP + 1,
	AT_NTP_POLL = AT_NTP + 2,
	AT_NTP_ORIGIN = AT_NTP + 24,
	AT_NTP_RECEIVE = AT_NTP + 32,
	AT_NTP_TRANSMIT = AT_NTP + 40,
};

#define NTP_LEN		48
#define UDP_LEN		(8 + NTP_LEN)
#define IP_LEN		(20 + UDP_LEN)
#define NTP_VERSION	4
#define MODE_CLIENT	3
#define MODE_SERVER	4

static void put16(unsigned char *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(unsigned char *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, sizeof(value));
}

static uint16_t get16(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return ntohs(value);
}

static uint32_t get32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return ntohl(value);
}

static uint16_t ip_checksum(const unsigned char *header)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 20; i += 2)
		sum += get16(header + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~((sum & 0xffff) + (sum >> 16));
}

/* No two of these 64-bit names are the same, and none of them is zero. */
static void put_name(unsigned char *at, uint32_t client, uint32_t sequence,
		     bool transmit)
{
	put32(at, client + 1);
	put32(at + 4, sequence << 1 | transmit);
}

/* Spread over the ports, lest all clients have the same. */
static uint16_t client_port(uint32_t client)
{
	return FIRST_PORT + client * 7919 % (65536 - FIRST_PORT);
}

void frame_init(unsigned char *frame, const struct route *route)
{
	memset(frame, 0, FRAME_LEN);
	memcpy(frame, route->target_mac, 6);
	memcpy(frame + 6, route->source_mac, 6);
	put16(frame + AT_ETHERTYPE, 0x0800);
	frame[AT_IP] = 0x45;
	put16(frame + AT_IP_LENGTH, IP_LEN);
	frame[AT_IP_TTL] = 64;
	frame[AT_IP_PROTOCOL] = 17;
	put32(frame + AT_IP_TARGET, route->target);
	put16(frame + AT_UDP_TARGET, NTP_PORT);
	put16(frame + AT_UDP_LENGTH, UDP_LEN);
	frame[AT_NTP] = NTP_VERSION << 3 | MODE_CLIENT;
	frame[AT_NTP_POLL] = 6;
}

/* The UDP checksum stays 0, which IPv4 allows: NICs check it, CPUs do not. */
void frame_request(unsigned char *frame, const struct route *route,
		   uint32_t client, uint32_t sequence, uint64_t origin)
{
	put32(frame + AT_IP_SOURCE, route->base + client);
	put16(frame + AT_IP_CHECKSUM, 0);
	put16(frame + AT_IP_CHECKSUM, ip_checksum(frame + AT_IP));
	put16(frame + AT_UDP, client_port(client));
	put32(frame + AT_NTP_ORIGIN, origin >> 32);
	put32(frame + AT_NTP_ORIGIN + 4, origin);
	put_name(frame + AT_NTP_RECEIVE, client, sequence, false);
	put_name(frame + AT_NTP_TRANSMIT, client, sequence, true);
}

static bool is_ours(const unsigned char *frame, size_t len,
		    const struct route *route, uint32_t *client)
{
	if (len < FRAME_LEN || get16(frame + AT_ETHERTYPE) != 0x0800 ||
	    frame[AT_IP] != 0x45 || frame[AT_IP_PROTOCOL] != 17 ||
	    get16(frame + AT_IP_FRAGMENT) & 0x3fff ||
	    get32(frame + AT_IP_SOURCE) != route->target ||
	    get16(frame + AT_UDP) != NTP_PORT ||
	    get16(frame + AT_UDP_LENGTH) < UDP_LEN ||
	    (frame[AT_NTP] & 7) != MODE_SERVER)
		return false;
	*client = get32(frame + AT_IP_TARGET) - route->base;
	return *client < route->clients &&
	       get16(frame + AT_UDP_TARGET) == client_port(*client);
}

void frame_parse(const unsigned char *frame, size_t len,
		 const struct route *route, struct reply *reply)
{
	uint32_t name;

	memset(reply, 0, sizeof(*reply));
	if (!is_ours(frame, len, route, &reply->client))
		return;
	reply->receive = (uint64_t)get32(frame + AT_NTP_RECEIVE) << 32 |
			 get32(frame + AT_NTP_RECEIVE + 4);
	name = get32(frame + AT_NTP_ORIGIN + 4);
	reply->sequence = name >> 1;
	if (get32(frame + AT_NTP_ORIGIN) != reply->client + 1)
		reply->kind = REPLY_BOGUS;
	else if (!frame[AT_NTP_STRATUM])
		reply->kind = REPLY_REFUSED;
	else if (name & 1)
		reply->kind = REPLY_BASIC;
	else
		reply->kind = REPLY_INTERLEAVED;
}
