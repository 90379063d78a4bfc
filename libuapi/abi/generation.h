/* SPDX-License-Identifier: MIT */
/*
 * One row per generation: everything that differs between Sunda (v2), Cayman (v3), Mariana (v4) and
 * Mariana+ (v4+). Logic reads the row; nothing else asks which generation it is. Addresses are SoC
 * addresses.
 */
#ifndef SDMACC_ABI_GENERATION_H
#define SDMACC_ABI_GENERATION_H

#include <stddef.h>
#include <stdint.h>

#include "libuapi/abi/algo.h"
#include "libuapi/abi/evtsem.h"
#include "libuapi/abi/ncfw.h"
#include "libuapi/abi/topsp.h"
#include "libuapi/abi/udma.h"

#define SDMACC_DIE1 (1ull << 47)
#define SDMACC_CHIP_SHIFT 48
#define SDMACC_CHIP_MASK 0x3full
#define SDMACC_CHIP_VALID (1ull << 54)
#define SDMACC_NEIGHBOUR_ROUTE (1ull << 52)
#define SDMACC_PEB_ROUTE (1ull << 53)
#define SDMACC_PCI_VENDOR 0x1d0fu
#define SDMACC_PCI_REVISION_QEMU 0xffu

struct sdmacc_generation {
  uint32_t arch_id;
  const char* name;    /* "cayman" */
  const char* product; /* "Trn2" */
  uint16_t pci_device;
  uint16_t pci_subsystem; /* arch id where the device id is shared, else 0 */

  /* Capacity of one device. */
  uint32_t cores;
  uint32_t topsps;
  uint32_t engines_per_core;
  uint32_t queues; /* queue pairs an engine */
  uint32_t hbm_stacks;

  /* SDMA limits. */
  uint32_t element_limit; /* elements of one CCE packet */
  uint32_t packet_bytes;  /* bytes of one CCE packet's buffer */
  uint32_t m2s_descs;     /* descriptors of one packet */
  uint32_t s2m_descs;
  uint32_t max_destinations; /* 8 with replication, 1 without */

  /* TOP_SP local registers, offsets from the block's core part. */
  uint32_t csr_init;
  uint32_t csr_tsync;
  uint32_t csr_host_trigger;
  uint32_t csr_stop;
  uint32_t csr_bb_switch; /* 0: none */
  uint32_t csr_config_lo; /* ours */
  uint32_t csr_config_hi;

  /* Firmware memory. */
  uint32_t mesh_events;
  uint32_t algo_hier_offset;
  uint32_t algo_bytes;
  uint32_t dram_neff_ctx;
  uint32_t dram_algo_ctx;
  uint32_t dram_progress; /* ours */
  uint32_t dram_image_bytes;
  uint32_t has_dispatch_table;              /* 0: the row below is used without a table in memory */
  uint32_t dispatch[SDMACC_DISPATCH_WORDS]; /* by algo_type; handler ids are ours */

  /* Address map. */
  uint64_t hbm_base[4];
  uint64_t hbm_slot; /* address space of one stack */
  uint64_t topsp_base;
  uint64_t topsp_stride;
  uint32_t topsp_per_die;
  uint64_t core_base[8]; /* TPB windows: SBUF at the base */
  uint64_t
      tpb_peripherals; /* offset from a core's base to its peripherals (EVT_SEM at + 0x2700000) */
  uint64_t engine_base[8]; /* first SDMA engine of core i */
  uint64_t engine_stride;
  uint64_t bcast_base[8]; /* broadcast block of core i */
  uint64_t host_aperture; /* the bit; offsets are 40 bits wide */
};

#define SDMACC_APERTURE_BITS 40

#define SDMACC_DISPATCH_ROW                                                                 \
  {                                                                                         \
    SDMACC_HANDLER_RING, SDMACC_HANDLER_HIER, SDMACC_HANDLER_MESH, SDMACC_HANDLER_RING,     \
        SDMACC_HANDLER_RING, SDMACC_HANDLER_MESH, SDMACC_HANDLER_MESH, SDMACC_HANDLER_MESH, \
        SDMACC_HANDLER_MESH, SDMACC_HANDLER_MESH, SDMACC_HANDLER_MESH, SDMACC_HANDLER_ERROR \
  }

#define SDMACC_GENERATION_V3(id, codename, prod, pcidev, subsys)                               \
  {                                                                                            \
    .arch_id = id, .name = codename, .product = prod, .pci_device = pcidev,                    \
    .pci_subsystem = subsys, .cores = 8, .topsps = 16, .engines_per_core = 16, .queues = 16,   \
    .hbm_stacks = 4, .element_limit = 0x800, .packet_bytes = 0x2000, .m2s_descs = 65,          \
    .s2m_descs = 60, .max_destinations = 8, .csr_init = 0x61540, .csr_tsync = 0x61560,         \
    .csr_host_trigger = 0x615a0, .csr_stop = 0x615c0, .csr_bb_switch = 0x615e0,                \
    .csr_config_lo = SDMACC_TOPSP_CONFIG_LO_V3, .csr_config_hi = SDMACC_TOPSP_CONFIG_HI_V3,    \
    .mesh_events = 108, .algo_hier_offset = 0x3440, .algo_bytes = 0x3448,                      \
    .dram_neff_ctx = SDMACC_DRAM_NEFF_CTX_V3, .dram_algo_ctx = SDMACC_DRAM_ALGO_CTX_V3,        \
    .dram_progress = SDMACC_NCFW_PROGRESS_V3, .dram_image_bytes = SDMACC_DRAM_IMAGE_BYTES_V3,  \
    .has_dispatch_table = 1, .dispatch = SDMACC_DISPATCH_ROW,                                  \
    .hbm_base = {0x0ull, 0x4000000000ull, SDMACC_DIE1, SDMACC_DIE1 | 0x4000000000ull},         \
    .hbm_slot = 0x1000000000ull, .topsp_base = 0x8280000000ull, .topsp_stride = 0x40000000ull, \
    .topsp_per_die = 8,                                                                        \
    .core_base = {0x2000000000ull,                                                             \
                  0x3000000000ull,                                                             \
                  0x6000000000ull,                                                             \
                  0x7000000000ull,                                                             \
                  SDMACC_DIE1 | 0x2000000000ull,                                               \
                  SDMACC_DIE1 | 0x3000000000ull,                                               \
                  SDMACC_DIE1 | 0x6000000000ull,                                               \
                  SDMACC_DIE1 | 0x7000000000ull},                                              \
    .tpb_peripherals = 0x800000000ull,                                                         \
    .engine_base = {0x1002000000ull,                                                           \
                    0x1003000000ull,                                                           \
                    0x5004000000ull,                                                           \
                    0x5005000000ull,                                                           \
                    SDMACC_DIE1 | 0x1002000000ull,                                             \
                    SDMACC_DIE1 | 0x1003000000ull,                                             \
                    SDMACC_DIE1 | 0x5004000000ull,                                             \
                    SDMACC_DIE1 | 0x5005000000ull},                                            \
    .engine_stride = 0x100000ull,                                                              \
    .bcast_base = {0x1002080000ull,                                                            \
                   0x1003080000ull,                                                            \
                   0x5004080000ull,                                                            \
                   0x5005080000ull,                                                            \
                   SDMACC_DIE1 | 0x1002080000ull,                                              \
                   SDMACC_DIE1 | 0x1003080000ull,                                              \
                   SDMACC_DIE1 | 0x5004080000ull,                                              \
                   SDMACC_DIE1 | 0x5005080000ull},                                             \
    .host_aperture = 1ull << 46,                                                               \
  }

#define SDMACC_GENERATIONS 4u

static inline const struct sdmacc_generation* sdmacc_generation_at(uint32_t index) {
  static const struct sdmacc_generation table[SDMACC_GENERATIONS] = {
      {
          .arch_id = 0x05,
          .name = "sunda",
          .product = "Trn1",
          .pci_device = 0x7164,
          .pci_subsystem = 0,
          .cores = 2,
          .topsps = 6,
          .engines_per_core = 16,
          .queues = 16,
          .hbm_stacks = 2,
          .element_limit = 0x400,
          .packet_bytes = 0x2000,
          .m2s_descs = 65,
          .s2m_descs = 64,
          .max_destinations = 1,
          .csr_init = 0x60840, /* ours */
          .csr_tsync = 0x60844,
          /* ours */ .csr_host_trigger = 0x60848,
          .csr_stop = 0x6084c,
          .csr_bb_switch = 0,
          .csr_config_lo = SDMACC_TOPSP_CONFIG_LO_V2,
          .csr_config_hi = SDMACC_TOPSP_CONFIG_HI_V2,
          .mesh_events = 50,
          .algo_hier_offset = 0x2220,
          .algo_bytes = 0x2228,
          .dram_neff_ctx = SDMACC_DRAM_NEFF_CTX_V2,
          .dram_algo_ctx = SDMACC_DRAM_ALGO_CTX_V2,
          .dram_progress = SDMACC_NCFW_PROGRESS_V2,
          .dram_image_bytes = SDMACC_DRAM_IMAGE_BYTES_V2,
          .has_dispatch_table = 0,
          .dispatch = SDMACC_DISPATCH_ROW,
          .hbm_base = {0x0ull, 0x1000000000ull, 0, 0},
          .hbm_slot = 0x400000000ull,
          .topsp_base = 0xfffd0000000ull,
          .topsp_stride = 0x400000ull,
          .topsp_per_die = 6,
          .core_base = {0xfffc0000000ull, 0xfffc4000000ull, 0, 0, 0, 0, 0, 0},
          .tpb_peripherals = 0,
          .engine_base = {0xffff0000000ull, 0xffff0700000ull, 0, 0, 0, 0, 0, 0},
          .engine_stride = 0x40000ull,
          /* No broadcast block of this generation is published; these free ranges are ours. */
          .bcast_base = {0xffff0480000ull, 0xffff0b80000ull, 0, 0, 0, 0, 0, 0},
          .host_aperture = 1ull << 44,
      },
      SDMACC_GENERATION_V3(0x0c, "cayman", "Trn2", 0x7364, 0),
      SDMACC_GENERATION_V3(0x14, "mariana", "Trn3", 0x7364, 0x14),
      SDMACC_GENERATION_V3(0x1c, "mariana+", "Trn3", 0x7364, 0x1c),
  };

  return index < SDMACC_GENERATIONS ? &table[index] : NULL;
}

static inline const struct sdmacc_generation* sdmacc_generation_by_arch(uint32_t arch_id) {
  uint32_t i;

  for (i = 0; i < SDMACC_GENERATIONS; i++)
    if (sdmacc_generation_at(i)->arch_id == arch_id) return sdmacc_generation_at(i);
  return NULL;
}

/* TOP_SP `sp` (logical, 0 … topsps − 1): its block, and one of its semaphores through a window
 * (SDMACC_SEM_*). */
static inline uint64_t sdmacc_soc_topsp(const struct sdmacc_generation* g, uint32_t sp) {
  return g->topsp_base + (sp % g->topsp_per_die) * g->topsp_stride +
         (sp / g->topsp_per_die ? SDMACC_DIE1 : 0);
}

static inline uint64_t sdmacc_soc_sem(const struct sdmacc_generation* g, uint32_t sp,
                                      uint32_t window, uint32_t id) {
  return sdmacc_soc_topsp(g, sp) + sdmacc_sem_offset(window, id);
}

/* Engine `engine` (0 … 15) of core `core`; side_offset is 0 for M2S, SDMACC_S2M_OFFSET for S2M. */
static inline uint64_t sdmacc_soc_engine(const struct sdmacc_generation* g, uint32_t core,
                                         uint32_t engine) {
  return g->engine_base[core] + engine * g->engine_stride;
}

static inline uint64_t sdmacc_soc_queue_reg(const struct sdmacc_generation* g, uint32_t core,
                                            uint32_t engine, uint32_t side_offset, uint32_t queue,
                                            uint32_t reg) {
  return sdmacc_soc_engine(g, core, engine) + side_offset + SDMACC_QUEUE_PAGE(queue) + reg;
}

static inline uint64_t sdmacc_soc_bcast(const struct sdmacc_generation* g, uint32_t core,
                                        uint32_t side_offset, uint32_t queue, uint32_t reg) {
  return g->bcast_base[core] + side_offset + SDMACC_QUEUE_PAGE(queue) + reg;
}

#endif
