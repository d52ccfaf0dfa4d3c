/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Tx stamp unit made of registers, the driver in front of it, and the
 * oracle that checks what became of every packet.
 */
#ifndef TXTS_KUNIT_UNIT_H
#define TXTS_KUNIT_UNIT_H

#include <kunit/test.h>
#include <linux/skbuff.h>
#include <linux/txts.h>

#include "stamp_unit.h"

#define UNIT_PKTS	256
/* 1 more in the raw value changes both words, so that a torn read shows. */
#define RAW_STEP	0x0000000100000001ULL

struct unit;

/**
 * struct model - a Tx stamp unit and a driver's code for it
 * @name: of the model
 * @slots: of struct stamp_unit
 * @flags: of struct txts_params
 * @peek_slots: of struct txts_params
 * @timeout_us: of struct txts_params
 * @quarantine_ms: of struct txts_params
 * @irq: of struct stamp_unit
 * @read_ms: how long the read out of a slot sleeps, for slots 0-3
 * @reads_per_stamp: most registers read for a stamp that is there, ISR apart
 * @effects: of struct stamp_unit
 * @nr_effects: of struct stamp_unit
 * @ops: the driver's callbacks
 * @isr: the driver's interrupt handler
 */
struct model {
	const char *name;
	unsigned int slots;
	unsigned int flags;
	u64 peek_slots;
	u32 timeout_us;
	u32 quarantine_ms;
	enum unit_irq_kind irq;
	u8 read_ms[4];
	unsigned int reads_per_stamp;
	const struct rf_effect *effects;
	unsigned int nr_effects;
	const struct txts_ops *ops;
	void (*isr)(struct unit *u);
};

/* models.c */
enum model_id {
	MODEL_82576,
	MODEL_82580,
	MODEL_82580_REARM,
	MODEL_I210,
	MODEL_I225,
	MODEL_64,
	MODEL_MAILBOX,
	MODEL_PUSH,
	NR_MODELS,
};

extern const struct model models[NR_MODELS];
void model_param_name(const struct model *model, char *desc);
void model_id_name(const enum model_id *id, char *desc);

/**
 * struct pkt - a packet that asks for a stamp
 * @u: where it was sent
 * @skb: NULL if the owner is this structure itself
 * @id: index; also the id that the socket sees
 * @ticket: as the driver keeps it in its Tx buffer
 * @slot: that it got
 * @asked: it was given to txts_reserve()
 * @committed: and to txts_commit(), which took it
 * @on_ring: its descriptors were handed to the device, asking for a stamp
 * @in_mac: SENT, but has not left yet
 * @vanished: a reset took the frame away
 * @raw: what the MAC latched for it, 0: nothing
 * @truth: the stamp that belongs to it
 * @stamps: how many stamps came
 * @ends: how often the owner was told that it has ended
 * @got: the stamp that came
 * @timer: clock that stamps it
 * @queue: it was sent on
 */
struct pkt {
	struct unit *u;
	struct sk_buff *skb;
	unsigned int id;
	struct txts_ticket ticket;
	unsigned int slot;
	bool asked;
	bool committed;
	bool on_ring;
	bool in_mac;
	bool vanished;
	u64 raw;
	ktime_t truth;
	unsigned int stamps;
	unsigned int ends;
	ktime_t got;
	u8 timer;
	u16 queue;
};

struct unit {
	struct txts txts;
	struct regfile rf;
	const struct model *model;
	struct device *dev;
	struct socket *sock;

	/* the device's clock */
	raw_spinlock_t clock_lock;	/* raw: events take it anywhere */
	u64 now;
	s64 offset[TXTS_MAX_TIMERS];

	/* the interrupt */
	bool irq_pending;
	bool irq_off;		/* no interrupt is delivered */
	unsigned int lose_irqs;	/* so many are lost */
	unsigned int irqs;	/* delivered */
	bool in_isr;

	/* what the callbacks are made to do */
	int read_error;
	int convert_error;
	bool no_phc;
	bool ordinary;		/* packets are no PTP event messages */
	enum txts_mac mac;
	bool mac_is_honest;	/* busy as long as a frame is in it */
	unsigned int mac_calls;
	unsigned int phc_calls;
	unsigned int rearms;
	unsigned int reading;	/* read outs that sleep now */
	void (*in_convert)(struct unit *u);
	void (*in_read)(struct unit *u, unsigned int slot);
	void (*in_rearm)(struct unit *u);
	void (*on_notify)(struct unit *u);
	void *arg;

	/* what a test makes happen before an access */
	void (*inject)(struct unit *u);
	unsigned long inject_at;
	bool inject_software;

	/* what the oracle looks at */
	const char *violation;
	char verdict[160];
	u64 expect_misuse;
	u64 asks;
	unsigned int lost;	/* captures while the register was locked */
	unsigned int hardirq_reads;
	u64 old_stamps;		/* of packets that were recycled */
	unsigned int nr_pkts;
	struct pkt pkts[UNIT_PKTS];
};

/* unit.c: life, hardware, clock */
struct unit *unit_new(struct kunit *test, enum model_id model);
struct unit *unit_new_model(struct kunit *test, const struct model *model);
void unit_free(struct kunit *test, struct unit *u);
void unit_set_level(u8 level);
void unit_violated(struct unit *u, const char *what);
void unit_work_us(u64 us);
u64 unit_advance(struct unit *u, u64 steps);
ktime_t unit_convert(struct unit *u, unsigned int timer, u64 raw);
void unit_clock_step(struct unit *u, unsigned int timer, s64 step);
bool unit_capture(struct unit *u, unsigned int slot, u64 raw);
void unit_hw_reset(struct unit *u);
void unit_remove(struct unit *u);
bool unit_locked(struct unit *u);

/* irq.c: interrupt context */
void unit_in_hardirq(void (*fn)(void *arg), void *arg);
void unit_raise(struct unit *u);
void unit_pump(struct unit *u);
void unit_irq(struct unit *u);

/* inject.c: events between two accesses */
void unit_inject(struct unit *u, unsigned long k,
		 void (*event)(struct unit *u), bool software);
bool unit_injected(const struct unit *u);
void unit_inject_late(struct unit *u);

/* driver.c: packets */
struct pkt *unit_pkt(struct unit *u);
struct pkt *unit_owner_pkt(struct unit *u);
int unit_reserve(struct unit *u, struct pkt *pkt);
int unit_reserve_as(struct unit *u, struct pkt *pkt,
		    struct txts_request *request);
void unit_commit(struct unit *u, struct pkt *pkt);
int unit_xmit(struct unit *u, struct pkt *pkt);
struct pkt *unit_send(struct unit *u);
void unit_wire(struct unit *u, struct pkt *pkt);
void unit_sent(struct unit *u, struct pkt *pkt);
void unit_dropped(struct unit *u, struct pkt *pkt);
void unit_abort(struct unit *u, struct pkt *pkt);
void unit_collect(struct unit *u);
unsigned int unit_refs(struct unit *u, struct pkt *pkt);
struct pkt *unit_send_or_ask(struct unit *u);
void unit_serve_all(struct unit *u);

/* oracle.c */
u64 unit_count(struct unit *u, enum txts_counter counter);
u64 unit_skips(struct unit *u);
s64 unit_in_flight(struct unit *u);
void unit_sleep_us(struct unit *u, u64 us);
bool unit_wait(struct unit *u, u64 us);
struct pkt *unit_timed_out(struct kunit *test, struct unit *u);
const char *unit_recycle(struct unit *u);
const char *unit_verdict(struct unit *u);
void unit_check(struct kunit *test, struct unit *u);
void unit_finish(struct kunit *test, struct unit *u);

#define EXPECT_COUNT(test, u, counter, n)				\
	KUNIT_EXPECT_EQ(test, (u64)(n), unit_count(u, counter))

#define EXPECT_STAMP(test, pkt)						\
do {									\
	unit_collect((pkt)->u);						\
	KUNIT_EXPECT_EQ(test, 1, (pkt)->stamps);			\
	KUNIT_EXPECT_NE(test, 0, (pkt)->raw);				\
	KUNIT_EXPECT_EQ(test, (pkt)->truth, (pkt)->got);		\
} while (0)

#define EXPECT_NO_STAMP(test, pkt)					\
do {									\
	unit_collect((pkt)->u);						\
	KUNIT_EXPECT_EQ(test, 0, (pkt)->stamps);			\
} while (0)

#endif /* TXTS_KUNIT_UNIT_H */
