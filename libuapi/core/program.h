/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A view of a Program image (abi/program.h): its tables and data by pointer into the image, which
 * the caller keeps. The image may come from anyone; parsing checks that the tables lie inside it
 * and nothing else.
 */
#ifndef SDMACC_CORE_PROGRAM_H
#define SDMACC_CORE_PROGRAM_H

#include "libuapi/abi/program.h"
#include "libuapi/core/fault.h"
#include "libuapi/core/shim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More than any Program of one device needs; they keep every sum of sizes far from overflow. */
#define SDMACC_PROGRAM_MAX_ENTRIES (1u << 20) /* of each table */
#define SDMACC_PROGRAM_MAX_DATA	   (1ull << 34)

struct sdmacc_view {
	const struct sdmacc_program_header *header;
	const struct sdmacc_section *sections;
	const struct sdmacc_object *objects;
	const struct sdmacc_reloc *relocations;
	const uint8_t *data;
};

/* 0, or the fault's code with *fault filled. The image is 8-byte aligned. */
uint32_t sdmacc_program_parse(const void *image, uint64_t size, struct sdmacc_view *view,
			      struct sdmacc_fault *fault);

/* Offset of each table's first byte in the image, for faults. */
uint64_t sdmacc_section_entry(const struct sdmacc_view *view, uint32_t section);
uint64_t sdmacc_object_entry(const struct sdmacc_view *view, uint32_t object);
uint64_t sdmacc_reloc_entry(const struct sdmacc_view *view, uint32_t reloc);

/* Little-endian words of the data, at any alignment. */
static inline uint32_t sdmacc_load32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline uint64_t sdmacc_load64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

#ifdef __cplusplus
}
#endif

#endif
