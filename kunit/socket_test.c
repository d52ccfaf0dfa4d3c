// SPDX-License-Identifier: GPL-2.0
/*
 * End to end: a UDP socket asks for stamps with SO_TIMESTAMPING, a network
 * device sends its packets through the tracker, the error queue tells.
 */
#include <linux/errqueue.h>
#include <linux/etherdevice.h>
#include <linux/in.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/socket.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "unit.h"

#define HW	(SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE)
#define SW	(SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE)
#define ID	(SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY)

/* PTP peer delay: link-local multicast needs neither address nor route. */
#define GROUP	0xe000006b
#define PORT	319

struct port {
	struct unit *u;
	struct net_device *netdev;
	struct socket *sock;
	unsigned int sent;
	bool skip;		/* every slot is busy */
	bool shared;		/* an skb reached commit shared */
};

struct port_priv {
	struct port *port;
};

/* The rules of xmit in the order that the header gives them. */
static netdev_tx_t port_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct port *port = ((struct port_priv *)netdev_priv(netdev))->port;
	struct unit *u = port->u;
	struct pkt *pkt;

	if (!(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP)) {
		skb_tx_timestamp(skb);
		dev_consume_skb_any(skb);
		return NETDEV_TX_OK;
	}
	pkt = unit_owner_pkt(u);
	pkt->skb = skb;
	if (skb_shared(skb))
		port->shared = true;
	if (!unit_reserve(u, pkt)) {
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
		skb_tx_timestamp(skb);
		unit_commit(u, pkt);
	} else {
		skb_tx_timestamp(skb);
	}
	/* The driver's reference stays with the test. */
	port->sent++;
	return NETDEV_TX_OK;
}

static const struct net_device_ops port_ops = {
	.ndo_start_xmit = port_xmit,
};

static void port_close(void *arg)
{
	struct port *port = arg;

	if (port->sock)
		sock_release(port->sock);
	unregister_netdev(port->netdev);
	free_netdev(port->netdev);
}

static struct port *port_open(struct kunit *test, enum model_id model,
			      int flags)
{
	struct so_timestamping ts = { .flags = flags };
	struct port *port = kunit_kzalloc(test, sizeof(*port), GFP_KERNEL);
	struct port_priv *priv;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, port);
	port->netdev = alloc_etherdev(sizeof(*priv));
	KUNIT_ASSERT_NOT_NULL(test, port->netdev);
	priv = netdev_priv(port->netdev);
	priv->port = port;
	port->netdev->netdev_ops = &port_ops;
	eth_hw_addr_random(port->netdev);
	err = register_netdev(port->netdev);
	if (err)
		free_netdev(port->netdev);
	KUNIT_ASSERT_EQ(test, 0, err);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, port_close, port));
	port->u = unit_new(test, model);
	rtnl_lock();
	err = dev_open(port->netdev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, 0, err);
	KUNIT_ASSERT_EQ(test, 0,
			sock_create_kern(&init_net, AF_INET, SOCK_DGRAM,
					 IPPROTO_UDP, &port->sock));
	sock_bindtoindex(port->sock->sk, port->netdev->ifindex, true);
	KUNIT_ASSERT_EQ(test, 0,
			sock_setsockopt(port->sock, SOL_SOCKET,
					SO_TIMESTAMPING_NEW,
					KERNEL_SOCKPTR(&ts), sizeof(ts)));
	return port;
}

static int port_send(struct port *port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(GROUP),
		.sin_port = htons(PORT),
	};
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = sizeof(to),
	};
	char payload[64] = {};
	struct kvec vec = { payload, sizeof(payload) };

	return kernel_sendmsg(port->sock, &msg, &vec, 1, sizeof(payload));
}

struct answer {
	u32 id;
	bool hardware;
	bool software;
	ktime_t stamp;
};

/* One message of the error queue, as an application reads it. */
static bool port_receive(struct port *port, struct answer *answer)
{
	union {
		struct cmsghdr align;
		char buf[512];
	} control;
	struct msghdr msg = {
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct scm_timestamping64 tss = {};
	struct sock_extended_err ee = {};
	struct cmsghdr *cmsg = &control.align;
	struct kvec vec = {};
	size_t left;
	int len;

	memset(&control, 0, sizeof(control));
	len = kernel_recvmsg(port->sock, &msg, &vec, 0, 0,
			     MSG_ERRQUEUE | MSG_DONTWAIT);
	if (len < 0)
		return false;
	left = sizeof(control) - msg.msg_controllen;
	while (left >= sizeof(*cmsg) && cmsg->cmsg_len >= sizeof(*cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET &&
		    cmsg->cmsg_type == SO_TIMESTAMPING_NEW)
			memcpy(&tss, CMSG_DATA(cmsg), sizeof(tss));
		if (cmsg->cmsg_level == SOL_IP &&
		    cmsg->cmsg_type == IP_RECVERR)
			memcpy(&ee, CMSG_DATA(cmsg), sizeof(ee));
		if (CMSG_ALIGN(cmsg->cmsg_len) >= left)
			break;
		left -= CMSG_ALIGN(cmsg->cmsg_len);
		cmsg = (void *)cmsg + CMSG_ALIGN(cmsg->cmsg_len);
	}
	*answer = (struct answer) {
		.id = ee.ee_data,
		.hardware = tss.ts[2].tv_sec || tss.ts[2].tv_nsec,
		.software = tss.ts[0].tv_sec || tss.ts[0].tv_nsec,
		.stamp = ktime_set(tss.ts[2].tv_sec, tss.ts[2].tv_nsec),
	};
	return true;
}

/* Reads all; the oracle learns what the socket was told. */
static unsigned int port_collect(struct port *port, unsigned int *software)
{
	struct answer answer;
	unsigned int hardware = 0;

	while (port_receive(port, &answer)) {
		if (answer.software)
			(*software)++;
		if (!answer.hardware)
			continue;
		hardware++;
		if (answer.id >= port->u->nr_pkts) {
			unit_violated(port->u, "an id that was never sent");
			continue;
		}
		port->u->pkts[answer.id].stamps++;
		port->u->pkts[answer.id].got = answer.stamp;
	}
	return hardware;
}

static const enum model_id socket_models[] = {
	MODEL_82576, MODEL_I210, MODEL_I225, MODEL_MAILBOX, MODEL_PUSH,
};
KUNIT_ARRAY_PARAM(socket, socket_models, model_id_name);

/* G1, G2: the stamp and the id that belong together. */
static void socket_gets_stamp_and_id(struct kunit *test)
{
	const enum model_id *id = test->param_value;
	struct port *port = port_open(test, *id, HW | ID);
	struct unit *u = port->u;
	unsigned int i, got = 0, software = 0;
	struct pkt *pkt;

	for (i = 0; i < 20; i++) {
		KUNIT_ASSERT_EQ(test, 64, port_send(port));
		KUNIT_ASSERT_EQ(test, i + 1, port->sent);
		pkt = &u->pkts[i];
		unit_wire(u, pkt);
		unit_sent(u, pkt);
		KUNIT_EXPECT_TRUE(test, unit_wait(u, 400 * USEC_PER_MSEC));
		got += port_collect(port, &software);
		KUNIT_EXPECT_EQ(test, 1, pkt->stamps);
		KUNIT_EXPECT_EQ(test, pkt->truth, pkt->got);
	}
	KUNIT_EXPECT_EQ(test, 20, got);
	KUNIT_EXPECT_EQ(test, 0, software);
	KUNIT_EXPECT_FALSE(test, port->shared);
	unit_check(test, u);
}

/* Skipped: who asked for hardware stamps only gets nothing. */
static void skipped_packet_of_a_hardware_socket_gets_nothing(struct kunit *test)
{
	struct port *port = port_open(test, MODEL_I210, HW | ID);
	unsigned int software = 0;

	KUNIT_ASSERT_EQ(test, 64, port_send(port));
	KUNIT_ASSERT_EQ(test, 64, port_send(port));
	EXPECT_COUNT(test, port->u, TXTS_SKIP_BUSY, 1);
	unit_wire(port->u, &port->u->pkts[0]);
	unit_sent(port->u, &port->u->pkts[0]);
	unit_sleep_us(port->u, USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, port_collect(port, &software));
	KUNIT_EXPECT_EQ(test, 0, software);
	unit_check(test, port->u);
}

/* Skipped: who asked for software stamps too gets that one. */
static void skipped_packet_falls_back_to_the_software_stamp(struct kunit *test)
{
	struct port *port = port_open(test, MODEL_I210, HW | SW | ID);
	unsigned int software = 0;

	KUNIT_ASSERT_EQ(test, 64, port_send(port));
	KUNIT_EXPECT_EQ(test, 0, port_collect(port, &software));
	KUNIT_EXPECT_EQ(test, 0, software);
	KUNIT_ASSERT_EQ(test, 64, port_send(port));
	KUNIT_EXPECT_EQ(test, 0, port_collect(port, &software));
	KUNIT_EXPECT_EQ(test, 1, software);
	EXPECT_COUNT(test, port->u, TXTS_SKIP_BUSY, 1);
	unit_wire(port->u, &port->u->pkts[0]);
	unit_sent(port->u, &port->u->pkts[0]);
	unit_sleep_us(port->u, USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, port_collect(port, &software));
	KUNIT_EXPECT_EQ(test, 1, software);
	unit_check(test, port->u);
}

/* Case 9: off is a software stamp too, at once. */
static void packet_while_off_gets_the_software_stamp(struct kunit *test)
{
	struct port *port = port_open(test, MODEL_82576, HW | SW | ID);
	unsigned int software = 0;

	txts_enable(&port->u->txts, false);
	KUNIT_ASSERT_EQ(test, 64, port_send(port));
	KUNIT_EXPECT_EQ(test, 0, port_collect(port, &software));
	KUNIT_EXPECT_EQ(test, 1, software);
	EXPECT_COUNT(test, port->u, TXTS_SKIP_OFF, 1);
	unit_check(test, port->u);
}

/* Case 22: every combination of what a socket may ask for. */
static void every_combination_of_stamps_keeps_its_promise(struct kunit *test)
{
	static const int flags[] = { HW, SW, HW | SW };
	static const int options[] = {
		SOF_TIMESTAMPING_OPT_ID, ID, ID | SOF_TIMESTAMPING_OPT_TX_SWHW,
	};
	unsigned int i, j, hardware, software;
	struct port *port;
	bool hw, sw;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		for (j = 0; j < ARRAY_SIZE(options); j++) {
			hw = flags[i] & SOF_TIMESTAMPING_TX_HARDWARE;
			sw = flags[i] & SOF_TIMESTAMPING_TX_SOFTWARE &&
			     (!hw || options[j] &
			      SOF_TIMESTAMPING_OPT_TX_SWHW);
			port = port_open(test, MODEL_I210,
					 flags[i] | options[j]);
			KUNIT_ASSERT_EQ(test, 64, port_send(port));
			if (hw) {
				unit_wire(port->u, &port->u->pkts[0]);
				unit_sent(port->u, &port->u->pkts[0]);
			}
			unit_sleep_us(port->u, USEC_PER_MSEC);
			software = 0;
			hardware = port_collect(port, &software);
			KUNIT_EXPECT_EQ(test, hw, hardware);
			KUNIT_EXPECT_EQ(test, sw, software);
			KUNIT_EXPECT_FALSE(test, port->shared);
			unit_check(test, port->u);
			kunit_release_action(test, port_close, port);
		}
	}
}

/* The socket is closed while its packet waits. */
static void socket_may_go_before_its_stamp_comes(struct kunit *test)
{
	struct port *port = port_open(test, MODEL_I210, HW | ID);
	struct unit *u = port->u;

	KUNIT_ASSERT_EQ(test, 64, port_send(port));
	sock_release(port->sock);
	port->sock = NULL;
	unit_wire(u, &u->pkts[0]);
	unit_sent(u, &u->pkts[0]);
	KUNIT_EXPECT_TRUE(test, unit_wait(u, USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_DELIVERED, 1);
	KUNIT_EXPECT_EQ(test, 1, unit_refs(u, &u->pkts[0]));
	unit_free(test, u);
}

static struct kunit_case socket_cases[] = {
	KUNIT_CASE_PARAM(socket_gets_stamp_and_id, socket_gen_params),
	KUNIT_CASE(skipped_packet_of_a_hardware_socket_gets_nothing),
	KUNIT_CASE(skipped_packet_falls_back_to_the_software_stamp),
	KUNIT_CASE(packet_while_off_gets_the_software_stamp),
	KUNIT_CASE(every_combination_of_stamps_keeps_its_promise),
	KUNIT_CASE(socket_may_go_before_its_stamp_comes),
	{}
};

static struct kunit_suite socket_suite = {
	.name = "txts_socket",
	.test_cases = socket_cases,
};

kunit_test_suite(socket_suite);
