// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The check of the three tables: objects, sections, relocations. It fills the facts by which the
 * sections are walked later. */
#include "libuapi/core/internal.h"

#define MAX_OBJECT_SIZE (1ull << SDMACC_ADDR_SHIFT)
#define CONST_BYTES	128u
#define MAX_SEMS	(SDMACC_SEM_LAST_FREE - SDMACC_SEM_FIRST_FREE + 1)

static uint32_t table_fault(struct sdmacc_check *check, uint32_t code, uint64_t offset,
			    uint64_t value)
{
	return sdmacc_fault_at(check, SDMACC_FAULT_IN_TABLES, code, offset, value);
}

static uint32_t object_fault(struct sdmacc_check *check, uint32_t code, uint32_t object,
			     uint64_t value)
{
	return table_fault(check, code, sdmacc_object_entry(&check->view, object), value);
}

static uint32_t kind_of(const struct sdmacc_check *check, uint32_t object)
{
	return object < check->view.header->objects ? check->view.objects[object].kind
						    : (uint32_t)SDMACC_OBJECT_NONE;
}

static uint32_t check_sp_object(struct sdmacc_check *check, uint32_t i)
{
	const struct sdmacc_object *o = &check->view.objects[i];

	if (o->index != check->sps || o->index >= SDMACC_PROGRAM_SPS)
		return object_fault(check, SDMACC_FAULT_OBJECT_INDEX, i, o->index);
	check->sp[check->sps++].object = i;
	return SDMACC_FAULT_NONE;
}

/* Sizes and rights by kind: those of descriptors' memory are free, the others fixed. */
static uint32_t check_shape(struct sdmacc_check *check, uint32_t i)
{
	const struct sdmacc_object *o = &check->view.objects[i];
	uint64_t low = 0, high = 0;
	uint32_t rights = 0;

	switch (o->kind) {
	case SDMACC_OBJECT_BUF:
	case SDMACC_OBJECT_SLOT:
		low = 1;
		high = MAX_OBJECT_SIZE;
		rights = SDMACC_RIGHT_READ | SDMACC_RIGHT_WRITE;
		break;
	case SDMACC_OBJECT_SEM:
		low = 1;
		high = MAX_SEMS;
		break;
	case SDMACC_OBJECT_CONST:
		low = high = CONST_BYTES;
		break;
	case SDMACC_OBJECT_RING:
	case SDMACC_OBJECT_SP:
		break;
	default:
		return object_fault(check, SDMACC_FAULT_OBJECT_KIND, i, o->kind);
	}
	if (o->size < low || o->size > high)
		return object_fault(check, SDMACC_FAULT_OBJECT_SIZE, i, o->size);
	if (o->rights & ~rights)
		return object_fault(check, SDMACC_FAULT_OBJECT_RIGHTS, i, o->rights);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_parent(struct sdmacc_check *check, uint32_t i)
{
	const struct sdmacc_object *o = &check->view.objects[i];
	const bool is_root = o->kind == SDMACC_OBJECT_SP || o->kind == SDMACC_OBJECT_CONST;

	if (is_root ? o->parent != 0 : kind_of(check, o->parent) != SDMACC_OBJECT_SP)
		return object_fault(check, SDMACC_FAULT_OBJECT_PARENT, i, o->parent);
	if (o->kind == SDMACC_OBJECT_SLOT && o->index >> 1 != sdmacc_owner(check, i))
		return object_fault(check, SDMACC_FAULT_OBJECT_INDEX, i, o->index);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_ring_object(struct sdmacc_check *check, uint32_t i)
{
	const struct sdmacc_object *o = &check->view.objects[i];
	const uint32_t group = o->index >> 8, engine = o->index & 0xffu;
	struct sdmacc_group *g;

	if (group >= SDMACC_PROGRAM_GROUPS || engine >= check->arch->engines_per_core)
		return object_fault(check, SDMACC_FAULT_OBJECT_INDEX, i, o->index);
	g = &check->sp[sdmacc_owner(check, i)].groups[group];
	if (g->engines & 1u << engine)
		return object_fault(check, SDMACC_FAULT_OBJECT_TWICE, i, o->index);
	g->engines |= (uint16_t)(1u << engine);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_sem_object(struct sdmacc_check *check, uint32_t i)
{
	const struct sdmacc_object *o = &check->view.objects[i];
	struct sdmacc_sp_facts *f = &check->sp[sdmacc_owner(check, i)];

	if (o->index)
		return object_fault(check, SDMACC_FAULT_OBJECT_INDEX, i, o->index);
	if (f->sems)
		return object_fault(check, SDMACC_FAULT_OBJECT_TWICE, i, o->index);
	f->sems = (uint32_t)o->size;
	return SDMACC_FAULT_NONE;
}

/* `seen`: bit o for SLOT o, whose index is that of an SP (check_parent), bit 64 for the constant
 * page. */
static uint32_t check_once(struct sdmacc_check *check, uint32_t i, uint64_t seen[2])
{
	const struct sdmacc_object *o = &check->view.objects[i];
	const bool is_slot = o->kind == SDMACC_OBJECT_SLOT;
	uint64_t *word = &seen[is_slot ? 0 : 1];

	if (!is_slot && o->index)
		return object_fault(check, SDMACC_FAULT_OBJECT_INDEX, i, o->index);
	if (*word >> o->index & 1)
		return object_fault(check, SDMACC_FAULT_OBJECT_TWICE, i, o->index);
	*word |= 1ull << o->index;
	return SDMACC_FAULT_NONE;
}

uint32_t sdmacc_check_objects(struct sdmacc_check *check)
{
	const struct sdmacc_object *objects = check->view.objects;
	const uint32_t count = check->view.header->objects;
	uint64_t seen[2] = {0, 0};
	uint32_t code = 0, i;

	if (!count || objects[0].kind || objects[0].rights || objects[0].size ||
	    objects[0].parent || objects[0].index)
		return object_fault(check, SDMACC_FAULT_OBJECT_FIRST, 0,
				    count ? objects[0].kind : 0);
	for (i = 1; !code && i < count; i++) {
		code = check_shape(check, i);
		if (!code && objects[i].kind == SDMACC_OBJECT_SP)
			code = check_sp_object(check, i);
	}
	for (i = 1; !code && i < count; i++) {
		code = check_parent(check, i);
		if (code)
			break;
		if (objects[i].kind == SDMACC_OBJECT_RING)
			code = check_ring_object(check, i);
		else if (objects[i].kind == SDMACC_OBJECT_SEM)
			code = check_sem_object(check, i);
		else if (objects[i].kind == SDMACC_OBJECT_SLOT ||
			 objects[i].kind == SDMACC_OBJECT_CONST)
			code = check_once(check, i, seen);
	}
	if (!code && !check->sps)
		code = object_fault(check, SDMACC_FAULT_NO_SP, 0, count);
	return code;
}

/* Index in sp_facts.section, or SDMACC_SP_SECTIONS when the kind is not one of an SP. */
static uint32_t sp_section(uint32_t kind)
{
	switch (kind) {
	case SDMACC_SECTION_CTRL:
		return SDMACC_SP_CTRL;
	case SDMACC_SECTION_SLOT:
		return SDMACC_SP_SLOT;
	case SDMACC_SECTION_ALGO:
		return SDMACC_SP_ALGO;
	case SDMACC_SECTION_NEFF:
		return SDMACC_SP_NEFF;
	default:
		return SDMACC_SP_SECTIONS;
	}
}

static const uint32_t sp_section_kind[SDMACC_SP_SECTIONS] = {
	SDMACC_SECTION_CTRL,
	SDMACC_SECTION_SLOT,
	SDMACC_SECTION_ALGO,
	SDMACC_SECTION_NEFF,
};

static bool right_size(const struct sdmacc_check *check, const struct sdmacc_section *s)
{
	switch (s->kind) {
	case SDMACC_SECTION_CTRL:
		return s->size && s->size % sizeof(struct sdmacc_ctrl_entry) == 0 &&
		       s->size <= SDMACC_CTRL_SPAD_BYTES;
	case SDMACC_SECTION_SLOT:
		return s->size && s->size % SDMACC_SLOT_WINDOW_BYTES == 0 &&
		       s->size / SDMACC_SLOT_WINDOW_BYTES <= SDMACC_SLOT_MAX_WINDOWS;
	case SDMACC_SECTION_ALGO:
		return s->size == check->arch->algo_bytes;
	case SDMACC_SECTION_NEFF:
		return s->size == sizeof(struct sdmacc_neff_configs);
	default: /* rings */
		return s->size % sizeof(struct sdmacc_desc) == 0 &&
		       s->size / sizeof(struct sdmacc_desc) <= SDMACC_RING_MAX_DESCS;
	}
}

static uint32_t note_ring(struct sdmacc_check *check, uint32_t i)
{
	const struct sdmacc_section *s = &check->view.sections[i];
	const uint32_t side = s->kind == SDMACC_SECTION_RING_M2S ? SDMACC_M2S : SDMACC_S2M;
	const uint64_t entry = sdmacc_section_entry(&check->view, i);
	const uint32_t ring = check->view.objects[s->object].index;
	struct sdmacc_group *g = &check->sp[sdmacc_owner(check, s->object)].groups[ring >> 8];
	const uint16_t bit = (uint16_t)(1u << (ring & 0xffu));
	const uint32_t descs = (uint32_t)(s->size / sizeof(struct sdmacc_desc));
	const struct sdmacc_section *other;

	if (side == SDMACC_M2S ? i + 1 >= check->view.header->sections : i == 0)
		return table_fault(check, SDMACC_FAULT_SECTION_PAIR, entry, s->object);
	other = side == SDMACC_M2S ? s + 1 : s - 1;
	if (other->object != s->object ||
	    other->kind != (side == SDMACC_M2S ? SDMACC_SECTION_RING_S2M : SDMACC_SECTION_RING_M2S))
		return table_fault(check, SDMACC_FAULT_SECTION_PAIR, entry, s->object);
	if (side == SDMACC_M2S && g->loaded & bit)
		return table_fault(check, SDMACC_FAULT_SECTION_TWICE, entry, s->object);
	/* The first ring of the group sets both counts, one after the other. */
	if (g->loaded & (side == SDMACC_M2S ? 0xffffu : 0xffffu & ~bit)) {
		if (g->descs[side] != descs)
			return table_fault(check, SDMACC_FAULT_RING_UNEVEN, entry, descs);
	} else {
		g->descs[side] = descs;
	}
	g->loaded |= bit;
	return SDMACC_FAULT_NONE;
}

static uint32_t check_section(struct sdmacc_check *check, uint32_t i, uint64_t *end)
{
	const struct sdmacc_section *s = &check->view.sections[i];
	const uint64_t entry = sdmacc_section_entry(&check->view, i);
	const uint64_t data_size = check->view.header->data_size;
	const bool is_ring =
		s->kind == SDMACC_SECTION_RING_M2S || s->kind == SDMACC_SECTION_RING_S2M;
	const uint32_t place = sp_section(s->kind);
	uint32_t *seen;

	if (!is_ring && place == SDMACC_SP_SECTIONS)
		return table_fault(check, SDMACC_FAULT_SECTION_KIND, entry, s->kind);
	if (kind_of(check, s->object) != (is_ring ? SDMACC_OBJECT_RING : SDMACC_OBJECT_SP))
		return table_fault(check, SDMACC_FAULT_SECTION_OBJECT, entry, s->object);
	if (s->offset % 16)
		return table_fault(check, SDMACC_FAULT_SECTION_ALIGN, entry, s->offset);
	if (s->offset < *end || s->offset > data_size || s->size > data_size - s->offset)
		return table_fault(check, SDMACC_FAULT_SECTION_PLACE, entry, s->offset);
	if (!right_size(check, s))
		return table_fault(check, SDMACC_FAULT_SECTION_SIZE, entry, s->size);
	*end = s->offset + s->size;
	if (is_ring)
		return note_ring(check, i);
	seen = &check->sp[sdmacc_owner(check, s->object)].section[place];
	if (*seen)
		return table_fault(check, SDMACC_FAULT_SECTION_TWICE, entry, s->object);
	*seen = i + 1;
	return SDMACC_FAULT_NONE;
}

static uint32_t check_complete(struct sdmacc_check *check, uint32_t sp)
{
	const struct sdmacc_sp_facts *f = &check->sp[sp];
	uint32_t i;

	for (i = 0; i < SDMACC_SP_SECTIONS; i++)
		if (!f->section[i])
			return object_fault(check, SDMACC_FAULT_SECTION_MISSING, f->object,
					    sp_section_kind[i]);
	for (i = 0; i < SDMACC_PROGRAM_GROUPS; i++)
		if (f->groups[i].loaded != f->groups[i].engines)
			return object_fault(check, SDMACC_FAULT_SECTION_MISSING, f->object,
					    SDMACC_SECTION_RING_M2S);
	return SDMACC_FAULT_NONE;
}

uint32_t sdmacc_check_sections(struct sdmacc_check *check)
{
	uint64_t end = 0;
	uint32_t code = 0, i;

	for (i = 0; !code && i < check->view.header->sections; i++)
		code = check_section(check, i, &end);
	for (i = 0; !code && i < check->sps; i++)
		code = check_complete(check, i);
	return code;
}

/* What the object of a relocation may be, and how large its addend. */
static uint32_t check_target(struct sdmacc_check *check, const struct sdmacc_reloc *r,
			     uint64_t entry)
{
	const uint32_t kind = kind_of(check, r->object);
	uint64_t limit = 1;
	bool fits;

	switch (r->kind) {
	case SDMACC_RELOC_SEM_READ64:
		fits = kind == SDMACC_OBJECT_SEM || kind == SDMACC_OBJECT_SP;
		limit = kind == SDMACC_OBJECT_SP ? SDMACC_SEM_COMPLETION + 1 : 0;
		break;
	case SDMACC_RELOC_SEM_INC64:
		fits = kind == SDMACC_OBJECT_SEM;
		limit = 0;
		break;
	case SDMACC_RELOC_BCAST_M2S64:
	case SDMACC_RELOC_BCAST_S2M64:
	case SDMACC_RELOC_BCAST_MASK32:
		fits = kind == SDMACC_OBJECT_RING;
		break;
	case SDMACC_RELOC_SPAD_CTRL64:
	case SDMACC_RELOC_SPAD_SLOT64:
		fits = kind == SDMACC_OBJECT_SP;
		break;
	default:
		return table_fault(check, SDMACC_FAULT_RELOC_KIND, entry, r->kind);
	}
	if (!fits)
		return table_fault(check, SDMACC_FAULT_RELOC_OBJECT, entry, r->object);
	if (r->addend >= (limit ? limit : check->view.objects[r->object].size))
		return table_fault(check, SDMACC_FAULT_RELOC_ADDEND, entry, r->addend);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_relocation(struct sdmacc_check *check, uint32_t i)
{
	const struct sdmacc_reloc *r = &check->view.relocations[i];
	const uint64_t entry = sdmacc_reloc_entry(&check->view, i);
	const uint64_t bytes = r->kind == SDMACC_RELOC_BCAST_MASK32 ? 4 : 8;
	const struct sdmacc_section *s;
	uint32_t place, *first;

	if (r->section >= check->view.header->sections)
		return table_fault(check, SDMACC_FAULT_RELOC_SECTION, entry, r->section);
	if (i > 0 && (r->section < r[-1].section ||
		      (r->section == r[-1].section && r->offset <= r[-1].offset)))
		return table_fault(check, SDMACC_FAULT_RELOC_ORDER, entry, r->offset);
	s = &check->view.sections[r->section];
	if (r->offset % 4 || r->offset > s->size || bytes > s->size - r->offset)
		return table_fault(check, SDMACC_FAULT_RELOC_PLACE, entry, r->offset);
	if (r->reserved)
		return table_fault(check, SDMACC_FAULT_RELOC_RESERVED, entry, r->reserved);
	place = sp_section(s->kind);
	if (place == SDMACC_SP_SECTIONS)
		return sdmacc_fault_at(check, r->section, SDMACC_FAULT_RELOC_UNASKED, r->offset,
				       r->kind);
	first = &check->sp[sdmacc_owner(check, s->object)].reloc[place];
	if (!*first)
		*first = i + 1;
	return check_target(check, r, entry);
}

uint32_t sdmacc_check_relocations(struct sdmacc_check *check)
{
	uint32_t code = 0, i;

	for (i = 0; !code && i < check->view.header->relocations; i++)
		code = check_relocation(check, i);
	return code;
}
