// SPDX-License-Identifier: GPL-2.0
/* The socket that asks for stamps, and the message it sends. */
#include <arpa/inet.h>
#include <errno.h>
#include <time.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <net/ethernet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

#define PTP_ETHERTYPE	0x88f7
#define PTP_DOMAIN	127	/* not one that a real clock listens to */
#define PTP_EVENT_PORT	319

struct ptp_sync {
	unsigned char type;
	unsigned char version;
	unsigned char length[2];
	unsigned char domain;
	unsigned char reserved;
	unsigned char flags[2];
	unsigned char correction[8];
	unsigned char reserved2[4];
	unsigned char port_identity[10];
	unsigned char sequence[2];
	unsigned char control;
	unsigned char interval;
	unsigned char timestamp[10];
};

struct sync_frame {
	struct ether_header eth;
	struct ptp_sync ptp;
};

static void fill_sync(struct ptp_sync *ptp, unsigned int seq)
{
	memset(ptp, 0, sizeof(*ptp));
	ptp->version = 2;
	ptp->length[1] = sizeof(*ptp);
	ptp->domain = PTP_DOMAIN;
	ptp->flags[0] = 2;	/* two step */
	ptp->sequence[0] = seq >> 8;
	ptp->sequence[1] = seq;
	ptp->interval = 0x7f;
}

static int set_timestamping(int fd, const struct options *opts)
{
	int flags = SOF_TIMESTAMPING_TX_HARDWARE |
		    SOF_TIMESTAMPING_RAW_HARDWARE |
		    SOF_TIMESTAMPING_OPT_ID |
		    SOF_TIMESTAMPING_OPT_TSONLY;

	if (opts->software)
		flags |= SOF_TIMESTAMPING_TX_SOFTWARE |
			 SOF_TIMESTAMPING_SOFTWARE;
	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags,
			  sizeof(flags));
}

static int udp_setup(int fd, const struct options *opts, int ifindex)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	struct ip_mreqn mreq = { .imr_ifindex = ifindex };
	int one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, opts->ifname,
		       strlen(opts->ifname) + 1) ||
	    setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &mreq, sizeof(mreq)))
		return -1;
	if (opts->to.sin_port != htons(PTP_EVENT_PORT))
		return 0;
	/* PTP goes from 319 to 319; a running ptp4l has it bound too. */
	from.sin_port = htons(PTP_EVENT_PORT);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		return -1;
	return bind(fd, (struct sockaddr *)&from, sizeof(from));
}

int probe_socket(const struct options *opts, int ifindex)
{
	int fd;

	/* Neither receives: protocol 0, and nobody answers the UDP. */
	if (opts->udp)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
	else
		fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		perror("txts-probe: socket (are you root?)");
		return -1;
	}
	if (opts->udp && udp_setup(fd, opts, ifindex)) {
		perror("txts-probe: set up the UDP socket");
		goto fail;
	}
	if (set_timestamping(fd, opts)) {
		perror("txts-probe: SO_TIMESTAMPING");
		goto fail;
	}
	return fd;
fail:
	close(fd);
	return -1;
}

int probe_send(int fd, const struct options *opts, int ifindex,
	       unsigned int seq)
{
	struct sync_frame frame = {
		.eth = {
			.ether_dhost = { 0x01, 0x1b, 0x19 },
			.ether_type = htons(PTP_ETHERTYPE),
		},
	};
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(PTP_ETHERTYPE),
		.sll_ifindex = ifindex,
		.sll_halen = ETH_ALEN,
	};
	ssize_t ret;

	fill_sync(&frame.ptp, seq);
	/* A locally administered source address: nobody learns from it. */
	frame.eth.ether_shost[0] = 0x02;
	memcpy(ll.sll_addr, frame.eth.ether_dhost, ETH_ALEN);
	if (opts->udp)
		ret = sendto(fd, &frame.ptp, sizeof(frame.ptp), 0,
			     (const struct sockaddr *)&opts->to,
			     sizeof(opts->to));
	else
		ret = sendto(fd, &frame, sizeof(frame), 0,
			     (struct sockaddr *)&ll, sizeof(ll));
	return ret < 0 ? -errno : 0;
}
