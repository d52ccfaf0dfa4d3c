// SPDX-License-Identifier: GPL-2.0
/*
 * Takes a PCI device through a bus error and the recovery from it, as a root
 * port's driver does after AER (Documentation/PCI/pci-error-recovery.rst). The
 * name of a device written to the parameter "detect" tells its driver that the
 * device is cut off, to "recover" that its slot was reset, and to "dead" that
 * it will not come back.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/string.h>

struct event {
	struct pci_dev *pdev;
	int (*fn)(struct pci_dev *pdev, const struct pci_error_handlers *h);
	int err;
};

static int detect(struct pci_dev *pdev, const struct pci_error_handlers *h)
{
	pdev->error_state = pci_channel_io_frozen;
	if (h->error_detected(pdev, pci_channel_io_frozen) !=
	    PCI_ERS_RESULT_NEED_RESET)
		return -EIO;
	return 0;
}

static int recover(struct pci_dev *pdev, const struct pci_error_handlers *h)
{
	pdev->error_state = pci_channel_io_normal;
	if (h->slot_reset(pdev) != PCI_ERS_RESULT_RECOVERED)
		return -EIO;
	h->resume(pdev);
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

/* Drivers expect the lock of their device and that of the bus. */
static int if_it_is(struct pci_dev *pdev, void *data)
{
	const struct pci_error_handlers *h = NULL;
	struct event *event = data;

	if (pdev != event->pdev)
		return 0;
	device_lock(&pdev->dev);
	if (pdev->dev.driver)
		h = to_pci_driver(pdev->dev.driver)->err_handler;
	if (h && h->error_detected && h->slot_reset && h->resume)
		event->err = event->fn(pdev, h);
	device_unlock(&pdev->dev);
	return 1;
}

static int set(const char *text, const struct kernel_param *kp)
{
	struct event event = { .fn = kp->arg, .err = -EOPNOTSUPP };
	struct device *dev;
	char name[32];

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	dev = bus_find_device_by_name(&pci_bus_type, NULL, strim(name));
	if (!dev)
		return -ENODEV;
	event.pdev = to_pci_dev(dev);
	pci_walk_bus(event.pdev->bus, if_it_is, &event);
	put_device(dev);
	return event.err;
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
