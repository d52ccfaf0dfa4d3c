// SPDX-License-Identifier: GPL-2.0
/*
 * An AF_XDP socket, zero copy, whose frames ask for Tx stamps by metadata:
 *
 *   txts-xsk run INTERFACE QUEUE FRAMES
 *	one frame at a time, each is to complete with a stamp
 *   txts-xsk launch INTERFACE QUEUE FRAMES
 *	the same, each with a launch time 50 ms ahead
 *   txts-xsk pull INTERFACE QUEUE ROUNDS
 *	opens a socket, sends frames and closes it while they are on their way,
 *	so that the driver has to take the pool down; ROUNDS times
 *   txts-xsk flood INTERFACE QUEUE ROUNDS
 *	the same with 5 ms between the rounds, every other of which waits until
 *	its frames are done; prints "sent N completed N stamped N"
 *
 * "run" fails if a frame does not complete within 100 ms, or if one has no
 * stamp or one that is not later than the one before; "launch" also if it was
 * done before its launch; "pull" and "flood" fail if a socket cannot be opened,
 * "pull" also if no frame of all rounds was on its way at the end of its round.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>

#define CHUNK		2048
#define CHUNKS		64	/* to send, as many to receive; of each ring */
#define UMEM_LEN	(2 * CHUNKS * CHUNK)
#define META_LEN	24
#define FRAME_LEN	64
#define BURST		8	/* more than the device has slots */
#define PATIENCE_US	100000
#define AHEAD_NS	50000000ULL
#define NSEC_PER_SEC	1000000000ULL

/* What the headers of Debian 12 do not have yet. */
#define UMEM_TX_METADATA_LEN	0x4
#define DESC_TX_METADATA	0x2
#define TXMD_TIMESTAMP		0x1
#define TXMD_LAUNCH_TIME	0x4

struct umem_reg {
	uint64_t addr;
	uint64_t len;
	uint32_t chunk_size;
	uint32_t headroom;
	uint32_t flags;
	uint32_t tx_metadata_len;
};

struct tx_metadata {
	uint64_t flags;
	uint64_t tx_timestamp;
	uint64_t launch_time;
};

struct ring {
	uint32_t *producer;
	uint32_t *consumer;
	void *desc;
	void *map;
	size_t len;
};

struct xsk {
	int fd;
	char *area;
	struct ring tx;
	struct ring done;
	struct ring fill;
	uint32_t sent;
	uint64_t launch;	/* of the frame that is sent next, or 0 */
};

static void fail(const char *what)
{
	fprintf(stderr, "txts-xsk: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

/* Drivers look at zero copy sockets only if a program is attached. */
static int attach_pass(unsigned int ifindex)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insn_cnt = 2,
		.insns = (uintptr_t)insns,
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr link = {
		.link_create.target_ifindex = ifindex,
		.link_create.attach_type = BPF_XDP,
	};
	int prog, fd;

	prog = bpf(BPF_PROG_LOAD, &load);
	if (prog < 0)
		fail("load a program");
	link.link_create.prog_fd = prog;
	fd = bpf(BPF_LINK_CREATE, &link);
	if (fd < 0)
		fail("attach the program");
	close(prog);
	return fd;
}

static void map_ring(int fd, struct ring *ring,
		     const struct xdp_ring_offset *off, size_t size,
		     uint64_t page_offset)
{
	ring->len = off->desc + CHUNKS * size;
	ring->map = mmap(NULL, ring->len, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, fd, page_offset);
	if (ring->map == MAP_FAILED)
		fail("map a ring");
	ring->producer = (uint32_t *)((char *)ring->map + off->producer);
	ring->consumer = (uint32_t *)((char *)ring->map + off->consumer);
	ring->desc = (char *)ring->map + off->desc;
}

static void set_option(int fd, int option, const void *value, socklen_t len)
{
	if (setsockopt(fd, SOL_XDP, option, value, len))
		fail("set up a socket");
}

static void bind_socket(int fd, unsigned int ifindex, unsigned int queue)
{
	const struct sockaddr_xdp addr = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP,
		.sxdp_ifindex = ifindex,
		.sxdp_queue_id = queue,
	};
	unsigned int i;

	/* The pool of the socket before may still be going away. */
	for (i = 0; i < 1000; i++) {
		if (!bind(fd, (const struct sockaddr *)&addr, sizeof(addr)))
			return;
		if (errno != EBUSY)
			break;
		usleep(1000);
	}
	fail("bind");
}

/* Frames that come in have where to go. */
static void fill_ring(const struct ring *fill)
{
	unsigned int i;

	for (i = 0; i < CHUNKS; i++)
		((uint64_t *)fill->desc)[i] = (uint64_t)(CHUNKS + i) * CHUNK;
	__atomic_store_n(fill->producer, CHUNKS, __ATOMIC_RELEASE);
}

static void open_xsk(struct xsk *xsk, unsigned int ifindex, unsigned int queue)
{
	struct umem_reg reg = {
		.len = UMEM_LEN,
		.chunk_size = CHUNK,
		.flags = UMEM_TX_METADATA_LEN,
		.tx_metadata_len = META_LEN,
	};
	struct xdp_mmap_offsets off;
	socklen_t len = sizeof(off);
	const int size = CHUNKS;

	xsk->sent = 0;
	xsk->launch = 0;
	xsk->fd = socket(AF_XDP, SOCK_RAW, 0);
	if (xsk->fd < 0)
		fail("AF_XDP");
	xsk->area = mmap(NULL, reg.len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (xsk->area == MAP_FAILED)
		fail("allocate frames");
	reg.addr = (uintptr_t)xsk->area;
	set_option(xsk->fd, XDP_UMEM_REG, &reg, sizeof(reg));
	set_option(xsk->fd, XDP_UMEM_FILL_RING, &size, sizeof(size));
	set_option(xsk->fd, XDP_UMEM_COMPLETION_RING, &size, sizeof(size));
	set_option(xsk->fd, XDP_TX_RING, &size, sizeof(size));
	if (getsockopt(xsk->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len))
		fail("ring offsets");
	map_ring(xsk->fd, &xsk->tx, &off.tx, sizeof(struct xdp_desc),
		 XDP_PGOFF_TX_RING);
	map_ring(xsk->fd, &xsk->done, &off.cr, sizeof(uint64_t),
		 XDP_UMEM_PGOFF_COMPLETION_RING);
	map_ring(xsk->fd, &xsk->fill, &off.fr, sizeof(uint64_t),
		 XDP_UMEM_PGOFF_FILL_RING);
	fill_ring(&xsk->fill);
	bind_socket(xsk->fd, ifindex, queue);
}

static void close_xsk(struct xsk *xsk)
{
	close(xsk->fd);
	munmap(xsk->tx.map, xsk->tx.len);
	munmap(xsk->done.map, xsk->done.len);
	munmap(xsk->fill.map, xsk->fill.len);
	munmap(xsk->area, UMEM_LEN);
}

static void send_frame(struct xsk *xsk)
{
	uint32_t slot = xsk->sent++ % CHUNKS;
	uint64_t addr = slot * CHUNK + META_LEN;
	struct ether_header *eth = (void *)(xsk->area + addr);
	struct tx_metadata *meta = (void *)(xsk->area + addr - META_LEN);

	*meta = (struct tx_metadata) { .flags = TXMD_TIMESTAMP };
	if (xsk->launch) {
		meta->flags |= TXMD_LAUNCH_TIME;
		meta->launch_time = xsk->launch;
	}
	memset(eth, 0, FRAME_LEN);
	memset(eth->ether_dhost, 0xff, ETH_ALEN);
	eth->ether_shost[0] = 2;
	eth->ether_type = htons(0x88b5);	/* for local experiments */
	((struct xdp_desc *)xsk->tx.desc)[slot] = (struct xdp_desc) {
		.addr = addr,
		.len = FRAME_LEN,
		.options = DESC_TX_METADATA,
	};
	__atomic_store_n(xsk->tx.producer, xsk->sent, __ATOMIC_RELEASE);
}

static void kick(struct xsk *xsk)
{
	if (sendto(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 &&
	    errno != EAGAIN && errno != EBUSY && errno != ENOBUFS &&
	    errno != ENETDOWN)
		fail("wake up the driver");
}

/* The stamp of the next frame that is done, 0: none; false: none is done. */
static bool next_done(struct xsk *xsk, uint64_t *stamp)
{
	uint32_t at = *xsk->done.consumer;
	struct tx_metadata *meta;
	uint64_t addr;

	if (at == __atomic_load_n(xsk->done.producer, __ATOMIC_ACQUIRE))
		return false;
	addr = ((uint64_t *)xsk->done.desc)[at % CHUNKS];
	meta = (void *)(xsk->area + addr - META_LEN);
	*stamp = meta->tx_timestamp;
	__atomic_store_n(xsk->done.consumer, at + 1, __ATOMIC_RELEASE);
	return true;
}

static uint64_t tai_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_TAI, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The stamp of the frame that was sent, 0: none; false: it is not done. */
static bool wait_done(struct xsk *xsk, uint64_t *stamp)
{
	unsigned int us;

	for (us = 0; us < PATIENCE_US; us += 20) {
		if (next_done(xsk, stamp))
			return true;
		usleep(20);
	}
	return false;
}

static int send_each(unsigned int ifindex, unsigned int queue,
		     unsigned int frames, bool launch)
{
	unsigned int i, stamped = 0, missing = 0, wrong = 0, early = 0;
	int64_t off, off_min = INT64_MAX, off_max = INT64_MIN;
	uint64_t stamp, last = 0;
	struct xsk xsk;

	open_xsk(&xsk, ifindex, queue);
	for (i = 0; i < frames; i++) {
		xsk.launch = launch ? tai_ns() + AHEAD_NS : 0;
		send_frame(&xsk);
		kick(&xsk);
		if (!wait_done(&xsk, &stamp)) {
			fprintf(stderr, "txts-xsk: frame %u is not done\n", i);
			return 1;
		}
		early += tai_ns() < xsk.launch;
		off = stamp - xsk.launch;
		if (!stamp) {
			missing++;
			continue;
		}
		if (stamp <= last)
			wrong++;
		else
			stamped++;
		off_min = off < off_min ? off : off_min;
		off_max = off > off_max ? off : off_max;
		last = stamp;
	}
	close_xsk(&xsk);
	printf("txts-xsk: %u frames, %u stamped, %u without stamp, %u in wrong order\n",
	       frames, stamped, missing, wrong);
	if (launch)
		printf("txts-xsk: %u done early, from launch to stamp %lld to %lld ns\n",
		       early, (long long)off_min, (long long)off_max);
	return stamped != frames || early;
}

static int run(unsigned int ifindex, unsigned int queue, unsigned int frames)
{
	return send_each(ifindex, queue, frames, false);
}

static int launch(unsigned int ifindex, unsigned int queue, unsigned int frames)
{
	return send_each(ifindex, queue, frames, true);
}

static int pull(unsigned int ifindex, unsigned int queue, unsigned int rounds)
{
	unsigned int i, n, done, stamped = 0, all = 0, flying = 0;
	uint64_t stamp;
	struct xsk xsk;

	for (i = 0; i < rounds; i++) {
		open_xsk(&xsk, ifindex, queue);
		for (n = 0; n < BURST; n++)
			send_frame(&xsk);
		kick(&xsk);
		/* From at once to when the stamps have come. */
		if (i % 16)
			usleep(i % 16 * 4);
		for (done = 0; next_done(&xsk, &stamp); done++)
			stamped += !!stamp;
		all += done;
		flying += done < BURST;
		close_xsk(&xsk);
	}
	printf("txts-xsk: %u rounds, %u frames, %u done, %u stamped, closed %u times with frames on their way\n",
	       rounds, rounds * BURST, all, stamped, flying);
	return !flying;
}

static int flood(unsigned int ifindex, unsigned int queue, unsigned int rounds)
{
	unsigned long completed = 0, stamped = 0;
	unsigned int i, n, us;
	uint64_t stamp;
	struct xsk xsk;

	for (i = 0; i < rounds; i++) {
		open_xsk(&xsk, ifindex, queue);
		for (n = 0; n < BURST; n++)
			send_frame(&xsk);
		for (n = 0, us = 0; i & 1 && n < BURST && us < PATIENCE_US;
		     us += 500) {
			kick(&xsk);
			usleep(500);
			for (; next_done(&xsk, &stamp); n++)
				stamped += !!stamp;
		}
		completed += n;
		if (!(i & 1)) {
			kick(&xsk);
			usleep(i % 64 * 10);	/* each time elsewhere */
		}
		close_xsk(&xsk);
		/* Stamps that are late find no socket and free their slots. */
		usleep(5000);
	}
	printf("sent %lu completed %lu stamped %lu\n",
	       (unsigned long)rounds * BURST, completed, stamped);
	return 0;
}

static unsigned int parse(const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || value > 1000000000) {
		fprintf(stderr, "txts-xsk: %s is not a number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(unsigned int ifindex, unsigned int queue,
			  unsigned int number);
	} modes[] = {
		{ "run", run },
		{ "launch", launch },
		{ "pull", pull },
		{ "flood", flood },
		{ }
	};
	unsigned int ifindex, queue, number, m = 0;
	int link, rc;

	while (argc == 5 && modes[m].name && strcmp(argv[1], modes[m].name))
		m++;
	if (argc != 5 || !modes[m].name) {
		fprintf(stderr,
			"use txts-xsk run|launch|pull|flood INTERFACE QUEUE NUMBER\n");
		return 2;
	}
	ifindex = if_nametoindex(argv[2]);
	if (!ifindex) {
		fprintf(stderr, "txts-xsk: there is no interface %s\n",
			argv[2]);
		return 2;
	}
	queue = parse(argv[3]);
	number = parse(argv[4]);
	link = attach_pass(ifindex);
	rc = modes[m].fn(ifindex, queue, number);
	close(link);
	return rc;
}
