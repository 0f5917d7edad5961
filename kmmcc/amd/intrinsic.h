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

/* Of a name that begins with "llvm.". */
intrinsic_kind_t intrinsic_kind(const char *name);
/* Whether a text of assembler has only instructions that access registers and shared memory. */
bool intrinsic_is_harmless_assembler(const char *text);

#endif
