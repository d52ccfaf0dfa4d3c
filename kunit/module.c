// SPDX-License-Identifier: GPL-2.0
/* All suites in one module; each is in a file of its own. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of the Tx hardware timestamp tracker");
MODULE_LICENSE("GPL");
/* As a string: what MODULE_IMPORT_NS() expects differs by kernel. */
MODULE_INFO(import_ns, "TXTS");
