/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions of LLVM's IR for AMD's GPUs do with memory that may be an array's. */
#ifndef KMMCC_AMD_INSTRUCTION_H
#define KMMCC_AMD_INSTRUCTION_H

#include <stddef.h>

typedef enum instruction_kind {
    INSTRUCTION_HARMLESS, /* accesses no such memory */
    INSTRUCTION_ACCESS,
    INSTRUCTION_CALL,
    INSTRUCTION_UNKNOWN /* may access memory in ways that are not known */
} instruction_kind_t;

/* A load, store or atomic operation through a pointer. */
typedef struct ir_access {
    unsigned kind;     /* KMM_CHECK_LOAD, KMM_CHECK_STORE of kmm/check.h */
    unsigned bytes;    /* 0: `count` has the number */
    size_t begin, end; /* of the pointer in the line, without its type */
    const char *type;  /* of the pointer */
    const char *pointer;
} ir_access_t;

typedef struct instruction {
    const char *ir; /* the module */
    instruction_kind_t kind;
    int access_count;
    ir_access_t access[2];
    /* memcpy and the like: where its number of bytes stands in the line, with the type. */
    size_t count_begin, count_end;
    const char *count_type, *count;
    const char *callee; /* of INSTRUCTION_CALL; "": a call by an address */
    const char *name;   /* as messages have it */
} instruction_t;

/* Reads one line of the module. `line` begins behind the spaces at its begin. */
void instruction_read(const char *ir, const char *line, instruction_t *out);

#endif
