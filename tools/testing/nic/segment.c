// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit offloads: VLAN tag, checksums, and the segmentation of a TCP or UDP
 * packet into frames, one a call.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>

#include "port.h"

struct layout {
	unsigned int l3;	/* offset of the IP header */
	unsigned int l4;
	unsigned int headers;	/* bytes of headers */
	bool ipv4;
	bool udp;
};

static void layout_of(const struct nic_packet *p, struct layout *l)
{
	const struct nic_offload *o = &p->o;

	l->l3 = TXC_MACLEN(o->vlan_macip);
	l->l4 = l->l3 + TXC_IPLEN(o->vlan_macip);
	l->headers = l->l4 + TXC_L4LEN(o->mss_l4len);
	l->ipv4 = o->tucmd & TXC_IPV4;
	l->udp = TXC_L4T(o->tucmd) == TXC_UDP;
}

static void ip_checksum(u8 *frame, const struct layout *l)
{
	struct iphdr *ip = (struct iphdr *)(frame + l->l3);

	ip->check = 0;
	ip->check = ip_fast_csum(ip, (l->l4 - l->l3) / 4);
}

static __sum16 *l4_checksum_field(u8 *frame, const struct layout *l)
{
	if (l->udp)
		return &((struct udphdr *)(frame + l->l4))->check;
	return &((struct tcphdr *)(frame + l->l4))->check;
}

/* The field holds the sum of the pseudo header, as the stack leaves it. */
static void l4_checksum(u8 *frame, unsigned int len, const struct layout *l)
{
	__sum16 *check = l4_checksum_field(frame, l);
	__sum16 sum = csum_fold(csum_partial(frame + l->l4, len - l->l4, 0));

	*check = l->udp && !sum ? CSUM_MANGLED_0 : sum;
}

/* The pseudo header of a segment has a length, that of the whole has none. */
static void add_length(u8 *frame, unsigned int len, const struct layout *l)
{
	__sum16 *check = l4_checksum_field(frame, l);

	*check = ~csum_fold(csum_add(csum_unfold(*check),
				     (__force __wsum)htonl(len - l->l4)));
}

static void fix_ip(u8 *frame, unsigned int len, const struct layout *l,
		   unsigned int segment)
{
	struct ipv6hdr *ip6 = (struct ipv6hdr *)(frame + l->l3);
	struct iphdr *ip = (struct iphdr *)(frame + l->l3);

	if (!l->ipv4) {
		ip6->payload_len = htons(len - l->l3 - sizeof(*ip6));
		return;
	}
	ip->tot_len = htons(len - l->l3);
	ip->id = htons(ntohs(ip->id) + segment);
	ip_checksum(frame, l);
}

static void fix_l4(u8 *frame, unsigned int len, const struct layout *l,
		   unsigned int done, bool first, bool last)
{
	struct tcphdr *tcp = (struct tcphdr *)(frame + l->l4);
	struct udphdr *udp = (struct udphdr *)(frame + l->l4);

	if (l->udp) {
		udp->len = htons(len - l->l4);
	} else {
		tcp->seq = htonl(ntohl(tcp->seq) + done);
		if (!first)
			tcp->cwr = 0;
		if (!last) {
			tcp->fin = 0;
			tcp->psh = 0;
		}
	}
	add_length(frame, len, l);
	l4_checksum(frame, len, l);
}

static unsigned int segment(struct nic_packet *p, u8 *frame)
{
	unsigned int mss = TXC_MSS(p->o.mss_l4len);
	unsigned int done, size, len;
	struct layout l;

	layout_of(p, &l);
	done = p->sent ? p->sent - l.headers : 0;
	if (!mss || l.headers >= p->len || l.headers + mss > NIC_FRAME_MAX) {
		p->sent = p->len;
		return 0;
	}
	size = min(mss, p->len - l.headers - done);
	len = l.headers + size;
	memcpy(frame, p->data, l.headers);
	memcpy(frame + l.headers, p->data + l.headers + done, size);
	p->sent = l.headers + done + size;
	fix_ip(frame, len, &l, p->segments);
	fix_l4(frame, len, &l, done, !done, p->sent == p->len);
	p->segments++;
	return len;
}

static unsigned int whole(struct nic_packet *p, u8 *frame)
{
	unsigned int len = min_t(unsigned int, p->len, NIC_FRAME_MAX);
	struct layout l;

	memcpy(frame, p->data, len);
	p->sent = p->len;
	layout_of(p, &l);
	if (p->o.olinfo & TXD_IXSM && l.ipv4 && l.l4 < len)
		ip_checksum(frame, &l);
	if (p->o.olinfo & TXD_TXSM && l.l4 + sizeof(struct udphdr) <= len)
		l4_checksum(frame, len, &l);
	return len;
}

/* Writes the next frame of @packet and returns its length. */
unsigned int nic_segment(struct nic_packet *packet, u8 *frame)
{
	struct vlan_hdr *tag = (struct vlan_hdr *)(frame + 2 * ETH_ALEN + 2);
	unsigned int len;

	len = packet->o.cmd & TXD_TSE ? segment(packet, frame) :
					whole(packet, frame);
	if (!(packet->o.cmd & TXD_VLE) || !len)
		return len;
	memmove(frame + 2 * ETH_ALEN + VLAN_HLEN, frame + 2 * ETH_ALEN,
		len - 2 * ETH_ALEN);
	*(__be16 *)(frame + 2 * ETH_ALEN) = htons(ETH_P_8021Q);
	tag->h_vlan_TCI = htons(TXC_VLAN(packet->o.vlan_macip));
	return len + VLAN_HLEN;
}
