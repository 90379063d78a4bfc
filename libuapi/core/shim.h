/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The four headers that the core may use, by their names in user space and in the kernel. */
#ifndef SDMACC_CORE_SHIM_H
#define SDMACC_CORE_SHIM_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

#endif
