// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The text side of the fault codes in fault.h. */
#include "libuapi/core/fault.h"

static const struct {
	const char *name;
	const char *text;
} faults[] = {{"NONE", "no fault"},
#define SDMACC_FAULT_ROW(name, text) {#name, text},
	      SDMACC_FAULT_LIST(SDMACC_FAULT_ROW)
#undef SDMACC_FAULT_ROW
};

const char *sdmacc_fault_name(uint32_t code)
{
	return code < SDMACC_FAULT_CODES ? faults[code].name : "UNKNOWN";
}

const char *sdmacc_fault_text(uint32_t code)
{
	return code < SDMACC_FAULT_CODES ? faults[code].text : "unknown fault";
}
