// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's hardware timestamp statistics (get_ts_stats), by ethtool
 * netlink. Written out because the ethtool of Debian 12 cannot show them and
 * its headers do not have the numbers.
 */
#include <linux/genetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

#define FAMILY_NAME	"ethtool"
#define MSG_TSINFO_GET	25
#define TSINFO_HEADER	1
#define TSINFO_STATS	6
#define HEADER_DEV_NAME	2
#define HEADER_FLAGS	3
#define FLAG_STATS	4
#define TS_STAT_PKTS	1
#define TS_STAT_LOST	2
#define TS_STAT_ERR	3

struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char attrs[4096];
};

static void add_attr(struct message *msg, int type, const void *data,
		     unsigned int len)
{
	struct nlattr *attr = (void *)((char *)msg + msg->nl.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attr + NLA_HDRLEN, data, len);
	msg->nl.nlmsg_len += NLA_ALIGN(attr->nla_len);
}

static void start_message(struct message *msg, int family, int command)
{
	memset(msg, 0, sizeof(*msg));
	msg->nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	msg->nl.nlmsg_type = family;
	msg->nl.nlmsg_flags = NLM_F_REQUEST;
	msg->genl.cmd = command;
	msg->genl.version = 1;
}

static bool exchange(int fd, struct message *msg)
{
	ssize_t len;

	if (send(fd, msg, msg->nl.nlmsg_len, 0) < 0)
		return false;
	len = recv(fd, msg, sizeof(*msg), 0);
	return len >= (ssize_t)NLMSG_LENGTH(GENL_HDRLEN) &&
	       msg->nl.nlmsg_len <= (size_t)len &&
	       msg->nl.nlmsg_type != NLMSG_ERROR;
}

static const struct nlattr *find_attr(const void *start, int len, int type)
{
	const struct nlattr *attr = start;

	while (len >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN &&
	       attr->nla_len <= len) {
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		len -= NLA_ALIGN(attr->nla_len);
		attr = (const void *)((const char *)attr +
				      NLA_ALIGN(attr->nla_len));
	}
	return NULL;
}

static const struct nlattr *message_attr(const struct message *msg, int type)
{
	return find_attr(msg->attrs,
			 msg->nl.nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), type);
}

/* These are of four or eight bytes, whichever is enough. */
static long long nested_number(const struct nlattr *nest, int type)
{
	const struct nlattr *attr;
	unsigned int small;
	long long number;

	attr = find_attr((const char *)nest + NLA_HDRLEN,
			 nest->nla_len - NLA_HDRLEN, type);
	if (!attr)
		return -1;
	if (attr->nla_len == NLA_HDRLEN + sizeof(small)) {
		memcpy(&small, (const char *)attr + NLA_HDRLEN, sizeof(small));
		return small;
	}
	if (attr->nla_len != NLA_HDRLEN + sizeof(number))
		return -1;
	memcpy(&number, (const char *)attr + NLA_HDRLEN, sizeof(number));
	return number;
}

static int ethtool_family(int fd)
{
	const struct nlattr *attr;
	struct message msg;
	unsigned short id;

	start_message(&msg, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	add_attr(&msg, CTRL_ATTR_FAMILY_NAME, FAMILY_NAME,
		 sizeof(FAMILY_NAME));
	if (!exchange(fd, &msg))
		return -1;
	attr = message_attr(&msg, CTRL_ATTR_FAMILY_ID);
	if (!attr || attr->nla_len < NLA_HDRLEN + sizeof(id))
		return -1;
	memcpy(&id, (const char *)attr + NLA_HDRLEN, sizeof(id));
	return id;
}

static bool ask_tsinfo(int fd, const char *ifname, struct message *msg)
{
	unsigned int flags = FLAG_STATS;
	unsigned int start, type;
	struct nlattr *nest;
	int family;

	family = ethtool_family(fd);
	if (family < 0)
		return false;
	start_message(msg, family, MSG_TSINFO_GET);
	start = msg->nl.nlmsg_len;
	type = TSINFO_HEADER | NLA_F_NESTED;
	add_attr(msg, type, NULL, 0);
	add_attr(msg, HEADER_DEV_NAME, ifname, strlen(ifname) + 1);
	add_attr(msg, HEADER_FLAGS, &flags, sizeof(flags));
	nest = (void *)((char *)msg + start);
	nest->nla_len = msg->nl.nlmsg_len - start;
	return exchange(fd, msg);
}

/* Nothing is reported by kernels before 6.10 and drivers without the op. */
void read_ts_stats(const char *ifname, struct nic_stats *stats)
{
	const struct nlattr *nest;
	struct message msg;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0)
		return;
	if (ask_tsinfo(fd, ifname, &msg)) {
		nest = message_attr(&msg, TSINFO_STATS);
		if (nest) {
			stats->ts_pkts = nested_number(nest, TS_STAT_PKTS);
			stats->ts_lost = nested_number(nest, TS_STAT_LOST);
			stats->ts_err = nested_number(nest, TS_STAT_ERR);
			stats->has_ts_stats = stats->ts_pkts >= 0;
		}
	}
	close(fd);
}
