// SPDX-License-Identifier: GPL-2.0
/*
 * The front for User Mode Linux 7.x: ports on its virtual PCI bus, whose
 * accessors and MSI-X messages come as function calls.
 */
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "nic.h"
#include "virt-pci.h"

#define MAX_PAIRS	4

struct front {
	struct um_pci_device um;
	struct nic *nic;
	bool registered;
};

static struct front fronts[2 * MAX_PAIRS];

static char *pairs[MAX_PAIRS] = { "i210" };
static int nr_pairs = 1;
module_param_array(pairs, charp, &nr_pairs, 0444);
MODULE_PARM_DESC(pairs, "kinds, one for each pair of ports wired together");

static struct nic *to_nic(struct um_pci_device *um)
{
	return container_of(um, struct front, um)->nic;
}

static unsigned long front_config_read(struct um_pci_device *um,
				       unsigned int offset, int size)
{
	return nic_config_read(to_nic(um), offset, size);
}

static void front_config_write(struct um_pci_device *um, unsigned int offset,
			       int size, unsigned long value)
{
	nic_config_write(to_nic(um), offset, size, value);
}

static unsigned long front_read(struct um_pci_device *um, int bar,
				unsigned int offset, int size)
{
	if (size != 4)
		return ~0U;
	if (bar == NIC_BAR_MSIX)
		return nic_msix_read(to_nic(um), offset);
	return nic_read(to_nic(um), offset);
}

static void front_write(struct um_pci_device *um, int bar, unsigned int offset,
			int size, unsigned long value)
{
	if (size != 4)
		return;
	if (bar == NIC_BAR_MSIX)
		nic_msix_write(to_nic(um), offset, value);
	else
		nic_write(to_nic(um), offset, value);
}

static const struct um_pci_ops front_um_ops = {
	.cfgspace_read = front_config_read,
	.cfgspace_write = front_config_write,
	.bar_read = front_read,
	.bar_write = front_write,
};

/* User Mode Linux has no IOMMU: a bus address is a physical one. */
static void *front_dma(void *front, u64 addr, size_t len)
{
	if (!pfn_valid(addr >> PAGE_SHIFT) ||
	    !pfn_valid((addr + len - 1) >> PAGE_SHIFT))
		return NULL;
	return phys_to_virt(addr);
}

/* The bus puts the number of the interrupt into the message. */
static bool front_interrupt(void *front, unsigned int vector)
{
	struct front *f = front;

	if (nic_msix_masked(f->nic, vector))
		return false;
	generic_handle_irq(nic_msix_data(f->nic, vector));
	return true;
}

static const struct nic_front_ops front_ops = {
	.dma = front_dma,
	.interrupt = front_interrupt,
};

static void front_remove(void)
{
	int i;

	for (i = 0; i < 2 * MAX_PAIRS; i++)
		if (fronts[i].registered)
			um_pci_device_unregister(&fronts[i].um);
	for (i = 0; i < 2 * MAX_PAIRS; i++)
		if (fronts[i].nic)
			nic_destroy(fronts[i].nic);
}

static int front_create(unsigned int port, const struct nic_kind *kind)
{
	struct front *f = &fronts[port];

	f->um.ops = &front_um_ops;
	f->nic = nic_create(kind, port, &front_ops, f);
	return f->nic ? 0 : -ENOMEM;
}

static int __init front_init(void)
{
	const struct nic_kind *kind;
	int i, err;

	for (i = 0; i < nr_pairs; i++) {
		if (nic_kind_by_name(pairs[i]))
			continue;
		pr_err("there is no kind %s; known: %s\n", pairs[i],
		       nic_kind_names());
		return -EINVAL;
	}
	err = nic_debug_init();
	for (i = 0; !err && i < 2 * nr_pairs; i++) {
		kind = nic_kind_by_name(pairs[i / 2]);
		err = front_create(i, kind);
		if (!err && i & 1)
			nic_connect(fronts[i - 1].nic, fronts[i].nic);
	}
	for (i = 0; !err && i < 2 * nr_pairs; i++) {
		err = um_pci_device_register(&fronts[i].um);
		fronts[i].registered = !err;
	}
	if (err) {
		front_remove();
		nic_debug_exit();
	}
	return err;
}
module_init(front_init);

static void __exit front_exit(void)
{
	front_remove();
	nic_debug_exit();
}
module_exit(front_exit);

MODULE_DESCRIPTION("Emulated NICs on the virtual PCI bus of UML");
MODULE_LICENSE("GPL");
