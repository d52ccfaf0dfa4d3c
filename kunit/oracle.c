// SPDX-License-Identifier: GPL-2.0
/* What must be true of every run, whatever happened in it. */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/skbuff.h>

#include "../internal.h"
#include "unit.h"

#define PUMP_US		50	/* how late a masked interrupt is taken */
#define WATCH_US	1000	/* the same if it came while we slept */

u64 unit_count(struct unit *u, enum txts_counter counter)
{
	return txts_read_counter(&u->txts, counter);
}

static u64 unit_sum(struct unit *u, enum txts_counter first,
		    enum txts_counter last)
{
	u64 sum = 0;

	for (; first <= last; first++)
		sum += unit_count(u, first);
	return sum;
}

u64 unit_skips(struct unit *u)
{
	return unit_sum(u, TXTS_SKIP_BUSY, TXTS_SKIP_OFF);
}

s64 unit_in_flight(struct unit *u)
{
	return unit_count(u, TXTS_REQUESTED) -
	       unit_sum(u, TXTS_DELIVERED, TXTS_DISCARD_SUSPECT);
}

void unit_sleep_us(struct unit *u, u64 us)
{
	u64 step;

	unit_pump(u);
	while (us) {
		step = us;
		if (u->irq_pending)
			step = min_t(u64, us, PUMP_US);
		else if (u->rf.before)
			step = min_t(u64, us, WATCH_US);
		usleep_range(step, step + 1);
		us -= step;
		unit_pump(u);
	}
}

/* Waits until no request is in flight any more, for @us at most. */
bool unit_wait(struct unit *u, u64 us)
{
	u64 step = PUMP_US;

	unit_pump(u);
	while (unit_in_flight(u) > 0) {
		if (!us)
			return false;
		step = min(us, step);
		unit_sleep_us(u, step);
		us -= step;
		/* Work that backs off is waited for the same way. */
		if (step < 5 * USEC_PER_MSEC)
			step += step / 4;
	}
	/* Counted first, told then, perhaps by another CPU just now. */
	if (IS_ENABLED(CONFIG_SMP) && u->txts.slots)
		txts_flush_stages(&u->txts);
	return true;
}

/* A frame in slot 0 whose request timed out. */
struct pkt *unit_timed_out(struct kunit *test, struct unit *u)
{
	struct pkt *pkt = unit_send(u);

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	unit_sent(u, pkt);
	KUNIT_ASSERT_TRUE(test, unit_wait(u, 600 * USEC_PER_MSEC));
	EXPECT_COUNT(test, u, TXTS_TIMEOUT, 1);
	KUNIT_ASSERT_EQ(test, TXTS_QUARANTINE,
			u->txts.slots[pkt->slot].state);
	return pkt;
}

__printf(2, 3)
static const char *unit_wrong(struct unit *u, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(u->verdict, sizeof(u->verdict), fmt, args);
	va_end(args);
	return u->verdict;
}

static const char *unit_check_pkt(struct unit *u, struct pkt *pkt)
{
	if (pkt->stamps > 1)
		return unit_wrong(u, "packet %u got %u stamps", pkt->id,
				  pkt->stamps);
	if (pkt->stamps && !pkt->raw)
		return unit_wrong(u, "packet %u got a stamp, none was taken",
				  pkt->id);
	if (pkt->stamps && !pkt->committed)
		return unit_wrong(u, "packet %u got a stamp, was not taken",
				  pkt->id);
	if (pkt->stamps && pkt->got != pkt->truth)
		return unit_wrong(u, "packet %u got %lld, truth is %lld",
				  pkt->id, pkt->got, pkt->truth);
	if (pkt->skb && unit_refs(u, pkt) != 1)
		return unit_wrong(u, "packet %u has %u references, not 1",
				  pkt->id, unit_refs(u, pkt));
	if (!pkt->skb && pkt->ends > pkt->committed)
		return unit_wrong(u, "owner %u was told %u times", pkt->id,
				  pkt->ends);
	return NULL;
}

static const char *unit_check_sums(struct unit *u)
{
	u64 stamps = u->old_stamps;
	unsigned int i;

	if (unit_count(u, TXTS_ASKED) != u->asks)
		return unit_wrong(u, "asked is %llu, not %llu",
				  unit_count(u, TXTS_ASKED), u->asks);
	if (u->asks != unit_count(u, TXTS_REQUESTED) + unit_skips(u))
		return unit_wrong(u, "asked %llu is not requested + skipped",
				  u->asks);
	if (unit_in_flight(u))
		return unit_wrong(u, "%lld requests without outcome",
				  unit_in_flight(u));
	for (i = 0; i < u->nr_pkts; i++)
		stamps += u->pkts[i].stamps;
	if (stamps != unit_count(u, TXTS_DELIVERED))
		return unit_wrong(u, "%llu stamps came, delivered is %llu",
				  stamps, unit_count(u, TXTS_DELIVERED));
	if (unit_count(u, TXTS_MISUSE) != u->expect_misuse)
		return unit_wrong(u, "misuse is %llu, not %llu",
				  unit_count(u, TXTS_MISUSE),
				  u->expect_misuse);
	if (txts_skipped(&u->txts) != unit_skips(u))
		return unit_wrong(u, "txts_skipped() is not the sum");
	return NULL;
}

/* Stopped: no timer armed, nothing queued, and no register is read again. */
static const char *unit_check_stopped(struct unit *u)
{
	unsigned long accesses = u->rf.count;
	unsigned int i;

	for (i = 0; i < u->model->slots; i++)
		if (hrtimer_active(&u->txts.slots[i].timer))
			return unit_wrong(u, "timer of slot %u is armed", i);
	usleep_range(100, 101);
	if (u->rf.count != accesses)
		return unit_wrong(u, "a register was read while stopped");
	if (u->reading)
		return unit_wrong(u, "a read out sleeps while stopped");
	return NULL;
}

/* After a reset every slot can be had, if the policy lets it. */
static const char *unit_check_slots(struct unit *u)
{
	struct txts_request request = { .owner = u };
	struct txts_ticket tickets[TXTS_MAX_SLOTS] = {};
	unsigned int i, got = 0;

	unit_hw_reset(u);
	if (txts_start(&u->txts))
		return unit_wrong(u, "start failed");
	txts_enable(&u->txts, true);
	WRITE_ONCE(u->txts.policy, TXTS_POLICY_INLINE);
	local_bh_disable();
	for (i = 0; i < u->model->slots; i++)
		if (txts_reserve(&u->txts, &request, &tickets[i]) >= 0)
			got++;
	for (i = 0; i < u->model->slots; i++)
		txts_abort(&u->txts, &tickets[i]);
	local_bh_enable();
	txts_stop(&u->txts);
	if (got != u->model->slots)
		return unit_wrong(u, "only %u of %u slots came back", got,
				  u->model->slots);
	return NULL;
}

/* With nothing in flight: checks all packets and makes room for others. */
const char *unit_recycle(struct unit *u)
{
	const char *wrong = NULL;
	unsigned int i;

	unit_collect(u);
	for (i = 0; !wrong && i < u->nr_pkts; i++)
		wrong = unit_check_pkt(u, &u->pkts[i]);
	for (i = 0; i < u->nr_pkts; i++) {
		u->old_stamps += u->pkts[i].stamps;
		kfree_skb(u->pkts[i].skb);
	}
	memset(u->pkts, 0, u->nr_pkts * sizeof(u->pkts[0]));
	u->nr_pkts = 0;
	return wrong ?: u->violation;
}

/* NULL if all is well, else what is wrong. Leaves the unit stopped. */
const char *unit_verdict(struct unit *u)
{
	const char *wrong = NULL;
	unsigned int i;

	u->rf.before = NULL;
	u->on_notify = NULL;
	u->irq_off = false;
	u->rf.removed = false;
	unit_pump(u);
	txts_stop(&u->txts);
	unit_collect(u);
	if (u->violation)
		return u->violation;
	for (i = 0; !wrong && i < u->nr_pkts; i++)
		wrong = unit_check_pkt(u, &u->pkts[i]);
	return wrong ?: unit_check_sums(u) ?: unit_check_stopped(u) ?:
	       unit_check_slots(u);
}

/* The end of a run: every request must end by itself, nothing be wrong. */
void unit_check(struct kunit *test, struct unit *u)
{
	const char *wrong;
	unsigned int i;

	u->rf.before = NULL;
	KUNIT_EXPECT_TRUE_MSG(test, unit_wait(u, 6 * USEC_PER_SEC),
			      "a request is in flight after 6 s");
	wrong = unit_verdict(u);
	if (wrong)
		KUNIT_FAIL(test, "oracle: %s", wrong);
	for (i = 0; i < u->nr_pkts; i++)
		if (!u->pkts[i].skb && u->pkts[i].committed)
			KUNIT_EXPECT_EQ(test, 1, u->pkts[i].ends);
	unit_free(test, u);
}

/* The same, and a stopped tracker must stay silent beyond all its limits. */
void unit_finish(struct kunit *test, struct unit *u)
{
	unsigned long accesses;

	u->rf.before = NULL;
	unit_wait(u, 6 * USEC_PER_SEC);
	txts_stop(&u->txts);
	accesses = u->rf.count;
	/* Where time is not free, one deadline has to be enough. */
	msleep(IS_ENABLED(CONFIG_UML) ? 6 * MSEC_PER_SEC : 50);
	KUNIT_EXPECT_EQ(test, accesses, u->rf.count);
	unit_check(test, u);
}
