/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known while a function's body is written for a block (split.c), and shared by all that
 * write parts of it.
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
    int flags; /* KMM_HOST_HELPERS, or none */
    bool is_kernel;
    bool keeps_edits; /* the unit's edits of the body stay, since the body itself is written, too */
    collective_of_t collective_of;
    const void *context; /* for collective_of */
    /* The size of blocks for which a second body is worth while; NULL: none is known. Its text is
     * stored to *sized, which is left as it is where there is none. */
    const unsigned *extent;
    const char **sized;
} split_t;
enum { MAX_BOUND = 256 };

typedef struct emitter {
    const split_t *s;
    body_tree_t b;
    int pass; /* 0: which variables cross phases; 1: whether states are needed; 2: the text */
    text_t out;
    bool is_sized; /* the text is for blocks of the size s->extent */

    /* The phase that is open; phase_open resets these. */
    bool is_open, changes_state;
    text_t phase;                 /* its statements */
    variable_t *bound[MAX_BOUND]; /* the variables that it uses and the block declares */
    int bound_count;
    bool is_independent; /* no thread uses what another one changes: KMM_HOST_APART ... */
    text_t generic;      /* ... if these types, which templates' arguments make, are scalars */
    bool is_short;       /* each thread does little */
    bool is_counted;     /* memory is indexed by an unsigned variable that has an axis */
    const variable_t *counter; /* of the strided loop that the phase is in; NULL: none */
    const char *limits;        /* statements that limit kmm_p, the threads that run; NULL: all do */
    bool has_exact;            /* the limits say all that the condition does, if kmm_exact */
    bool has_stored, has_strides; /* a thread has stored to memory; has used it in steps */
    bool reads_after_store;

    int phase_number, last_phase; /* last_phase: as the pass before found it */
    int loop_depth;
    bool is_divergent;              /* inside a branch or loop that some threads do not run */
    const node_t *thread_condition; /* of a branch around, if it depends on threadIdx alone */
    bool is_masked;                 /* some statement changes states */
    bool gains_by_size;             /* a known block size makes some loops' lengths known */
    bool has_static;                /* a static variable of the program is declared */
    int numbers, collective_count;  /* states and collective operations that have been numbered */
    edit_t *edit;                   /* of the body's text */
    int edit_count, edit_capacity;
} emitter_t;

/* Gives up splitting the function, for this reason unless there is one already. False. */
bool emitter_fail(emitter_t *e, const node_t *n, const char *reason);
/* Two numbers of states of threads, of which it returns the first, for the statement `n`. */
int emitter_new_states(emitter_t *e, const node_t *n);
/* The block names the variables of the expression too, outside the loops over its threads. */
void emitter_name_in_block(node_t *n);

#endif
