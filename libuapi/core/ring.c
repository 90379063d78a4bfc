// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Ring arithmetic, see ring.h. */
#include "libuapi/core/ring.h"

struct sdmacc_ring_pos sdmacc_ring_start(void)
{
	struct sdmacc_ring_pos pos = {0, SDMACC_RING_FIRST_ID};

	return pos;
}

struct sdmacc_ring_pos sdmacc_ring_advance(struct sdmacc_ring_pos pos, uint32_t length,
					   uint32_t count)
{
	/* Lengths are below 2^24, so the sum fits in 32 bits once count is reduced. */
	uint32_t wraps = count / length;
	uint32_t index = pos.index + count % length;

	if (index >= length) {
		index -= length;
		wraps++;
	}
	pos.index = index;
	pos.ring_id = (pos.ring_id + wraps) & 3u;
	return pos;
}

uint32_t sdmacc_ring_used(uint32_t head, uint32_t tail, uint32_t length)
{
	return tail >= head ? tail - head : length - head + tail;
}

uint32_t sdmacc_ring_free(uint32_t head, uint32_t tail, uint32_t length)
{
	return length - 1 - sdmacc_ring_used(head, tail, length);
}

uint32_t sdmacc_ring_length(uint64_t count)
{
	const uint64_t align = SDMACC_RING_ALIGN_DESCS;

	if (count > SDMACC_RING_MAX_DESCS)
		return 0;
	if (count < SDMACC_RING_MIN_DESCS)
		return SDMACC_RING_MIN_DESCS;
	return (uint32_t)((count + align - 1) / align * align);
}

uint32_t sdmacc_ring_register(struct sdmacc_ring_pos pos)
{
	return (pos.index & SDMACC_Q_INDEX_MASK) | pos.ring_id << SDMACC_Q_RING_ID_SHIFT;
}
