// SPDX-License-Identifier: GPL-2.0
/* The NIC's hwtstamp configuration: set, set again and again, restored. */
#include <errno.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

static struct {
	char ifname[IFNAMSIZ];
	struct hwtstamp_config found, wanted;
	bool changed;
} hwtstamp;

static struct {
	pthread_t thread;
	unsigned int hz;
	bool running;
	int stop;
	unsigned int calls;
	unsigned int errors;
} again;

static int hwtstamp_ioctl(unsigned long request, struct hwtstamp_config *config)
{
	struct ifreq ifr = { .ifr_data = (void *)config };
	int ret, fd;

	memcpy(ifr.ifr_name, hwtstamp.ifname, IFNAMSIZ);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = ioctl(fd, request, &ifr) ? -errno : 0;
	close(fd);
	return ret;
}

int hwtstamp_enable(const struct options *opts, bool *tx_off)
{
	struct hwtstamp_config config;
	int ret;

	snprintf(hwtstamp.ifname, IFNAMSIZ, "%s", opts->ifname);
	ret = hwtstamp_ioctl(SIOCGHWTSTAMP, &hwtstamp.found);
	if (ret && !opts->keep) {
		fprintf(stderr,
			"txts-probe: %s does not tell its hwtstamp configuration (%s), so it could not be restored. Turn Tx timestamps on yourself and use --keep.\n",
			opts->ifname, strerror(-ret));
		return ret;
	}
	*tx_off = !ret && hwtstamp.found.tx_type == HWTSTAMP_TX_OFF;
	if (opts->keep)
		return 0;

	hwtstamp.wanted = hwtstamp.found;
	if (*tx_off)
		hwtstamp.wanted.tx_type = HWTSTAMP_TX_ON;
	*tx_off = false;
	if (hwtstamp.wanted.tx_type == hwtstamp.found.tx_type)
		return 0;
	/* A call that fails half way is undone as well. */
	hwtstamp.changed = true;
	config = hwtstamp.wanted;
	ret = hwtstamp_ioctl(SIOCSHWTSTAMP, &config);
	if (ret)
		fprintf(stderr,
			"txts-probe: turn Tx timestamps on at %s: %s (root? has it a PTP clock, see ethtool -T?)\n",
			opts->ifname, strerror(-ret));
	return ret;
}

void hwtstamp_restore(void)
{
	struct hwtstamp_config config = hwtstamp.found;
	int ret;

	if (!hwtstamp.changed)
		return;
	hwtstamp.changed = false;
	ret = hwtstamp_ioctl(SIOCSHWTSTAMP, &config);
	if (ret)
		fprintf(stderr,
			"txts-probe: restore the hwtstamp configuration of %s: %s. It was tx_type %d, rx_filter %d.\n",
			hwtstamp.ifname, strerror(-ret), hwtstamp.found.tx_type,
			hwtstamp.found.rx_filter);
}

static void *reconfigure(void *unused)
{
	long long period = NSEC_PER_SEC / again.hz;
	struct timespec pause = {
		.tv_sec = period / NSEC_PER_SEC,
		.tv_nsec = period % NSEC_PER_SEC,
	};
	struct hwtstamp_config config;

	while (!__atomic_load_n(&again.stop, __ATOMIC_RELAXED)) {
		nanosleep(&pause, NULL);
		config = hwtstamp.wanted;
		if (hwtstamp_ioctl(SIOCSHWTSTAMP, &config))
			again.errors++;
		again.calls++;
	}
	return unused;
}

int reconfigure_start(const struct options *opts)
{
	int ret;

	if (!opts->reconfigure)
		return 0;
	again.hz = opts->reconfigure;
	ret = pthread_create(&again.thread, NULL, reconfigure, NULL);
	if (ret) {
		fprintf(stderr, "txts-probe: thread: %s\n", strerror(ret));
		return -ret;
	}
	again.running = true;
	return 0;
}

void reconfigure_stop(struct result *result)
{
	if (!again.running)
		return;
	__atomic_store_n(&again.stop, 1, __ATOMIC_RELAXED);
	pthread_join(again.thread, NULL);
	again.running = false;
	result->reconfigured = again.calls;
	result->reconfigure_errors = again.errors;
}
