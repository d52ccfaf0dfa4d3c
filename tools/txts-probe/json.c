// SPDX-License-Identifier: GPL-2.0
/* The result for programs. What is off or unknown is null. */
#include <errno.h>
#include <string.h>

#include "probe.h"

static void member(FILE *out, const char *name, bool known, long long value)
{
	if (known)
		fprintf(out, ",\n  \"%s\": %lld", name, value);
	else
		fprintf(out, ",\n  \"%s\": null", name);
}

static void text_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\n  \"%s\": \"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text >= ' ')
			fputc(*text, out);
	}
	fputc('"', out);
}

static void write_latency(FILE *out, const struct result *result)
{
	const struct latency *l = &result->latency;
	bool known = l->count;

	member(out, "latency_count", true, l->count);
	member(out, "min_ns", known, l->min);
	member(out, "p50_ns", known, l->p50);
	member(out, "p99_ns", known, l->p99);
	member(out, "p9999_ns", known, l->p9999);
	member(out, "max_ns", known, l->max);
	member(out, "recommended_tx_timestamp_timeout_ms", known,
	       recommended_timeout(result));
}

static void write_stats(FILE *out, const struct result *result)
{
	const struct nic_stats *a = &result->before, *b = &result->after;
	bool on = result->opts->stats;
	long long explained;
	bool known;

	member(out, "nic_timeouts", on && b->has_timeouts,
	       b->timeouts - a->timeouts);
	member(out, "nic_skipped", on && b->has_skipped,
	       b->skipped - a->skipped);
	member(out, "ts_stats_pkts", on && b->has_ts_stats,
	       b->ts_pkts - a->ts_pkts);
	member(out, "ts_stats_lost", on && b->has_ts_stats,
	       b->ts_lost - a->ts_lost);
	member(out, "ts_stats_err", on && b->has_ts_stats,
	       b->ts_err - a->ts_err);
	explained = explained_by_nic(result, &known);
	member(out, "explained_by_nic", known, explained);
}

static void write_members(FILE *out, const struct result *result)
{
	const struct options *opts = result->opts;
	const struct track *track = result->track;
	bool known;

	fprintf(out, "{\n  \"tool\": \"txts-probe\"");
	text_member(out, "interface", opts->ifname);
	text_member(out, "driver", result->driver);
	text_member(out, "bus", result->bus);
	text_member(out, "mode", mode_name(opts->mode));
	text_member(out, "transport", opts->udp ? "udp" : "ethernet");
	text_member(out, "hardware_stamps", result->tx_off ? "off" : "on");
	member(out, "gap_ns", true, opts->gap);
	member(out, "jitter_ns", true, opts->jitter);
	member(out, "timeout_ns", true, opts->timeout);
	member(out, "burst", opts->mode == MODE_BURST, opts->burst);
	member(out, "interrupted", true, result->interrupted);
	member(out, "duration_ns", true, result->duration);
	member(out, "sent", true, track->sent);
	member(out, "stamped", true, track->tally[PKT_STAMPED]);
	member(out, "late", true, track->tally[PKT_LATE]);
	member(out, "missing", true, track->tally[PKT_MISSING]);
	member(out, "software_only", opts->software,
	       track->tally[PKT_SOFTWARE]);
	member(out, "zero", true, track->tally[PKT_ZERO]);
	member(out, "dropped", true, track->tally[PKT_DROPPED]);
	member(out, "unexplained", true, track_remainder(track));
	member(out, "send_errors", true, track->send_errors);
	member(out, "duplicates", true, track->duplicates);
	member(out, "unknown", true, track->unknown);
	member(out, "not_increasing", true, track->backwards);
	member(out, "unreleased_bytes", true, track->unreleased);
	member(out, "reconfigured", opts->reconfigure, result->reconfigured);
	member(out, "reconfigure_errors", opts->reconfigure,
	       result->reconfigure_errors);
	member(out, "early", opts->launch, track->early);
	known = track->off_min <= track->off_max;
	member(out, "launch_to_stamp_min_ns", known, track->off_min);
	member(out, "launch_to_stamp_max_ns", known, track->off_max);
	write_latency(out, result);
	write_stats(out, result);
	fputs("\n}\n", out);
}

int write_json(const struct result *result)
{
	const char *path = result->opts->json;
	FILE *out;

	if (!path)
		return 0;
	if (!strcmp(path, "-")) {
		write_members(stdout, result);
		return 0;
	}
	out = fopen(path, "w");
	if (out) {
		write_members(out, result);
		if (!fclose(out))
			return 0;
	}
	fprintf(stderr, "txts-probe: write %s: %s\n", path, strerror(errno));
	return -1;
}
