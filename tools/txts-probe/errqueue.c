// SPDX-License-Identifier: GPL-2.0
/* One report from a socket's error queue. */
#include <errno.h>
#include <time.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include "probe.h"

#ifndef SCM_TIMESTAMPING
#define SCM_TIMESTAMPING SO_TIMESTAMPING
#endif

static long long timespec_ns(const struct timespec *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

/* POLLERR stands for a socket error as well, which would never go away. */
static void clear_socket_error(int fd)
{
	socklen_t len = sizeof(int);
	int error;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
}

static bool is_stamp_error(const struct cmsghdr *cmsg)
{
	const struct sock_extended_err *err = (const void *)CMSG_DATA(cmsg);

	if (!(cmsg->cmsg_level == SOL_PACKET &&
	      cmsg->cmsg_type == PACKET_TX_TIMESTAMP) &&
	    !(cmsg->cmsg_level == SOL_IP && cmsg->cmsg_type == IP_RECVERR))
		return false;
	return err->ee_errno == ENOMSG &&
	       err->ee_origin == SO_EE_ORIGIN_TIMESTAMPING;
}

int read_report(int fd, struct report *report)
{
	union {
		char bytes[512];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	const struct scm_timestamping *times = NULL;
	const struct sock_extended_err *err = NULL;
	struct cmsghdr *cmsg;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
		if (errno == EINTR)
			return 0;
		if (errno == EAGAIN) {
			clear_socket_error(fd);
			return 0;
		}
		return -errno;
	}
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET &&
		    cmsg->cmsg_type == SCM_TIMESTAMPING)
			times = (const void *)CMSG_DATA(cmsg);
		else if (is_stamp_error(cmsg))
			err = (const void *)CMSG_DATA(cmsg);
	}
	if (!err)
		return -EBADMSG;

	report->id = err->ee_data;
	report->stamp = times ? timespec_ns(&times->ts[2]) : 0;
	report->software = times && !report->stamp &&
			   timespec_ns(&times->ts[0]);
	return 1;
}
