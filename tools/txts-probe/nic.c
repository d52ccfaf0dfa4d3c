// SPDX-License-Identifier: GPL-2.0
/* The NIC's driver and its counters, by the ethtool ioctl. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

static int ethtool_ioctl(const char *ifname, void *command)
{
	struct ifreq ifr = { .ifr_data = command };
	int ret, fd;

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", ifname);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	ret = ioctl(fd, SIOCETHTOOL, &ifr);
	close(fd);
	return ret;
}

static unsigned int count_stats(const char *ifname)
{
	struct {
		struct ethtool_sset_info info;
		__u32 size;
	} sset = {
		.info = {
			.cmd = ETHTOOL_GSSET_INFO,
			.sset_mask = 1ULL << ETH_SS_STATS,
		},
	};

	if (ethtool_ioctl(ifname, &sset) || !sset.info.sset_mask)
		return 0;
	return sset.info.data[0];
}

static void pick_stat(const char *name, long long value,
		      struct nic_stats *stats)
{
	if (!strcmp(name, "tx_hwtstamp_timeouts")) {
		stats->has_timeouts = true;
		stats->timeouts = value;
	} else if (!strcmp(name, "tx_hwtstamp_skipped")) {
		stats->has_skipped = true;
		stats->skipped = value;
	}
}

/* A counter that the driver does not have stays marked as not there. */
void read_nic_stats(const char *ifname, struct nic_stats *stats)
{
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
	unsigned int i, count;

	memset(stats, 0, sizeof(*stats));
	read_ts_stats(ifname, stats);

	count = count_stats(ifname);
	if (!count)
		return;
	/* One more: a NUL behind a name that fills its field. */
	names = calloc(1, sizeof(*names) + (count + 1) * ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + count * sizeof(__u64));
	if (!names || !values)
		goto out;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = count;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = count;
	if (ethtool_ioctl(ifname, names) || ethtool_ioctl(ifname, values))
		goto out;
	for (i = 0; i < count; i++)
		pick_stat((char *)names->data + i * ETH_GSTRING_LEN,
			  values->data[i], stats);
out:
	free(names);
	free(values);
}

void read_nic_driver(const char *ifname, struct result *result)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (ethtool_ioctl(ifname, &info))
		return;
	snprintf(result->driver, sizeof(result->driver), "%.31s", info.driver);
	snprintf(result->bus, sizeof(result->bus), "%.31s", info.bus_info);
}
