// SPDX-License-Identifier: GPL-2.0
// The demo's peer: the stock igb, with only its stamp work on system_bh_wq

@@
expression A;
@@
-schedule_work(&A->ptp_tx_work)
+queue_work(system_bh_wq, &A->ptp_tx_work)
