/* SPDX-License-Identifier: GPL-2.0 */
/* What can happen during a life, and the lives it can happen in. */
#ifndef TXTS_KUNIT_EXPLORE_H
#define TXTS_KUNIT_EXPLORE_H

#include "unit.h"

/**
 * struct explore_event - something that happens between two accesses
 * @name: of the event
 * @happen: makes it happen
 * @software: it needs the slot locks to be free
 */
struct explore_event {
	const char *name;
	void (*happen)(struct unit *u);
	bool software;
};

/**
 * struct explore_script - the life that is disturbed
 * @name: of the script
 * @run: runs it; at most EXPLORE_ACCESSES accesses count
 */
struct explore_script {
	const char *name;
	void (*run)(struct unit *u);
};

#define EXPLORE_ACCESSES	60
#define EXPLORE_PAIRS		5	/* a case of pairs has so many */

/* Under a sanitizer, which costs a factor of ten, only each third event. */
#define EXPLORE_STRIDE		(IS_ENABLED(CONFIG_KASAN) ? 3 : 1)

/* events.c */
extern const struct explore_event explore_events[];
extern const unsigned int nr_explore_events;
extern const struct explore_script explore_scripts[];
extern const unsigned int nr_explore_scripts;

#endif /* TXTS_KUNIT_EXPLORE_H */
