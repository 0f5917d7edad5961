/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emitter: the state of split.c while it writes a function's body for a block. The files that
 * write parts of the body share it.
 */
#ifndef KMMCC_CPU_LOOPS_EMITTER_H
#define KMMCC_CPU_LOOPS_EMITTER_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/text.h"
#include "clang/unit.h"
#include "cpu/tree/tree.h"

typedef struct split {
    unit_t *u;
    CXCursor function;
    int flags; /* KMM_HOST_HELPERS, or 0 */
    bool is_kernel;
    bool keeps_edits; /* the unit's edits of the body stay, since the original body stays */
    collective_of_t collective_of;
    const void *context; /* for collective_of */
    /* The block size for which a second body may be written; NULL: none is known. If one is
     * written, its text is stored to *sized. */
    const unsigned *extent;
    const char **sized;
} split_t;
enum { MAX_BOUND = 256 };

typedef struct emitter {
    const split_t *s;
    body_tree_t b;
    int pass; /* 0 finds variables that cross phases, 1 if states are needed, 2 writes */
    text_t out;
    bool is_sized; /* the text is for blocks of the size s->extent */

    /* The open phase; phase_open resets these. */
    bool is_open, changes_state;
    text_t phase;                 /* text of its statements */
    variable_t *bound[MAX_BOUND]; /* variables that the phase uses and the block declares */
    int bound_count;
    bool is_independent;       /* no thread uses what another one changes: KMM_HOST_APART */
    text_t generic;            /* types of a template that must be scalars for is_independent */
    bool is_short;             /* each thread runs few operations: KMM_HOST_SHORT */
    bool is_counted;           /* an index of memory has an axis and may wrap */
    const variable_t *counter; /* of the strided loop around the phase; NULL: none */
    const char *limits;     /* statements that limit kmm__p, the threads that run; NULL: all run */
    bool has_exact;         /* kmm__exact is true if the limits replace the condition */
    bool has_stored;        /* a thread has stored to memory */
    bool has_strides;       /* adjacent threads access elements that are not adjacent */
    bool reads_after_store; /* a thread reads memory after it has stored */

    int phase_number, last_phase; /* last_phase: number of the last one, from the previous pass */
    int loop_depth;
    bool is_divergent;              /* inside a branch or loop that some threads do not run */
    const node_t *thread_condition; /* of a branch around, of threadIdx alone; NULL: none */
    bool is_masked;                 /* some statement changes the states of threads */
    bool gains_by_size;             /* some loop or branch is simpler if the block size is known */
    bool has_static;                /* the body declares a static variable */
    int numbers, collective_count;  /* of states and of collective operations so far */
    edit_t *edit;                   /* edits of the body's text */
    int edit_count, edit_capacity;
} emitter_t;

/* Records why the function cannot be split, unless a reason is recorded already. Returns false. */
bool emitter_fail(emitter_t *e, const node_t *n, const char *reason);
/* Reserves two numbers of thread states for the statement `n`. Returns the first. */
int emitter_new_states(emitter_t *e, const node_t *n);
/* Marks the variables of the expression as named by the block, outside the loops over its
 * threads. */
void emitter_name_in_block(node_t *n);

#endif
