/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Checks a Program as if an enemy had written it: sdmacc_validate() walks every section by its
 * layout and stops at the first fault. What passes names only its own objects, within their bounds
 * and rights, in packets and lists that the device takes. The rules are those of docs/device.md and
 * abi/program.h. Time is linear in the image.
 */
#ifndef SDMACC_CORE_VALIDATE_H
#define SDMACC_CORE_VALIDATE_H

#include "libuapi/abi/generation.h"
#include "libuapi/core/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SDMACC_M2S 0
#define SDMACC_S2M 1

/* SLOT sections are at most this many windows long: the firmware keeps a window's number in 16
 * bits. */
#define SDMACC_SLOT_MAX_WINDOWS 65536u
#define SDMACC_NO_GROUP		0xffu
#define SDMACC_BROADCASTS	2u /* of one mesh event */
#define SDMACC_MESH_EVENTS_MAX	108u

/* The queue pairs of one (SP, group). */
struct sdmacc_group {
	uint16_t engines;  /* bit e: a RING object on engine e */
	uint16_t loaded;   /* bit e: its sections were seen */
	uint32_t descs[2]; /* descriptors of each ring: SDMACC_M2S, SDMACC_S2M */
};

struct sdmacc_ring_facts {
	uint8_t group; /* SDMACC_NO_GROUP: has none (kangaring secondary) */
	uint8_t list;  /* spad_slot_idx */
	uint8_t peers;
	uint16_t entries; /* CTRL entries that list it */
};

/* The sections of an SP, as indexes of sp_facts.section. */
enum sdmacc_sp_section {
	SDMACC_SP_CTRL,
	SDMACC_SP_SLOT,
	SDMACC_SP_ALGO,
	SDMACC_SP_NEFF,
	SDMACC_SP_SECTIONS,
};

/* What the walk has learned about one SP. */
struct sdmacc_sp_facts {
	uint32_t object;
	uint32_t sems;			      /* semaphores of its SEM object, 0 = none */
	uint32_t section[SDMACC_SP_SECTIONS]; /* number + 1, 0 = not seen */
	uint32_t reloc[SDMACC_SP_SECTIONS];   /* first relocation of it + 1, 0 = none */
	uint32_t entries;		      /* CTRL entries */
	uint32_t listed;		      /* union of the entries' channel lists */
	uint32_t plain_listed, kring_listed;  /* by RING or SINGLE_CYCLE_RING, by KANGARING */
	uint32_t channels;		      /* bit c: ring channel c is configured */
	uint32_t mesh_entries;
	uint32_t mesh_mask;	  /* the smallest sema_mask of the mesh entries */
	uint32_t mesh_broadcasts; /* of one pass over the tape */
	uint32_t completions;	  /* END words that each list ends with, 0 = no list seen */
	struct sdmacc_group groups[SDMACC_PROGRAM_GROUPS];
	struct sdmacc_ring_facts ring[SDMACC_RING_CHANNELS];
	uint8_t mesh_group[SDMACC_MESH_EVENTS_MAX * SDMACC_BROADCASTS];
};

/* Work space and result of a check; about 40 KiB, the caller's. Valid as long as the image is. */
struct sdmacc_check {
	struct sdmacc_view view;
	const struct sdmacc_generation *arch;
	struct sdmacc_fault fault;
	uint32_t sps;
	struct sdmacc_sp_facts sp[SDMACC_PROGRAM_SPS];
	uint64_t sums[SDMACC_PROGRAM_GROUPS][2];
	uint32_t windows[SDMACC_SLOT_MAX_WINDOWS /
			 32]; /* bit w: in use, and no list has claimed it yet */
};

/* 0, or the first fault's code; then check->fault says where. `arch` is the generation of the
 * device that would run it. */
uint32_t sdmacc_validate(struct sdmacc_check *check, const struct sdmacc_view *view,
			 const struct sdmacc_generation *arch);

/* The SP that owns an object: rank of the parent of a BUF, SEM or RING, of an SP itself. Valid
 * after the check passed. */
uint32_t sdmacc_owner(const struct sdmacc_check *check, uint32_t object);

#ifdef __cplusplus
}
#endif

#endif
