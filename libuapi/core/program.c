// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The view of a Program image: header and table bounds, see program.h. */
#include "libuapi/core/program.h"

static uint32_t refuse(struct sdmacc_fault *fault, uint32_t code, uint64_t offset, uint64_t value)
{
	fault->section = SDMACC_FAULT_IN_TABLES;
	fault->code = code;
	fault->offset = offset;
	fault->value = value;
	return code;
}

static uint32_t check_count(struct sdmacc_fault *fault, uint64_t offset, uint32_t count)
{
	return count > SDMACC_PROGRAM_MAX_ENTRIES ? refuse(fault, SDMACC_FAULT_COUNT, offset, count)
						  : SDMACC_FAULT_NONE;
}

uint32_t sdmacc_program_parse(const void *image, uint64_t size, struct sdmacc_view *view,
			      struct sdmacc_fault *fault)
{
	const uint8_t *bytes = image;
	const struct sdmacc_program_header *h = image;
	uint64_t at = sizeof(*h);
	uint32_t code;

	if ((uintptr_t)image % 8)
		return refuse(fault, SDMACC_FAULT_IMAGE_ALIGN, 0, (uintptr_t)image % 8);
	if (size < sizeof(*h))
		return refuse(fault, SDMACC_FAULT_IMAGE_SIZE, 0, size);
	if (h->magic != SDMACC_PROGRAM_MAGIC)
		return refuse(fault, SDMACC_FAULT_MAGIC, 0, h->magic);
	if (h->version != SDMACC_PROGRAM_VERSION)
		return refuse(fault, SDMACC_FAULT_VERSION, 4, h->version);
	code = check_count(fault, offsetof(struct sdmacc_program_header, sections), h->sections);
	if (!code)
		code = check_count(fault, offsetof(struct sdmacc_program_header, objects),
				   h->objects);
	if (!code)
		code = check_count(fault, offsetof(struct sdmacc_program_header, relocations),
				   h->relocations);
	if (code)
		return code;
	if (h->data_size > SDMACC_PROGRAM_MAX_DATA)
		return refuse(fault, SDMACC_FAULT_COUNT,
			      offsetof(struct sdmacc_program_header, data_size), h->data_size);

	view->header = h;
	view->sections = (const void *)(bytes + at);
	at += (uint64_t)h->sections * sizeof(struct sdmacc_section);
	view->objects = (const void *)(bytes + at);
	at += (uint64_t)h->objects * sizeof(struct sdmacc_object);
	view->relocations = (const void *)(bytes + at);
	at += (uint64_t)h->relocations * sizeof(struct sdmacc_reloc);
	view->data = bytes + at;
	at += h->data_size;
	if (at != size)
		return refuse(fault, SDMACC_FAULT_IMAGE_SIZE, 0, at);
	return SDMACC_FAULT_NONE;
}

uint64_t sdmacc_section_entry(const struct sdmacc_view *view, uint32_t section)
{
	(void)view;
	return sizeof(struct sdmacc_program_header) +
	       (uint64_t)section * sizeof(struct sdmacc_section);
}

uint64_t sdmacc_object_entry(const struct sdmacc_view *view, uint32_t object)
{
	return sdmacc_section_entry(view, view->header->sections) +
	       (uint64_t)object * sizeof(struct sdmacc_object);
}

uint64_t sdmacc_reloc_entry(const struct sdmacc_view *view, uint32_t reloc)
{
	return sdmacc_object_entry(view, view->header->objects) +
	       (uint64_t)reloc * sizeof(struct sdmacc_reloc);
}
