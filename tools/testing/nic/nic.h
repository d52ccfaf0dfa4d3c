/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An emulated network card: the interface between the model, which knows
 * registers, and a front, which puts it on a bus.
 *
 * A front gives the model's BAR 0, its configuration space and, if it likes,
 * its MSI-X table to the kernel's PCI core, and answers for DMA and for the
 * delivery of interrupts. The model calls nothing else. Each front links the
 * model's files into its own module.
 */
#ifndef TXTS_NIC_H
#define TXTS_NIC_H

#include <linux/types.h>

struct nic;
struct nic_kind;

/* Addresses of a nic on its bus. */
#define NIC_BAR_REGS		0
#define NIC_BAR_MSIX		3
#define NIC_BAR_REGS_SIZE	0x20000
#define NIC_BAR_MSIX_SIZE	0x4000
#define NIC_CONFIG_SIZE		4096
#define NIC_MSIX_ENTRY		16	/* bytes of a vector in the table */
#define NIC_MAX_VECTORS		10

/**
 * struct nic_front_ops - what the model asks of a front
 * @dma: kernel address of @len bytes at bus address @addr, or NULL; called
 *	with the model's raw lock held and interrupts off
 * @interrupt: deliver MSI-X vector @vector; called in hard IRQ context with no
 *	lock of the model held. False if the vector is masked: the model keeps
 *	it pending until nic_msix_unmasked().
 */
struct nic_front_ops {
	void *(*dma)(void *front, u64 addr, size_t len);
	bool (*interrupt)(void *front, unsigned int vector);
};

/*
 * Life. The calls of a front come from process context, nic_destroy() after
 * the driver is gone. A port is given to nic_connect() once, with its peer;
 * the link of both is up then. @port numbers the ports of a system from 0 and
 * shows in the MAC address, in knobs that are per port and in debugfs.
 */
const struct nic_kind *nic_kind_by_name(const char *name);
const char *nic_kind_names(void);
struct nic *nic_create(const struct nic_kind *kind, unsigned int port,
		       const struct nic_front_ops *ops, void *front);
void nic_connect(struct nic *a, struct nic *b);
void nic_destroy(struct nic *nic);
unsigned int nic_vectors(const struct nic *nic);

/* BAR 0: 32-bit accesses, in any context; they cost time, see the knobs. */
u32 nic_read(struct nic *nic, u32 offset);
void nic_write(struct nic *nic, u32 offset, u32 value);

/*
 * Configuration space, @size 1, 2 or 4. It has 32-bit BARs 0 and 3, the
 * capabilities PM, MSI-X (table and PBA in BAR 3) and PCI Express.
 */
u32 nic_config_read(struct nic *nic, unsigned int offset, int size);
void nic_config_write(struct nic *nic, unsigned int offset, int size,
		      u32 value);

/*
 * The MSI-X table, for a front that has no memory of its own behind BAR 3.
 * nic_msix_masked() and nic_msix_data() answer from this table; a front that
 * keeps its own calls nic_msix_unmasked() when a vector's mask is taken off.
 */
u32 nic_msix_read(struct nic *nic, u32 offset);
void nic_msix_write(struct nic *nic, u32 offset, u32 value);
bool nic_msix_masked(struct nic *nic, unsigned int vector);
u32 nic_msix_data(struct nic *nic, unsigned int vector);
void nic_msix_unmasked(struct nic *nic, unsigned int vector);

/* debugfs: registers, trace and counters of all ports; once per module. */
int nic_debug_init(void);
void nic_debug_exit(void);

#endif /* TXTS_NIC_H */
