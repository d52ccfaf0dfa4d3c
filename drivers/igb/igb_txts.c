// SPDX-License-Identifier: GPL-2.0
/* Tx hardware timestamps of igb: what the tracker in lib/txts calls */

#include <linux/module.h>

#include "igb.h"

#define to_igb(t)	container_of(t, struct igb_adapter, txts)

static u64 igb_txts_ready(struct txts *txts)
{
	struct e1000_hw *hw = &to_igb(txts)->hw;

	return rd32(E1000_TSYNCTXCTL) & E1000_TSYNCTXCTL_VALID ? BIT(0) : 0;
}

static int igb_txts_read(struct txts *txts, unsigned int slot, u64 *raw)
{
	struct e1000_hw *hw = &to_igb(txts)->hw;

	/* reading the high half clears the valid bit, so it comes last */
	*raw = rd32(E1000_TXSTMPL);
	*raw |= (u64)rd32(E1000_TXSTMPH) << 32;
	return 0;
}

static void igb_txts_clean(struct txts *txts, u16 queue)
{
	napi_schedule(&to_igb(txts)->tx_ring[queue]->q_vector->napi);
}

static enum txts_mac igb_txts_mac(struct txts *txts)
{
	struct e1000_hw *hw = &to_igb(txts)->hw;

	if (rd32(E1000_STATUS) & E1000_STATUS_TXOFF)
		return TXTS_MAC_HELD;
	/* No public source says what TDFPC counts on later MACs. */
	if (hw->mac.type == e1000_82576 && !rd32(E1000_TDFPC))
		return TXTS_MAC_IDLE;
	return TXTS_MAC_BUSY;
}

static int igb_txts_phc(struct txts *txts, unsigned int timer, ktime_t *now)
{
	struct ptp_clock_info *ptp = &to_igb(txts)->ptp_caps;
	struct timespec64 ts = {};
	int err = ptp->gettimex64(ptp, &ts, NULL);

	*now = timespec64_to_ktime(ts);
	return err;
}

static const struct txts_ops igb_txts_ops = {
	.ready = igb_txts_ready,
	.read = igb_txts_read,
	.clean = igb_txts_clean,
	.convert = igb_ptp_tx_hwtstamp,
	.mac = igb_txts_mac,
	.phc = igb_txts_phc,
};

/* Every MAC gets a tracker: one without stamps counts what it was asked for. */
int igb_txts_init(struct igb_adapter *adapter)
{
	const struct txts_params params = {
		.dev = &adapter->pdev->dev,
		.ops = &igb_txts_ops,
		.slots = 1,
		.flags = adapter->hw.mac.type <= e1000_82576 ? TXTS_POLLED : 0,
	};

	spin_lock_init(&adapter->tmreg_lock);
	return txts_init(&adapter->txts, &params);
}

MODULE_INFO(import_ns, "TXTS");
