/* SPDX-License-Identifier: MIT */
/*
 * libsdmacc: all-reduce between the processes of one host, by the sdmacc daemon.
 *
 * A program connects, joins a group by name together with the other ranks, makes tensors in shared
 * memory, and reduces them; every rank calls the same operations in the same order. The entry point
 * is sdmacc_connect().
 *
 * Errors. Functions that can fail return SDMACC_OK or another code below; sdmacc_last_error() has
 * the text. A NULL handle is SDMACC_INVALID. When the daemon dies, every call on its connection
 * returns SDMACC_DAEMON_GONE at once, the waiting ones within a second; connect again to go on.
 *
 * Ownership. A handle that a function gives out is freed by the function named there, in any order:
 * a connection may be closed before its groups, tensors and requests are freed, which then give
 * SDMACC_DAEMON_GONE. Pointers that a function returns belong to the library unless it says
 * otherwise.
 *
 * Threads. All functions may be called from any thread at any time, except that a handle must not
 * be used by others while it is being freed.
 *
 * Fork. A child must not use the handles of its parent (the connection has one owner); it may only
 * exit, exec, or connect for itself. Descriptors are close-on-exec. Tensor memory stays shared
 * between parent and child.
 *
 * Times are milliseconds; a negative one is the daemon's default (30 s unless configured).
 */
#ifndef SDMACC_H
#define SDMACC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sdmacc_connection sdmacc_connection;
typedef struct sdmacc_group sdmacc_group;
typedef struct sdmacc_tensor sdmacc_tensor;
typedef struct sdmacc_request sdmacc_request;

/* Codes. New ones may be added at the end. */
enum {
  SDMACC_OK = 0,
  SDMACC_INVALID = 1,       /* an argument or word that no state would make legal */
  SDMACC_UNSUPPORTED = 2,   /* legal, but refused here; the text says by which rule */
  SDMACC_NOT_FOUND = 3,     /* unknown group, tensor or kind of query */
  SDMACC_RANGE = 4,         /* a range outside its tensor, file or group */
  SDMACC_MISMATCH = 5,      /* ranks disagree on operation, type, count, order or group size */
  SDMACC_PEER_GONE = 6,     /* a rank of the group died or left */
  SDMACC_TIMEOUT = 7,       /* a deadline passed; the text names who was missing */
  SDMACC_CANCELLED = 8,     /* a rank called sdmacc_group_abort() */
  SDMACC_REVOKED = 9,       /* the group failed before; the text has the first cause */
  SDMACC_NO_SPACE = 10,     /* a limit or memory is used up */
  SDMACC_DEVICE_ERROR = 11, /* the device reported a fault */
  SDMACC_MEMORY_FAULT = 12, /* the memory of a tensor could not be read or written */
  SDMACC_PROTOCOL = 13,     /* the other side broke the protocol */
  SDMACC_BUSY = 14,         /* not done yet; or a rank that is taken */
  SDMACC_SYSTEM = 15,       /* a system call failed; the text says which and why */
  SDMACC_DAEMON_GONE = 16,  /* no daemon, or the connection broke */
  SDMACC_INTERNAL = 17      /* a fault of sdmacc: please report it */
};

/* Element types, as an instruction word numbers them. */
enum {
  SDMACC_BF16 = 6,
  SDMACC_FP16 = 7,
  SDMACC_FP32 = 10,
  SDMACC_FP8_E3M4 = 13,
  SDMACC_FP8_E4M3 = 14, /* with infinities, largest number 240 */
  SDMACC_FP8_E5M2 = 15
};

/* Reductions. FMA is the sum of scale[r] times the tensor of rank r, each rank giving its scale. */
enum { SDMACC_ADD = 0, SDMACC_FMA = 1, SDMACC_MAX = 2, SDMACC_MIN = 3 };

/* "0.1.0". Never fails. */
const char* sdmacc_version(void);

/* Where sdmacc_connect(NULL, …) looks: $SDMACC_SOCKET, else sdmacc.socket in $XDG_RUNTIME_DIR, else
 * /run/sdmacc/sdmacc.socket. Valid until the calling thread calls it again. */
const char* sdmacc_default_path(void);

/* The meaning of a code in a few words, such as "peer gone"; "unknown" for others. Static. */
const char* sdmacc_strerror(int code);

/* The text of the last call in this thread that did not return SDMACC_OK, or "" if there was none.
 * Valid until the next call of this thread. */
const char* sdmacc_last_error(void);

/* Connects to the daemon that listens at path (NULL: the default path).
 * DAEMON_GONE when nobody listens there; UNSUPPORTED when the daemon speaks no version of ours;
 * NO_SPACE when it has as many clients as it may. Freed by sdmacc_disconnect(). */
int sdmacc_connect(const char* path, sdmacc_connection** connection);

/* Closes the connection, which cancels what is in flight and leaves its groups. NULL is legal. */
void sdmacc_disconnect(sdmacc_connection* connection);

/* Joins the group called name as rank (0 … size − 1), and waits until all ranks have joined.
 * name: 1 to 128 bytes of UTF-8 without control characters. The first to join makes the group, for
 * processes of its user only; see sdmacc_group_join_mode(). MISMATCH when others gave another size,
 * BUSY when the rank is taken or the group is complete, TIMEOUT naming the missing ranks.
 * Freed by sdmacc_group_leave(). */
int sdmacc_group_join(sdmacc_connection* connection, const char* name, uint32_t size, uint32_t rank,
                      int timeout_ms, sdmacc_group** group);

/* The same for users that share a group: mode has the permission bits of a file (read and write
 * together let one join), 0600 in sdmacc_group_join(). The first rank's mode and user count. */
int sdmacc_group_join_mode(sdmacc_connection* connection, const char* name, uint32_t size,
                           uint32_t rank, uint32_t mode, int timeout_ms, sdmacc_group** group);

/* After a failure every operation of the group is REVOKED, until each rank has called this (or, in
 * place of a process that died, joined anew). Waits for all. Keeps handle and identifier. */
int sdmacc_group_rebuild(sdmacc_group* group, int timeout_ms);

/* Revokes the group: what is in flight or follows fails on all ranks with CANCELLED and reason. */
int sdmacc_group_abort(sdmacc_group* group, const char* reason);

/* Whether the group works, as far as is known here: OK, or how it failed (the code of the first
 * cause, such as PEER_GONE). Does not wait, and does not ask the daemon. */
int sdmacc_group_status(sdmacc_group* group);

/* How long each later operation of this rank may take, from its call on. */
int sdmacc_group_set_timeout(sdmacc_group* group, int timeout_ms);

/* Facts about a group: its identifier in instruction words of this connection, number of ranks, own
 * rank, and generation (1, and one more after each rebuild). 0 when group is NULL. */
uint32_t sdmacc_group_id(const sdmacc_group* group);
uint32_t sdmacc_group_size(const sdmacc_group* group);
uint32_t sdmacc_group_rank(const sdmacc_group* group);
uint32_t sdmacc_group_generation(const sdmacc_group* group);

/* Leaves and frees the group, whatever is returned. For the other ranks it is revoked. NULL is
 * legal. */
int sdmacc_group_leave(sdmacc_group* group);

/* Makes a tensor of bytes > 0 zeros in memory shared with the daemon (a memfd of fixed size).
 * SYSTEM when memory is short, NO_SPACE over a limit of the daemon. Freed by sdmacc_tensor_free().
 */
int sdmacc_tensor_alloc(sdmacc_connection* connection, uint64_t bytes, sdmacc_tensor** tensor);

/* Registers bytes of a memfd of the caller from offset on, without copying. The memfd must have the
 * seal F_SEAL_SHRINK, or the daemon refuses it; opened for reading only it can be an input only.
 * The caller keeps fd and may close it. */
int sdmacc_tensor_import(sdmacc_connection* connection, int fd, uint64_t offset, uint64_t bytes,
                         sdmacc_tensor** tensor);

/* Facts about a tensor: its memory (mapped until it is freed, also after the connection broke; NULL
 * when tensor is NULL), size in bytes, identifier in instruction words of this connection, and a
 * descriptor of its memfd, which belongs to the tensor (-1 when tensor is NULL). */
void* sdmacc_tensor_data(const sdmacc_tensor* tensor);
uint64_t sdmacc_tensor_bytes(const sdmacc_tensor* tensor);
uint32_t sdmacc_tensor_id(const sdmacc_tensor* tensor);
int sdmacc_tensor_fd(const sdmacc_tensor* tensor);

/* Unregisters, unmaps and frees the tensor, whatever is returned. An operation in flight still
 * finds it. NULL is legal. */
int sdmacc_tensor_free(sdmacc_tensor* tensor);

/* Reduces count elements of each rank's in, from in_offset on, into each rank's out, from
 * out_offset on, and waits for the end. Counts and offsets are in elements. in and out may be the
 * same range of the same tensor, but must not overlap otherwise. scale is read for SDMACC_FMA only.
 * All ranks must agree on count, dtype and op, else all get MISMATCH; count 0 moves nothing and
 * waits for all ranks nevertheless. When it returns, no rank reads this rank's in any more. */
int sdmacc_all_reduce(sdmacc_group* group, sdmacc_tensor* in, sdmacc_tensor* out,
                      uint64_t in_offset, uint64_t out_offset, uint64_t count, int dtype, int op,
                      float scale);

/* The same without waiting: the tensors must stay untouched until the request is done. NO_SPACE
 * when as many requests are in flight as the daemon allows (64 unless configured). Freed by
 * sdmacc_request_free(). */
int sdmacc_all_reduce_async(sdmacc_group* group, sdmacc_tensor* in, sdmacc_tensor* out,
                            uint64_t in_offset, uint64_t out_offset, uint64_t count, int dtype,
                            int op, float scale, sdmacc_request** request);

/* Submits one collective as its instruction word (bytes 64), or pair of words (bytes 128), which is
 * copied. Identifiers in it are those of sdmacc_group_id() and sdmacc_tensor_id(). With scale not
 * NULL, an ADD becomes an FMA with that scale of this rank. */
int sdmacc_submit_words(sdmacc_group* group, const void* words, size_t bytes, const float* scale,
                        sdmacc_request** request);

/* Waits until the request is done and returns how it ended, or BUSY when timeout_ms passed before
 * (negative: no limit but the operation's own). May be called again. */
int sdmacc_request_wait(sdmacc_request* request, int timeout_ms);

/* How the request ended, or BUSY while it is in flight. Does not wait. */
int sdmacc_request_test(sdmacc_request* request);

/* Frees the handle; a request in flight goes on, unobserved. NULL is legal. */
void sdmacc_request_free(sdmacc_request* request);

/* Asks the daemon: kind is "status", "dump", "explain" or another that it knows, arguments its text
 * (NULL: none). The answer is JSON, ends with a zero byte, and is freed by sdmacc_text_free(). */
int sdmacc_query(sdmacc_connection* connection, const char* kind, const char* arguments,
                 char** json);

/* NULL is legal. */
void sdmacc_text_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
