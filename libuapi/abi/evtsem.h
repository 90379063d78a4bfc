/* SPDX-License-Identifier: MIT */
/* EVT_SEM: 256 one-bit events and 256 32-bit semaphores, the latter seen through four windows of
 * one array. */
#ifndef SDMACC_ABI_EVTSEM_H
#define SDMACC_ABI_EVTSEM_H

#include <stdint.h>

#define SDMACC_EVENTS 256u
#define SDMACC_SEMAPHORES 256u
#define SDMACC_EVT_WINDOW 0x0000u
#define SDMACC_SEM_READ 0x1000u
#define SDMACC_SEM_SET 0x1400u
#define SDMACC_SEM_INC 0x1800u
#define SDMACC_SEM_DEC 0x1c00u
#define SDMACC_EVTSEM_SIZE 0x2000u
#define SDMACC_SEM_READ_TO_INC 0x800u
#define SDMACC_SEM_READ_TO_DEC 0xc00u

/* Fixed ids on a TOP_SP. */
#define SDMACC_SEM_TRIGGER 0u
#define SDMACC_SEM_COMPLETION 1u
#define SDMACC_SEM_BARRIER0 2u
#define SDMACC_SEM_BARRIER1 3u
#define SDMACC_SEM_BARRIER_DMA 4u
#define SDMACC_SEM_FUNCTION_SWITCH 5u
#define SDMACC_SEM_HOST_BARRIER_START 6u
#define SDMACC_SEM_HOST_BARRIER_DONE 7u
#define SDMACC_SEM_FIRST_FREE 8u
#define SDMACC_SEM_LAST_FREE 254u
#define SDMACC_SEM_NULL 255u

/* EVT_SEM of a core: in its TPB peripherals. */
#define SDMACC_TPB_EVTSEM_OFFSET 0x2700000u

static inline uint64_t sdmacc_sem_offset(uint32_t window, uint32_t id) {
  return window + 4u * (uint64_t)id;
}

#endif
