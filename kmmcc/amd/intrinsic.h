/* SPDX-License-Identifier: Apache-2.0 */
/* What LLVM's own functions, and instructions in assembler, do with memory. */
#ifndef KMMCC_AMD_INTRINSIC_H
#define KMMCC_AMD_INTRINSIC_H

#include <stdbool.h>

typedef enum intrinsic_kind {
    INTRINSIC_HARMLESS, /* accesses no memory that may be an array's */
    INTRINSIC_COPY,     /* destination, source, bytes */
    INTRINSIC_SET,      /* destination, value, bytes */
    INTRINSIC_ATOMIC,   /* pointer, value */
    INTRINSIC_UNKNOWN
} intrinsic_kind_t;

/* Returns what the function does. Its name begins with "llvm.". */
intrinsic_kind_t intrinsic_kind(const char *name);
/* True if all instructions of the text access registers and shared memory only. */
bool intrinsic_is_harmless_assembler(const char *text);

#endif
