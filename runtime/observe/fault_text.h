/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the messages about faults. Called in signal handlers. */
#ifndef KMM__OBSERVE_FAULT_TEXT_H
#define KMM__OBSERVE_FAULT_TEXT_H

#include "base/running.h"
#include "base/runtime.h"

typedef enum kmm__fault_access {
    KMM__FAULT_ACCESS, /* the processor does not tell the kind */
    KMM__FAULT_READ,
    KMM__FAULT_WRITE,
    KMM__FAULT_FETCH /* of an instruction */
} kmm__fault_access_t;

typedef struct kmm__fault {
    int number; /* SIGSEGV or SIGBUS */
    kmm__fault_access_t access;
    bool has_address; /* false: the processor does not tell the address */
    bool is_mapped;   /* the page is mapped and protected */
    bool is_absent;   /* the page is mapped and has no memory behind it */
    /* the address is just beyond the thread's stack pointer: the stack has overflowed */
    bool fills_stack;
    bool may_be_mended; /* the program has a handler: the message is a note */
    const char *address;
} kmm__fault_t;

/* Writes the message about a fault in chunks, one line with its newline. Returns its length. */
size_t kmm__fault_in_chunks(const kmm__fault_t *f, const kmm__running_t *running, char *out,
                            size_t size);
/* Writes the message about a thread that has ended in a chunk. Returns its length. */
size_t kmm__fault_ended(const kmm__running_t *running, char *out, size_t size);
/* Writes the message about a fault in a thread that is not kmm's, while others run chunks: `count`
 * records, at least one. Returns its length. */
size_t kmm__fault_beside_chunks(const kmm__fault_t *f, const kmm__running_t *others, uint32_t count,
                                char *out, size_t size);
/* Writes the message about a fault elsewhere. Returns its length; 0: the address is in no array of
 * the runtime, so there is no message. */
size_t kmm__fault_elsewhere(const kmm__fault_t *f, kmm_runtime_t *rt, char *out, size_t size);

#endif
