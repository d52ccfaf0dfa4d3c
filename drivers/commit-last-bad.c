// SPDX-License-Identifier: GPL-2.0
/* Input for commit-last.cocci, never compiled: it must report each "bad". */

static void bad_checksum(struct bad_ring *ring, struct sk_buff *skb)
{
	skb_checksum_help(skb);
}

static int bad_map(struct bad_ring *ring, struct bad_buffer *first)
{
	struct sk_buff *skb = first->skb;

	if (skb_cow_head(skb, 0))
		goto failed;
	skb->ip_summed = CHECKSUM_NONE;

	skb_tx_timestamp(skb);
	txts_commit(&ring->txts, &first->txts);

	skb_put_padto(skb, 60);			/* bad */
	if (ring->linear)
		skb_linearize(skb);		/* bad */
	__skb_push(skb, 4);			/* bad */
	skb->data[0] = 0;			/* bad */
	skb->len += 4;				/* bad */
	first->skb->protocol = 0;		/* bad */
	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;	/* bad */
	memset(skb->data, 0, 4);		/* bad */
	bad_checksum(ring, skb);			/* bad */

	first->next_to_watch = ring->desc;
	ring->bytes += skb->len;
	return 0;

failed:
	skb_trim(skb, 0);
	return -1;
}

static int bad_xmit(struct sk_buff *skb, struct bad_ring *ring)
{
	skb_put_padto(skb, 17);
	if (bad_map(ring, ring->first))
		return 0;
	pskb_trim(skb, 60);			/* bad */
	return 0;
}

/* As for an owner that is not an skb: the result is used. */
static void bad_zero_copy(struct bad_ring *ring, struct bad_buffer *buffer)
{
	if (!txts_commit(&ring->txts, &buffer->txts))
		buffer->pending = false;
	skb_trim(buffer->skb, 60);		/* bad */
	buffer->skb->len = 60;			/* bad */
	buffer->next_to_watch = ring->desc;
}

static int good_xmit(struct bad_ring *ring, struct bad_buffer *first)
{
	struct sk_buff *skb = first->skb;

	skb_put_padto(skb, 17);
	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	txts_commit(&ring->txts, &first->txts);
	first->next_to_watch = ring->desc;
	return 0;
}
