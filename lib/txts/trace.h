/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TXTS_TRACE_H
#define _LIB_TXTS_TRACE_H

#include <linux/device.h>
#include <trace/events/txts.h>

#endif /* _LIB_TXTS_TRACE_H */
