// SPDX-License-Identifier: GPL-2.0
/*
 * Events between two register accesses.
 *
 * Hardware does what it wants at any access, also while a slot is locked.
 * What software on another CPU does has to wait for the lock there; here it
 * is put off to the first access, or end of a call, with no slot locked.
 */
#include "../internal.h"
#include "unit.h"

static bool unit_any_locked(struct unit *u)
{
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		if (raw_spin_is_locked(&u->txts.slots[i].lock))
			return true;
	return false;
}

static void unit_inject_now(struct unit *u)
{
	void (*event)(struct unit *u) = u->inject;

	if (!event || u->rf.count < u->inject_at)
		return;
	if (u->inject_software && unit_any_locked(u))
		return;
	u->inject = NULL;
	u->rf.before = NULL;
	event(u);
}

static void unit_before(struct regfile *rf, unsigned long k)
{
	unit_inject_now(container_of(rf, struct unit, rf));
}

/* Between calls: what had to wait for a lock and found no access since. */
void unit_inject_late(struct unit *u)
{
	if (u->inject && u->rf.count > u->inject_at)
		unit_inject_now(u);
}

/* @event happens before access @k from now on, once. */
void unit_inject(struct unit *u, unsigned long k,
		 void (*event)(struct unit *u), bool software)
{
	u->inject = event;
	u->inject_at = u->rf.count + k;
	u->inject_software = software;
	u->rf.before = unit_before;
}

bool unit_injected(const struct unit *u)
{
	return !u->inject;
}
