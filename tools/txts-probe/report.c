// SPDX-License-Identifier: GPL-2.0
/* The result as a table for people, and the packets as CSV. */
#include <errno.h>
#include <string.h>

#include "probe.h"

static const char * const mode_names[] = { "wait", "burst", "stream" };

static const char * const state_names[PKT_NR_STATES] = {
	"pending", "stamped", "late", "software", "zero", "dropped", "missing",
};

const char *mode_name(enum probe_mode mode)
{
	return mode_names[mode];
}

/* How many stamps the NIC itself says that it timed out or refused. */
long long explained_by_nic(const struct result *result, bool *known)
{
	const struct nic_stats *a = &result->before, *b = &result->after;

	*known = result->opts->stats && b->has_timeouts && b->has_skipped;
	if (!*known)
		return 0;
	return b->timeouts - a->timeouts + b->skipped - a->skipped;
}

/* Twice the worst seen, in ms; 0 where nothing was seen. */
long long recommended_timeout(const struct result *result)
{
	if (!result->latency.count)
		return 0;
	return (2 * result->latency.max + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
}

static void print_outcomes(const struct result *result, FILE *out)
{
	const struct track *track = result->track;
	long long remainder = track_remainder(track);

	fprintf(out, "%-22s %u\n", "sent", track->sent);
	fprintf(out, "%-22s %u\n", "  stamped in time",
		track->tally[PKT_STAMPED]);
	fprintf(out, "%-22s %u\n", "  late", track->tally[PKT_LATE]);
	fprintf(out, "%-22s %u\n", "  missing", track->tally[PKT_MISSING]);
	if (result->opts->software)
		fprintf(out, "%-22s %u\n", "  software stamp only",
			track->tally[PKT_SOFTWARE]);
	else
		fprintf(out, "%-22s off\n", "  software stamp only");
	fprintf(out, "%-22s %u\n", "  zero stamp", track->tally[PKT_ZERO]);
	fprintf(out, "%-22s %u\n", "  dropped by qdisc",
		track->tally[PKT_DROPPED]);
	if (remainder)
		fprintf(out, "%-22s %lld\n", "  UNEXPLAINED", remainder);
	fprintf(out, "%-22s %u\n", "send errors", track->send_errors);
	fprintf(out, "%-22s %u\n", "duplicate stamps", track->duplicates);
	fprintf(out, "%-22s %u\n", "unknown stamps", track->unknown);
	fprintf(out, "%-22s %u\n", "stamps not increasing", track->backwards);
}

static void print_latency(const struct result *result, FILE *out)
{
	const struct latency *l = &result->latency;

	if (result->tx_off) {
		fprintf(out, "%-22s off (tx_type is off)\n", "send to stamp");
		return;
	}
	if (!l->count) {
		fprintf(out, "%-22s no stamp came\n", "send to stamp");
		return;
	}
	fprintf(out, "%-22s min %lld  p50 %lld  p99 %lld  p99.99 %lld  max %lld ns\n",
		"send to stamp", l->min, l->p50, l->p99, l->p9999, l->max);
	fprintf(out, "%-22s %lld ms (tx_timestamp_timeout, twice the max)\n",
		"for ptp4l", recommended_timeout(result));
}

static void print_counter(FILE *out, const char *name, bool there,
			  long long before, long long after)
{
	if (there)
		fprintf(out, "%-22s +%lld (%lld)\n", name, after - before,
			after);
	else
		fprintf(out, "%-22s not offered by this driver\n", name);
}

static void print_stats(const struct result *result, FILE *out)
{
	const struct nic_stats *a = &result->before, *b = &result->after;
	const struct track *track = result->track;
	long long explained, missing;
	bool known;

	if (!result->opts->stats) {
		fprintf(out, "%-22s off\n", "NIC counters");
		return;
	}
	print_counter(out, "tx_hwtstamp_timeouts", b->has_timeouts,
		      a->timeouts, b->timeouts);
	print_counter(out, "tx_hwtstamp_skipped", b->has_skipped,
		      a->skipped, b->skipped);
	print_counter(out, "ts_stats pkts", b->has_ts_stats, a->ts_pkts,
		      b->ts_pkts);
	print_counter(out, "ts_stats lost", b->has_ts_stats, a->ts_lost,
		      b->ts_lost);
	print_counter(out, "ts_stats err", b->has_ts_stats, a->ts_err,
		      b->ts_err);
	explained = explained_by_nic(result, &known);
	if (!known)
		return;
	missing = track->tally[PKT_MISSING] + track->tally[PKT_SOFTWARE];
	fprintf(out, "%-22s %lld, of these by the NIC's counters %lld, unexplained %lld\n",
		"no hardware stamp", missing, explained, missing - explained);
}

void print_table(const struct result *result, FILE *out)
{
	const struct options *opts = result->opts;
	const struct track *track = result->track;

	fprintf(out, "%-22s %s (%s at %s), mode %s, %s, %.3f s%s\n",
		"interface", opts->ifname, result->driver, result->bus,
		mode_name(opts->mode), opts->udp ? "UDP" : "Ethernet",
		(double)result->duration / NSEC_PER_SEC,
		result->interrupted ? ", INTERRUPTED" : "");
	print_outcomes(result, out);
	print_latency(result, out);
	if (opts->launch && track->off_min <= track->off_max)
		fprintf(out, "%-22s min %lld  max %lld ns, %u came before it\n",
			"launch to stamp", track->off_min, track->off_max,
			track->early);
	else if (opts->launch)
		fprintf(out, "%-22s no stamp came\n", "launch to stamp");
	if (opts->reconfigure)
		fprintf(out, "%-22s %u times, %u errors\n", "reconfigured",
			result->reconfigured, result->reconfigure_errors);
	else
		fprintf(out, "%-22s off\n", "reconfigured");
	print_stats(result, out);
}

int write_csv(const struct result *result)
{
	const struct track *track = result->track;
	const char *path = result->opts->csv;
	unsigned int i;
	FILE *out;

	if (!path)
		return 0;
	out = fopen(path, "w");
	if (!out)
		goto fail;
	fputs("index,state,sent_ns,latency_ns,stamp_ns\n", out);
	for (i = 0; i < track->sent; i++) {
		const struct packet *packet = &track->packets[i];

		fprintf(out, "%u,%s,%lld,", i, state_names[packet->state],
			packet->sent);
		if (packet->state != PKT_MISSING &&
		    packet->state != PKT_DROPPED)
			fprintf(out, "%lld", packet->latency);
		fputc(',', out);
		if (packet->stamp)
			fprintf(out, "%lld", packet->stamp);
		fputc('\n', out);
	}
	if (!fclose(out))
		return 0;
fail:
	fprintf(stderr, "txts-probe: write %s: %s\n", path, strerror(errno));
	return -1;
}
