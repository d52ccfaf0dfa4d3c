/* SPDX-License-Identifier: GPL-2.0 */
/* What the command lines of the tools have in common. */
#ifndef TXTS_TOOLS_ARGUMENTS_H
#define TXTS_TOOLS_ARGUMENTS_H

#define NSEC_PER_USEC	1000LL
#define NSEC_PER_MSEC	1000000LL
#define NSEC_PER_SEC	1000000000LL

/* Each returns 0, or -1 after it has said on stderr what is wrong. */
int bad_argument(const char *option, const char *value, const char *want);
int parse_number(const char *option, const char *value, unsigned int min,
		 unsigned int max, unsigned int *out);
int parse_time(const char *option, const char *value, long long min,
	       long long *out);

#endif /* TXTS_TOOLS_ARGUMENTS_H */
