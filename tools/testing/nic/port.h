/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the model share: one port, and what is in it. */
#ifndef TXTS_NIC_PORT_H
#define TXTS_NIC_PORT_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "nic.h"
#include "regs.h"
#include "stamp_unit.h"

#define NIC_QUEUES		8	/* of each direction, at most */
#define NIC_CLOCKS		2
#define NIC_SLOTS		4
#define NIC_NVM_WORDS		512
#define NIC_PHY_PAGES		8
#define NIC_FRAME_MAX		9728	/* on the wire, without FCS */
#define NIC_PACKET_MAX		(66 * 1024)	/* before segmentation */
#define NIC_MAC_PACKETS		8	/* fetched, not yet gone */
#define NIC_GATES		4	/* queues that can have a launch time */
#define NIC_GATE_PACKETS	4	/* as many, of each gated queue */
#define NIC_IN_FLIGHT		16	/* on the wire to this port */
#define NIC_TRACE		4096

/* How a kind's clock counts. */
enum nic_systim {
	NIC_SYSTIM_SPLIT,	/* seconds high, ns low */
	NIC_SYSTIM_40BIT,	/* ns, 40 bit */
};

/* What a launch time in a descriptor means. */
enum nic_launch {
	NIC_LAUNCH_NONE,
	NIC_LAUNCH_SECOND,	/* within a second, 32 ns; queues 0 and 1 */
	NIC_LAUNCH_CYCLE,	/* within the cycle of gates, ns */
};

/**
 * struct nic_kind - one product
 * @name: for fronts
 * @device: PCI device id
 * @revision: PCI revision
 * @phy_id: as registers 2 and 3 of the PHY give it
 * @queues: of each direction
 * @vectors: of MSI-X
 * @clocks: number of clocks a stamp may be taken from
 * @systim: how they count
 * @adj_mul: TIMINCA / 2^32 * @adj_mul / 2^@adj_shift is what each ns gains
 * @adj_shift: see @adj_mul
 * @rx_pads: words of zeros before an Rx stamp; else it is clock 1's
 * @eecd: read from EECD
 * @launch: what a launch time means
 * @stamps: the Tx stamp unit
 */
struct nic_kind {
	const char *name;
	u16 device;
	u8 revision;
	u32 phy_id;
	unsigned int queues;
	unsigned int vectors;
	unsigned int clocks;
	enum nic_systim systim;
	unsigned int adj_mul;
	unsigned int adj_shift;
	bool rx_pads;
	u32 eecd;
	enum nic_launch launch;
	struct stamp_unit stamps;
};

/* debugfs: counters. What a knob did is counted on frames with a stamp bit. */
enum nic_count {
	NIC_TX_FRAMES,		/* put on the wire */
	NIC_TX_HELD,		/* that waited for PAUSE or the link to end */
	NIC_TX_BAD,		/* descriptors that cannot be served */
	NIC_TX_LAUNCHED,	/* that waited for their launch time or gate */
	NIC_RX_FRAMES,		/* written to memory */
	NIC_RX_FILTERED,	/* for another address, or receive is off */
	NIC_RX_NO_BUFFER,
	NIC_STAMP_ASKED,	/* frames whose descriptor had the stamp bit */
	NIC_STAMP_OFF,		/* of these, while stamping was off */
	NIC_STAMP_LATCHED,
	NIC_STAMP_LOCKED,	/* not latched: the register was not read yet */
	NIC_STAMP_LOST,
	NIC_STAMP_STALE,
	NIC_STAMP_DUPLICATED,
	NIC_STAMP_DELAYED,
	NIC_STAMP_KILLED,	/* by an adjustment of the frequency */
	NIC_STAMP_RESET,	/* by a reset of the device */
	NIC_COLLATERAL,		/* valid stamps cleared by another's read */
	NIC_IRQ_LOST,
	NIC_IRQ_DUPLICATED,
	NIC_IRQ_STUCK,
	NIC_IRQS,
	NIC_NR_COUNTS,
};

struct nic_clock {
	u64 ns;
	u32 frac;		/* 2^-32 ns */
	u64 at;			/* when that was so */
	s64 rate;		/* gain per ns, 2^-44 */
	u32 latched[2];		/* low and high word of SYSTIM */
	bool by_residue;	/* they were latched by a read of SYSTIMR */
	u32 set_low;		/* written to SYSTIML */
};

/* What a data descriptor's packet needs, from its context descriptor. */
struct nic_offload {
	u32 cmd;
	u32 olinfo;
	u32 vlan_macip;
	u32 tucmd;
	u32 mss_l4len;
	u32 launch;
};

struct nic_packet {
	u8 *data;
	unsigned int len;
	unsigned int sent;	/* of the payload, by segmentation */
	unsigned int segments;
	struct nic_offload o;
	u64 ready;		/* may leave from then on */
	u64 launch;		/* not before the PHC shows that */
	bool held;
};

/* Packets of a queue that were fetched and wait for their launch time. */
struct nic_gate {
	struct nic_packet packet[NIC_GATE_PACKETS];
	unsigned int first;
	unsigned int count;
	u64 cycle;		/* begin of that of the newest packet */
	bool used;		/* which has a packet */
};

struct nic_arrival {
	u8 *data;
	unsigned int len;
	u64 stamp_at;		/* its start reached the port */
	u64 due;		/* its end did */
};

/* A stamp on its way to the registers. */
struct nic_pending {
	bool used;
	bool duplicate;
	u8 slot;
	u64 raw;
	u64 due;
};

struct nic_trace {
	u64 at;
	u32 offset;
	u32 value;
	u8 op;
	u8 ctx;
	u8 cpu;
	bool irqs_off;
};

struct nic {
	const struct nic_kind *kind;
	unsigned int port;
	const struct nic_front_ops *ops;
	void *front;
	struct nic *peer;
	struct dentry *debugfs;

	/* Both ports of a wire take one lock; @own_lock before they meet. */
	raw_spinlock_t own_lock;
	raw_spinlock_t *lock;

	u8 config[NIC_CONFIG_SIZE];
	u32 msix[NIC_MAX_VECTORS * NIC_MSIX_ENTRY / 4];
	u32 *reg;
	u16 nvm[NIC_NVM_WORDS];
	u16 phy[NIC_PHY_PAGES][32];
	bool smbi;

	struct nic_clock clock[NIC_CLOCKS];
	struct regfile stamps;
	u32 tsicr;		/* causes other than the Tx stamp */
	struct nic_pending pending[2 * NIC_SLOTS];
	u64 last_raw[NIC_SLOTS];
	u64 stuck_until;
	struct hrtimer stamp_timer;

	/* interrupts */
	u32 waiting;		/* vectors that are masked at the front */
	u64 irq_free[NIC_MAX_VECTORS];	/* not again before then */
	struct hrtimer irq_timer;

	/* Tx */
	u64 doorbell[NIC_QUEUES];
	struct nic_offload context[NIC_QUEUES];
	struct nic_packet mac[NIC_MAC_PACKETS];
	unsigned int mac_first;
	unsigned int mac_count;
	struct nic_gate gate[NIC_GATES];
	unsigned int next_queue;
	u64 wire_free;
	bool link;
	bool paused;
	bool gone;
	struct hrtimer tx_timer;

	/* Rx */
	struct nic_arrival arrival[NIC_IN_FLIGHT];
	unsigned int arrival_first;
	unsigned int arrival_count;
	struct hrtimer rx_timer;

	u64 count[NIC_NR_COUNTS];
	u32 random;
	struct nic_trace *trace;
	unsigned long traced;
};

static inline u32 *nic_reg(struct nic *nic, u32 offset)
{
	return &nic->reg[offset / 4];
}

static inline u64 nic_now(void)
{
	return ktime_get_ns();
}

static inline void nic_timer_init(struct hrtimer *timer,
				  enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef NIC_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer->function = fn;
#endif
}

/* A timer goes off at @at, or earlier if it was to. */
static inline void nic_timer_at(struct hrtimer *timer, u64 at)
{
	if (hrtimer_is_queued(timer) &&
	    ktime_to_ns(hrtimer_get_expires(timer)) <= at)
		return;
	hrtimer_start(timer, ns_to_ktime(at), HRTIMER_MODE_ABS_HARD);
}

/* config.c */
void nic_config_init(struct nic *nic);

/* kinds.c */
extern const struct nic_kind nic_kinds[];

/* port.c */
void nic_set_link(struct nic *nic, bool up);
void nic_set_paused(struct nic *nic, bool paused);
void nic_set_gone(struct nic *nic, bool gone);
void nic_for_each(void (*fn)(struct nic *nic));

/* board.c: NVM, PHY, semaphores */
void nic_board_init(struct nic *nic);
void nic_board_reset(struct nic *nic);
bool nic_board_read(struct nic *nic, u32 offset, u32 *value);
bool nic_board_write(struct nic *nic, u32 offset, u32 value);

/* clock.c */
void nic_clock_init(struct nic *nic);
void nic_clock_tune(struct nic *nic);
u64 nic_clock_ns(struct nic *nic);
u64 nic_clock_at(struct nic *nic, u64 at);
u64 nic_clock_when(struct nic *nic, u64 ns);
u64 nic_clock_raw(struct nic *nic, unsigned int clock, u64 at);
bool nic_clock_read(struct nic *nic, u32 offset, u32 *value);
bool nic_clock_write(struct nic *nic, u32 offset, u32 value);

/* intr.c */
void nic_cause(struct nic *nic, u32 vectors);
void nic_cause_queue(struct nic *nic, unsigned int queue, bool tx);
void nic_cause_other(struct nic *nic, u32 icr);
bool nic_intr_read(struct nic *nic, u32 offset, u32 *value);
bool nic_intr_write(struct nic *nic, u32 offset, u32 value);
enum hrtimer_restart nic_intr_timer(struct hrtimer *timer);

/* stamps.c */
void nic_stamp(struct nic *nic, const struct nic_packet *packet, u64 at);
void nic_stamp_drop(struct nic *nic, enum nic_count why);
bool nic_stamp_read(struct nic *nic, u32 offset, u32 *value);
bool nic_stamp_write(struct nic *nic, u32 offset, u32 value);
enum hrtimer_restart nic_stamp_timer(struct hrtimer *timer);

/* tx.c */
void nic_tx_doorbell(struct nic *nic, unsigned int queue);
void nic_tx_kick(struct nic *nic);
void nic_tx_reset(struct nic *nic);
enum hrtimer_restart nic_tx_timer(struct hrtimer *timer);

/* launch.c */
bool nic_launch_queue(struct nic *nic, unsigned int queue);
struct nic_packet *nic_launch_room(struct nic *nic, unsigned int queue);
void nic_launch_enter(struct nic *nic, unsigned int queue);
bool nic_launch(struct nic *nic, struct nic_packet *to, u64 now, u64 *at);
void nic_launch_reset(struct nic *nic);
bool nic_launch_alloc(struct nic *nic);
void nic_launch_free(struct nic *nic);

/* segment.c */
unsigned int nic_segment(struct nic_packet *packet, u8 *frame);

/* rx.c */
u8 *nic_rx_slot(struct nic *nic);
void nic_rx_arrive(struct nic *nic, unsigned int len, u64 stamp_at, u64 due);
enum hrtimer_restart nic_rx_timer(struct hrtimer *timer);

/* knobs.c */
extern unsigned int nic_mmio_read_ns;
extern unsigned int nic_mmio_write_ns;
extern unsigned int nic_stamp_delay_us;
extern bool nic_stamp_tail;
extern unsigned int nic_lose_every;
extern unsigned int nic_lose_ppm;
extern unsigned int nic_duplicate_every;
extern unsigned int nic_stale_every;
extern unsigned int nic_irq_lose_every;
extern unsigned int nic_irq_duplicate_every;
extern unsigned int nic_irq_stuck_every;
extern unsigned int nic_collateral_every;
extern bool nic_adjust_kills;
extern int nic_pair_ppb;
extern bool nic_trace_on;
extern unsigned int nic_speed;
bool nic_every(const struct nic *nic, enum nic_count count, unsigned int n);
u32 nic_random(struct nic *nic);

/* debug.c */
void nic_debug_add(struct nic *nic);
void nic_debug_remove(struct nic *nic);
void nic_trace_access(struct nic *nic, u8 op, u32 offset, u32 value,
		      bool irqs_off);

#endif /* TXTS_NIC_PORT_H */
