/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Arithmetic of a descriptor ring: where an index and its ring id go, how many descriptors fit, how
 * long a ring is. Units are descriptors; nothing here touches memory.
 */
#ifndef SDMACC_CORE_RING_H
#define SDMACC_CORE_RING_H

#include "libuapi/abi/udma.h"
#include "libuapi/core/shim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A place in a ring: index < length, and the 2-bit id that a descriptor written there carries. */
struct sdmacc_ring_pos {
	uint32_t index;
	uint32_t ring_id;
};

/* Where a queue stands after its reset. */
struct sdmacc_ring_pos sdmacc_ring_start(void);

/* `count` descriptors further; the id steps by one, mod 4, at each wrap. 0 < length, index <
 * length. */
struct sdmacc_ring_pos sdmacc_ring_advance(struct sdmacc_ring_pos pos, uint32_t length,
					   uint32_t count);

/* Descriptors armed and not yet taken, and those that may still be armed: one slot stays empty, so
 * head == tail means empty. */
uint32_t sdmacc_ring_used(uint32_t head, uint32_t tail, uint32_t length);
uint32_t sdmacc_ring_free(uint32_t head, uint32_t tail, uint32_t length);

/*
 * Ring length for `count` descriptors that are armed once a reset: a multiple of 16, at least 32; 0
 * when no ring is that long. `count` may fill it whole.
 */
uint32_t sdmacc_ring_length(uint64_t count);

/* The value of a head or tail register. */
uint32_t sdmacc_ring_register(struct sdmacc_ring_pos pos);

#ifdef __cplusplus
}
#endif

#endif
