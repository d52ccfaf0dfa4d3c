// SPDX-License-Identifier: GPL-2.0
/*
 * The way to the wire and back, with as few instructions as a CPU that is
 * shared with the server asks for: frames go out by sendmmsg() past the queue
 * discipline, and come in through a ring, without a wakeup per frame. The
 * clients' MAC address is not the port's: the IP stack drops their replies at
 * once.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/if_packet.h>

#include "load.h"

#define RING_FRAME	256
#define RING_BLOCK	65536
#define RING_BLOCKS	64
#define UDP_SOURCE_AT	34	/* after Ethernet and IPv4 without options */

static int complain(const char *what)
{
	fprintf(stderr, "txts-ntp-load: %s: %s\n", what, strerror(errno));
	return -1;
}

static int packet_socket(unsigned int ifindex, int protocol)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = ifindex,
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0)
		return complain("packet socket");
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at))) {
		close(fd);
		return complain("bind");
	}
	return fd;
}

/* What else is on the wire, a flood for instance, is to cost little here. */
static int only_from_ntp(int fd)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, UDP_SOURCE_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NTP_PORT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {
		.len = 4,
		.filter = code,
	};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			  sizeof(program));
}

static int open_ring(struct wire *wire, unsigned int ifindex)
{
	struct tpacket_req req = {
		.tp_block_size = RING_BLOCK,
		.tp_block_nr = RING_BLOCKS,
		.tp_frame_size = RING_FRAME,
		.tp_frame_nr = RING_BLOCK / RING_FRAME * RING_BLOCKS,
	};
	struct packet_mreq promisc = {
		.mr_ifindex = ifindex,
		.mr_type = PACKET_MR_PROMISC,
	};
	int version = TPACKET_V2, one = 1;

	/* Outgoing frames would be shown to the ring as well. */
	if (only_from_ntp(wire->rx) ||
	    setsockopt(wire->rx, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
		       sizeof(one)) ||
	    setsockopt(wire->rx, SOL_PACKET, PACKET_VERSION, &version,
		       sizeof(version)) ||
	    setsockopt(wire->rx, SOL_PACKET, PACKET_RX_RING, &req,
		       sizeof(req)) ||
	    setsockopt(wire->rx, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc,
		       sizeof(promisc)))
		return complain("receive ring");
	wire->frames = req.tp_frame_nr;
	wire->ring = mmap(NULL, RING_BLOCK * RING_BLOCKS,
			  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			  wire->rx, 0);
	return wire->ring == MAP_FAILED ? complain("map the ring") : 0;
}

int wire_open(struct wire *wire, struct options *opts)
{
	unsigned int ifindex = if_nametoindex(opts->ifname);
	int one = 1, size = 4 << 20;

	wire->tx = packet_socket(ifindex, 0);
	if (wire->tx < 0)
		return -1;
	if (setsockopt(wire->tx, SOL_PACKET, PACKET_QDISC_BYPASS, &one,
		       sizeof(one)) ||
	    setsockopt(wire->tx, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		return complain("send socket");
	wire->rx = packet_socket(ifindex, ETH_P_IP);
	if (wire->rx < 0)
		return -1;
	return open_ring(wire, ifindex);
}

/* The number of frames that went out. */
unsigned int wire_send(struct wire *wire, unsigned char *frames,
		       unsigned int count)
{
	static struct mmsghdr messages[BATCH];
	static struct iovec iov[BATCH];
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		iov[i].iov_base = frames + i * FRAME_LEN;
		iov[i].iov_len = FRAME_LEN;
		messages[i].msg_hdr.msg_iov = &iov[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	ret = sendmmsg(wire->tx, messages, count, MSG_DONTWAIT);
	return ret < 0 ? 0 : ret;
}

/* Shows each frame that is there, with the time the kernel saw it. */
unsigned int wire_drain(struct wire *wire, wire_frame found, void *data)
{
	unsigned int count = 0;

	for (;;) {
		unsigned char *at = wire->ring +
				    (size_t)wire->next * RING_FRAME;
		struct tpacket2_hdr *hdr = (struct tpacket2_hdr *)at;

		if (!(__atomic_load_n(&hdr->tp_status, __ATOMIC_ACQUIRE) &
		      TP_STATUS_USER))
			return count;
		found(data, at + hdr->tp_mac, hdr->tp_snaplen,
		      hdr->tp_sec * NSEC_PER_SEC + hdr->tp_nsec);
		__atomic_store_n(&hdr->tp_status, TP_STATUS_KERNEL,
				 __ATOMIC_RELEASE);
		wire->next = (wire->next + 1) % wire->frames;
		count++;
	}
}

/* Frames that found the ring full, since the last call. */
unsigned int wire_drops(struct wire *wire)
{
	struct tpacket_stats stats = { };
	socklen_t len = sizeof(stats);

	if (getsockopt(wire->rx, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		return 0;
	return stats.tp_drops;
}
