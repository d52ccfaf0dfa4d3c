// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that ask for every combination of Tx stamp kinds: the data must
 * arrive unharmed, no kind may come that was not asked for, and a datagram
 * sent alone gets each kind it asked for.
 *
 *   txts-sockets serve PORT
 *   txts-sockets run ADDRESS PORT
 *   txts-sockets tcp ADDRESS PORT	one connection, hardware stamps,
 *					stops itself once connected
 *   txts-sockets sniff INTERFACE	share each packet that is sent, as
 *					tcpdump does
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#define CHUNK		20000
#define CHUNKS		4
#define SEND		5000
#define SENDS		16
#define DATAGRAM	1200
#define SEGMENTS	8
#define PATIENCE_MS	100
#define NR_OPTIONS	3
#define MAX_FAILURES	10

enum kind { KIND_HARDWARE, KIND_SOFTWARE, KIND_SCHED, KIND_ACK, NR_KINDS };

static const unsigned int kind_flags[NR_KINDS] = {
	SOF_TIMESTAMPING_TX_HARDWARE,
	SOF_TIMESTAMPING_TX_SOFTWARE,
	SOF_TIMESTAMPING_TX_SCHED,
	SOF_TIMESTAMPING_TX_ACK,
};

static const unsigned int option_flags[NR_OPTIONS] = {
	SOF_TIMESTAMPING_OPT_ID,
	SOF_TIMESTAMPING_OPT_TSONLY,
	SOF_TIMESTAMPING_OPT_TX_SWHW,
};

#define NR_COMBINATIONS	(1U << (NR_KINDS + NR_OPTIONS))

struct tally {
	unsigned int got[NR_KINDS];
	unsigned int failures;
	unsigned int total_hardware;
};

static unsigned int combination_flags(unsigned int combination)
{
	unsigned int i, flags;

	flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	for (i = 0; i < NR_KINDS; i++)
		if (combination & (1 << i))
			flags |= kind_flags[i];
	for (i = 0; i < NR_OPTIONS; i++)
		if (combination & (1 << (NR_KINDS + i)))
			flags |= option_flags[i];
	return flags;
}

static unsigned int checksum(unsigned int sum, const unsigned char *data,
			     size_t len)
{
	while (len--)
		sum = sum * 31 + *data++;
	return sum;
}

static void take_report(struct msghdr *msg, struct tally *tally)
{
	const struct scm_timestamping *times = NULL;
	const struct sock_extended_err *err = NULL;
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET &&
		    cmsg->cmsg_type == SO_TIMESTAMPING)
			times = (const void *)CMSG_DATA(cmsg);
		else if (cmsg->cmsg_level == SOL_IP &&
			 cmsg->cmsg_type == IP_RECVERR)
			err = (const void *)CMSG_DATA(cmsg);
	}
	if (!times || !err || err->ee_origin != SO_EE_ORIGIN_TIMESTAMPING)
		return;
	if (err->ee_info == SCM_TSTAMP_SCHED)
		tally->got[KIND_SCHED]++;
	else if (err->ee_info == SCM_TSTAMP_ACK)
		tally->got[KIND_ACK]++;
	else if (times->ts[2].tv_sec || times->ts[2].tv_nsec)
		tally->got[KIND_HARDWARE]++;
	else
		tally->got[KIND_SOFTWARE]++;
}

static void drain(int fd, struct tally *tally)
{
	static char data[CHUNK + 256];
	char control[512];
	struct iovec iov = { data, sizeof(data) };

	for (;;) {
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};

		if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		take_report(&msg, tally);
	}
}

/* True if each kind that was asked for came; hardware replaces software. */
static bool complete(unsigned int flags, const struct tally *tally)
{
	bool hw = flags & SOF_TIMESTAMPING_TX_HARDWARE;
	bool sw = flags & SOF_TIMESTAMPING_TX_SOFTWARE;

	if (hw && sw && !(flags & SOF_TIMESTAMPING_OPT_TX_SWHW))
		sw = false;
	return (!hw || tally->got[KIND_HARDWARE]) &&
	       (!sw || tally->got[KIND_SOFTWARE]) &&
	       (!(flags & SOF_TIMESTAMPING_TX_SCHED) ||
		tally->got[KIND_SCHED]);
}

static void wait_complete(int fd, unsigned int flags, struct tally *tally)
{
	struct pollfd pfd = { .fd = fd };
	int tries = 20;

	drain(fd, tally);
	while (!complete(flags, tally) && tries-- &&
	       poll(&pfd, 1, PATIENCE_MS) > 0)
		drain(fd, tally);
}

static void fail(struct tally *tally, const char *what, unsigned int flags)
{
	tally->failures++;
	printf("%s: flags 0x%x: hardware %u software %u sched %u ack %u\n",
	       what, flags, tally->got[KIND_HARDWARE],
	       tally->got[KIND_SOFTWARE], tally->got[KIND_SCHED],
	       tally->got[KIND_ACK]);
}

static void check_unasked(const char *what, bool tcp, unsigned int flags,
			  struct tally *tally)
{
	unsigned int i, asked = flags;

	/*
	 * TCP leaves its own send time in the skb. A clone of it that carries
	 * a hardware stamp is therefore reported as a software stamp (see
	 * skb_is_swtx_tstamp()), with every driver; OPT_TSONLY has no clone.
	 */
	if (tcp && flags & SOF_TIMESTAMPING_TX_HARDWARE &&
	    !(flags & SOF_TIMESTAMPING_OPT_TSONLY))
		asked |= SOF_TIMESTAMPING_TX_SOFTWARE;

	for (i = 0; i < NR_KINDS; i++) {
		if (tally->got[i] && !(asked & kind_flags[i])) {
			fail(tally, what, flags);
			return;
		}
	}
	tally->total_hardware += tally->got[KIND_HARDWARE];
}

static int ask(int fd, unsigned int flags)
{
	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags,
			  sizeof(flags));
}

/* What does not move for this long is stuck, and says so. */
static int set_patience(int fd)
{
	struct timeval patience = { .tv_sec = 3 };

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			  sizeof(patience)) ||
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			  sizeof(patience));
}

static int connect_tcp(const struct sockaddr_in *to, unsigned int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd >= 0 && !set_patience(fd) &&
	    !connect(fd, (const struct sockaddr *)to, sizeof(*to)) &&
	    !ask(fd, flags))
		return fd;
	perror("tcp socket");
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool send_all(int fd, const unsigned char *data, size_t len)
{
	size_t done = 0;
	ssize_t ret;

	while (done < len) {
		ret = send(fd, data + done, len - done, 0);
		if (ret <= 0)
			return false;
		done += ret;
	}
	return true;
}

/* The server answers with the sum of what it got. */
static bool arrived(int fd, unsigned int sum)
{
	unsigned int received = 0;

	shutdown(fd, SHUT_WR);
	return recv(fd, &received, sizeof(received), MSG_WAITALL) ==
	       sizeof(received) && received == sum;
}

static void run_tcp(const struct sockaddr_in *to, unsigned int flags,
		    struct tally *tally)
{
	static unsigned char data[CHUNK];
	unsigned int i, sum = 0;
	bool ok = true;
	int fd;

	memset(tally->got, 0, sizeof(tally->got));
	fd = connect_tcp(to, flags);
	if (fd < 0) {
		fail(tally, "tcp: set up", flags);
		return;
	}
	for (i = 0; i < CHUNKS && ok; i++) {
		memset(data, 'a' + i + flags % 7, sizeof(data));
		ok = send_all(fd, data, sizeof(data));
		sum = checksum(sum, data, sizeof(data));
		drain(fd, tally);
	}
	if (!ok || !arrived(fd, sum))
		fail(tally, "tcp: data", flags);
	drain(fd, tally);
	check_unasked("tcp: a kind that was not asked for", true, flags, tally);
	close(fd);
}

static void run_udp(const struct sockaddr_in *to, unsigned int flags,
		    unsigned int segments, struct tally *tally)
{
	static unsigned char data[DATAGRAM * SEGMENTS];
	int size = DATAGRAM;
	int fd;

	memset(tally->got, 0, sizeof(tally->got));
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)) ||
	    (segments > 1 && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size,
					sizeof(size))) ||
	    ask(fd, flags)) {
		perror("udp socket");
		fail(tally, "udp: set up", flags);
		goto out;
	}
	if (send(fd, data, DATAGRAM * segments, 0) < 0) {
		perror("udp send");
		fail(tally, "udp: send", flags);
		goto out;
	}
	wait_complete(fd, flags, tally);
	check_unasked("udp: a kind that was not asked for", false, flags,
		      tally);
	/* Segments made in software carry the request in one of them only. */
	if (segments == 1 && !complete(flags, tally))
		fail(tally, "udp: a kind is missing", flags);
out:
	if (fd >= 0)
		close(fd);
}

static int run(const struct sockaddr_in *to)
{
	struct tally tally = { };
	unsigned int i, flags;

	/* A few failures are as good as all, and each may take seconds. */
	for (i = 0; i < NR_COMBINATIONS && tally.failures < MAX_FAILURES; i++) {
		flags = combination_flags(i);
		run_tcp(to, flags, &tally);
		run_udp(to, flags, 1, &tally);
		run_udp(to, flags, SEGMENTS, &tally);
	}
	printf("%u combinations, %u hardware stamps, %u failures\n",
	       i, tally.total_hardware, tally.failures);
	return tally.failures || !tally.total_hardware;
}

static bool acknowledged(int fd)
{
	int tries = 3000, bytes = 1;

	while (tries-- && !ioctl(fd, SIOCOUTQ, &bytes) && bytes)
		usleep(1000);
	return !bytes;
}

/*
 * Stops itself once it is connected, for whoever wants to disturb only what
 * follows. Each packet with data is the last of its send, so it asks.
 */
static int run_one_tcp(const struct sockaddr_in *to)
{
	static unsigned char data[SEND];
	struct tally tally = { };
	unsigned int i, sum = 0;
	bool ok = true;
	int fd;

	fd = connect_tcp(to, SOF_TIMESTAMPING_TX_HARDWARE |
			 SOF_TIMESTAMPING_RAW_HARDWARE |
			 SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY);
	if (fd < 0)
		return 1;
	raise(SIGSTOP);
	for (i = 0; i < SENDS && ok; i++) {
		memset(data, 'a' + i, sizeof(data));
		sum = checksum(sum, data, sizeof(data));
		ok = send_all(fd, data, sizeof(data)) && acknowledged(fd);
		drain(fd, &tally);
	}
	ok = ok && arrived(fd, sum);
	printf("%u sends, %u hardware stamps, data %s\n", i,
	       tally.got[KIND_HARDWARE], ok ? "arrived" : "lost");
	close(fd);
	return !ok;
}

static int sniff(const char *ifname)
{
	static unsigned char data[65536];
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(ifname),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));

	if (!at.sll_ifindex || fd < 0 ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at))) {
		perror("txts-sockets: packet socket");
		return 1;
	}
	while (recv(fd, data, sizeof(data), 0) >= 0)
		;
	perror("txts-sockets: receive");
	return 1;
}

static void answer(int fd)
{
	static unsigned char data[65536];
	unsigned int sum = 0;
	ssize_t ret;

	while ((ret = recv(fd, data, sizeof(data), 0)) > 0)
		sum = checksum(sum, data, ret);
	send(fd, &sum, sizeof(sum), MSG_NOSIGNAL);
	close(fd);
}

/* The datagrams go to a bound socket, so that no ICMP error comes back. */
static int serve(const struct sockaddr_in *at)
{
	int one = 1, tcp, udp, fd;

	tcp = socket(AF_INET, SOCK_STREAM, 0);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(tcp, (const struct sockaddr *)at, sizeof(*at)) ||
	    bind(udp, (const struct sockaddr *)at, sizeof(*at)) ||
	    listen(tcp, 16)) {
		perror("txts-sockets: bind or listen");
		return 1;
	}
	while ((fd = accept(tcp, NULL, NULL)) >= 0) {
		set_patience(fd);
		answer(fd);
	}
	return 0;
}

static int usage(void)
{
	fputs("Usage: txts-sockets serve PORT | run ADDRESS PORT | tcp ADDRESS PORT | sniff INTERFACE\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	const char *command = argc > 1 ? argv[1] : "";
	int port = argc > 2 ? atoi(argv[argc - 1]) : 0;

	if (argc == 3 && !strcmp(command, "sniff"))
		return sniff(argv[2]);
	if (port < 1 || port > 65535)
		return usage();
	addr.sin_port = htons(port);
	if (argc == 3 && !strcmp(command, "serve"))
		return serve(&addr);
	if (argc != 4 || inet_pton(AF_INET, argv[2], &addr.sin_addr) != 1)
		return usage();
	if (!strcmp(command, "run"))
		return run(&addr);
	if (!strcmp(command, "tcp"))
		return run_one_tcp(&addr);
	return usage();
}
