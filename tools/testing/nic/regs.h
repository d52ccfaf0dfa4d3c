/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers and descriptor bits of the emulated NICs.
 *
 * Offsets and bits are facts that Linux' igb and igc use (e1000_regs.h,
 * e1000_defines.h, e1000_82575.h; igc_regs.h, igc_defines.h, igc_base.h) and
 * that Intel's public data sheets of the 82580, I350, I210 and I225/I226 list
 * in their chapters on the programming interface. They are named here once
 * because the two drivers' headers exclude each other.
 */
#ifndef TXTS_NIC_REGS_H
#define TXTS_NIC_REGS_H

#include <linux/bits.h>

/* Device */
#define R_CTRL			0x00000
#define  CTRL_MASTER_DISABLE	BIT(2)
#define  CTRL_SELF_CLEARING	(BIT(26) | BIT(29) | BIT(31))
#define  CTRL_RESETS		(BIT(26) | BIT(29))
#define R_STATUS		0x00008
#define  STATUS_FD		BIT(0)
#define  STATUS_LU		BIT(1)
#define  STATUS_TXOFF		BIT(4)
#define  STATUS_SPEED_100	BIT(6)
#define  STATUS_SPEED_1000	BIT(7)
#define  STATUS_SPEED_2500	BIT(22)		/* with the one above */
#define  STATUS_MASTER_ENABLE	BIT(19)
#define R_EECD			0x00010
#define  EECD_REQ		BIT(6)
#define  EECD_GNT		BIT(7)
#define  EECD_PRES		BIT(8)
#define  EECD_AUTO_RD		BIT(9)
#define  EECD_SIZE(n)		((n) << 11)
#define  EECD_FLASH_DETECTED	BIT(19)
#define  EECD_FLUDONE		BIT(26)
#define R_EERD_LOW		0x00014		/* igb's name of R_EERD */
#define R_EERD			0x12014
#define  EERD_START		BIT(0)
#define  EERD_DONE		BIT(1)
#define  EERD_ADDR(v)		(((v) >> 2) & 0x3fff)
#define R_MDIC			0x00020
#define  MDIC_REG(v)		(((v) >> 16) & 0x1f)
#define  MDIC_WRITE		BIT(26)
#define  MDIC_READY		BIT(28)
#define R_PHPM			0x00e14
#define  PHPM_RESET_DONE	BIT(8)
#define R_EEMNGCTL		0x01010
#define R_EEMNGCTL_I210		0x12030
#define  EEMNGCTL_DONE		GENMASK(21, 18)
#define R_SWSM			0x05b50
#define  SWSM_SMBI		BIT(0)
#define R_STATS			0x04000
#define R_STATS_END		0x04200
#define R_TDFPC			0x03430

/* Interrupts; the first block is an alias of the second. */
#define R_ICR_LOW		0x000c0
#define R_IAM_LOW		0x000e0
#define R_ICR			0x01500
#define  ICR_LSC		BIT(2)
#define  ICR_TS			BIT(19)
#define R_ICS			0x01504
#define R_IMS			0x01508
#define R_IMC			0x0150c
#define R_EICS			0x01520
#define R_EIMS			0x01524
#define R_EIMC			0x01528
#define R_EIAC			0x0152c
#define R_EIAM			0x01530
#define R_EICR			0x01580
#define R_EITR(n)		(0x01680 + 4 * (n))
#define  EITR_US(v)		(((v) & 0x7ffc) >> 2)
#define R_IVAR(n)		(0x01700 + 4 * (n))
#define R_IVAR_MISC		0x01740
#define  IVAR_VALID		BIT(7)

/* Receive */
#define R_RCTL			0x00100
#define  RCTL_EN		BIT(1)
#define  RCTL_UPE		BIT(3)
#define  RCTL_MPE		BIT(4)
#define R_MRQC			0x05818
#define R_RETA			0x05c00
#define R_RAL(n)		(0x05400 + 8 * (n))
#define R_RAH(n)		(0x05404 + 8 * (n))
#define  RAH_AV			BIT(31)

/* A queue's registers: the base, and what igb calls queues 0 to 3. */
#define R_RXQ(n)		(0x0c000 + 0x40 * (n))
#define R_RXQ_LOW		0x02800
#define R_TXQ(n)		(0x0e000 + 0x40 * (n))
#define R_TXQ_LOW		0x03800
#define  Q_BAL			0x00
#define  Q_BAH			0x04
#define  Q_LEN			0x08
#define  Q_SRRCTL		0x0c
#define  Q_HEAD			0x10
#define  Q_TAIL			0x18
#define  Q_DCTL			0x28
#define  DCTL_ENABLE		BIT(25)
#define  SRRCTL_SIZE(v)		(((v) & 0x7f) << 10)
#define  SRRCTL_TIMESTAMP	BIT(30)

/* Time */
#define R_TSYNCRXCTL		0x0b620
#define R_TSYNCTXCTL		0x0b614
#define  TSYNC_ENABLED		BIT(4)
#define R_TSICR			0x0b66c
#define R_TSIM			0x0b674
#define  TSICR_TXTS		BIT(1)
#define R_SYSTIML(t)		((t) ? 0x0b688 : 0x0b600)
#define R_SYSTIMH(t)		((t) ? 0x0b68c : 0x0b604)
#define R_SYSTIMR(t)		((t) ? 0x0b684 : 0x0b6f8)
#define R_TIMINCA(t)		((t) ? 0x0b690 : 0x0b608)
#define  TIMINCA_MINUS		BIT(31)
#define R_TXSTMP_0		0x0b618		/* low, then high */
#define R_TXSTMP(slot)		(0x0b678 + 0x20 * (slot))	/* 1 to 3 */

/*
 * Launch time and the cycle of gates: the headers above, igc_tsn.c, and the
 * sections on transmit scheduling of the data sheets that it cites.
 */
#define R_TQAVCTRL		0x03570
#define  TQAVCTRL_MODE		BIT(0)		/* TSN, Qav on I210 */
#define  TQAVCTRL_LAUNCH_I210	BIT(9)
#define R_TQAVCC_I210(n)	(0x03004 + 0x40 * (n))
#define  TQAVCC_RESERVED	BIT(31)		/* a queue for streams */
#define R_TXQCTL(n)		(0x03344 + 4 * (n))
#define  TXQCTL_LAUNCH		BIT(0)
#define R_BASET_L		0x03314
#define R_BASET_H		0x03318
#define R_QBVCYCLET		0x0331c
#define R_STQT(n)		(0x03324 + 4 * (n))
#define R_ENDQT(n)		(0x03334 + 4 * (n))

/* Advanced Tx descriptors: cmd_type_len, olinfo_status, status */
#define TXD_TYPE		GENMASK(23, 20)
#define  TXD_CONTEXT		BIT(21)
#define  TXD_DATA		(BIT(21) | BIT(20))
#define TXD_STAMP		BIT(19)
#define TXD_SLOT(cmd)		(((cmd) >> 16) & 3)
#define TXD_EOP			BIT(24)
#define TXD_RS			BIT(27)
#define TXD_VLE			BIT(30)
#define TXD_TSE			BIT(31)
#define TXD_LEN			GENMASK(15, 0)
#define TXD_IXSM		BIT(8)
#define TXD_TXSM		BIT(9)
#define TXD_TIMER_1		BIT(5)
#define TXD_DD			BIT(0)

/* Context descriptors */
#define TXC_VLAN(v)		((v) >> 16)
#define TXC_MACLEN(v)		(((v) >> 9) & 0x7f)
#define TXC_IPLEN(v)		((v) & 0x1ff)
#define TXC_IPV4		BIT(10)
#define TXC_L4T(v)		(((v) >> 11) & 3)
#define  TXC_UDP		0
#define  TXC_TCP		1
#define TXC_L4LEN(v)		(((v) >> 8) & 0xff)
#define TXC_FIRST		BIT(7)		/* of the next cycle */
#define TXC_LAUNCH_I210(v)	((v) & GENMASK(24, 0))	/* in 32 ns */
#define TXC_MSS(v)		((v) >> 16)

/* Advanced Rx descriptors: status_error */
#define RXD_DD			BIT(0)
#define RXD_EOP			BIT(1)
#define RXD_TSIP		BIT(15)

#endif /* TXTS_NIC_REGS_H */
