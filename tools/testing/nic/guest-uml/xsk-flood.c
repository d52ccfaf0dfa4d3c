// SPDX-License-Identifier: GPL-2.0
/*
 * xsk-flood IFNAME ROUNDS FRAMES
 *
 * Each round binds an AF_XDP socket to queue 0 in zero-copy mode, sends FRAMES
 * with Tx metadata that asks for a stamp, and closes the socket while they are
 * on their way, which takes the pool from the driver. Every other round waits
 * for the completions first and counts those with a stamp. Prints
 * "sent N completed N stamped N".
 *
 * A program is attached all the time: without one the driver resets no queue.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of Debian 12: linux/if_xdp.h of 6.8. */
#define UMEM_TX_METADATA_LEN	4
#define DESC_TX_METADATA	2
#define TXMD_FLAGS_TIMESTAMP	1

struct umem_reg {
	uint64_t addr;
	uint64_t len;
	uint32_t chunk_size;
	uint32_t headroom;
	uint32_t flags;
	uint32_t tx_metadata_len;
};

struct metadata {
	uint64_t flags;
	uint64_t stamp;
	uint64_t launch_time;
};

#define CHUNK		4096
#define CHUNKS		64	/* to send, and as many to receive */
#define ENTRIES		64
#define DATA		256	/* of the frame in its chunk */
#define LEN		64

struct ring {
	uint32_t *producer;
	uint32_t *consumer;
	void *entries;
	void *map;
	size_t size;
};

static unsigned long sent, completed, stamped;

static void die(const char *what)
{
	fprintf(stderr, "xsk-flood: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int attach(int ifindex)
{
	/* return XDP_PASS */
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int prog, link;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	prog = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (prog < 0)
		die("load a program");
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog;
	attr.link_create.target_ifindex = ifindex;
	attr.link_create.attach_type = BPF_XDP;
	link = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	if (link < 0)
		die("BPF_LINK_CREATE");
	return link;
}

static void map_ring(int fd, struct ring *ring, off_t page,
		     const struct xdp_ring_offset *offset, size_t entry)
{
	ring->size = offset->desc + ENTRIES * entry;
	ring->map = mmap(NULL, ring->size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, fd, page);
	if (ring->map == MAP_FAILED)
		die("map a ring");
	ring->producer = ring->map + offset->producer;
	ring->consumer = ring->map + offset->consumer;
	ring->entries = ring->map + offset->desc;
}

static void set(int fd, int name, const void *value, socklen_t len)
{
	if (setsockopt(fd, SOL_XDP, name, value, len))
		die("setsockopt");
}

static void fill(const struct ring *ring)
{
	uint64_t *entry = ring->entries;
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		entry[i] = (uint64_t)(CHUNKS + i) * CHUNK;
	__atomic_store_n(ring->producer, ENTRIES, __ATOMIC_RELEASE);
}

static int open_socket(int ifindex, void *umem, struct ring *tx,
		       struct ring *done)
{
	const struct umem_reg reg = {
		.addr = (uintptr_t)umem,
		.len = 2 * CHUNKS * CHUNK,
		.chunk_size = CHUNK,
		.flags = UMEM_TX_METADATA_LEN,
		.tx_metadata_len = sizeof(struct metadata),
	};
	struct sockaddr_xdp addr = {
		.sxdp_family = AF_XDP,
		/* Without a wakeup the driver polls for buffers for ever. */
		.sxdp_flags = XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP,
		.sxdp_ifindex = ifindex,
	};
	struct xdp_mmap_offsets offsets;
	struct ring free;
	socklen_t len = sizeof(offsets);
	int entries = ENTRIES, n;
	int fd = socket(AF_XDP, SOCK_RAW, 0);

	if (fd < 0)
		die("open a socket");
	set(fd, XDP_UMEM_REG, &reg, sizeof(reg));
	set(fd, XDP_UMEM_FILL_RING, &entries, sizeof(entries));
	set(fd, XDP_UMEM_COMPLETION_RING, &entries, sizeof(entries));
	set(fd, XDP_TX_RING, &entries, sizeof(entries));
	if (getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &len))
		die("getsockopt");
	map_ring(fd, tx, XDP_PGOFF_TX_RING, &offsets.tx,
		 sizeof(struct xdp_desc));
	map_ring(fd, done, XDP_UMEM_PGOFF_COMPLETION_RING, &offsets.cr,
		 sizeof(uint64_t));
	map_ring(fd, &free, XDP_UMEM_PGOFF_FILL_RING, &offsets.fr,
		 sizeof(uint64_t));
	fill(&free);
	munmap(free.map, free.size);
	/* The pool that was closed last goes away a little later. */
	for (n = 0; bind(fd, (struct sockaddr *)&addr, sizeof(addr)); n++) {
		if (errno != EBUSY || n == 1000)
			die("bind in zero-copy mode");
		usleep(1000);
	}
	return fd;
}

static void send_frames(int fd, uint8_t *umem, struct ring *tx,
			unsigned int frames)
{
	struct xdp_desc *desc = tx->entries;
	struct metadata *metadata;
	unsigned int i;
	uint8_t *frame;

	for (i = 0; i < frames; i++) {
		frame = umem + i * CHUNK + DATA;
		memset(frame, 0xff, ETH_ALEN);
		memset(frame + ETH_ALEN, 0x02, ETH_ALEN);
		frame[12] = 0x88;
		frame[13] = 0xb5;	/* for local experiments */
		metadata = (void *)(frame - sizeof(*metadata));
		memset(metadata, 0, sizeof(*metadata));
		metadata->flags = TXMD_FLAGS_TIMESTAMP;
		desc[i] = (struct xdp_desc) {
			.addr = i * CHUNK + DATA,
			.len = LEN,
			.options = DESC_TX_METADATA,
		};
	}
	__atomic_store_n(tx->producer, frames, __ATOMIC_RELEASE);
	sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
	sent += frames;
}

static void collect(int fd, uint8_t *umem, struct ring *done,
		    unsigned int frames)
{
	const struct metadata *metadata;
	const uint64_t *entry = done->entries;
	unsigned int i, n = 0, tries;

	for (tries = 0; tries < 200 && n < frames; tries++) {
		n = __atomic_load_n(done->producer, __ATOMIC_ACQUIRE);
		sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
		usleep(500);
	}
	for (i = 0; i < n; i++) {
		metadata = (void *)(umem + entry[i] - sizeof(*metadata));
		completed++;
		stamped += metadata->stamp != 0;
	}
}

int main(int argc, char **argv)
{
	struct ring tx, done;
	unsigned int rounds, frames, i;
	uint8_t *umem;
	int ifindex, fd;

	if (argc != 4) {
		fprintf(stderr, "use xsk-flood IFNAME ROUNDS FRAMES\n");
		return 2;
	}
	ifindex = if_nametoindex(argv[1]);
	rounds = strtoul(argv[2], NULL, 10);
	frames = strtoul(argv[3], NULL, 10);
	if (!ifindex || !rounds || !frames || frames > CHUNKS) {
		fprintf(stderr, "xsk-flood: %s is no interface, or a number is not from 1 to %d\n",
			argv[1], CHUNKS);
		return 2;
	}
	umem = mmap(NULL, 2 * CHUNKS * CHUNK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (umem == MAP_FAILED)
		die("get memory");
	attach(ifindex);
	for (i = 0; i < rounds; i++) {
		fd = open_socket(ifindex, umem, &tx, &done);
		send_frames(fd, umem, &tx, frames);
		if (i & 1)
			collect(fd, umem, &done, frames);
		else
			usleep(i % 64 * 10);	/* each time elsewhere */
		munmap(tx.map, tx.size);
		munmap(done.map, done.size);
		close(fd);
		/* Stamps that are late find no socket and free their slots. */
		usleep(5000);
	}
	printf("sent %lu completed %lu stamped %lu\n", sent, completed,
	       stamped);
	return 0;
}
