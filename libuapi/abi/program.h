/* SPDX-License-Identifier: MIT */
/*
 * The Program image: what the lowering emits and a loader checks, relocates and loads. One flat
 * little-endian block: header | sections[] | objects[] | relocations[] | data. The bytes do not
 * depend on where the Program will be loaded.
 *
 * A Program names everything it touches by an index in its own object table; the loader decides
 * what stands behind it. The address word of a descriptor is index << 40 | offset (SDMACC_ADDR);
 * every other address field is zero in the data and is named by exactly one relocation of the kind
 * that the field asks for.
 */
#ifndef SDMACC_ABI_PROGRAM_H
#define SDMACC_ABI_PROGRAM_H

#include <stdint.h>

#define SDMACC_PROGRAM_MAGIC 0x52504453u /* "SDPR" */
#define SDMACC_PROGRAM_VERSION 1u

struct sdmacc_program_header {
  uint32_t magic;
  uint32_t version;
  uint32_t arch_id;  /* generation the Program was emitted for */
  uint32_t sections; /* number of each */
  uint32_t objects;
  uint32_t relocations;
  uint64_t data_size; /* bytes */
};

enum sdmacc_section_kind {
  SDMACC_SECTION_RING_M2S = 1, /* object = RING; 16-byte descriptors, ring id 1, queue order */
  SDMACC_SECTION_RING_S2M = 2, /* object = RING */
  SDMACC_SECTION_CTRL = 3,     /* object = SP; 8-byte CTRL entries, at most 512 */
  SDMACC_SECTION_SLOT = 4,     /* object = SP; SLOT lists, see below */
  SDMACC_SECTION_ALGO = 5,     /* object = SP; algo_configs of the generation, whole */
  SDMACC_SECTION_NEFF = 6,     /* object = SP; neff_configs, whole */
  SDMACC_SECTION_LEVEL = 7,    /* object = SP; level table of a hierarchical operation */
};

struct sdmacc_section {
  uint32_t kind;
  uint32_t object;
  uint64_t offset; /* in data, multiple of 16 */
  uint64_t size;   /* bytes; sections do not overlap */
};

enum sdmacc_object_kind {
  SDMACC_OBJECT_NONE = 0, /* entry 0, so that an all-zero address word is never legal */
  SDMACC_OBJECT_BUF =
      1, /* device memory (HBM), `size` bytes; parent = the SP of the rank that owns it */
  SDMACC_OBJECT_SLOT = 2, /* a tensor bound later; parent = the SP of the rank, index = rank << 1 |
                             operand (0 IN, 1 OUT), size = bytes of one window */
  SDMACC_OBJECT_SEM = 3,  /* `size` semaphores of TOP_SP parent, contiguous, zero at load */
  SDMACC_OBJECT_RING = 4, /* a queue pair; parent = SP, index = group << 8 | engine. Rings of one
                             (parent, group) get the same queue number on engines of the SP's core;
                             engine is 0 … 15 within the core; size 0 */
  SDMACC_OBJECT_SP = 5, /* index = rank. The SP of rank 0 leads, the SP of the last rank reports */
  SDMACC_OBJECT_CONST = 6, /* the constant page: 32 words, word k = 1 << k; read only; size 128 */
};

#define SDMACC_RIGHT_READ 1u
#define SDMACC_RIGHT_WRITE 2u

struct sdmacc_object {
  uint32_t kind;
  uint32_t rights; /* BUF, SLOT: what descriptors may do; else 0 */
  uint64_t size;
  uint32_t parent; /* object index, 0 = none */
  uint32_t index;
};

enum sdmacc_reloc_kind {
  SDMACC_RELOC_SEM_READ64 = 1, /* READ-window address; object SEM, addend = number in the range; or
                                  object SP, addend = fixed id 0 or 1 */
  SDMACC_RELOC_SEM_INC64 = 2,  /* INC-window address (END word of a SLOT list); object SEM */
  SDMACC_RELOC_BCAST_M2S64 =
      3, /* broadcast address of the M2S tail increment; object = any RING of the group */
  SDMACC_RELOC_BCAST_S2M64 = 4, /* the same for S2M */
  SDMACC_RELOC_BCAST_MASK32 =
      5, /* broadcast mask over all engines that the (parent, group) has rings on */
  SDMACC_RELOC_SPAD_CTRL64 = 6, /* SoC address of CTRL in TOP_SP object SP */
  SDMACC_RELOC_SPAD_SLOT64 = 7, /* SoC address of SLOT in TOP_SP object SP */
  SDMACC_RELOC_LEVEL64 = 8,     /* SoC address of the LEVEL section in device memory; object SP */
};

struct sdmacc_reloc {
  uint32_t section;
  uint32_t kind;
  uint64_t offset; /* in the section */
  uint32_t object;
  uint32_t reserved;
  uint64_t addend;
};

#define SDMACC_ADDR_SHIFT 40
#define SDMACC_ADDR(object, offset) (((uint64_t)(object) << SDMACC_ADDR_SHIFT) | (offset))
#define SDMACC_ADDR_OBJECT(word) ((uint32_t)((word) >> SDMACC_ADDR_SHIFT))
#define SDMACC_ADDR_OFFSET(word) ((word) & (((uint64_t)1 << SDMACC_ADDR_SHIFT) - 1))
/* A semaphore write: 4 bytes to SDMACC_ADDR(SEM object, 4 * number). */

/*
 * Order, so that a loader checks a Program in one walk without a search: sections ascend by offset,
 * and the S2M section of a ring follows its M2S section directly; relocations ascend strictly by
 * (section, offset); SP objects ascend by index, 0, 1, … without a gap. Each RING has one pair of
 * sections, each SP one CTRL, SLOT, ALGO and NEFF (LEVEL: only with a HIER entry). An SP has at
 * most one SEM range. Groups are 0 … 31.
 */
#define SDMACC_PROGRAM_SPS 32u
#define SDMACC_PROGRAM_GROUPS 32u

/*
 * SLOT section. A list is a chain of windows of 128 words; list i (ring: spad_slot_idx; mesh: 0)
 * starts at byte i * 1024, and those first windows fill the SLOT SPAD at load. A window whose list
 * goes on has CONTINUE in word 126 (or earlier) and after it the byte offset, in this section, of
 * the next window (1024-byte aligned). A list ends with 1 … 4 END words. Unused words are zero.
 */
#define SDMACC_SLOT_WINDOW_WORDS 128u
#define SDMACC_SLOT_WINDOW_BYTES 1024u
#define SDMACC_SLOT_LISTS 32u

/* What the loader writes to device memory for each TOP_SP and the firmware loads when it is not
 * current. Offsets from the image's start. */
#define SDMACC_IMAGE_MAGIC 0x4d494453u /* "SDIM" */
#define SDMACC_IMAGE_VERSION 1u
struct sdmacc_image_part {
  uint32_t offset;
  uint32_t size;
};
struct sdmacc_image_header {
  uint32_t magic;
  uint32_t version;
  uint32_t size; /* of the whole image */
  uint32_t reserved;
  struct sdmacc_image_part ctrl, slot, algo, neff, level;
  uint64_t reserved2;
};

#include "libuapi/abi/assert.h"

SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_program_header) == 32, "layout");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_section) == 24, "layout");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_object) == 24, "layout");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_reloc) == 32, "layout");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_image_header) == 64, "layout");

#endif
