// SPDX-License-Identifier: GPL-2.0
/*
 * Takes a PCI device through a bus error and the recovery from it, as a root
 * port's driver does after AER (Documentation/PCI/pci-error-recovery.rst). The
 * name of a device written to the parameter "detect" tells its driver that the
 * device is cut off, to "recover" that its slot was reset, and to "dead" that
 * it will not come back.
 */
#include <linux/device.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/string.h>

typedef int (*event_fn)(struct pci_dev *pdev,
			const struct pci_error_handlers *h);

static int detect(struct pci_dev *pdev, const struct pci_error_handlers *h)
{
	pdev->error_state = pci_channel_io_frozen;
	if (h->error_detected(pdev, pci_channel_io_frozen) !=
	    PCI_ERS_RESULT_NEED_RESET)
		return -EIO;
	return 0;
}

static int dead(struct pci_dev *pdev, const struct pci_error_handlers *h)
{
	pdev->error_state = pci_channel_io_perm_failure;
	if (h->error_detected(pdev, pci_channel_io_perm_failure) !=
	    PCI_ERS_RESULT_DISCONNECT)
		return -EIO;
	return 0;
}

struct reset {
	struct pci_dev *pdev;
	const struct pci_error_handlers *h;
	pci_ers_result_t result;
};

static int reset_one(struct pci_dev *pdev, void *data)
{
	struct reset *reset = data;

	if (pdev == reset->pdev)
		reset->result = reset->h->slot_reset(pdev);
	return 0;
}

/*
 * igc wants the bus to be locked while it is reset. AER locks it for all calls,
 * to which lockdep objects on the bus of User Mode Linux: that is locked below
 * its regions, and these below RTNL and the vectors.
 */
static int recover(struct pci_dev *pdev, const struct pci_error_handlers *h)
{
	struct reset reset = { .pdev = pdev, .h = h };

	pdev->error_state = pci_channel_io_normal;
	lockdep_off();
	pci_walk_bus(pdev->bus, reset_one, &reset);
	lockdep_on();
	if (reset.result != PCI_ERS_RESULT_RECOVERED)
		return -EIO;
	h->resume(pdev);
	return 0;
}

static int set(const char *text, const struct kernel_param *kp)
{
	const struct pci_error_handlers *h = NULL;
	event_fn fn = kp->arg;
	struct device *dev;
	char name[32];
	int err = -EOPNOTSUPP;

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	dev = bus_find_device_by_name(&pci_bus_type, NULL, strim(name));
	if (!dev)
		return -ENODEV;
	device_lock(dev);
	if (dev->driver)
		h = to_pci_driver(dev->driver)->err_handler;
	if (h && h->error_detected && h->slot_reset && h->resume)
		err = fn(to_pci_dev(dev), h);
	device_unlock(dev);
	put_device(dev);
	return err;
}

static const struct kernel_param_ops event_ops = { .set = set };

module_param_cb(detect, &event_ops, detect, 0200);
MODULE_PARM_DESC(detect, "PCI device that has a bus error");
module_param_cb(recover, &event_ops, recover, 0200);
MODULE_PARM_DESC(recover, "PCI device whose slot was reset");
module_param_cb(dead, &event_ops, dead, 0200);
MODULE_PARM_DESC(dead, "PCI device that is lost");

MODULE_DESCRIPTION("Bus errors and recovery for tests of PCI drivers");
MODULE_LICENSE("GPL");
