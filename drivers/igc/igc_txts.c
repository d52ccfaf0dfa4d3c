// SPDX-License-Identifier: GPL-2.0
/* Tx hardware timestamps of igc: what the tracker in lib/txts calls */

#include <linux/module.h>
#include <net/xdp_sock_drv.h>

#include "igc.h"

#define to_igc(t)	container_of(t, struct igc_adapter, txts)

/* How long the ring waits for the stamp of an AF_XDP buffer, in us. */
#define IGC_TXTS_XSK_TIMEOUT	10000

#define REGS(n)	{ IGC_TXSTMPL_##n, IGC_TXSTMPH_##n,			\
		  IGC_TX_FLAGS_TSTAMP | IGC_TX_FLAGS_TSTAMP_##n,	\
		  IGC_ADVTXD_MAC_TSTAMP | IGC_ADVTXD_TSTAMP_REG_##n }

static const struct {
	u32 low;
	u32 high;
	u32 tx_flags;	/* of an skb */
	u32 cmd_type;	/* of a descriptor */
} igc_txts_regs[IGC_MAX_TX_TSTAMP_REGS] = {
	{ IGC_TXSTMPL_0, IGC_TXSTMPH_0, IGC_TX_FLAGS_TSTAMP,
	  IGC_ADVTXD_MAC_TSTAMP },
	REGS(1), REGS(2), REGS(3),
};

static u64 igc_txts_ready(struct txts *txts)
{
	struct igc_hw *hw = &to_igc(txts)->hw;

	return rd32(IGC_TSYNCTXCTL) & IGC_TSYNCTXCTL_TXTT_ANY;
}

static int igc_txts_read(struct txts *txts, unsigned int slot, u64 *raw)
{
	struct igc_hw *hw = &to_igc(txts)->hw;

	/* reading the high half clears the valid bit, so it comes last */
	*raw = rd32(igc_txts_regs[slot].low);
	*raw |= (u64)rd32(igc_txts_regs[slot].high) << 32;
	return 0;
}

/*
 * No interrupt comes for registers 1 to 3 before TXSTMPH_0 was read, which in
 * turn clears valid bits, also one that was set since they were looked at. A
 * bit that is set now is younger than the read of the high half, so both halves
 * are read again. If it is clear nothing was captured between the halves, but
 * for what another CPU's read of TXSTMPH_0 hides: then the high half differs.
 */
static int igc_txts_peek(struct txts *txts, unsigned int slot, bool pending,
			 u64 *raw)
{
	struct igc_hw *hw = &to_igc(txts)->hw;
	u32 high;

	*raw = (u64)rd32(igc_txts_regs[slot].high) << 32;
	if (!pending)
		return -EAGAIN;
	*raw |= rd32(igc_txts_regs[slot].low);
	if (igc_txts_ready(txts) & BIT(slot))
		return igc_txts_read(txts, slot, raw);
	/* TXSTMPH_0 is read under the lock of register 0 */
	if (!slot)
		return 0;
	high = rd32(igc_txts_regs[slot].high);
	if (high != upper_32_bits(*raw))
		*raw = (u64)high << 32 | rd32(igc_txts_regs[slot].low);
	return 0;
}

/* No public source tells of a register that says what the MAC still holds. */
static enum txts_mac igc_txts_mac(struct txts *txts)
{
	struct igc_hw *hw = &to_igc(txts)->hw;

	return rd32(IGC_STATUS) & IGC_STATUS_TXOFF ? TXTS_MAC_HELD :
						     TXTS_MAC_BUSY;
}

static int igc_txts_phc(struct txts *txts, unsigned int timer, ktime_t *now)
{
	struct ptp_clock_info *ptp = &to_igc(txts)->ptp_caps;
	struct timespec64 ts = {};
	int err;

	if (timer)
		err = ptp->getcyclesx64(ptp, &ts, NULL);
	else
		err = ptp->gettimex64(ptp, &ts, NULL);
	*now = timespec64_to_ktime(ts);
	return err;
}

/* An AF_XDP buffer, for which the ring waits. */
static void igc_txts_deliver(struct txts *txts, void *owner,
			     const ktime_t *stamp)
{
	struct igc_tx_buffer *buffer = owner;
	u8 queue = buffer->xsk_queue;

	if (stamp)
		xsk_tx_metadata_complete(&buffer->xsk_meta,
					 &igc_xsk_tx_metadata_ops,
					 (void *)stamp);
	/*
	 * Ring cleaning may now give the metadata to the socket and reuse the
	 * buffer. Pairs with igc_clean_tx_irq().
	 */
	smp_store_release(&buffer->xsk_pending_ts, false);
	igc_xsk_wakeup(to_igc(txts)->netdev, queue, XDP_WAKEUP_TX);
}

static const struct txts_ops igc_txts_ops = {
	.ready = igc_txts_ready,
	.read = igc_txts_read,
	.peek = igc_txts_peek,
	.convert = igc_ptp_tx_hwtstamp,
	.mac = igc_txts_mac,
	.phc = igc_txts_phc,
	.deliver = igc_txts_deliver,
};

/* Returns the flags that make the descriptor ask for the stamp, or 0. */
u32 igc_txts_reserve(struct igc_adapter *adapter,
		     const struct txts_request *request,
		     struct txts_ticket *ticket)
{
	int slot = txts_reserve(&adapter->txts, request, ticket);
	u32 timer = request->timer ? IGC_TX_FLAGS_TSTAMP_TIMER_1 : 0;

	return slot < 0 ? 0 : igc_txts_regs[slot].tx_flags | timer;
}

/*
 * AF_XDP asks for a stamp. Nothing can fail before igc_xdp_xmit_zc() commits,
 * so the ring may as well be told to wait now.
 */
void igc_xsk_request_timestamp(void *_priv)
{
	struct igc_metadata_request *meta_req = _priv;
	struct igc_tx_buffer *buffer = meta_req->tx_buffer;
	struct igc_ring *ring = meta_req->tx_ring;
	struct igc_adapter *adapter = netdev_priv(ring->netdev);
	const struct txts_request request = {
		.owner = buffer,
		.launch = meta_req->launch,
		.timeout_us = IGC_TXTS_XSK_TIMEOUT,
		.queue = ring->queue_index,
	};
	int slot = txts_reserve(&adapter->txts, &request, &buffer->txts);

	if (slot < 0)
		return;
	xsk_tx_metadata_to_compl(meta_req->meta, &buffer->xsk_meta);
	buffer->xsk_queue = ring->queue_index;
	buffer->xsk_pending_ts = true;
	meta_req->cmd_type |= igc_txts_regs[slot].cmd_type;
}

int igc_txts_init(struct igc_adapter *adapter)
{
	const struct txts_params params = {
		.dev = &adapter->pdev->dev,
		.ops = &igc_txts_ops,
		.slots = IGC_MAX_TX_TSTAMP_REGS,
		.peek_slots = BIT(0),
	};

	return txts_init(&adapter->txts, &params);
}

MODULE_INFO(import_ns, "TXTS");
