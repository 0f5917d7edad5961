/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes: every function of libkmm that can fail returns 0 or one of these negative numbers.
 */
#ifndef KMM_ERROR_H
#define KMM_ERROR_H

#include "names_begin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, number, what it says. The numbers are part of the ABI and never change. */
#define KMM_ERROR_TABLE(X)                                                                         \
    X(INVALID, -1, "invalid argument")                                                             \
    X(MEMORY, -2, "out of memory that spilling cannot cure")                                       \
    X(ADDRESS, -3, "address belongs to no array")                                                  \
    X(KERNEL, -4, "kernel failed")                                                                 \
    X(DEVICE, -5, "device or driver failed")                                                       \
    X(NO_DEVICE, -6, "no such device")                                                             \
    X(POISONED, -7, "data lost by an earlier failure")                                             \
    X(OVERLAP, -8, "two chunks write the same element")                                            \
    X(RANGE, -9, "value or region out of range")                                                   \
    X(UNSUPPORTED, -10, "not supported")                                                           \
    X(IO, -11, "input or output failed")                                                           \
    X(STATE, -12, "call not allowed in this state")                                                \
    X(DISK_FULL, -13, "no room on disk to spill to")                                               \
    X(CORRUPT, -14, "data read back from disk is not what was written")                            \
    X(ACCESS, -15, "a clause that does not hold")

typedef enum kmm_error {
#define KMM_X(name, number, text) KMM_E_##name = number,
    KMM_ERROR_TABLE(KMM_X)
#undef KMM_X
} kmm_error_t;

/* The short text of a code; "no error" for 0, "unknown error" for a number that is none. Static. */
const char *kmm_error_string(int code);

#ifdef __cplusplus
}
#endif

#include "names_end.h"
#endif
