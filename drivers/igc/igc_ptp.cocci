// SPDX-License-Identifier: GPL-2.0
// Rewires igc to lib/txts, second part: the clock, the hwtstamp configuration
// and ethtool. See igc.cocci.

@initialize:python@
@@
import os
RULES = """
timeout_gone free_gone clear_tx_gone clear_queue_gone disable_gone
tx_timeout_gone hang_gone event_gone hwtstamp_gone latency convert clock
timer_1 mode_off enable set reset init_slots init suspend stats ts_stats
""".split()
hits = set()

def hit(rule):
    hits.add(rule)

// ---- igc_ptp.c -------------------------------------------------------------

@timeout_gone@
expression E;
@@
-#define IGC_PTP_TX_TIMEOUT E

@script:python depends on timeout_gone@
@@
hit("timeout_gone")

@free_gone@
@@
-static void igc_ptp_free_tx_buffer(...) { ... }

@script:python depends on free_gone@
@@
hit("free_gone")

@clear_tx_gone@
@@
-static void igc_ptp_clear_tx_tstamp(...) { ... }

@script:python depends on clear_tx_gone@
@@
hit("clear_tx_gone")

@clear_queue_gone@
@@
-void igc_ptp_clear_xsk_tx_tstamp_queue(...) { ... }

@script:python depends on clear_queue_gone@
@@
hit("clear_queue_gone")

@disable_gone@
@@
-static void igc_ptp_disable_tx_timestamp(...) { ... }

@script:python depends on disable_gone@
@@
hit("disable_gone")

@tx_timeout_gone@
@@
-static void igc_ptp_tx_timeout(...) { ... }

@script:python depends on tx_timeout_gone@
@@
hit("tx_timeout_gone")

@hang_gone@
@@
-void igc_ptp_tx_hang(...) { ... }

@script:python depends on hang_gone@
@@
hit("hang_gone")

@event_gone@
@@
-void igc_ptp_tx_tstamp_event(...) { ... }

@script:python depends on event_gone@
@@
hit("event_gone")

@hwtstamp_gone@
@@
-static void igc_ptp_tx_hwtstamp(...) { ... }

@script:python depends on hwtstamp_gone@
@@
hit("hwtstamp_gone")

// What is left of it converts; the latencies (S) are the driver's own.
@latency@
identifier A, adjust;
statement S;
@@
 igc_ptp_tx_reg_to_stamp(struct igc_adapter *A, ...)
 {
 ...
 int adjust = 0;
 ...
 if (igc_ptp_systim_to_hwtstamp(...)) return;
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
+int igc_ptp_tx_hwtstamp(struct txts *txts, unsigned int timer, u64 systim,
+			ktime_t *stamp)
+{
+	struct igc_adapter *A = container_of(txts, struct igc_adapter, txts);
+	struct skb_shared_hwtstamps shhwtstamps;
+	int adjust = 0;
+
+	/* if the clock is just being set: wait, then the tracker knows */
+	spin_lock_irq(&A->tmreg_lock);
+	spin_unlock_irq(&A->tmreg_lock);
+	if (igc_ptp_systim_to_hwtstamp(A, &shhwtstamps, systim))
+		return -EINVAL;
+	S
+	*stamp = ktime_add_ns(shhwtstamps.hwtstamp, adjust);
+	return 0;
+}
-static void igc_ptp_tx_reg_to_stamp(...) { ... }

@script:python depends on convert@
@@
hit("convert")

// Serves settime, adjtime and reset, under tmreg_lock.
@clock@
identifier A, T;
@@
 igc_ptp_write_i225(struct igc_adapter *A, const struct timespec64 *T)
 {
 	...
 	wr32(IGC_SYSTIMH, ...);
+	txts_clock_changed(&A->txts, 0);
 }

@script:python depends on clock@
@@
hit("clock")

// The second timer runs free and is set by a reset only.
@timer_1@
expression A;
@@
 igc_ptp_reset(...)
 {
 <...
 	igc_ptp_time_restore(A);
+	txts_clock_changed(&A->txts, 1);
 ...>
 }

@script:python depends on timer_1@
@@
hit("timer_1")

// TX_OFF is the tracker's: the MAC goes on, so that the late stamp of a frame in
// flight shows that its slot is free again. A reset clears the bit. What the
// registers hold after a reset is learnt by txts_start().
@mode_off@
@@
-igc_ptp_disable_tx_timestamp(...);

@script:python depends on mode_off@
@@
hit("mode_off")

@enable@
expression E;
@@
 igc_ptp_enable_tx_timestamp(struct igc_adapter *adapter)
 {
 	struct igc_hw *hw = &adapter->hw;
-	int i;
+
+	if (!(rd32(IGC_TSYNCTXCTL) & IGC_TSYNCTXCTL_ENABLED))
+		wr32(IGC_TSYNCTXCTL, E);
-	wr32(IGC_TSYNCTXCTL, E);
-	rd32(IGC_TXSTMPL);
-	rd32(IGC_TXSTMPH);
-	for (...;...;...) { ... }
 }

@script:python depends on enable@
@@
hit("enable")

@set@
expression A, E, R;
@@
(
 memcpy(&A->tstamp_config, &config, E);
+txts_enable(&A->txts, A->tstamp_config.tx_type == HWTSTAMP_TX_ON);
 return R;
|
 A->tstamp_config = *config;
+txts_enable(&A->txts, A->tstamp_config.tx_type == HWTSTAMP_TX_ON);
 return R;
)

@script:python depends on set@
@@
hit("set")

@reset@
expression A;
@@
 igc_ptp_set_timestamp_mode(A, &A->tstamp_config);
+txts_hw_reset(&A->txts);

@script:python depends on reset@
@@
hit("reset")

@init_slots@
identifier T;
expression A;
@@
 igc_ptp_init(...)
 {
 ...
-struct igc_tx_timestamp_request *T;
 ...
-T = &A->tx_tstamp[0];
-T->mask = IGC_TSYNCTXCTL_TXTT_0;
-T->regl = IGC_TXSTMPL_0;
-T->regh = IGC_TXSTMPH_0;
-T->flags = 0;
-T = &A->tx_tstamp[1];
-T->mask = IGC_TSYNCTXCTL_TXTT_1;
-T->regl = IGC_TXSTMPL_1;
-T->regh = IGC_TXSTMPH_1;
-T->flags = IGC_TX_FLAGS_TSTAMP_1;
-T = &A->tx_tstamp[2];
-T->mask = IGC_TSYNCTXCTL_TXTT_2;
-T->regl = IGC_TXSTMPL_2;
-T->regh = IGC_TXSTMPH_2;
-T->flags = IGC_TX_FLAGS_TSTAMP_2;
-T = &A->tx_tstamp[3];
-T->mask = IGC_TSYNCTXCTL_TXTT_3;
-T->regl = IGC_TXSTMPL_3;
-T->regh = IGC_TXSTMPH_3;
-T->flags = IGC_TX_FLAGS_TSTAMP_3;
 ...
 }

@script:python depends on init_slots@
@@
hit("init_slots")

@init@
expression A;
@@
-spin_lock_init(&A->ptp_tx_lock);

@script:python depends on init@
@@
hit("init")

@suspend@
@@
-igc_ptp_clear_tx_tstamp(...);

@script:python depends on suspend@
@@
hit("suspend")

// ---- igc_ethtool.c ---------------------------------------------------------

// Never counted: who asked while stamping was off.
@stats@
@@
 igc_ethtool_get_stats(...)
 {
 ...
 igc_update_stats(adapter);
+adapter->tx_hwtstamp_timeouts = txts_timeouts(&adapter->txts);
+adapter->tx_hwtstamp_skipped = txts_refused(&adapter->txts);
 ...
 }

@script:python depends on stats@
@@
hit("stats")

@ts_stats@
@@
+static void igc_ethtool_get_ts_stats(struct net_device *netdev,
+				     struct ethtool_ts_stats *ts_stats)
+{
+	struct igc_adapter *adapter = netdev_priv(netdev);
+
+	txts_get_ts_stats(&adapter->txts, ts_stats);
+}
+
 struct ethtool_ops igc_ethtool_ops = {
+	.get_ts_stats		= igc_ethtool_get_ts_stats,
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
