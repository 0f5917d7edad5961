/* SPDX-License-Identifier: Apache-2.0 */
/* What PTX instructions do with global memory. */
#ifndef KMMCC_PTX_OPCODE_H
#define KMMCC_PTX_OPCODE_H

typedef enum opcode_kind {
    OPCODE_HARMLESS, /* accesses no global memory, or none of its contents */
    OPCODE_ACCESS,
    OPCODE_CALL,
    OPCODE_UNKNOWN /* may access global memory in ways that are not known here */
} opcode_kind_t;

/* A load, store or atomic operation that may be of global memory. */
typedef struct access {
    const char *guard;          /* "@%p1 " or "" */
    const char *base;           /* of the address: a register, a variable or a number */
    const char *offset;         /* "+16", "" */
    const char *before;         /* of the instruction: what is before the address in brackets */
    const char *behind;         /* and behind it */
    const char *register_bytes; /* an operand with the number of bytes; NULL: `bytes` */
    unsigned kind;              /* KMM_CHECK_LOAD, KMM_CHECK_STORE of kmm/check.h */
    unsigned bytes;
} access_t;

/* Of an instruction as statement_t has it. `out` is for OPCODE_ACCESS. */
opcode_kind_t opcode_read(const char *text, access_t *out);
/* Returns the opcode with its modifiers, as "ld.global.f32". */
const char *opcode_name(const char *text);
/* Returns the function that a `call` names, or the register that holds its address. */
const char *opcode_callee(const char *text);

#endif
