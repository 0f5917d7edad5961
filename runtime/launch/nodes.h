/* SPDX-License-Identifier: Apache-2.0 */
/* What several nodes have to do with launches and arrays of the program: functions that nodes/
 * registers in rt->launches->nodes. NULL: there is one node. All but one are called without the
 * lock. */
#ifndef KMM__LAUNCH_NODES_H
#define KMM__LAUNCH_NODES_H

#include "launch/submission.h"

/* What a copy between an array and the program's memory, or a set, moves. */
typedef struct kmm__copied {
    char *memory;
    int value;
    bool is_in;  /* the array is written */
    bool is_set; /* each of its bytes gets the value, and there is no memory */
} kmm__copied_t;

typedef struct kmm__nodes_hooks {
    /* Called with the lock. Replaces the launch's chunks on a node that runs a part of another
     * node's launch. */
    void (*divide)(kmm__submission_t *s);
    /* Called before the tasks of a launch are submitted, whose arrays and chunks are known. Brings
     * what its chunks on this node read, and sets s->is_part, s->begin and s->end if others run on
     * other nodes. `launched` is called when the launch has been submitted. */
    int (*launch)(kmm__submission_t *s);
    void (*launched)(kmm_runtime_t *rt);
    /* Called when the chunks of a part have been submitted whose launch reduces. Brings all
     * partials to one node. True: it is this one. */
    bool (*gather)(kmm__submission_t *s);
    /* Brings the newest values of bytes [begin, end) of an array that this node is about to read,
     * or notes that it is about to write all of them. */
    int (*use)(kmm__array_t *a, kmm_mode_t mode, int64_t begin, int64_t end);
    /* Copies bytes [begin, end) of an array from or to memory of the program, or sets them, if
     * other nodes take part; *is_done says so. Otherwise it does what `use` does. */
    int (*copy)(kmm__array_t *a, const int64_t range[2], const kmm__copied_t *c, bool *is_done);
    /* The program has freed the array. */
    void (*forget)(kmm__array_t *a);
    /* A chunk of a plain function has thrown an exception. */
    void (*threw)(void);
    /* Waits until all nodes have done all that was submitted. */
    int (*wait)(kmm_runtime_t *rt);
} kmm__nodes_hooks_t;

/* The same functions, for calls that name no runtime. Written before a runtime is used. */
extern const kmm__nodes_hooks_t *kmm__nodes_hooks;

/* True on a thread that does the work of nodes: what it submits concerns this node alone. */
extern _Thread_local bool kmm__is_of_node;

/* The functions; NULL: there is one node, or the thread does the work of nodes. */
const kmm__nodes_hooks_t *kmm__nodes_of(const kmm_runtime_t *rt);

/* Not locked: tells all nodes of a use of bytes of the array at an address, if several know it. */
int kmm__nodes_use(kmm_runtime_t *rt, const void *address, size_t bytes, kmm_mode_t mode);
/* Not locked: the same of a copy or set. *is_done receives whether the nodes have made it. */
int kmm__nodes_copy(kmm_runtime_t *rt, const void *address, size_t bytes, const kmm__copied_t *c,
                    bool *is_done);
/* Not locked: the array that begins at an address is about to be freed. */
void kmm__nodes_forget(kmm_runtime_t *rt, const void *base);

#endif
