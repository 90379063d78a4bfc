// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Relocation, see relocate.h. */
#include "libuapi/core/relocate.h"

static uint64_t sem_address(const struct sdmacc_check *check, const struct sdmacc_resolved *objects,
			    const struct sdmacc_reloc *r)
{
	const struct sdmacc_resolved *o = &objects[r->object];

	if (check->view.objects[r->object].kind == SDMACC_OBJECT_SP)
		return sdmacc_soc_sem(check->arch, o->topsp, SDMACC_SEM_READ, (uint32_t)r->addend);
	return o->address + 4 * r->addend;
}

static uint64_t ram_address(const struct sdmacc_check *check, const struct sdmacc_resolved *sp,
			    uint32_t offset)
{
	return sdmacc_soc_topsp(check->arch, sp->topsp) + SDMACC_TOPSP_RAM + offset;
}

static uint64_t bcast_address(const struct sdmacc_check *check, const struct sdmacc_resolved *ring,
			      uint32_t side_offset)
{
	return sdmacc_soc_bcast(check->arch, ring->core, side_offset, ring->queue,
				SDMACC_Q_TAIL_INC);
}

/* The mask selects among the engines of one core, which is what a RING's engine number counts. */
static uint32_t bcast_mask(const struct sdmacc_check *check, uint32_t ring)
{
	const uint32_t group = check->view.objects[ring].index >> 8;

	return sdmacc_bcast_mask(check->sp[sdmacc_owner(check, ring)].groups[group].engines, 0);
}

static uint64_t reloc_value(const struct sdmacc_check *check, const struct sdmacc_resolved *objects,
			    const struct sdmacc_reloc *r)
{
	const struct sdmacc_resolved *o = &objects[r->object];

	switch (r->kind) {
	case SDMACC_RELOC_SEM_READ64:
		return sem_address(check, objects, r);
	case SDMACC_RELOC_SEM_INC64:
		return sem_address(check, objects, r) + SDMACC_SEM_READ_TO_INC;
	case SDMACC_RELOC_BCAST_M2S64:
		return bcast_address(check, o, 0);
	case SDMACC_RELOC_BCAST_S2M64:
		return bcast_address(check, o, SDMACC_S2M_OFFSET);
	case SDMACC_RELOC_BCAST_MASK32:
		return bcast_mask(check, r->object);
	case SDMACC_RELOC_SPAD_CTRL64:
		return ram_address(check, o, SDMACC_RAM_CTRL);
	default: /* SDMACC_RELOC_SPAD_SLOT64: the check has refused all others */
		return ram_address(check, o, SDMACC_RAM_SLOT);
	}
}

/* META descriptors carry their words 2 and 3 where others have the address. */
static void relocate_ring(const struct sdmacc_check *check, const struct sdmacc_resolved *objects,
			  const struct sdmacc_section *s, uint8_t *data)
{
	uint64_t at;

	for (at = s->offset; at < s->offset + s->size; at += sizeof(struct sdmacc_desc)) {
		struct sdmacc_desc d;
		uint32_t object;

		memcpy(&d, data + at, sizeof(d));
		if (d.len_ctrl & SDMACC_LEN_META)
			continue;
		object = SDMACC_ADDR_OBJECT(d.addr);
		d.addr = objects[object].address + SDMACC_ADDR_OFFSET(d.addr);
		if (check->view.objects[object].kind == SDMACC_OBJECT_SEM)
			d.addr += SDMACC_SEM_READ_TO_INC;
		memcpy(data + at, &d, sizeof(d));
	}
}

void sdmacc_relocate(const struct sdmacc_check *check, const struct sdmacc_resolved *objects,
		     uint8_t *data)
{
	const struct sdmacc_view *v = &check->view;
	uint32_t i;

	for (i = 0; i < v->header->sections; i++)
		if (v->sections[i].kind == SDMACC_SECTION_RING_M2S ||
		    v->sections[i].kind == SDMACC_SECTION_RING_S2M)
			relocate_ring(check, objects, &v->sections[i], data);
	for (i = 0; i < v->header->relocations; i++) {
		const struct sdmacc_reloc *r = &v->relocations[i];
		const uint64_t value = reloc_value(check, objects, r);
		const size_t bytes = r->kind == SDMACC_RELOC_BCAST_MASK32 ? 4 : 8;

		memcpy(data + v->sections[r->section].offset + r->offset, &value, bytes);
	}
}
