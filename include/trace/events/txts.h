/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM txts

#if !defined(_TRACE_TXTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TXTS_H

#include <linux/device.h>
#include <linux/tracepoint.h>
#include <linux/txts.h>

#define txts_show_counter(counter)				\
	__print_symbolic(counter,				\
		{ TXTS_SKIP_BUSY,		"busy" },	\
		{ TXTS_SKIP_THROTTLED,		"throttled" },	\
		{ TXTS_SKIP_PTP,		"ptp" },	\
		{ TXTS_SKIP_OFF,		"off" },	\
		{ TXTS_SKIP_UNSUPPORTED,	"unsupported" },	\
		{ TXTS_DELIVERED,		"delivered" },	\
		{ TXTS_TIMEOUT,			"timeout" },	\
		{ TXTS_FLUSHED,			"flushed" },	\
		{ TXTS_DISCARD_CLOCK,		"clock" },	\
		{ TXTS_DISCARD_CONVERT,		"convert" },	\
		{ TXTS_DISCARD_SUSPECT,		"suspect" })

/* A request got a slot. */
TRACE_EVENT(txts_request,
	TP_PROTO(const struct txts *txts, unsigned int slot, u32 gen,
		 u16 queue),
	TP_ARGS(txts, slot, gen, queue),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(unsigned int, slot)
		__field(u32, gen)
		__field(u16, queue)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->slot = slot;
		__entry->gen = gen;
		__entry->queue = queue;
	),
	TP_printk("%s slot=%u gen=%u queue=%u", __get_str(dev), __entry->slot,
		  __entry->gen, __entry->queue)
);

/* A packet asked and got none. */
TRACE_EVENT(txts_skip,
	TP_PROTO(const struct txts *txts, enum txts_counter reason),
	TP_ARGS(txts, reason),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(int, reason)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->reason = reason;
	),
	TP_printk("%s reason=%s", __get_str(dev),
		  txts_show_counter(__entry->reason))
);

DECLARE_EVENT_CLASS(txts_raw,
	TP_PROTO(const struct txts *txts, unsigned int slot, u32 gen, u64 raw),
	TP_ARGS(txts, slot, gen, raw),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(unsigned int, slot)
		__field(u32, gen)
		__field(u64, raw)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->slot = slot;
		__entry->gen = gen;
		__entry->raw = raw;
	),
	TP_printk("%s slot=%u gen=%u raw=%#llx", __get_str(dev), __entry->slot,
		  __entry->gen, __entry->raw)
);

/* A fresh stamp was read out of a slot. */
DEFINE_EVENT(txts_raw, txts_ready,
	TP_PROTO(const struct txts *txts, unsigned int slot, u32 gen, u64 raw),
	TP_ARGS(txts, slot, gen, raw)
);

/* And nobody waited for it. */
DEFINE_EVENT(txts_raw, txts_orphan,
	TP_PROTO(const struct txts *txts, unsigned int slot, u32 gen, u64 raw),
	TP_ARGS(txts, slot, gen, raw)
);

/* A request has ended and its reference is about to be dropped. */
TRACE_EVENT(txts_deliver,
	TP_PROTO(const struct txts *txts, unsigned int slot,
		 enum txts_counter outcome, ktime_t stamp, s64 ns),
	TP_ARGS(txts, slot, outcome, stamp, ns),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(unsigned int, slot)
		__field(int, outcome)
		__field(s64, stamp)
		__field(s64, ns)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->slot = slot;
		__entry->outcome = outcome;
		__entry->stamp = stamp;
		__entry->ns = ns;
	),
	TP_printk("%s slot=%u outcome=%s stamp=%lld waited_ns=%lld",
		  __get_str(dev), __entry->slot,
		  txts_show_counter(__entry->outcome), __entry->stamp,
		  __entry->ns)
);

/* A deadline passed. */
TRACE_EVENT(txts_timeout,
	TP_PROTO(const struct txts *txts, unsigned int slot, u32 gen,
		 unsigned int attempts),
	TP_ARGS(txts, slot, gen, attempts),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(unsigned int, slot)
		__field(u32, gen)
		__field(unsigned int, attempts)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->slot = slot;
		__entry->gen = gen;
		__entry->attempts = attempts;
	),
	TP_printk("%s slot=%u gen=%u attempts=%u", __get_str(dev),
		  __entry->slot, __entry->gen, __entry->attempts)
);

/* The retries of a request moved to another stage. */
TRACE_EVENT(txts_stage,
	TP_PROTO(const struct txts *txts, unsigned int slot, unsigned int from,
		 unsigned int to),
	TP_ARGS(txts, slot, from, to),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(unsigned int, slot)
		__field(unsigned int, from)
		__field(unsigned int, to)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->slot = slot;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%s slot=%u from=%u to=%u", __get_str(dev), __entry->slot,
		  __entry->from, __entry->to)
);

/* A budget is used up: new requests of the class are refused for so long. */
TRACE_EVENT(txts_throttle,
	TP_PROTO(const struct txts *txts, unsigned int class, u64 ns),
	TP_ARGS(txts, class, ns),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(unsigned int, class)
		__field(u64, ns)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->class = class;
		__entry->ns = ns;
	),
	TP_printk("%s class=%s for_ns=%llu", __get_str(dev),
		  __entry->class ? "ptp" : "ordinary", __entry->ns)
);

/* All stamp work of this CPU moved to another level. */
TRACE_EVENT(txts_level,
	TP_PROTO(const struct txts *txts, unsigned int from, unsigned int to),
	TP_ARGS(txts, from, to),
	TP_STRUCT__entry(
		__string(dev, dev_name(txts->dev))
		__field(unsigned int, from)
		__field(unsigned int, to)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%s from=%u to=%u", __get_str(dev), __entry->from,
		  __entry->to)
);

#endif /* _TRACE_TXTS_H */

#include <trace/define_trace.h>
