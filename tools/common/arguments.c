// SPDX-License-Identifier: GPL-2.0
/* Numbers and times of a command line: taken as a whole, or refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

#define MAX_TIME	(600 * NSEC_PER_SEC)
#define TIME_ANY	"a time such as 250us (at most 600s)"
#define TIME_ABOVE	"a time such as 250us (not too short, at most 600s)"

int bad_argument(const char *option, const char *value, const char *want)
{
	fprintf(stderr, "%s: %s: \"%s\" is not %s\n",
		program_invocation_short_name, option, value, want);
	return -1;
}

int parse_number(const char *option, const char *value, unsigned int min,
		 unsigned int max, unsigned int *out)
{
	unsigned long number;
	char want[64];
	char *end;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (value[0] >= '0' && value[0] <= '9' && !*end && !errno &&
	    number >= min && number <= max) {
		*out = number;
		return 0;
	}
	snprintf(want, sizeof(want), "a number from %u to %u", min, max);
	return bad_argument(option, value, want);
}

int parse_time(const char *option, const char *value, long long min,
	       long long *out)
{
	static const struct {
		const char *name;
		long long ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", NSEC_PER_USEC },
		{ "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
		{ }
	};
	double number;
	unsigned int i;
	char *end;

	errno = 0;
	number = strtod(value, &end);
	if (value[0] < '0' || value[0] > '9' || errno)
		goto fail;
	for (i = 0; units[i].name; i++) {
		if (strcmp(end, units[i].name))
			continue;
		number *= units[i].ns;
		if (number < min || number > MAX_TIME)
			goto fail;
		*out = number;
		return 0;
	}
fail:
	return bad_argument(option, value, min ? TIME_ABOVE : TIME_ANY);
}
