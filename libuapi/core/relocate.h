/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Turns the data of a checked Program into what a device runs: address words become SoC addresses,
 * relocations the values that they ask for. Works in place on a copy of the data, and cannot fail:
 * the check has seen every index that it follows.
 */
#ifndef SDMACC_CORE_RELOCATE_H
#define SDMACC_CORE_RELOCATE_H

#include "libuapi/core/validate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stands behind one object of the table. Fields that a kind does not use are not read. */
struct sdmacc_resolved {
	uint64_t address; /* BUF, SLOT, CONST: first byte. SEM: READ-window address of the first of
			     its range */
	uint32_t topsp;	  /* SP: number of the TOP_SP */
	uint32_t core;	  /* RING: core, and queue number there */
	uint32_t queue;
};

/*
 * `objects` has one element an object, `data` is a copy of the data of the Program that passed
 * `check`. Engine numbers are those of the objects, masks are over all rings of a group.
 */
void sdmacc_relocate(const struct sdmacc_check *check, const struct sdmacc_resolved *objects,
		     uint8_t *data);

#ifdef __cplusplus
}
#endif

#endif
