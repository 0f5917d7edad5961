/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of collective operations, which all threads of a block or warp run together, and of the
 * index variables, in CUDA, HIP and cooperative groups.
 */
#ifndef KMMCC_CPU_PROGRAM_COLLECTIVES_H
#define KMMCC_CPU_PROGRAM_COLLECTIVES_H

#include <stdbool.h>

#include "base/list.h"

typedef enum builtin {
    BUILTIN_NONE,
    BUILTIN_BARRIER,
    BUILTIN_WARP_BARRIER,
    BUILTIN_BLOCK_VOTE, /* a barrier that counts predicates */
    BUILTIN_WARP_VOTE,  /* a vote on predicates, or __activemask, which has none */
    BUILTIN_SHUFFLE,
    BUILTIN_EXCHANGE, /* reductions and matches of a warp's values */
    BUILTIN_MATCH_ALL,
    BUILTIN_FOR_FIBERS /* only fibers can run it: __nanosleep, and HIP's operations without mask */
} builtin_t;
/* Returns the kind of the built-in function `name`; BUILTIN_NONE if there is none. */
builtin_t collectives_builtin(const char *name);
/* Adds the names of all these built-in functions. */
void collectives_add_builtins(list_t *names);

/* Names of cooperative groups: collective operations, and what else reads the index variables. Both
 * lists end with NULL. */
extern const char *const group_collectives[];
extern const char *const group_names[];

/* threadIdx, blockIdx, blockDim, gridDim; ends with NULL. */
extern const char *const index_variables[];
/* True if the name is one of index_variables. */
bool collectives_is_index_variable(const char *name);

#endif
