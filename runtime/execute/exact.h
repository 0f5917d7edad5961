/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of each load and store of a chunk. Code for the CPU that was compiled with `kmmcc
 * -fkmm-check` calls kmm__exact_access before each access (runtime/instrument). The chunk works on
 * copies of its arrays (execute/check.h), whose addresses are looked up here. Chunks on GPUs look
 * them up themselves (execute/exact_device.h).
 */
#ifndef KMM__EXECUTE_EXACT_H
#define KMM__EXECUTE_EXACT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kmm__check kmm__check_t;

enum {
    /* bytes beside a copy, which take wrong stores and are never read */
    KMM__EXACT_SLACK = 16 << 20,
    KMM__EXACT_WHOLE_SLACK = 1 << 20, /* the same where copies are in a device's memory */
    KMM__EXACT_LOAD = 1,
    KMM__EXACT_STORE = 2, /* may be set together with KMM__EXACT_LOAD: the load comes first */
    KMM__EXACT_ALONE = 4  /* atomic or volatile */
};

/* ---- For runtime/instrument ---- */
/* Called before main if some code was compiled with -fkmm-check. */
void kmm__exact_begin(void);
/* Called before this thread accesses the bytes. `pc` is the address behind the instruction. */
void kmm__exact_access(const void *address, size_t bytes, int kind, const void *pc);
/* Called before the block is freed. Ends the program if it is mapped host memory. */
void kmm__exact_host_free(const void *block, size_t bytes, const void *pc);

/* ---- For launch/compare.c ---- */
/* Called in a chunk that a C++ exception ends: what it leaves out of `write` items is no error. */
void kmm__exact_threw(void);

/* ---- For execute/check.c ---- */
bool kmm__exact_is_on(void);
/* Says once that -fkmm-check checks more, if the program was compiled without it. */
void kmm__exact_advise(void);
/* Sets c->is_exact: true if each access of the chunk is checked. */
void kmm__exact_open(kmm__check_t *c);
void kmm__exact_close(kmm__check_t *c);
/* Not locked: called before the chunk runs. */
void kmm__exact_before(kmm__check_t *c);
/* Not locked: called when the chunk is done. Reports its wrong accesses, once for each launch and
 * argument. */
void kmm__exact_report(kmm__check_t *c);

#endif
