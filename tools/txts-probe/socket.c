// SPDX-License-Identifier: GPL-2.0
/* The socket that asks for stamps, and the message it sends. */
#include <arpa/inet.h>
#include <errno.h>
#include <time.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/udp.h>
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
	struct so_timestamping config = {
		.flags = SOF_TIMESTAMPING_TX_HARDWARE |
			 SOF_TIMESTAMPING_RAW_HARDWARE |
			 SOF_TIMESTAMPING_OPT_ID |
			 SOF_TIMESTAMPING_OPT_TSONLY,
	};
	socklen_t len = sizeof(config.flags);

	if (opts->software)
		config.flags |= SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE;
	/* An older kernel takes the flags alone. */
	if (opts->phc >= 0) {
		config.flags |= SOF_TIMESTAMPING_BIND_PHC;
		config.bind_phc = opts->phc;
		len = sizeof(config);
	}
	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &config, len);
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

static int set_launch(int fd)
{
	struct sock_txtime txtime = { .clockid = CLOCK_TAI };

	return setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime));
}

static int set_segments(int fd)
{
	int size = sizeof(struct ptp_sync);

	return setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size));
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
	if (opts->segments > 1 && set_segments(fd)) {
		perror("txts-probe: UDP_SEGMENT");
		goto fail;
	}
	if (opts->launch && set_launch(fd)) {
		perror("txts-probe: SO_TXTIME");
		goto fail;
	}
	if (opts->priority &&
	    setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &opts->priority,
		       sizeof(opts->priority))) {
		perror("txts-probe: SO_PRIORITY");
		goto fail;
	}
	/* A clock of which device is only known once it is bound to one. */
	if (opts->phc >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, opts->ifname,
		       strlen(opts->ifname) + 1)) {
		perror("txts-probe: SO_BINDTODEVICE");
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

/* @bytes to @to, with its launch time if it has one. */
static int send_message(int fd, const void *bytes, size_t len, const void *to,
			socklen_t to_len, unsigned long long launch)
{
	union {
		char bytes[CMSG_SPACE(sizeof(launch))];
		struct cmsghdr align;
	} control = {};
	struct iovec iov = { .iov_base = (void *)bytes, .iov_len = len };
	struct msghdr msg = {
		.msg_name = (void *)to,
		.msg_namelen = to_len,
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	struct cmsghdr *cmsg;

	if (launch) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_TXTIME;
		cmsg->cmsg_len = CMSG_LEN(sizeof(launch));
		memcpy(CMSG_DATA(cmsg), &launch, sizeof(launch));
	}
	return sendmsg(fd, &msg, 0) < 0 ? -errno : 0;
}

int probe_send(int fd, const struct options *opts, int ifindex,
	       unsigned int seq, long long launch)
{
	struct {
		struct sync_frame frame;
		unsigned char more[(MAX_SEGMENTS - 1) *
				   sizeof(struct ptp_sync)];
	} message = {
		.frame.eth = {
			.ether_dhost = { 0x01, 0x1b, 0x19 },
			.ether_type = htons(PTP_ETHERTYPE),
		},
	};
	struct sync_frame *frame = &message.frame;
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(PTP_ETHERTYPE),
		.sll_ifindex = ifindex,
		.sll_halen = ETH_ALEN,
	};

	fill_sync(&frame->ptp, seq);
	if (opts->udp)
		return send_message(fd, &frame->ptp,
				    opts->segments * sizeof(frame->ptp),
				    &opts->to, sizeof(opts->to), launch);
	/* A locally administered source address: nobody learns from it. */
	frame->eth.ether_shost[0] = 0x02;
	memcpy(ll.sll_addr, frame->eth.ether_dhost, ETH_ALEN);
	return send_message(fd, frame, sizeof(*frame), &ll, sizeof(ll), launch);
}
