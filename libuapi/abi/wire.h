/* SPDX-License-Identifier: MIT */
/*
 * What a client and the daemon say to each other: frames on a SOCK_SEQPACKET Unix socket, and the
 * memory of a session, in which submissions and completions travel without a system call.
 * All numbers are little-endian. Times are relative and in nanoseconds.
 *
 * A frame is one socket message: a header, then fields (type, size, value padded with zeros to 8
 * bytes). Each frame of a client is answered by one COMPLETE frame with the same request number; a
 * SUBMIT and a JOIN are answered when the operation is done and the group is complete. An unknown
 * field is skipped, unless bit 15 of its type says that it must be understood; no field may appear
 * twice. The first frame is HELLO, whose answer carries the memory of the session and its doorbell.
 *
 * Identifiers are those of the session: tensors are numbered at REGISTER (the lowest free number,
 * unless the frame asks for one), groups in the order of their JOINs (the lowest free number).
 */
#ifndef SDMACC_ABI_WIRE_H
#define SDMACC_ABI_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "libuapi/abi/assert.h"

/* Versions of this header that the code built with it can speak. */
#define SDMACC_WIRE_VERSION_MIN 1u
#define SDMACC_WIRE_VERSION_MAX 1u

/* Where the daemon listens: the environment variable, else RUNTIME_NAME in $XDG_RUNTIME_DIR, else
 * DEFAULT. */
#define SDMACC_SOCKET_ENV "SDMACC_SOCKET"
#define SDMACC_SOCKET_RUNTIME_NAME "sdmacc.socket"
#define SDMACC_SOCKET_DEFAULT "/run/sdmacc/sdmacc.socket"

enum sdmacc_frame_type {
  /* client to daemon */
  SDMACC_FRAME_HELLO = 1,      /* VERSION_MIN, VERSION_MAX, FEATURES; CLIENT_NAME */
  SDMACC_FRAME_JOIN = 2,       /* NAME, SIZE, RANK; MODE, TIMEOUT */
  SDMACC_FRAME_LEAVE = 3,      /* GROUP */
  SDMACC_FRAME_REGISTER = 4,   /* OFFSET, BYTES; TENSOR, ACCESS; one memfd */
  SDMACC_FRAME_UNREGISTER = 5, /* TENSOR */
  SDMACC_FRAME_SUBMIT = 6,     /* GROUP, WORDS; SCALE, TIMEOUT */
  SDMACC_FRAME_ABORT = 7,      /* GROUP; TEXT */
  SDMACC_FRAME_QUERY = 8,      /* KIND; ARGUMENTS */
  /* daemon to client */
  SDMACC_FRAME_COMPLETE = 0x81,    /* CODE; TEXT when CODE is not 0, else what was asked for */
  SDMACC_FRAME_GROUP_EVENT = 0x82, /* GROUP, GENERATION, EVENT; CODE and TEXT of the cause */
  SDMACC_FRAME_WAKE = 0x83,        /* a completion is in the ring; request 0 */
};

struct sdmacc_frame_header {
  uint32_t size;    /* of the whole frame, a multiple of 8 */
  uint16_t type;    /* enum sdmacc_frame_type */
  uint16_t version; /* 1 in HELLO and its answer, then what that answer says */
  uint64_t request; /* chosen by the client, unique among its requests in flight */
};

struct sdmacc_field_header {
  uint16_t type; /* enum sdmacc_field_type */
  uint16_t reserved;
  uint32_t size; /* of the value, without padding */
};

#define SDMACC_FIELD_MUST_UNDERSTAND 0x8000u

/* The comment says what the value is; text is UTF-8 without a final zero. */
enum sdmacc_field_type {
  SDMACC_FIELD_VERSION_MIN = 1,     /* u32 */
  SDMACC_FIELD_VERSION_MAX = 2,     /* u32 */
  SDMACC_FIELD_FEATURES = 3,        /* u64, SDMACC_FEATURE_*: asked for; in the answer: granted */
  SDMACC_FIELD_VERSION = 4,         /* u32, the version that both speak from here on */
  SDMACC_FIELD_CLIENT_NAME = 5,     /* text, shown by status */
  SDMACC_FIELD_MEMORY_BYTES = 6,    /* u64, size of the session memory */
  SDMACC_FIELD_IN_FLIGHT_LIMIT = 7, /* u32, submissions that may be unanswered at a time */
  SDMACC_FIELD_FRAME_LIMIT = 8,     /* u32, largest frame in bytes */

  SDMACC_FIELD_NAME = 16,       /* text, 1 to 128 bytes without control characters */
  SDMACC_FIELD_SIZE = 17,       /* u32, ranks of the group */
  SDMACC_FIELD_RANK = 18,       /* u32 */
  SDMACC_FIELD_MODE = 19,       /* u32, permission bits: who may join (owner, group, others) */
  SDMACC_FIELD_TIMEOUT = 20,    /* u64, 0 is the daemon's default */
  SDMACC_FIELD_GROUP = 21,      /* u32 */
  SDMACC_FIELD_GENERATION = 22, /* u32, 1 for the first, one more at each rebuild */
  SDMACC_FIELD_EVENT = 23,      /* u32, enum sdmacc_group_event */

  SDMACC_FIELD_TENSOR = 32, /* u32 */
  SDMACC_FIELD_OFFSET = 33, /* u64, first byte in the memfd, any alignment */
  SDMACC_FIELD_BYTES = 34,  /* u64, of a tensor, or of an answer that is in a memfd */
  SDMACC_FIELD_ACCESS = 35, /* u32, SDMACC_ACCESS_*; without it: what the memfd was opened for */

  SDMACC_FIELD_WORDS = 48, /* one or two instruction words of 64 bytes */
  SDMACC_FIELD_SCALE = 49, /* FP32: makes an ADD word a fused multiply-add, this rank's factor */

  SDMACC_FIELD_CODE = 64,      /* u32, Errc of libuapi/support/result.hpp */
  SDMACC_FIELD_TEXT = 65,      /* text for people */
  SDMACC_FIELD_KIND = 66,      /* text, what a query asks for */
  SDMACC_FIELD_ARGUMENTS = 67, /* text */
  SDMACC_FIELD_JSON = 68,      /* text; a larger answer is a sealed memfd of BYTES bytes */
};

/* The rings in the session memory; without this feature the answer to HELLO carries no fds. */
#define SDMACC_FEATURE_RINGS 1u

#define SDMACC_ACCESS_READ 1u
#define SDMACC_ACCESS_WRITE 2u

enum sdmacc_group_event {
  SDMACC_GROUP_REVOKED = 1, /* everything fails with the cause until all ranks have joined again */
  SDMACC_GROUP_REBUILT = 2,
};

/*
 * The session memory: this header, then `entries` submit entries, then `entries` complete entries.
 * The daemon makes it and seals its size. Each ring has one producer and one consumer, and no
 * shared index: entry n (from 0) is in place n % entries, and is there once its `sequence`, written
 * last, is n + 1. A client may have at most IN_FLIGHT_LIMIT <= entries submissions unanswered, so
 * neither ring can overflow.
 *
 * Who is about to sleep sets its *_waits word to 1 and then looks at its ring once more. Who has
 * written an entry looks at the other's word; if it is 1, it sets it to 0 and wakes the other: the
 * daemon by the doorbell (an eventfd, second fd of the answer to HELLO; the memory is the first),
 * the client by a WAKE frame.
 */
#define SDMACC_MEMORY_MAGIC 0x53444d52u

struct sdmacc_memory_header {
  uint32_t magic;
  uint32_t version;
  uint32_t entries;         /* of each ring, a power of two */
  uint32_t submit_offset;   /* bytes from the start of the memory */
  uint32_t complete_offset; /* bytes from the start of the memory */
  uint32_t reserved0[11];

  uint32_t daemon_waits; /* a cache line of its own */
  uint32_t reserved1[15];

  uint32_t client_waits; /* a cache line of its own */
  uint32_t reserved2[15];
};

#define SDMACC_SUBMIT_SCALE 1u /* `scale` counts, as SDMACC_FIELD_SCALE does */

struct sdmacc_submit_entry {
  uint64_t sequence;
  uint64_t request;
  uint32_t group;
  uint32_t word_count; /* 1 or 2 */
  uint32_t flags;      /* SDMACC_SUBMIT_* */
  float scale;         /* 0 without SDMACC_SUBMIT_SCALE */
  uint64_t timeout;    /* 0 is the daemon's default */
  uint64_t reserved[3];
  uint8_t words[128]; /* the second half is 0 when there is one word */
};

#define SDMACC_COMPLETE_TEXT 1u /* a COMPLETE frame with the text is on its way in the socket */

struct sdmacc_complete_entry {
  uint64_t sequence;
  uint64_t request;
  uint32_t code;  /* Errc */
  uint32_t flags; /* SDMACC_COMPLETE_* */
  uint32_t busy;  /* threads that want a CPU now, as far as the daemon knows: a hint for spinning */
  uint32_t reserved;
  uint64_t reserved2[4];
};

SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_frame_header) == 16, "frame header");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_frame_header, type) == 4, "frame header");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_frame_header, version) == 6, "frame header");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_frame_header, request) == 8, "frame header");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_field_header) == 8, "field header");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_field_header, size) == 4, "field header");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_memory_header) == 192, "memory header");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_memory_header, daemon_waits) == 64, "memory header");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_memory_header, client_waits) == 128, "memory header");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_submit_entry) == 192, "submit entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_submit_entry, request) == 8, "submit entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_submit_entry, group) == 16, "submit entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_submit_entry, flags) == 24, "submit entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_submit_entry, scale) == 28, "submit entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_submit_entry, timeout) == 32, "submit entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_submit_entry, words) == 64, "submit entry");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_complete_entry) == 64, "complete entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_complete_entry, code) == 16, "complete entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_complete_entry, busy) == 24, "complete entry");

#endif
