// SPDX-License-Identifier: GPL-2.0
// Rewires igc to lib/txts; the same file for 6.12 and 7.x. The callbacks are in
// igc_txts.c; the clock, the hwtstamp configuration and ethtool in
// igc_ptp.cocci.
//
// Every exit of xmit after txts_reserve():
//   skb_padto() (7.x) or igc_tso() (skb_cow_head) fails: out_drop, txts_abort()
//   igc_tx_map() fails: dma_error, txts_abort()
//   igc_tx_map() succeeds: txts_commit(), cannot fail
//   igc_xdp_xmit_zc(): nothing fails after xsk_tx_metadata_request(), so that
//     each reserve is followed by txts_commit()
// The exits before it (ring full, gate closed, frame too long for the queue)
// have no ticket, nor have the empty frames for launch time, those of frame
// preemption and XDP frames.
//
// Every path that cleans a Tx buffer:
//   igc_clean_tx_irq(), descriptor done: txts_sent()
//   igc_clean_tx_ring(): txts_dropped(). Comes from igc_down(), that is down,
//     reset, reinit, suspend, shutdown, AER, ring size, self-test, remove; from
//     igc_free_tx_resources(); from igc_disable_tx_ring() (AF_XDP) with the
//     tracker running
//   dma_error in igc_tx_map(): before the commit, see above
//
// igc_reset() is called with the tracker stopped only.
//
// spatch ends well even if a rule did not match: each rule below is followed by
// a script that counts it, and the last one fails if one is missing.

@initialize:python@
@@
import os
RULES = """
inc request fields ring_flag buffer meta decls reserve txtime commit_var
commit dma_error abort request_gone xsk_gone zc_var zc_launch zc_commit
quiesce order_off order_on sent hold dropped_var dropped clear_gone irq
hang_call link_up link_down start_up start_open stop probe probe_error remove
""".split()
hits = set()

def hit(rule):
    hits.add(rule)

// ---- igc.h -----------------------------------------------------------------

@inc@
@@
 #include <linux/timecounter.h>
+#include <linux/txts.h>

@script:python depends on inc@
@@
hit("inc")

@request@
@@
-struct igc_tx_timestamp_request { ... };

@script:python depends on request@
@@
hit("request")

@fields@
@@
 struct igc_adapter {
 	...
-	spinlock_t ptp_tx_lock;
-	struct igc_tx_timestamp_request tx_tstamp[IGC_MAX_TX_TSTAMP_REGS];
 	...
 	struct timecounter tc;
+	struct txts txts;
 	...
 };

@script:python depends on fields@
@@
hit("fields")

@ring_flag@
@@
 enum igc_ring_flags_t {
 	...,
-	IGC_RING_FLAG_TX_HWTSTAMP,
 	...
 };

@script:python depends on ring_flag@
@@
hit("ring_flag")

// Not in the union with skb: igc_rings_dump() follows that of every buffer.
@buffer@
@@
 struct igc_tx_buffer {
 	...
 	bool xsk_pending_ts;
+	u8 xsk_queue;
+	struct xsk_tx_metadata_compl xsk_meta;
+	struct txts_ticket txts;
 };

@script:python depends on buffer@
@@
hit("buffer")

@meta@
@@
 struct igc_metadata_request {
 	...
 	u32 cmd_type;
+	ktime_t launch;
 	...
 };

@script:python depends on meta@
@@
hit("meta")

@decls@
typedef ktime_t, u64;
@@
-void igc_ptp_tx_hang(...);
+int igc_ptp_tx_hwtstamp(struct txts *txts, unsigned int timer, u64 systim,
+			ktime_t *stamp);
+u32 igc_txts_reserve(struct igc_adapter *adapter,
+		     const struct txts_request *request,
+		     struct txts_ticket *ticket);
+void igc_xsk_request_timestamp(void *_priv);
+int igc_txts_init(struct igc_adapter *adapter);

@script:python depends on decls@
@@
hit("decls")

// ---- transmit --------------------------------------------------------------

// Who asks, and for which clock, differs between kernels and stays. Whether
// stamping is on is the tracker's decision, so that a refusal is counted.
@reserve@
identifier F, T;
expression TIMER_1, WANTED;
@@
-if (unlikely(test_bit(IGC_RING_FLAG_TX_HWTSTAMP, &tx_ring->flags) &&
-	     WANTED)) {
+if (unlikely(WANTED)) {
+	struct txts_request request = {
+		.skb = skb,
+		.launch = txtime,
+		.queue = tx_ring->queue_index,
+	};
+
-	unsigned long F;
-	u32 T;
-	spin_lock_irqsave(&adapter->ptp_tx_lock, F);
-	if (igc_request_tx_tstamp(adapter, skb, &T)) {
-		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
-		tx_flags |= IGC_TX_FLAGS_TSTAMP | T;
 		if (TIMER_1)
-			tx_flags |= IGC_TX_FLAGS_TSTAMP_TIMER_1;
+			request.timer = 1;
-	} else {
-		adapter->tx_hwtstamp_skipped++;
-	}
-	spin_unlock_irqrestore(&adapter->ptp_tx_lock, F);
+	tx_flags |= igc_txts_reserve(adapter, &request, &first->txts);
 }

@script:python depends on reserve@
@@
hit("reserve")

@txtime@
typedef ktime_t;
@@
 igc_xmit_frame_ring(...)
 {
 ...
-	ktime_t txtime;
+	ktime_t txtime = 0;
 ...
 }

@script:python depends on txtime@
@@
hit("txtime")

@commit_var@
@@
 igc_tx_map(struct igc_ring *tx_ring, ...)
 {
+	struct igc_adapter *adapter = netdev_priv(tx_ring->netdev);
 	struct sk_buff *skb = first->skb;
 	...
 }

@script:python depends on commit_var@
@@
hit("commit_var")

// Nothing can fail from here on, and nothing changes the skb.
@commit@
@@
+if (unlikely(tx_flags & IGC_TX_FLAGS_TSTAMP))
+	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
 skb_tx_timestamp(skb);
+txts_commit(&adapter->txts, &first->txts);

@script:python depends on commit@
@@
hit("commit")

@dma_error@
@@
 netdev_err(tx_ring->netdev, "TX DMA map failed\n");
+txts_abort(&adapter->txts, &first->txts);

@script:python depends on dma_error@
@@
hit("dma_error")

@abort@
@@
+txts_abort(&adapter->txts, &first->txts);
 dev_kfree_skb_any(first->skb);
 first->skb = NULL;

@script:python depends on abort@
@@
hit("abort")

@request_gone@
typedef bool;
@@
-static bool igc_request_tx_tstamp(...) { ... }

@script:python depends on request_gone@
@@
hit("request_gone")

// ---- AF_XDP ----------------------------------------------------------------

@xsk_gone@
@@
-static void igc_xsk_request_timestamp(...) { ... }

@script:python depends on xsk_gone@
@@
hit("xsk_gone")

@zc_var@
@@
 igc_xdp_xmit_zc(struct igc_ring *ring)
 {
+	struct igc_adapter *adapter = netdev_priv(ring->netdev);
 	struct xsk_buff_pool *pool = ring->xsk_pool;
 	...
 }

@script:python depends on zc_var@
@@
hit("zc_var")

@zc_launch@
@@
 meta_req.tx_ring = ring;
+meta_req.launch = 0;

@script:python depends on zc_launch@
@@
hit("zc_launch")

// igc_xsk_request_timestamp() set the flag: the stamp may be delivered before
// the commit returns.
@zc_commit@
@@
+if (!txts_commit(&adapter->txts, &bi->txts))
+	bi->xsk_pending_ts = false;
 bi->next_to_watch = tx_desc;

@script:python depends on zc_commit@
@@
hit("zc_commit")

// Launch time of AF_XDP frames came after 6.12.
@launch_fn@
typedef u64;
identifier L, P;
@@
 igc_xsk_request_launch_time(u64 L, void *P) { ... }

@script:python depends on launch_fn@
@@
hit("launch_fn")

@launch@
identifier launch_fn.L, launch_fn.P, M;
expression T;
@@
 igc_xsk_request_launch_time(u64 L, void *P)
 {
 ...
 struct igc_metadata_request *M = P;
 <...
+M->launch = ns_to_ktime(L);
 T = igc_tx_launchtime(...);
 ...>
 }

@script:python depends on launch@
@@
hit("launch")

// The tracker runs on, and so do other queues. What waits for a stamp is told
// before its buffer goes away; xmit on this queue sees the ring clean or not.
@quiesce@
@@
 igc_disable_tx_ring(struct igc_ring *ring)
 {
+	struct igc_adapter *adapter = netdev_priv(ring->netdev);
+
 	igc_disable_tx_ring_hw(ring);
+	txts_flush_queue(&adapter->txts, ring->queue_index);
+	__netif_tx_lock_bh(txring_txq(ring));
 	igc_clean_tx_ring(ring);
+	__netif_tx_unlock_bh(txring_txq(ring));
 }

@script:python depends on quiesce@
@@
hit("quiesce")

// NAPI cleans the ring and sends AF_XDP frames: not while the ring is taken down.
@order_off@
expression N, R, T;
@@
+napi_disable(N);
 igc_disable_rx_ring(R);
 igc_disable_tx_ring(T);
-napi_disable(N);

@script:python depends on order_off@
@@
hit("order_off")

@order_on@
expression N, R, T;
@@
-napi_enable(N);
 \(igc_enable_rx_ring\|igc_enable_tx_ring\)(R);
 \(igc_enable_rx_ring\|igc_enable_tx_ring\)(T);
+napi_enable(N);
+/* an interrupt meanwhile has left its vector masked */
+local_bh_disable();
+napi_schedule(N);
+local_bh_enable();

@script:python depends on order_on@
@@
hit("order_on")

// ---- ring cleaning ---------------------------------------------------------

@sent@
@@
 igc_clean_tx_irq(...)
 {
 <...
 if (!(eop_desc->wb.status & cpu_to_le32(IGC_TXD_STAT_DD)))
 	break;
+	/* before the test below: the deadline of what it waits for */
+	txts_sent(&adapter->txts, &tx_buffer->txts);
 ...>
 }

@script:python depends on sent@
@@
hit("sent")

@hold@
@@
 igc_clean_tx_irq(...)
 {
 <...
-tx_buffer->xsk_pending_ts
+smp_load_acquire(&tx_buffer->xsk_pending_ts)
 ...>
 }

@script:python depends on hold@
@@
hit("hold")

@dropped_var@
@@
 igc_clean_tx_ring(struct igc_ring *tx_ring)
 {
+	struct igc_adapter *adapter = netdev_priv(tx_ring->netdev);
 	u16 i = tx_ring->next_to_clean;
 	...
 }

@script:python depends on dropped_var@
@@
hit("dropped_var")

@dropped@
@@
 igc_clean_tx_ring(...)
 {
 <...
 	eop_desc = tx_buffer->next_to_watch;
+	txts_dropped(&adapter->txts, &tx_buffer->txts);
 ...>
 }

@script:python depends on dropped@
@@
hit("dropped")

@clear_gone@
@@
 igc_clean_tx_ring(...)
 {
 ...
-if (test_bit(IGC_RING_FLAG_TX_HWTSTAMP, &tx_ring->flags)) { ... }
 }

@script:python depends on clear_gone@
@@
hit("clear_gone")

// ---- interrupt, watchdog ---------------------------------------------------

// Reached from the MSI-X, MSI and legacy handlers. The read of TSICR has
// acknowledged the cause, so a capture from now on interrupts again.
@irq@
expression A;
@@
-igc_ptp_tx_tstamp_event(A);
+txts_irq(&A->txts, TXTS_ALL_SLOTS);

@script:python depends on irq@
@@
hit("irq")

@hang_call@
@@
-igc_ptp_tx_hang(...);

@script:python depends on hang_call@
@@
hit("hang_call")

@link_up@
@@
 igc_watchdog_task(...)
 {
 <...
+	txts_link(&adapter->txts, true);
 	netif_carrier_on(netdev);
 ...>
 }

@script:python depends on link_up@
@@
hit("link_up")

@link_down@
@@
 igc_watchdog_task(...)
 {
 <...
 	netif_carrier_off(netdev);
+	txts_link(&adapter->txts, false);
 ...>
 }

@script:python depends on link_down@
@@
hit("link_down")

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
@@
 igc_down(struct igc_adapter *adapter)
 {
 ...
+	txts_stop(&adapter->txts);
 	adapter->flags &= ~IGC_FLAG_NEED_LINK_UPDATE;
 ...
 }

@script:python depends on stop@
@@
hit("stop")

@probe@
@@
-err = register_netdev(netdev);
+err = igc_txts_init(adapter) ?: register_netdev(netdev);

@script:python depends on probe@
@@
hit("probe")

@probe_error@
expression A;
@@
+txts_destroy(&A->txts);
 igc_release_hw_control(A);
 igc_ptp_stop(A);

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

@finalize:python@
@@
required = RULES + (["launch"] if "launch_fn" in hits else [])
missing = [rule for rule in required if rule not in hits]
for rule in missing:
    print("txts: rule %s did not match" % rule, flush=True)
if missing and "TXTS_UNMATCHED" in os.environ:
    with open(os.environ["TXTS_UNMATCHED"], "a") as f:
        f.write("\n".join(missing) + "\n")
if missing:
    raise SystemExit(1)
