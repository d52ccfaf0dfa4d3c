/* SPDX-License-Identifier: GPL-2.0 */
/*
 * txts - Tx hardware timestamp tracker
 *
 * A tracker keeps the packets of one device that wait for their hardware
 * transmit timestamp. The driver supplies a few small callbacks that touch
 * its registers (struct txts_ops) and reports what happens to a frame; the
 * tracker owns slots, references, deadlines, stale values and statistics.
 *
 * Life of a slot
 * --------------
 *
 *   state       holds              left by
 *   FREE        nothing            txts_reserve()               -> RESERVED
 *   RESERVED    no reference yet   txts_commit()                -> ARMED
 *                                  txts_abort()                 -> FREE
 *   ARMED       the reference      txts_sent()                  -> SENT
 *                                  read out                     -> FREE
 *                                  flush, dropped, 5 s          -> QUARANTINE
 *   SENT        the reference      read out                     -> FREE
 *                                  deadline, flush              -> QUARANTINE
 *   READING     the reference      end of a read out that sleeps, or of the
 *                                  check of a suspect's stamp   -> as above
 *   QUARANTINE  nothing; the MAC   evidence that no stamp of the ended
 *               may still write    request can come any more    -> FREE
 *
 * Evidence is one of: the late stamp (the orphan) was read and thrown away;
 * the MAC holds no frame any more and a last look found nothing; the device
 * was reset. Without evidence the slot is handed out again one second after
 * the frame was SENT or dropped, and its next request is a suspect: its stamp
 * must not be older than the PHC at commit.
 *
 * Rules
 * -----
 *
 * - Reserve before the descriptors are built, commit after the last change to
 *   the skb and after the last mapping that can fail, then publish the buffer
 *   to ring cleaning and ring the doorbell. Abort is legal up to the commit.
 * - Keep the ticket in the driver's own Tx buffer, never in skb->cb. Every
 *   path that cleans the buffer calls txts_sent() or txts_dropped(); both
 *   clear the ticket.
 * - Read the stamp registers only in the callbacks, or while stopped.
 * - Every packet that asked ends as exactly one of: skipped, delivered, timed
 *   out, aborted, flushed, discarded. See enum txts_counter.
 *
 * Context
 * -------
 *
 *   txts_init, txts_destroy, txts_start, txts_stop, txts_flush_queue
 *                                        process, may sleep
 *   txts_reserve, txts_commit, txts_abort
 *                                        ndo_start_xmit and the like: softirq
 *                                        or process with BH off; never wait
 *   txts_sent                            softirq, or any with BH off; never
 *                                        waits
 *   txts_poll                            softirq or process; never waits
 *   everything else                      any, including hard IRQ; never wait
 *
 * See Documentation/networking/txts.rst for the concept and a driver guide.
 */
#ifndef _LINUX_TXTS_H
#define _LINUX_TXTS_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct dentry;
struct device;
struct ethtool_ts_stats;
struct sk_buff;
struct txts;
struct txts_pcpu;
struct txts_slot;

#define TXTS_MAX_SLOTS		64	/* one bit each in a u64 */
#define TXTS_MAX_TIMERS		4	/* clocks a stamp may be taken from */
#define TXTS_ALL_SLOTS		(~0ULL)	/* txts_irq(): cause names no slot */

/**
 * struct txts_ticket - names one request in one slot
 * @gen: generation of the slot when the request was reserved, 0: no request
 * @slot: index of the slot
 *
 * Lives in the driver's Tx buffer, all zero when the buffer has no request. A
 * ticket whose generation has passed is stale and does nothing.
 */
struct txts_ticket {
	u32 gen;
	u32 slot;
};

/**
 * enum txts_mac - what the MAC says about frames it has not sent yet
 * @TXTS_MAC_BUSY: may hold a frame, or cannot tell
 * @TXTS_MAC_IDLE: all frames whose descriptor is done have left
 * @TXTS_MAC_HELD: frames are held back (paused); time is no evidence now
 */
enum txts_mac {
	TXTS_MAC_BUSY,
	TXTS_MAC_IDLE,
	TXTS_MAC_HELD,
};

/**
 * struct txts_ops - what a driver supplies
 *
 * All raw values are 64 bit, in whatever unit the registers have, the register
 * read last in the upper half. Zero is never a stamp, nor is a value whose
 * upper half is all-ones, which is what a removed device reads. To tell that
 * and to compare with the value read before is the tracker's work: a callback
 * only reads.
 */
struct txts_ops {
	/**
	 * @ready: Return the mask of slots that hold a stamp not read yet.
	 * Any context including hard IRQ, may hold the raw lock of one slot,
	 * must not sleep. One register read, usually. If TXTS_SLEEPS is set it
	 * is not used; required otherwise, unless TXTS_PUSHED is set.
	 */
	u64 (*ready)(struct txts *txts);

	/**
	 * @read: Read the raw stamp of @slot. 0, or -EAGAIN: holds none.
	 * Under the raw lock of the slot, in any context including hard IRQ;
	 * at most 5 register reads. With TXTS_SLEEPS: no lock held, tracker's
	 * own thread, may sleep.
	 */
	int (*read)(struct txts *txts, unsigned int slot, u64 *raw);

	/**
	 * @peek: Optional, for hardware that can lose a ready bit to the
	 * acknowledge of another slot. Read @slot whose ready bit is clear and
	 * return a raw value that is not two halves of different stamps, new
	 * or old, though other slots may be acknowledged meanwhile; -EAGAIN
	 * if there is none. Called when a request is late. @pending is false
	 * if no request waits in the slot: then only the side effect (the
	 * acknowledge) counts. Also called by txts_start(), for values that
	 * were there before. Context as @read.
	 */
	int (*peek)(struct txts *txts, unsigned int slot, bool pending,
		    u64 *raw);

	/**
	 * @clean: Optional, with TXTS_POLLED. Make ring cleaning of @queue run
	 * soon (napi_schedule()), so that txts_sent() tells when to look.
	 * Called from txts_commit(), before the doorbell, no tracker lock
	 * held. Without it BH polls from commit on.
	 */
	void (*clean)(struct txts *txts, u16 queue);

	/**
	 * @convert: Convert @raw, taken from clock @timer, to the time that
	 * is reported, latency corrections included. 0, or an error: the
	 * stamp is discarded. Softirq or process (threaded interrupts on RT),
	 * interrupts on, no tracker lock held. Must take the lock that guards
	 * the clock, so that it does not overtake txts_clock_changed().
	 */
	int (*convert)(struct txts *txts, unsigned int timer, u64 raw,
		       ktime_t *stamp);

	/**
	 * @rearm: Optional. Acknowledge or unmask the interrupt after a
	 * drain; @ready is asked once more afterwards. Context as @ready, no
	 * lock held.
	 */
	void (*rearm)(struct txts *txts);

	/**
	 * @mac: Optional. Says whether frames that were SENT or dropped may
	 * still be in the MAC. Any context including hard IRQ, under the raw
	 * lock of a slot; must not sleep. Never called from xmit.
	 */
	enum txts_mac (*mac)(struct txts *txts);

	/**
	 * @phc: Optional. Read clock @timer, comparable with what @convert
	 * gives. Called from txts_commit() for a suspect only, no tracker
	 * lock held. 0 or an error. Without it a suspect's stamp is
	 * discarded.
	 */
	int (*phc)(struct txts *txts, unsigned int timer, ktime_t *now);

	/**
	 * @deliver: Optional. Give @stamp to an @owner that is not an skb;
	 * NULL: the request ended without one. Exactly one call for each such
	 * request for which txts_commit() returned true; softirq or process,
	 * no lock held.
	 */
	void (*deliver)(struct txts *txts, void *owner, const ktime_t *stamp);
};

/* struct txts_params: @flags */
#define TXTS_POLLED	BIT(0)	/* no interrupt tells that a stamp is there */
#define TXTS_SLEEPS	BIT(1)	/* @read sleeps: a bus or firmware call */
#define TXTS_PUSHED	BIT(2)	/* driver calls txts_complete() */

/**
 * struct txts_params - what txts_init() needs to know about the hardware
 * @dev: the bus device; names the tracker, its thread and its debugfs files
 * @ops: the callbacks
 * @slots: number of slots, 1 to TXTS_MAX_SLOTS
 * @flags: TXTS_POLLED, TXTS_SLEEPS, TXTS_PUSHED
 * @peek_slots: slots that @ops->peek must read in each drain in which they
 *	were not ready, or no further interrupt comes
 * @timeout_us: how long a request waits after SENT, in us; 0: 20 ms. Not
 *	above 5 s, the limit from commit.
 * @quarantine_ms: how long a slot waits for evidence after SENT or dropped
 *	before it is handed out to a suspect, in ms; 0: 1 s
 * @ptp_hold_ms: how long after a PTP event message asked for a stamp others
 *	stand back, in ms; 0: 4 s
 */
struct txts_params {
	struct device *dev;
	const struct txts_ops *ops;
	unsigned int slots;
	unsigned int flags;
	u64 peek_slots;
	u32 timeout_us;
	u32 quarantine_ms;
	u32 ptp_hold_ms;
};

/**
 * struct txts_request - what a driver asks for at xmit
 * @skb: the packet; NULL if @owner is used
 * @owner: another owner, handed to @ops->deliver
 * @launch: CLOCK_TAI time before which the frame does not leave, 0: none
 * @timeout_us: overrides the tracker's, in us; 0: do not
 * @queue: key for txts_flush_queue(), and what @ops->clean gets
 * @timer: which clock stamps it, below TXTS_MAX_TIMERS
 * @ptp: the driver knows that it is a PTP event message; those that an skb
 *	holds in the usual formats are recognised without it
 */
struct txts_request {
	struct sk_buff *skb;
	void *owner;
	ktime_t launch;
	u32 timeout_us;
	u16 queue;
	u8 timer;
	bool ptp;
};

/**
 * enum txts_counter - everything that is counted
 *
 * asked = requested + the skips; requested = delivered + timeout + aborted +
 * flushed + the discards + requests in flight. The rest stands apart.
 *
 * @TXTS_ASKED: packets for which txts_reserve() was called
 * @TXTS_REQUESTED: those that got a slot
 * @TXTS_SKIP_BUSY: no slot free
 * @TXTS_SKIP_THROTTLED: the budget for stamps is used up, or its socket does
 *	not keep up with what it receives
 * @TXTS_SKIP_PTP: the slot is kept for PTP event messages
 * @TXTS_SKIP_UNSUPPORTED: the tracker cannot serve such a request
 * @TXTS_SKIP_OFF: stamping off, or tracker stopped
 * @TXTS_DELIVERED: stamp handed over
 * @TXTS_TIMEOUT: deadline passed without stamp
 * @TXTS_ABORTED: given back before commit
 * @TXTS_FLUSHED: ended by stop, TX_OFF, reset, flush or a dropped frame
 * @TXTS_DISCARD_CLOCK: clock was set while it waited
 * @TXTS_DISCARD_CONVERT: @convert refused the raw value
 * @TXTS_DISCARD_SUSPECT: suspect on a device without @phc
 * @TXTS_ORPHAN: stamps that came for a request already ended
 * @TXTS_STALE_TICKET: reports about a request whose slot was reused
 * @TXTS_STALE_READ: reads that gave the value read before
 * @TXTS_INVALID_READ: reads that gave zero, or all-ones in the upper half
 * @TXTS_NOT_READY: attempts that found no stamp for a request that waits
 * @TXTS_SUSPECT: slots handed out without evidence
 * @TXTS_WEDGED: slots that went to quarantine 5 s after commit, never SENT
 * @TXTS_MISUSE: calls in a state that does not allow them
 * @TXTS_CALL_READY: calls of @ready
 * @TXTS_CALL_READ: calls of @read
 * @TXTS_CALL_PEEK: calls of @peek
 * @TXTS_NR_COUNTERS: number of counters
 */
enum txts_counter {
	TXTS_ASKED,
	TXTS_REQUESTED,
	TXTS_SKIP_BUSY,
	TXTS_SKIP_THROTTLED,
	TXTS_SKIP_PTP,
	TXTS_SKIP_UNSUPPORTED,
	TXTS_SKIP_OFF,
	TXTS_DELIVERED,
	TXTS_TIMEOUT,
	TXTS_ABORTED,
	TXTS_FLUSHED,
	TXTS_DISCARD_CLOCK,
	TXTS_DISCARD_CONVERT,
	TXTS_DISCARD_SUSPECT,
	TXTS_ORPHAN,
	TXTS_STALE_TICKET,
	TXTS_STALE_READ,
	TXTS_INVALID_READ,
	TXTS_NOT_READY,
	TXTS_SUSPECT,
	TXTS_WEDGED,
	TXTS_MISUSE,
	TXTS_CALL_READY,
	TXTS_CALL_READ,
	TXTS_CALL_PEEK,
	TXTS_NR_COUNTERS,
};

/**
 * struct txts - a tracker, embedded in the driver's private data
 *
 * Zeroed memory is a tracker that was never initialised: every call is refused
 * and does nothing. All members are private to lib/txts.
 */
struct txts {
	/* private: read-mostly */
	struct txts_slot *slots;
	const struct txts_ops *ops;
	struct txts_pcpu __percpu *pcpu;
	struct device *dev;
	struct kthread_worker *worker;
	struct dentry *debugfs;
	unsigned int nslots;
	unsigned int flags;
	u64 peek_slots;
	ktime_t timeout;
	ktime_t quarantine;
	ktime_t ptp_hold;
	bool running;
	bool enabled;
	bool link;
	bool irq_missed;
	u8 policy;
	atomic_t flushes;
	atomic_t epoch[TXTS_MAX_TIMERS];
	atomic64_t link_since;
	atomic64_t evidence_at;
	atomic64_t ptp_seen;
	atomic64_t throttled[2];

	/* private: the slot map, the only line that all xmit queues share */
	DECLARE_BITMAP(free, TXTS_MAX_SLOTS) ____cacheline_aligned_in_smp;
	DECLARE_BITMAP(quarantined, TXTS_MAX_SLOTS);

	/* private: ended requests on their way to delivery */
	struct llist_head ended ____cacheline_aligned_in_smp;
	struct llist_head ended_later;
	DECLARE_BITMAP(ptp, TXTS_MAX_SLOTS);
	DECLARE_BITMAP(checks, TXTS_MAX_SLOTS);
	DECLARE_BITMAP(due, TXTS_MAX_SLOTS);
	unsigned long events;
	atomic_t readouts;
	atomic64_t bh_queued;
	struct work_struct bh_work;
	struct work_struct wq_work;
	struct kthread_work aux_work;
};

int txts_init(struct txts *txts, const struct txts_params *params);
void txts_destroy(struct txts *txts);
int txts_start(struct txts *txts);
void txts_stop(struct txts *txts);
void txts_flush(struct txts *txts);
void txts_flush_queue(struct txts *txts, u16 queue);
void txts_hw_reset(struct txts *txts);
void txts_enable(struct txts *txts, bool on);
void txts_link(struct txts *txts, bool up);
void txts_clock_changed(struct txts *txts, unsigned int timer);

int txts_reserve(struct txts *txts, const struct txts_request *request,
		 struct txts_ticket *ticket);

void txts_irq(struct txts *txts, u64 slots);
void txts_poll(struct txts *txts);
void txts_complete(struct txts *txts, unsigned int slot, u64 raw);

u64 txts_read_counter(struct txts *txts, enum txts_counter counter);
u64 txts_skipped(struct txts *txts);
u64 txts_refused(struct txts *txts);
void txts_get_ts_stats(struct txts *txts, struct ethtool_ts_stats *stats);

/**
 * txts_timeouts - requests whose deadline passed without stamp
 * @txts: the tracker
 *
 * Context: any.
 *
 * Return: the counter TXTS_TIMEOUT.
 */
static inline u64 txts_timeouts(struct txts *txts)
{
	return txts_read_counter(txts, TXTS_TIMEOUT);
}

bool __txts_commit(struct txts *txts, const struct txts_ticket *ticket);
void __txts_abort(struct txts *txts, struct txts_ticket *ticket);
void __txts_sent(struct txts *txts, struct txts_ticket *ticket);
void __txts_dropped(struct txts *txts, struct txts_ticket *ticket);

/**
 * txts_commit - the frame is about to be handed to the device
 * @txts: the tracker
 * @ticket: from txts_reserve()
 *
 * After the driver's last change to the skb, after the last mapping that can
 * fail and after skb_tx_timestamp(), before the buffer is published to ring
 * cleaning. Takes a reference on the skb and cannot fail; from here on the
 * skb is shared and the driver must not change it. Costs one branch
 * without request.
 *
 * Context: as txts_reserve(). The caller holds no lock that @phc takes.
 *
 * Return: true if the tracker holds the request now. false: it was flushed
 * since txts_reserve() and counted so, no reference was taken and @deliver
 * will not be called; the frame goes out all the same and the ticket stays
 * valid for txts_sent(). Drivers with skbs may ignore the result.
 */
static inline bool txts_commit(struct txts *txts,
			       const struct txts_ticket *ticket)
{
	return unlikely(ticket->gen) && __txts_commit(txts, ticket);
}

/**
 * txts_abort - give a reserved slot back
 * @txts: the tracker
 * @ticket: from txts_reserve(); cleared
 *
 * For every exit of xmit between txts_reserve() and txts_commit(). No
 * reference was taken, so none is dropped. Does nothing without request.
 *
 * Context: as txts_reserve(); never waits.
 */
static inline void txts_abort(struct txts *txts, struct txts_ticket *ticket)
{
	if (unlikely(ticket->gen))
		__txts_abort(txts, ticket);
}

/**
 * txts_sent - ring cleaning found the descriptors of the frame done
 * @txts: the tracker
 * @ticket: from the Tx buffer; cleared
 *
 * Starts the deadline. May come after the stamp was delivered, and may deliver
 * the stamp itself where no interrupt does. Costs one branch without request.
 *
 * Context: softirq (NAPI), or any with BH off; delivers only where that is
 * legal. Never waits. The caller holds no lock that @convert or @deliver take.
 */
static inline void txts_sent(struct txts *txts, struct txts_ticket *ticket)
{
	if (unlikely(ticket->gen))
		__txts_sent(txts, ticket);
}

/**
 * txts_dropped - ring cleaning freed the buffer, descriptors not done
 * @txts: the tracker
 * @ticket: from the Tx buffer; cleared
 *
 * Ends the request as flushed if it still waits. Legal after txts_stop().
 * Costs one branch without request.
 *
 * Context: any. Never waits.
 */
static inline void txts_dropped(struct txts *txts, struct txts_ticket *ticket)
{
	if (unlikely(ticket->gen))
		__txts_dropped(txts, ticket);
}

#endif /* _LINUX_TXTS_H */
