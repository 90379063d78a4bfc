/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shared by the files of the check; nobody else includes it. */
#ifndef SDMACC_CORE_INTERNAL_H
#define SDMACC_CORE_INTERNAL_H

#include "libuapi/core/validate.h"

/* Fills check->fault; returns `code`, so that callers can return it on. */
uint32_t sdmacc_fault_at(struct sdmacc_check *check, uint32_t section, uint32_t code,
			 uint64_t offset, uint64_t value);

/* A walk over one section in ascending offsets, with the relocations of that section beside it. */
struct sdmacc_walk {
	struct sdmacc_check *check;
	const uint8_t *data;
	uint64_t size;
	uint32_t section;
	uint32_t sp;	/* rank of its object; rings: of the ring's parent */
	uint32_t reloc; /* the next relocation of the section, or one that is not of it */
};

static inline uint32_t sdmacc_walk_fault(struct sdmacc_walk *w, uint32_t code, uint64_t offset,
					 uint64_t value)
{
	return sdmacc_fault_at(w->check, w->section, code, offset, value);
}

static inline struct sdmacc_sp_facts *sdmacc_walk_sp(const struct sdmacc_walk *w)
{
	return &w->check->sp[w->sp];
}

void sdmacc_walk_start(struct sdmacc_walk *w, struct sdmacc_check *check, uint32_t sp,
		       enum sdmacc_sp_section kind);
/* The relocation at `at`, or NULL. One before `at` that nobody took is a fault, returned in *code.
 */
const struct sdmacc_reloc *sdmacc_walk_peek(struct sdmacc_walk *w, uint64_t at, uint32_t *code);
/* No address field and, but for [from, to) itself, nothing: bytes are 0 and no relocation is there;
 * else `code` or RELOC_UNASKED. */
uint32_t sdmacc_walk_zero(struct sdmacc_walk *w, uint64_t from, uint64_t to, uint32_t code);
/* The section is over: no relocation is left. */
uint32_t sdmacc_walk_end(struct sdmacc_walk *w);

/* What an address field asks for. */
struct sdmacc_ask {
	uint32_t kind;	 /* of the relocation */
	uint32_t object; /* kind of its object */
	uint32_t sp;	 /* rank that the object belongs to, or SDMACC_ANY_SP */
};
#define SDMACC_ANY_SP 0xffffffffu

/* A field of 8 bytes (4 for a mask): 0 in the data, named by the one relocation that `ask` wants,
 * which *reloc then is. */
uint32_t sdmacc_walk_field(struct sdmacc_walk *w, uint64_t at, struct sdmacc_ask ask,
			   const struct sdmacc_reloc **reloc);

/* The parts of the check, in their order. */
uint32_t sdmacc_check_objects(struct sdmacc_check *check);
uint32_t sdmacc_check_sections(struct sdmacc_check *check);
uint32_t sdmacc_check_relocations(struct sdmacc_check *check);
uint32_t sdmacc_check_ring(struct sdmacc_check *check,
			   uint32_t section); /* M2S; S2M is the next one */
uint32_t sdmacc_check_ctrl(struct sdmacc_check *check, uint32_t sp);
uint32_t sdmacc_check_algo(struct sdmacc_check *check, uint32_t sp);
uint32_t sdmacc_check_slot(struct sdmacc_check *check, uint32_t sp);
uint32_t sdmacc_check_neff(struct sdmacc_check *check, uint32_t sp);

#endif
