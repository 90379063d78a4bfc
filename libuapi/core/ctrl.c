// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The check of an SP's CTRL entries, alone and as a link of the completion chain over the SPs. */
#include "libuapi/abi/enums.h"
#include "libuapi/core/internal.h"

#define LEGAL_FLAGS                                                                                \
	(SDMACC_CTRL_REPORTER | SDMACC_CTRL_RING_WAIT_COMPLETE | SDMACC_CTRL_RING_SEND_COMPLETE)
#define MAX_SUB_TYPE 4u /* mesh: t0 to t4, or enc_alg_mesh_type */

static uint32_t ctrl_fault(struct sdmacc_walk *w, uint32_t code, uint32_t entry, uint64_t value)
{
	return sdmacc_walk_fault(w, code, (uint64_t)entry * sizeof(struct sdmacc_ctrl_entry),
				 value);
}

/* Flags and trigger_next by the entry's place in its SP and the SP's place in the chain. */
static uint32_t check_place(struct sdmacc_walk *w, uint32_t i, const struct sdmacc_ctrl_entry *e)
{
	const bool last = i + 1 == sdmacc_walk_sp(w)->entries;
	const bool last_sp = w->sp + 1 == w->check->sps;
	const uint32_t chain =
		e->flags & (SDMACC_CTRL_RING_WAIT_COMPLETE | SDMACC_CTRL_RING_SEND_COMPLETE);
	uint32_t wanted = 0;

	if (e->flags & ~LEGAL_FLAGS || e->reserved)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_RESERVED, i, e->flags);
	if (!(e->algo & SDMACC_CTRL_TRIGGER_NEXT) != last)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_TRIGGER, i, e->algo);
	if (!(e->flags & SDMACC_CTRL_REPORTER) == (last && last_sp))
		return ctrl_fault(w, SDMACC_FAULT_CTRL_REPORTER, i, e->flags);
	if (last && w->sp > 0)
		wanted |= SDMACC_CTRL_RING_WAIT_COMPLETE;
	if (last && !last_sp)
		wanted |= SDMACC_CTRL_RING_SEND_COMPLETE;
	if (chain != wanted)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_CHAIN, i, e->flags);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_ring_entry(struct sdmacc_walk *w, uint32_t i,
				 const struct sdmacc_ctrl_entry *e, bool kangaring)
{
	struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	const uint32_t list = e->u.channel_list;
	uint32_t c;

	if (e->algo & SDMACC_CTRL_SUB_MASK)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_ALGO, i, e->algo);
	if (!list)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_CHANNELS, i, list);
	f->listed |= list;
	if (kangaring)
		f->kring_listed |= list;
	else
		f->plain_listed |= list;
	for (c = 0; c < SDMACC_RING_CHANNELS; c++)
		f->ring[c].entries = (uint16_t)(f->ring[c].entries + (list >> c & 1));
	return SDMACC_FAULT_NONE;
}

static uint32_t check_mesh_entry(struct sdmacc_walk *w, uint32_t i,
				 const struct sdmacc_ctrl_entry *e)
{
	struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	const uint32_t mask = e->u.mesh.sema_mask, shift = e->u.mesh.sema_shift_offset;

	if ((e->algo & SDMACC_CTRL_SUB_MASK) >> SDMACC_CTRL_SUB_SHIFT > MAX_SUB_TYPE)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_ALGO, i, e->algo);
	/* A field of the counter: low bits of a word, and all of it inside the 32 bits. */
	if (!mask || mask & (mask + 1) || shift > 31 || (uint64_t)mask << shift > 0xffffffffu)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_MASK, i, (uint64_t)mask << 16 | shift);
	if (!f->mesh_entries || mask < f->mesh_mask)
		f->mesh_mask = mask;
	f->mesh_entries++;
	return SDMACC_FAULT_NONE;
}

static uint32_t check_entry(struct sdmacc_walk *w, uint32_t i)
{
	struct sdmacc_ctrl_entry e;
	uint32_t code, algo;

	memcpy(&e, w->data + (uint64_t)i * sizeof(e), sizeof(e));
	algo = e.algo & SDMACC_CTRL_ALGO_MASK;
	if (e.header & ~SDMACC_CTRL_CC_OP)
		return ctrl_fault(w, SDMACC_FAULT_CTRL_HEADER, i, e.header);
	code = check_place(w, i, &e);
	if (code)
		return code;
	if (!(e.header & SDMACC_CTRL_CC_OP)) /* NOP */
		return e.algo & ~SDMACC_CTRL_TRIGGER_NEXT || e.u.channel_list
			       ? ctrl_fault(w, SDMACC_FAULT_CTRL_RESERVED, i, e.algo)
			       : SDMACC_FAULT_NONE;
	switch (algo < SDMACC_DISPATCH_WORDS ? w->check->arch->dispatch[algo]
					     : (uint32_t)SDMACC_HANDLER_ERROR) {
	case SDMACC_HANDLER_RING:
		return check_ring_entry(w, i, &e, algo == SDMACC_ALG_KANGARING);
	case SDMACC_HANDLER_MESH:
		return check_mesh_entry(w, i, &e);
	default: /* a hierarchical entry needs a LEVEL section, which no Program has yet */
		return ctrl_fault(w, SDMACC_FAULT_CTRL_ALGO, i, e.algo);
	}
}

uint32_t sdmacc_check_ctrl(struct sdmacc_check *check, uint32_t sp)
{
	struct sdmacc_sp_facts *f = &check->sp[sp];
	struct sdmacc_walk w;
	uint32_t code = SDMACC_FAULT_NONE, i;

	sdmacc_walk_start(&w, check, sp, SDMACC_SP_CTRL);
	f->entries = (uint32_t)(w.size / sizeof(struct sdmacc_ctrl_entry));
	for (i = 0; !code && i < f->entries; i++)
		code = check_entry(&w, i);
	return code ? code : sdmacc_walk_end(&w);
}
