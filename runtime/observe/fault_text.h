/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a fault's message. Called in handlers of signals. */
#ifndef KMM__OBSERVE_FAULT_TEXT_H
#define KMM__OBSERVE_FAULT_TEXT_H

#include "base/running.h"
#include "base/runtime.h"

typedef enum kmm__fault_access {
    KMM__FAULT_ACCESS, /* the processor does not say which */
    KMM__FAULT_READ,
    KMM__FAULT_WRITE,
    KMM__FAULT_FETCH /* of an instruction */
} kmm__fault_access_t;

typedef struct kmm__fault {
    int number; /* SIGSEGV or SIGBUS */
    kmm__fault_access_t access;
    bool has_address; /* false: the processor does not say it */
    bool is_mapped;   /* something is mapped there, and it is protected */
    bool is_absent;   /* something is mapped there, which has no memory to give */
    bool fills_stack; /* the address is just beyond the thread's stack pointer */
    const char *address;
} kmm__fault_t;

/* Of a fault in chunks: a line, with its end. Returns its length. */
size_t kmm__fault_in_chunks(const kmm__fault_t *f, const kmm__running_t *running, char *out,
                            size_t size);
/* Of a fault elsewhere; 0: the address is in no array of the runtime, and there is nothing to
 * say. */
size_t kmm__fault_elsewhere(const kmm__fault_t *f, kmm_runtime_t *rt, char *out, size_t size);

#endif
