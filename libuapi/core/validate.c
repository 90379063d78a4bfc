// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The check's order, and the walk that all section checks share: bytes and relocations side by
 * side, see internal.h. */
#include "libuapi/core/internal.h"

uint32_t sdmacc_fault_at(struct sdmacc_check *check, uint32_t section, uint32_t code,
			 uint64_t offset, uint64_t value)
{
	check->fault.section = section;
	check->fault.code = code;
	check->fault.offset = offset;
	check->fault.value = value;
	return code;
}

uint32_t sdmacc_owner(const struct sdmacc_check *check, uint32_t object)
{
	const struct sdmacc_object *objects = check->view.objects;
	const struct sdmacc_object *o = &objects[object];

	return o->kind == SDMACC_OBJECT_SP ? o->index : objects[o->parent].index;
}

void sdmacc_walk_start(struct sdmacc_walk *w, struct sdmacc_check *check, uint32_t sp,
		       enum sdmacc_sp_section kind)
{
	const struct sdmacc_sp_facts *f = &check->sp[sp];
	const struct sdmacc_section *s = &check->view.sections[f->section[kind] - 1];

	w->check = check;
	w->data = check->view.data + s->offset;
	w->size = s->size;
	w->section = f->section[kind] - 1;
	w->sp = sp;
	w->reloc = f->reloc[kind] ? f->reloc[kind] - 1 : check->view.header->relocations;
}

static const struct sdmacc_reloc *next_reloc(const struct sdmacc_walk *w)
{
	const struct sdmacc_view *v = &w->check->view;
	const struct sdmacc_reloc *r = &v->relocations[w->reloc];

	return w->reloc < v->header->relocations && r->section == w->section ? r : NULL;
}

static uint32_t unasked(struct sdmacc_walk *w, uint64_t before)
{
	const struct sdmacc_reloc *r = next_reloc(w);

	return r && r->offset < before
		       ? sdmacc_walk_fault(w, SDMACC_FAULT_RELOC_UNASKED, r->offset, r->kind)
		       : SDMACC_FAULT_NONE;
}

const struct sdmacc_reloc *sdmacc_walk_peek(struct sdmacc_walk *w, uint64_t at, uint32_t *code)
{
	const struct sdmacc_reloc *r = next_reloc(w);

	*code = unasked(w, at);
	return !*code && r && r->offset == at ? r : NULL;
}

uint32_t sdmacc_walk_zero(struct sdmacc_walk *w, uint64_t from, uint64_t to, uint32_t code)
{
	uint64_t at;

	for (at = from; at < to; at++)
		if (w->data[at])
			return sdmacc_walk_fault(w, code, at, w->data[at]);
	return unasked(w, to);
}

uint32_t sdmacc_walk_end(struct sdmacc_walk *w)
{
	return unasked(w, w->size);
}

uint32_t sdmacc_walk_field(struct sdmacc_walk *w, uint64_t at, struct sdmacc_ask ask,
			   const struct sdmacc_reloc **reloc)
{
	const bool narrow = ask.kind == SDMACC_RELOC_BCAST_MASK32;
	const uint64_t value = narrow ? sdmacc_load32(w->data + at) : sdmacc_load64(w->data + at);
	const struct sdmacc_object *objects = w->check->view.objects;
	uint32_t code;
	const struct sdmacc_reloc *r = sdmacc_walk_peek(w, at, &code);

	*reloc = r;
	if (code)
		return code;
	if (!r)
		return sdmacc_walk_fault(w, SDMACC_FAULT_RELOC_MISSING, at, value);
	if (r->kind != ask.kind)
		return sdmacc_walk_fault(w, SDMACC_FAULT_RELOC_MISFIT, at, r->kind);
	if (objects[r->object].kind != ask.object)
		return sdmacc_walk_fault(w, SDMACC_FAULT_RELOC_OBJECT, at, r->object);
	if (ask.sp != SDMACC_ANY_SP && sdmacc_owner(w->check, r->object) != ask.sp)
		return sdmacc_walk_fault(w, SDMACC_FAULT_RELOC_OWNER, at, r->object);
	if (value)
		return sdmacc_walk_fault(w, SDMACC_FAULT_FIELD_SET, at, value);
	w->reloc++;
	return SDMACC_FAULT_NONE;
}

static uint32_t check_sp(struct sdmacc_check *check, uint32_t sp)
{
	uint32_t code = sdmacc_check_ctrl(check, sp);

	if (!code)
		code = sdmacc_check_algo(check, sp);
	if (!code)
		code = sdmacc_check_slot(check, sp);
	if (!code)
		code = sdmacc_check_neff(check, sp);
	return code;
}

uint32_t sdmacc_validate(struct sdmacc_check *check, const struct sdmacc_view *view,
			 const struct sdmacc_generation *arch)
{
	uint32_t code, i;

	memset(check, 0, sizeof(*check));
	check->view = *view;
	check->arch = arch;
	if (view->header->arch_id != arch->arch_id)
		return sdmacc_fault_at(check, SDMACC_FAULT_IN_TABLES, SDMACC_FAULT_ARCH,
				       offsetof(struct sdmacc_program_header, arch_id),
				       view->header->arch_id);
	code = sdmacc_check_objects(check);
	if (!code)
		code = sdmacc_check_sections(check);
	if (!code)
		code = sdmacc_check_relocations(check);
	for (i = 0; !code && i < view->header->sections; i++)
		if (view->sections[i].kind == SDMACC_SECTION_RING_M2S)
			code = sdmacc_check_ring(check, i);
	for (i = 0; !code && i < check->sps; i++)
		code = check_sp(check, i);
	if (!code)
		memset(&check->fault, 0, sizeof(check->fault));
	return code;
}
