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
    BUILTIN_WARP_VOTE,  /* of predicates; __activemask too, which has none */
    BUILTIN_SHUFFLE,
    BUILTIN_EXCHANGE, /* reductions and matches of a warp's values */
    BUILTIN_MATCH_ALL,
    BUILTIN_FOR_FIBERS /* what only threads that are fibers can run: HIP's operations without mask
                        */
} builtin_t;
/* What a function of this name is; BUILTIN_NONE: none of these. */
builtin_t collectives_builtin(const char *name);
void collectives_add_builtins(list_t *names);

/* Of cooperative groups: collective operations, and what else reads the index variables. Both end
 * with NULL. */
extern const char *const group_collectives[];
extern const char *const group_names[];

/* threadIdx, blockIdx, blockDim, gridDim; ends with NULL. */
extern const char *const index_variables[];
bool collectives_is_index_variable(const char *name);

#endif
