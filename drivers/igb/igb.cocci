// SPDX-License-Identifier: GPL-2.0
// Rewires igb to lib/txts; the same file for 6.12 and 7.x. The callbacks are in
// igb_txts.c.
//
// Every exit of xmit after txts_reserve():
//   igb_tso() fails (skb_cow_head): out_drop, txts_abort()
//   igb_tx_map() fails (dma_error): cleanup_tx_tstamp, txts_abort()
//   igb_tx_map() succeeds: txts_commit(), cannot fail
// Only igb_xmit_frame_ring() writes a ticket, so that of an XDP or AF_XDP
// buffer is zero.
//
// Every path that cleans a Tx buffer:
//   igb_clean_tx_irq(), descriptor done: txts_sent()
//   igb_clean_tx_ring(): txts_dropped(). Comes from igb_down(), that is down,
//     reset, reinit, suspend, shutdown, AER, ring size, self-test, remove;
//     from igb_free_tx_resources(); from igb_txrx_ring_disable() (AF_XDP) with
//     the tracker running
//   dma_error in igb_tx_map(): before the commit, see above
//   igb_xmit_xdp_ring() unmap: no ticket
//   igb_clean_test_rings(), self-test: its frames ask for no stamp
//   memset in igb_configure_tx_ring(): the ring was cleaned before
//
// spatch ends well even if a rule did not match: each rule below is followed by
// a script that counts it, and the last one fails if one is missing.

@initialize:python@
@@
import os
RULES = """
inc fields ticket state decls reserve commit_var commit abort sent
dropped_var dropped irq hang_call link_up link_down media start_up
start_open stop probe probe_error remove timeout_gone work_gone hang_gone
hwtstamp_decl latency convert clock_adj clock_init clock_i210 mode_enable
mode_clear set reset reset_enable init suspend stats ts_stats
""".split()
hits = set()

def hit(rule):
    hits.add(rule)

// ---- igb.h -----------------------------------------------------------------

@inc@
@@
 #include <linux/ptp_clock_kernel.h>
+#include <linux/txts.h>

@script:python depends on inc@
@@
hit("inc")

@fields@
@@
 struct igb_adapter {
 	...
-	struct work_struct ptp_tx_work;
-	struct sk_buff *ptp_tx_skb;
+	struct txts txts;
 	...
-	unsigned long ptp_tx_start;
 	...
 };

@script:python depends on fields@
@@
hit("fields")

@ticket@
@@
 struct igb_tx_buffer {
 	...
 	u32 tx_flags;
+	struct txts_ticket txts;
 };

@script:python depends on ticket@
@@
hit("ticket")

@state@
@@
 enum e1000_state_t {
 	...,
-	__IGB_PTP_TX_IN_PROGRESS,
 };

@script:python depends on state@
@@
hit("state")

@decls@
typedef ktime_t, u64;
@@
-void igb_ptp_tx_hang(...);
+int igb_ptp_tx_hwtstamp(struct txts *txts, unsigned int timer, u64 systim,
+			ktime_t *stamp);
+int igb_txts_init(struct igb_adapter *adapter);

@script:python depends on decls@
@@
hit("decls")

// ---- transmit --------------------------------------------------------------

// The test around it, which differs between kernels, stays. Whether stamping is
// on is the tracker's decision, so that a refusal is counted.
@reserve@
identifier A;
@@
 struct igb_adapter *A = netdev_priv(tx_ring->netdev);
+const struct txts_request request = {
+	.skb = skb,
+	.queue = tx_ring->queue_index,
+	.launch = (tx_ring->launchtime_enable ?
+		   skb->tstamp : 0),
+};
-if (A->tstamp_config.tx_type == HWTSTAMP_TX_ON &&
-    !test_and_set_bit_lock(__IGB_PTP_TX_IN_PROGRESS, &A->state)) {
-	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
-	tx_flags |= IGB_TX_FLAGS_TSTAMP;
-	...
-} else {
-	A->tx_hwtstamp_skipped++;
-}
+if (txts_reserve(&A->txts, &request, &first->txts) >= 0)
+	tx_flags |= IGB_TX_FLAGS_TSTAMP;

@script:python depends on reserve@
@@
hit("reserve")

@commit_var@
@@
 igb_tx_map(struct igb_ring *tx_ring, ...)
 {
+	struct igb_adapter *adapter = netdev_priv(tx_ring->netdev);
 	struct sk_buff *skb = first->skb;
 	...
 }

@script:python depends on commit_var@
@@
hit("commit_var")

// Nothing can fail from here on, and nothing changes the skb.
@commit@
@@
+if (unlikely(tx_flags & IGB_TX_FLAGS_TSTAMP))
+	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
 skb_tx_timestamp(skb);
+txts_commit(&adapter->txts, &first->txts);

@script:python depends on commit@
@@
hit("commit")

@abort@
identifier A;
@@
 if (unlikely(tx_flags & IGB_TX_FLAGS_TSTAMP)) {
 	struct igb_adapter *A = netdev_priv(tx_ring->netdev);
-	dev_kfree_skb_any(A->ptp_tx_skb);
-	A->ptp_tx_skb = NULL;
-	if (...)
-		cancel_work_sync(&A->ptp_tx_work);
-	clear_bit_unlock(__IGB_PTP_TX_IN_PROGRESS, &A->state);
+	txts_abort(&A->txts, &first->txts);
 }

@script:python depends on abort@
@@
hit("abort")

// ---- ring cleaning ---------------------------------------------------------

// After the ring's reference is gone: what the tracker may drop is the last one.
@sent@
@@
 igb_clean_tx_irq(...)
 {
 <...
+	txts_sent(&adapter->txts, &tx_buffer->txts);
 	dma_unmap_len_set(tx_buffer, len, 0);
 	while (tx_desc != eop_desc) { ... }
 ...>
 }

@script:python depends on sent@
@@
hit("sent")

@dropped_var@
@@
 igb_clean_tx_ring(struct igb_ring *tx_ring)
 {
+	struct igb_adapter *adapter = netdev_priv(tx_ring->netdev);
 	u16 i = tx_ring->next_to_clean;
 	...
 }

@script:python depends on dropped_var@
@@
hit("dropped_var")

@dropped@
statement S1, S2;
@@
 igb_clean_tx_ring(...)
 {
 ...
 while (...) {
 	...
+	txts_dropped(&adapter->txts, &tx_buffer->txts);
 	if (tx_buffer->type == IGB_TYPE_SKB) S1 else S2
 	...
 }
 ...
 }

@script:python depends on dropped@
@@
hit("dropped")

// ---- interrupt, watchdog ---------------------------------------------------

// Reached from the MSI-X, MSI and legacy handlers. TSICR was acknowledged above
// (read, on 82580 also written), so a capture from now on interrupts again.
@irq@
expression A;
@@
 if (tsicr & E1000_TSICR_TXTS) {
-	schedule_work(&A->ptp_tx_work);
+	txts_irq(&A->txts, BIT(0));
 }

@script:python depends on irq@
@@
hit("irq")

@hang_call@
@@
-igb_ptp_tx_hang(...);

@script:python depends on hang_call@
@@
hit("hang_call")

@link_up@
expression A;
@@
+txts_link(&A->txts, true);
 netif_carrier_on(netdev);
 igb_ping_all_vfs(A);

@script:python depends on link_up@
@@
hit("link_up")

@link_down@
expression A;
@@
 netif_carrier_off(netdev);
+txts_link(&A->txts, false);
 igb_ping_all_vfs(A);

@script:python depends on link_down@
@@
hit("link_down")

// The only reset of a running device. igb_ptp_reset() enables the tracker again.
@media@
expression A;
@@
 A->flags |= IGB_FLAG_MEDIA_RESET;
+txts_enable(&A->txts, false);
 igb_reset(A);

@script:python depends on media@
@@
hit("media")

// ---- lifetime --------------------------------------------------------------

@start_up@
expression A;
@@
+txts_start(&A->txts);
 netif_tx_start_all_queues(A->netdev);

@script:python depends on start_up@
@@
hit("start_up")

@start_open@
@@
+txts_start(&adapter->txts);
 netif_tx_start_all_queues(netdev);

@script:python depends on start_open@
@@
hit("start_open")

@stop@
expression A;
@@
 igb_irq_disable(A);
+txts_stop(&A->txts);
 A->flags &= ~IGB_FLAG_NEED_LINK_UPDATE;

@script:python depends on stop@
@@
hit("stop")

@probe@
@@
-err = register_netdev(netdev);
+err = igb_txts_init(adapter) ?: register_netdev(netdev);

@script:python depends on probe@
@@
hit("probe")

@probe_error@
expression A;
@@
+txts_destroy(&A->txts);
 igb_release_hw_control(A);
 memset(&A->i2c_adap, 0, sizeof(A->i2c_adap));

@script:python depends on probe_error@
@@
hit("probe_error")

@remove@
@@
 unregister_netdev(netdev);
+txts_destroy(&adapter->txts);

@script:python depends on remove@
@@
hit("remove")

// ---- igb_ptp.c -------------------------------------------------------------

@timeout_gone@
expression E;
@@
-#define IGB_PTP_TX_TIMEOUT E

@script:python depends on timeout_gone@
@@
hit("timeout_gone")

@work_gone@
@@
-static void igb_ptp_tx_work(...) { ... }

@script:python depends on work_gone@
@@
hit("work_gone")

@hang_gone@
@@
-void igb_ptp_tx_hang(...) { ... }

@script:python depends on hang_gone@
@@
hit("hang_gone")

@hwtstamp_decl@
@@
-static void igb_ptp_tx_hwtstamp(...);

@script:python depends on hwtstamp_decl@
@@
hit("hwtstamp_decl")

// What is left of it converts; the latencies (S) are the driver's own.
@latency@
identifier A, adjust;
statement S;
@@
 igb_ptp_tx_hwtstamp(struct igb_adapter *A)
 {
 ...
 int adjust = 0;
 ...
 igb_ptp_systim_to_hwtstamp(...);
 S
 ...
 }

@script:python depends on latency@
@@
hit("latency")

@convert@
typedef ktime_t, u64;
identifier latency.A;
statement latency.S;
@@
+int igb_ptp_tx_hwtstamp(struct txts *txts, unsigned int timer, u64 systim,
+			ktime_t *stamp)
+{
+	struct igb_adapter *A = container_of(txts, struct igb_adapter, txts);
+	struct e1000_hw *hw = &A->hw;
+	struct skb_shared_hwtstamps shhwtstamps;
+	int adjust = 0;
+
+	/* if the clock is just being set: wait, then the tracker knows */
+	spin_lock_irq(&A->tmreg_lock);
+	spin_unlock_irq(&A->tmreg_lock);
+	igb_ptp_systim_to_hwtstamp(A, &shhwtstamps, systim);
+	/* adjust timestamp for the TX latency based on link speed */
+	S
+	*stamp = ktime_add_ns(shhwtstamps.hwtstamp, adjust);
+	return *stamp ? 0 : -EOPNOTSUPP;
+}
-static void igb_ptp_tx_hwtstamp(...) { ... }

@script:python depends on convert@
@@
hit("convert")

// Under tmreg_lock, after the change. igb_ptp_write_i210() serves settime,
// adjtime and reset.
@clock_adj@
expression A, E;
@@
 timecounter_adjtime(&A->tc, E);
+txts_clock_changed(&A->txts, 0);

@script:python depends on clock_adj@
@@
hit("clock_adj")

@clock_init@
expression A, E;
@@
 timecounter_init(&A->tc, &A->cc, E);
+txts_clock_changed(&A->txts, 0);

@script:python depends on clock_init@
@@
hit("clock_init")

@clock_i210@
identifier A, T;
@@
 igb_ptp_write_i210(struct igb_adapter *A, const struct timespec64 *T)
 {
 	...
 	wr32(E1000_SYSTIMH, ...);
+	txts_clock_changed(&A->txts, 0);
 }

@script:python depends on clock_i210@
@@
hit("clock_i210")

// TX_OFF is the tracker's: the MAC goes on, so that the late stamp of a frame in
// flight shows that its slot is free again. A reset clears the bit.
@mode_enable@
@@
 regval = rd32(E1000_TSYNCTXCTL);
-regval &= ~E1000_TSYNCTXCTL_ENABLED;
-regval |= tsync_tx_ctl;
-wr32(E1000_TSYNCTXCTL, regval);
+if (tsync_tx_ctl & ~regval)
+	wr32(E1000_TSYNCTXCTL, regval | tsync_tx_ctl);

@script:python depends on mode_enable@
@@
hit("mode_enable")

@mode_clear@
@@
-regval = rd32(E1000_TXSTMPL);
-regval = rd32(E1000_TXSTMPH);
+if (config == &adapter->tstamp_config) {
+	rd32(E1000_TXSTMPL);
+	rd32(E1000_TXSTMPH);
+}
 regval = rd32(E1000_RXSTMPL);

@script:python depends on mode_clear@
@@
hit("mode_clear")

@set@
expression A, E, R;
@@
(
 memcpy(&A->tstamp_config, &config, E);
+if (A->ptp_flags & IGB_PTP_ENABLED)
+	txts_enable(&A->txts, A->tstamp_config.tx_type == HWTSTAMP_TX_ON);
 return R;
|
 A->tstamp_config = *config;
+if (A->ptp_flags & IGB_PTP_ENABLED)
+	txts_enable(&A->txts, A->tstamp_config.tx_type == HWTSTAMP_TX_ON);
 return R;
)

@script:python depends on set@
@@
hit("set")

@reset@
expression A;
@@
 igb_ptp_set_timestamp_mode(A, &A->tstamp_config);
+txts_hw_reset(&A->txts);

@script:python depends on reset@
@@
hit("reset")

@reset_enable@
expression A;
@@
 spin_unlock_irqrestore(&A->tmreg_lock, flags);
 wrfl();
+txts_enable(&A->txts, A->tstamp_config.tx_type == HWTSTAMP_TX_ON);

@script:python depends on reset_enable@
@@
hit("reset_enable")

// PTP is enabled last: a set of the hwtstamp configuration may come any time, and
// no stamp may be converted before the clock runs.
@init@
expression A;
@@
-A->ptp_flags |= IGB_PTP_ENABLED;
-spin_lock_init(&A->tmreg_lock);
-INIT_WORK(&A->ptp_tx_work, igb_ptp_tx_work);
 ...
 igb_ptp_reset(A);
+A->ptp_flags |= IGB_PTP_ENABLED;

@script:python depends on init@
@@
hit("init")

@suspend@
identifier A;
@@
 void igb_ptp_suspend(struct igb_adapter *A)
 {
 ...
-	cancel_work_sync(&A->ptp_tx_work);
-	if (A->ptp_tx_skb) { ... }
 }

@script:python depends on suspend@
@@
hit("suspend")

// ---- igb_ethtool.c ---------------------------------------------------------

@stats@
@@
 igb_get_ethtool_stats(...)
 {
 ...
 igb_update_stats(adapter);
+adapter->tx_hwtstamp_timeouts = txts_timeouts(&adapter->txts);
+adapter->tx_hwtstamp_skipped = txts_skipped(&adapter->txts);
 ...
 }

@script:python depends on stats@
@@
hit("stats")

@ts_stats@
@@
+static void igb_get_ts_stats(struct net_device *netdev,
+			     struct ethtool_ts_stats *ts_stats)
+{
+	struct igb_adapter *adapter = netdev_priv(netdev);
+
+	txts_get_ts_stats(&adapter->txts, ts_stats);
+}
+
 struct ethtool_ops igb_ethtool_ops = {
+	.get_ts_stats		= igb_get_ts_stats,
 };

@script:python depends on ts_stats@
@@
hit("ts_stats")

@finalize:python@
@@
missing = [rule for rule in RULES if rule not in hits]
for rule in missing:
    print("txts: rule %s did not match" % rule, flush=True)
if missing and "TXTS_UNMATCHED" in os.environ:
    with open(os.environ["TXTS_UNMATCHED"], "a") as f:
        f.write("\n".join(missing) + "\n")
if missing:
    raise SystemExit(1)
