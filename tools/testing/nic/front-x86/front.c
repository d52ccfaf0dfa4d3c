// SPDX-License-Identifier: GPL-2.0
/*
 * Puts emulated network cards, wired in pairs, on a PCI bus of their own in a
 * stock x86 kernel. Nothing real is behind the bus: configuration space comes
 * from the model, a driver that was compiled with redirect.h reaches BAR 0
 * through the functions exported here, and the MSI-X table is what this file's
 * interrupt chip keeps. So the bus gets a hole in the physical address space,
 * and the kernel no boot parameter.
 *
 * An interrupt is a true one: the chip's parent, the local APIC, sends the
 * vector to the CPU to which the kernel has assigned it. Affinity, forced
 * threading and races between CPUs are those of a real device.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ioport.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/msi.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <asm/hw_irq.h>
#include <asm/irqdomain.h>
#include <asm/msi.h>

#include "accessors.h"
#include "nic.h"

#define MAX_PAIRS	4
#define MAX_PORTS	(2 * MAX_PAIRS)
#define WINDOW_SIZE	SZ_16M
/* No pointer of a 4-level or 5-level page table looks like this. */
#define COOKIE		0x7e1c000000000000UL
#define COOKIE_MASK	0xffff000000000000UL
#define COOKIE_PORT	24

static char *pairs[MAX_PAIRS] = { "i210" };
static int nr_pairs = 1;
module_param_array(pairs, charp, &nr_pairs, 0444);
MODULE_PARM_DESC(pairs, "kinds, one for each pair of ports wired together");

static int domain = 0x7e1c;
module_param(domain, int, 0444);
MODULE_PARM_DESC(domain, "PCI domain of the bus (0x7e1c)");

/**
 * struct front_port - one device of the bus
 * @nic: the model
 * @regs: bus address of its BAR 0
 * @lock: protects what follows; taken inside an irq_desc's lock
 * @irqs: where each MSI-X vector goes, NULL while the vector has no message
 * @masked: vectors that may not be sent now
 * @pending: of these, the ones to be sent when that ends
 */
struct front_port {
	struct nic *nic;
	resource_size_t regs;
	raw_spinlock_t lock;
	struct irq_data *irqs[NIC_MAX_VECTORS];
	unsigned long masked;
	unsigned long pending;
};

static struct front_port ports[MAX_PORTS];
static unsigned int nr_ports;
static struct pci_bus *bus;
static struct irq_domain *msi_domain;
static struct fwnode_handle *msi_fwnode;
static struct pci_sysdata sysdata;

static struct resource bus_window = {
	.name	= "emulated NICs",
	.flags	= IORESOURCE_MEM,
};

static struct resource bus_numbers = {
	.name	= "emulated NICs",
	.flags	= IORESOURCE_BUS,
};

/* The model's questions */

static void *front_dma(void *front, u64 addr, size_t len)
{
	void *first = phys_to_virt(addr), *last = phys_to_virt(addr + len - 1);

	if (!len || !virt_addr_valid(first) || !virt_addr_valid(last))
		return NULL;
	return first;
}

/*
 * Under the port's lock. A message is zeroed before what is behind it goes
 * away; without one, a device has nowhere to send to.
 */
static void send(struct front_port *port, unsigned int vector)
{
	if (port->masked & BIT(vector)) {
		port->pending |= BIT(vector);
		return;
	}
	port->pending &= ~BIT(vector);
	if (port->irqs[vector])
		irq_chip_retrigger_hierarchy(port->irqs[vector]);
}

/* Never refused: what is masked is pending here and not in the model. */
static bool front_interrupt(void *front, unsigned int vector)
{
	struct front_port *port = front;
	unsigned long flags;

	if (vector >= NIC_MAX_VECTORS)
		return true;
	raw_spin_lock_irqsave(&port->lock, flags);
	send(port, vector);
	raw_spin_unlock_irqrestore(&port->lock, flags);
	return true;
}

static const struct nic_front_ops front_ops = {
	.dma		= front_dma,
	.interrupt	= front_interrupt,
};

/* MSI-X */

static struct front_port *port_of_irq(struct irq_data *irq, unsigned int *index)
{
	struct msi_desc *desc = irq_data_get_msi_desc(irq);
	struct pci_dev *pdev = to_pci_dev(desc->dev);

	/* The model's table is not longer than this. */
	*index = min_t(unsigned int, desc->msi_index, NIC_MAX_VECTORS - 1);
	return &ports[PCI_SLOT(pdev->devfn)];
}

static void front_irq_mask(struct irq_data *irq)
{
	unsigned int vector;
	struct front_port *port = port_of_irq(irq, &vector);
	unsigned long flags;

	raw_spin_lock_irqsave(&port->lock, flags);
	port->masked |= BIT(vector);
	raw_spin_unlock_irqrestore(&port->lock, flags);
}

static void front_irq_unmask(struct irq_data *irq)
{
	unsigned int vector;
	struct front_port *port = port_of_irq(irq, &vector);
	unsigned long flags;

	raw_spin_lock_irqsave(&port->lock, flags);
	port->masked &= ~BIT(vector);
	if (port->pending & BIT(vector))
		send(port, vector);
	raw_spin_unlock_irqrestore(&port->lock, flags);
}

static void front_irq_write(struct irq_data *irq, struct msi_msg *msg)
{
	unsigned int vector;
	struct front_port *port = port_of_irq(irq, &vector);
	bool valid = msg->address_lo || msg->data;
	unsigned long flags;

	raw_spin_lock_irqsave(&port->lock, flags);
	port->irqs[vector] = valid ? irq : NULL;
	if (!valid)
		port->pending &= ~BIT(vector);
	raw_spin_unlock_irqrestore(&port->lock, flags);
}

static struct irq_chip front_chip = {
	.name			= "NIC-MSI-X",
	.irq_ack		= irq_chip_ack_parent,
	.irq_mask		= front_irq_mask,
	.irq_unmask		= front_irq_unmask,
	.irq_retrigger		= irq_chip_retrigger_hierarchy,
	.irq_write_msi_msg	= front_irq_write,
	.flags			= IRQCHIP_SKIP_SET_WAKE |
				  IRQCHIP_AFFINITY_PRE_STARTUP,
};

static struct msi_domain_ops front_msi_ops = {
	.msi_prepare	= pci_msi_prepare,
};

/* NO_MASK keeps the PCI core from the table, which is not there. */
static struct msi_domain_info front_msi_info = {
	.flags		= MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS |
			  MSI_FLAG_PCI_MSIX | MSI_FLAG_NO_MASK,
	.ops		= &front_msi_ops,
	.chip		= &front_chip,
	.handler	= handle_edge_irq,
	.handler_name	= "edge",
};

/* Configuration space */

static struct front_port *port_of_devfn(struct pci_bus *b, unsigned int devfn)
{
	if (b->number || PCI_FUNC(devfn) || PCI_SLOT(devfn) >= nr_ports)
		return NULL;
	return &ports[PCI_SLOT(devfn)];
}

static int front_config_read(struct pci_bus *b, unsigned int devfn, int where,
			     int size, u32 *value)
{
	struct front_port *port = port_of_devfn(b, devfn);

	*value = ~0U;
	if (!port)
		return PCIBIOS_DEVICE_NOT_FOUND;
	*value = nic_config_read(port->nic, where, size);
	return PCIBIOS_SUCCESSFUL;
}

static int front_config_write(struct pci_bus *b, unsigned int devfn, int where,
			      int size, u32 value)
{
	struct front_port *port = port_of_devfn(b, devfn);

	if (!port)
		return PCIBIOS_DEVICE_NOT_FOUND;
	nic_config_write(port->nic, where, size, value);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops front_pci_ops = {
	.read	= front_config_read,
	.write	= front_config_write,
};

/* What a driver calls instead of the accessors; others' addresses pass. */

static struct front_port *port_of_cookie(const void __iomem *addr)
{
	unsigned long cookie = (__force unsigned long)addr;
	unsigned int number = (cookie & ~COOKIE_MASK) >> COOKIE_PORT;

	if ((cookie & COOKIE_MASK) != COOKIE || number >= nr_ports)
		return NULL;
	return &ports[number];
}

static u32 cookie_offset(const void __iomem *addr)
{
	return (__force unsigned long)addr & (BIT(COOKIE_PORT) - 1);
}

u32 nic_x86_readl(const void __iomem *addr)
{
	struct front_port *port = port_of_cookie(addr);

	return port ? nic_read(port->nic, cookie_offset(addr)) : readl(addr);
}
EXPORT_SYMBOL_GPL(nic_x86_readl);

void nic_x86_writel(u32 value, void __iomem *addr)
{
	struct front_port *port = port_of_cookie(addr);

	if (port)
		nic_write(port->nic, cookie_offset(addr), value);
	else
		writel(value, addr);
}
EXPORT_SYMBOL_GPL(nic_x86_writel);

void nic_x86_memcpy_fromio(void *to, const void __iomem *from,
			   size_t len)
{
	size_t i;

	if (!port_of_cookie(from)) {
		memcpy_fromio(to, from, len);
		return;
	}
	for (i = 0; i < len; i++)
		((u8 *)to)[i] = nic_x86_readl(from + (i & ~3UL)) >>
				(i & 3) * BITS_PER_BYTE;
}
EXPORT_SYMBOL_GPL(nic_x86_memcpy_fromio);

static void __iomem *cookie_of(resource_size_t start)
{
	unsigned long i;

	for (i = 0; i < nr_ports; i++)
		if (bus && start && start == ports[i].regs)
			return (void __iomem *)(COOKIE | i << COOKIE_PORT);
	return NULL;
}

void __iomem *nic_x86_ioremap(resource_size_t start, unsigned long size)
{
	return cookie_of(start) ?: ioremap(start, size);
}
EXPORT_SYMBOL_GPL(nic_x86_ioremap);

void __iomem *nic_x86_pci_iomap(struct pci_dev *pdev, int bar,
				unsigned long max)
{
	return cookie_of(pci_resource_start(pdev, bar)) ?:
	       pci_iomap(pdev, bar, max);
}
EXPORT_SYMBOL_GPL(nic_x86_pci_iomap);

void nic_x86_iounmap(void __iomem *addr)
{
	if (!port_of_cookie(addr))
		iounmap(addr);
}
EXPORT_SYMBOL_GPL(nic_x86_iounmap);

void nic_x86_pci_iounmap(struct pci_dev *pdev, void __iomem *addr)
{
	if (!port_of_cookie(addr))
		pci_iounmap(pdev, addr);
}
EXPORT_SYMBOL_GPL(nic_x86_pci_iounmap);

/* Life */

/* From what the machine's own PCI buses have left. */
static int get_window(void)
{
	struct pci_bus *other = NULL;

	while ((other = pci_find_next_bus(other)))
		if (!pci_bus_alloc_resource(other, &bus_window, WINDOW_SIZE,
					    WINDOW_SIZE, SZ_1M, 0, NULL, NULL))
			return 0;
	pr_err("no PCI bus has 16 MiB below 4 GiB left\n");
	return -ENOSPC;
}

static int make_msi_domain(void)
{
	msi_fwnode = irq_domain_alloc_named_fwnode("NIC-MSI-X");
	if (!msi_fwnode)
		return -ENOMEM;
	msi_domain = pci_msi_create_irq_domain(msi_fwnode, &front_msi_info,
					       x86_vector_domain);
	if (msi_domain)
		return 0;
	irq_domain_free_fwnode(msi_fwnode);
	return -ENOMEM;
}

static void remove_msi_domain(void)
{
	irq_domain_remove(msi_domain);
	irq_domain_free_fwnode(msi_fwnode);
}

static void destroy_nics(void)
{
	while (nr_ports)
		nic_destroy(ports[--nr_ports].nic);
}

static int make_nic(const struct nic_kind *kind)
{
	struct front_port *port = &ports[nr_ports];

	raw_spin_lock_init(&port->lock);
	port->masked = ~0UL;
	port->nic = nic_create(kind, nr_ports, &front_ops, port);
	if (!port->nic)
		return -ENOMEM;
	nr_ports++;
	return 0;
}

static int make_nics(void)
{
	const struct nic_kind *kind;
	int i, err;

	for (i = 0; i < nr_pairs; i++) {
		kind = nic_kind_by_name(pairs[i]);
		if (!kind) {
			pr_err("there is no kind %s; known: %s\n", pairs[i],
			       nic_kind_names());
			destroy_nics();
			return -EINVAL;
		}
		err = make_nic(kind) ?: make_nic(kind);
		if (err) {
			destroy_nics();
			return err;
		}
		nic_connect(ports[2 * i].nic, ports[2 * i + 1].nic);
	}
	return 0;
}

static int make_bus(void)
{
	struct pci_dev *pdev;
	LIST_HEAD(resources);
	unsigned int i;

	sysdata.domain = domain;
	sysdata.node = NUMA_NO_NODE;
	pci_add_resource(&resources, &bus_window);
	pci_add_resource(&resources, &bus_numbers);
	pci_lock_rescan_remove();
	bus = pci_create_root_bus(NULL, 0, &front_pci_ops, &sysdata,
				  &resources);
	if (!bus) {
		pci_unlock_rescan_remove();
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	dev_set_msi_domain(&bus->dev, msi_domain);
	pci_scan_child_bus(bus);
	pci_assign_unassigned_bus_resources(bus);
	for (i = 0; i < nr_ports; i++) {
		pdev = pci_get_slot(bus, PCI_DEVFN(i, 0));
		if (!pdev)
			continue;
		ports[i].regs = pci_resource_start(pdev, NIC_BAR_REGS);
		pci_dev_put(pdev);
	}
	pci_bus_add_devices(bus);
	pci_unlock_rescan_remove();
	return 0;
}

static void remove_bus(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	bus = NULL;
	pci_unlock_rescan_remove();
}

static int __init front_init(void)
{
	int err;

	err = nic_debug_init();
	if (err)
		return err;
	err = make_nics();
	if (err)
		goto no_nics;
	err = get_window();
	if (err)
		goto no_window;
	err = make_msi_domain();
	if (err)
		goto no_domain;
	err = make_bus();
	if (err)
		goto no_bus;
	return 0;
no_bus:
	remove_msi_domain();
no_domain:
	release_resource(&bus_window);
no_window:
	destroy_nics();
no_nics:
	nic_debug_exit();
	return err;
}

/* A driver is bound to the bus only while it holds this module's functions. */
static void __exit front_exit(void)
{
	remove_bus();
	remove_msi_domain();
	release_resource(&bus_window);
	destroy_nics();
	nic_debug_exit();
}

module_init(front_init);
module_exit(front_exit);
MODULE_DESCRIPTION("Emulated NICs on a PCI bus of their own");
MODULE_LICENSE("GPL");
