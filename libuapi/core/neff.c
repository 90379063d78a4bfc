// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The check of an SP's neff_configs: its place in the trigger and completion chain, and the counts
 * that its other sections imply. */
#include "libuapi/core/internal.h"

#define AT(field) offsetof(struct sdmacc_neff_configs, field)

static uint32_t check_spad(struct sdmacc_walk *w, uint64_t at, uint32_t kind)
{
	const struct sdmacc_ask ask = {kind, SDMACC_OBJECT_SP, w->sp};
	const struct sdmacc_reloc *r;

	return sdmacc_walk_field(w, at, ask, &r);
}

/* Fixed semaphore `id` of SP `sp`, or nothing. */
static uint32_t check_chain(struct sdmacc_walk *w, uint64_t at, bool wanted, uint32_t sp,
			    uint32_t id)
{
	const struct sdmacc_ask ask = {SDMACC_RELOC_SEM_READ64, SDMACC_OBJECT_SP, sp};
	const struct sdmacc_reloc *r;
	uint32_t code;

	if (!wanted)
		return sdmacc_walk_zero(w, at, at + 8, SDMACC_FAULT_NEFF_RESERVED);
	code = sdmacc_walk_field(w, at, ask, &r);
	if (!code && r->addend != id)
		code = sdmacc_walk_fault(w, SDMACC_FAULT_RELOC_ADDEND, at, r->addend);
	return code;
}

uint32_t sdmacc_check_neff(struct sdmacc_check *check, uint32_t sp)
{
	const struct sdmacc_sp_facts *f = &check->sp[sp];
	const bool first = sp == 0, last = sp + 1 == check->sps;
	struct sdmacc_neff_configs neff;
	struct sdmacc_walk w;
	uint32_t code;

	sdmacc_walk_start(&w, check, sp, SDMACC_SP_NEFF);
	memcpy(&neff, w.data, sizeof(neff));
	code = sdmacc_walk_zero(&w, 0, AT(slot_spad_base), SDMACC_FAULT_NEFF_RESERVED);
	if (!code)
		code = check_spad(&w, AT(slot_spad_base), SDMACC_RELOC_SPAD_SLOT64);
	if (!code)
		code = sdmacc_walk_zero(&w, AT(slot_spad_base) + 8, AT(ctrl_spad_base),
					SDMACC_FAULT_NEFF_RESERVED);
	if (!code)
		code = check_spad(&w, AT(ctrl_spad_base), SDMACC_RELOC_SPAD_CTRL64);
	if (!code)
		code = sdmacc_walk_zero(&w, AT(barrier_configs), AT(trigger),
					SDMACC_FAULT_NEFF_RESERVED);
	if (!code)
		code = check_chain(&w, AT(trigger), true, sp, SDMACC_SEM_TRIGGER);
	if (!code)
		code = check_chain(&w, AT(trigger_next), !last, sp + 1, SDMACC_SEM_TRIGGER);
	if (!code)
		code = check_chain(&w, AT(complete), !last, sp + 1, SDMACC_SEM_COMPLETION);
	if (!code)
		code = check_chain(&w, AT(complete_prev), !first, sp, SDMACC_SEM_COMPLETION);
	if (!code)
		code = sdmacc_walk_zero(&w, AT(tpb_stop_sema), AT(op_num),
					SDMACC_FAULT_NEFF_RESERVED);
	if (!code)
		code = sdmacc_walk_end(&w);
	if (code)
		return code;
	if (neff.op_num != f->entries)
		return sdmacc_walk_fault(&w, SDMACC_FAULT_NEFF_OP_NUM, AT(op_num), neff.op_num);
	if (neff.function_n != 1)
		return sdmacc_walk_fault(&w, SDMACC_FAULT_NEFF_FUNCTIONS, AT(function_n),
					 neff.function_n);
	if (neff.tpb_compl_addr_num != f->completions)
		return sdmacc_walk_fault(&w, SDMACC_FAULT_NEFF_COMPLETIONS, AT(tpb_compl_addr_num),
					 neff.tpb_compl_addr_num);
	if (neff.flags != (first ? SDMACC_NEFF_LEADER : 0))
		return sdmacc_walk_fault(&w, SDMACC_FAULT_NEFF_FLAGS, AT(flags), neff.flags);
	return SDMACC_FAULT_NONE;
}
