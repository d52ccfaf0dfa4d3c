// SPDX-License-Identifier: GPL-2.0
/*
 * Linked into User Mode Linux beside virt-pci.c, so that the front for it can
 * be a module: the bus serves built-in users only.
 */
#include <linux/export.h>

#include "virt-pci.h"

EXPORT_SYMBOL_GPL(um_pci_device_register);
EXPORT_SYMBOL_GPL(um_pci_device_unregister);
