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
    int flags; /* as in kmm_launch.h */
    bool is_kernel;
    bool keeps_edits; /* the unit's edits of the body stay, as it is written too */
    collective_of_t collective_of;
    const void *context;
    const unsigned
        *extent; /* of the blocks for which a body of its own pays, if any does; NULL: not known */
    const char **sized; /* gets its text; it is left where there is none. NULL where extent is */
} split_t;
enum { MAX_BOUND = 256 };

typedef struct emitter {
    const split_t *s;
    body_tree_t b;
    int pass; /* 0: which variables cross regions; 1: whether states are needed; 2: the text */
    text_t out, region; /* region: the statements of the one that is open */
    bool is_open, changes_state;
    text_t generic; /* types that depend on a template's arguments: that holds only where they are
                       numbers */
    bool is_independent; /* no thread of the region that is open uses what another one changes:
                      kmm_launch.h */
    bool is_short;       /* the region that is open does little */
    bool is_counted; /* the region that is open finds memory by an unsigned number that counts along
                        the block */
    bool has_exact; /* kmm_exact says whether the bounds of the region that is open are all there is
                       to its condition */
    bool has_stored, has_strides,
        reads_after_store;     /* of the region that is open: memory has been stored
                           to; is used in steps; is read after a store */
    const variable_t *counter; /* of the loop with a stride that the region is in; NULL: none */
    const char *limits; /* statements that limit kmm_p, the threads that the region that is open
                         concerns; NULL: all */
    variable_t *bound[MAX_BOUND];
    int bound_count;
    int region_number, last_region, loop_depth; /* last_region: as the pass before found it */
    bool is_divergent;              /* inside a branch or loop that some threads do not run */
    const node_t *thread_condition; /* the condition of a branch around that depends on nothing but
                              the thread's place */
    bool is_masked;                 /* some statement changes states */
    bool is_sized;                  /* the text is for blocks of the size s->extent */
    bool gains_by_size;             /* that makes some loops' lengths known */
    bool has_static;                /* a variable of the program's that there is only one of */
    int numbers, collective_count;
    edit_t *edit; /* of the body's text */
    int edit_count, edit_capacity;
} emitter_t;

/* Gives up splitting the function, for this reason unless there is one already. False. */
bool emitter_fail(emitter_t *e, const node_t *n, const char *reason);
/* Two numbers of states of threads, of which it returns the first, for the statement `n`. */
int emitter_new_states(emitter_t *e, const node_t *n);
/* The block names the variables of the expression too, outside the loops over its threads. */
void emitter_name_in_block(node_t *n);

#endif
