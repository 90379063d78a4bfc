/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is wrong with a Program, and where. The table below is the one list of codes;
 * sdmacc_fault_text() is its text side.
 */
#ifndef SDMACC_CORE_FAULT_H
#define SDMACC_CORE_FAULT_H

#include "libuapi/core/shim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `section` of a fault in the header or one of the three tables; its offset counts from the start
 * of the image. */
#define SDMACC_FAULT_IN_TABLES 0xffffffffu

struct sdmacc_fault {
	uint32_t section;
	uint32_t code;
	uint64_t offset; /* byte in the section */
	uint64_t value;	 /* the offending value */
};

/* clang-format off */
#define SDMACC_FAULT_LIST(X)                                                                       \
	/* header and tables */                                                                    \
	X(IMAGE_ALIGN, "image is not 8-byte aligned in memory")                                    \
	X(IMAGE_SIZE, "image size is not what its header says")                                    \
	X(MAGIC, "magic is not that of a Program")                                                 \
	X(VERSION, "unknown Program version")                                                      \
	X(ARCH, "emitted for another generation")                                                  \
	X(COUNT, "too many entries in a table")                                                    \
	/* objects */                                                                              \
	X(OBJECT_FIRST, "object 0 is not the empty entry")                                         \
	X(OBJECT_KIND, "unknown object kind")                                                      \
	X(OBJECT_RIGHTS, "rights that this object kind cannot have")                               \
	X(OBJECT_SIZE, "object size out of range")                                                 \
	X(OBJECT_PARENT, "parent is not what this object kind needs")                              \
	X(OBJECT_INDEX, "object index out of range or out of order")                               \
	X(OBJECT_TWICE, "a second object with this kind, parent and index")                        \
	X(NO_SP, "no SP object")                                                                   \
	/* sections */                                                                             \
	X(SECTION_KIND, "unknown section kind")                                                    \
	X(SECTION_OBJECT, "section's object is not of the kind that it needs")                     \
	X(SECTION_ALIGN, "section offset is not a multiple of 16")                                 \
	X(SECTION_PLACE, "section overlaps the one before it or leaves the data")                  \
	X(SECTION_SIZE, "section size is wrong for its kind")                                      \
	X(SECTION_TWICE, "a second section of this kind for this object")                          \
	X(SECTION_MISSING, "an SP or RING lacks a section of this kind")                           \
	X(SECTION_PAIR, "ring sections are not M2S directly followed by S2M of the same ring")     \
	X(RING_UNEVEN, "rings of one group differ in their number of descriptors")                 \
	/* relocations */                                                                          \
	X(RELOC_SECTION, "relocation names no section")                                            \
	X(RELOC_ORDER, "relocations do not ascend by section and offset")                          \
	X(RELOC_KIND, "unknown relocation kind")                                                   \
	X(RELOC_PLACE, "relocation is misaligned or outside its section")                          \
	X(RELOC_RESERVED, "reserved word of a relocation is not 0")                                \
	X(RELOC_OBJECT, "relocation's object is not of the kind that it needs")                    \
	X(RELOC_ADDEND, "relocation's addend is outside its object")                               \
	X(RELOC_MISSING, "address field without a relocation")                                     \
	X(RELOC_MISFIT, "relocation's kind is not what the field asks for")                        \
	X(RELOC_OWNER, "relocation's object belongs to an SP that the field may not name")         \
	X(RELOC_UNASKED, "relocation of something that is no address field")                       \
	X(FIELD_SET, "address field is not 0 in the data")                                         \
	/* rings */                                                                                \
	X(RING_ID, "descriptor's ring id is not 1")                                                \
	X(DESC_BITS, "descriptor has reserved or unsupported control bits")                        \
	X(DESC_META, "descriptor's meta word is not 0")                                            \
	X(PACKET_FIRST, "FIRST is missing or misplaced")                                           \
	X(PACKET_LAST, "LAST is missing or misplaced")                                             \
	X(PACKET_META, "META descriptor is missing or misplaced")                                  \
	X(PACKET_CLASS, "packet class, sub-type or block bits are not supported")                  \
	X(PACKET_TORN, "ring ends inside a packet")                                                \
	X(PACKET_LENGTH, "lengths in a packet differ")                                             \
	X(PACKET_SOURCES, "too many sources or source descriptors in a packet")                    \
	X(PACKET_DESTINATIONS, "too many destinations in a packet")                                \
	X(CCE_LENGTH, "compute length is 0, no multiple of the element or above the limit")        \
	X(CCE_OP, "compute operation is not ADD, FMA, MAX or MIN")                                 \
	X(CCE_DTYPE, "compute data types cannot be reduced so")                                    \
	X(CCE_WORDS, "compute META words have reserved or unsupported bits")                       \
	X(CCE_REPEAT, "META of a later source differs from the packet's first")                    \
	X(ADDR_OBJECT, "address names an object that cannot stand here")                           \
	X(ADDR_RANGE, "address range leaves its object")                                           \
	X(ADDR_RIGHT, "object does not have the right that this access needs")                     \
	X(SEM_WRITE, "semaphore write is not an aligned 4-byte copy of a constant")                \
	X(SEM_BARRIER, "semaphore write follows a data descriptor without a write barrier")        \
	/* CTRL */                                                                                 \
	X(CTRL_HEADER, "CTRL header byte has reserved bits")                                       \
	X(CTRL_ALGO, "no handler for this algo_type or sub-type")                                  \
	X(CTRL_RESERVED, "reserved part of a CTRL entry is not 0")                                 \
	X(CTRL_TRIGGER, "trigger_next must be set in all entries but the last")                    \
	X(CTRL_REPORTER, "reporter must be set exactly in the last entry of the last SP")          \
	X(CTRL_CHAIN, "wait or send flag does not fit the SP's place in the chain")                \
	X(CTRL_CHANNELS, "channel_list is empty or names a channel that cannot run here")          \
	X(CTRL_MASK, "sema_mask or sema_shift_offset out of range")                                \
	/* ALGO */                                                                                 \
	X(ALGO_RESERVED, "unused part of algo_configs is not 0")                                   \
	X(CHANNEL_ID, "channel_id is not the channel's number")                                    \
	X(CHANNEL_SLOT, "spad_slot_idx out of range or taken by another list")                     \
	X(CHANNEL_PEERS, "kangaring_is_primary or kangaring_num_peers is not legal")               \
	X(CHANNEL_GROUP, "broadcast fields do not name one queue group of this SP's own")          \
	X(CHANNEL_UNUSED, "a configured channel that no CTRL entry lists")                         \
	X(EVENT_COUNT, "dma_trigger, direct_trigger or wait_event out of range")                   \
	X(EVENT_WAIT, "wait_val is 0 or above sema_mask")                                          \
	X(EVENT_TYPE, "unknown event type")                                                        \
	X(EVENT_SYNC, "SYNC event fires, or the tape has none")                                    \
	/* SLOT */                                                                                 \
	X(SLOT_WORD, "SLOT word has illegal counts or times")                                      \
	X(SLOT_CONTINUE, "CONTINUE does not lead forward to a window of the section")              \
	X(SLOT_END, "list has no END words, or not as many as the SP's others")                    \
	X(SLOT_UNUSED, "unused SLOT word is not 0")                                                \
	X(SLOT_LIST, "list has no window, or one that another list uses")                          \
	X(SLOT_WINDOW, "window belongs to no list")                                                \
	X(SLOT_SUM, "SLOT counts do not add up to the descriptors of the rings")                   \
	X(SLOT_EVENTS, "SLOT words do not fit the broadcasts of the mesh events")                  \
	/* NEFF */                                                                                 \
	X(NEFF_RESERVED, "unused part of neff_configs is not 0")                                   \
	X(NEFF_OP_NUM, "op_num is not the number of CTRL entries")                                 \
	X(NEFF_FUNCTIONS, "function_n is not 1")                                                   \
	X(NEFF_COMPLETIONS, "tpb_compl_addr_num is not the number of END words of a list")         \
	X(NEFF_FLAGS, "neff flags: leader exactly in the first SP, the others 0")
/* clang-format on */

enum sdmacc_fault_code {
	SDMACC_FAULT_NONE = 0,
#define SDMACC_FAULT_ENUM(name, text) SDMACC_FAULT_##name,
	SDMACC_FAULT_LIST(SDMACC_FAULT_ENUM)
#undef SDMACC_FAULT_ENUM
	SDMACC_FAULT_CODES, /* number of codes, 0 included */
};

/* Name of a code ("SLOT_SUM") and its text; never NULL. */
const char *sdmacc_fault_name(uint32_t code);
const char *sdmacc_fault_text(uint32_t code);

#ifdef __cplusplus
}
#endif

#endif
