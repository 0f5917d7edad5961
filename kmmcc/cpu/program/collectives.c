/* SPDX-License-Identifier: Apache-2.0 */
/* The names of collective operations and index variables, each written once in a table. */
#include "cpu/program/collectives.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *name;
    builtin_t builtin;
} builtins[] = {
    {"__syncthreads", BUILTIN_BARRIER},
    {"__syncthreads_and", BUILTIN_BLOCK_VOTE},
    {"__syncthreads_or", BUILTIN_BLOCK_VOTE},
    {"__syncthreads_count", BUILTIN_BLOCK_VOTE},
    {"__syncwarp", BUILTIN_WARP_BARRIER},
    {"__shfl_sync", BUILTIN_SHUFFLE},
    {"__shfl_up_sync", BUILTIN_SHUFFLE},
    {"__shfl_down_sync", BUILTIN_SHUFFLE},
    {"__shfl_xor_sync", BUILTIN_SHUFFLE},
    {"__ballot_sync", BUILTIN_WARP_VOTE},
    {"__any_sync", BUILTIN_WARP_VOTE},
    {"__all_sync", BUILTIN_WARP_VOTE},
    {"__match_any_sync", BUILTIN_EXCHANGE},
    {"__match_all_sync", BUILTIN_MATCH_ALL},
    {"__activemask", BUILTIN_WARP_VOTE},
    {"__reduce_add_sync", BUILTIN_EXCHANGE},
    {"__reduce_min_sync", BUILTIN_EXCHANGE},
    {"__reduce_max_sync", BUILTIN_EXCHANGE},
    {"__reduce_and_sync", BUILTIN_EXCHANGE},
    {"__reduce_or_sync", BUILTIN_EXCHANGE},
    {"__reduce_xor_sync", BUILTIN_EXCHANGE},
    {"__nanosleep", BUILTIN_FOR_FIBERS},
    {"__shfl", BUILTIN_FOR_FIBERS},
    {"__shfl_up", BUILTIN_FOR_FIBERS},
    {"__shfl_down", BUILTIN_FOR_FIBERS},
    {"__shfl_xor", BUILTIN_FOR_FIBERS},
    {"__ballot", BUILTIN_FOR_FIBERS},
    {"__any", BUILTIN_FOR_FIBERS},
    {"__all", BUILTIN_FOR_FIBERS},
};
enum { BUILTIN_COUNT = sizeof(builtins) / sizeof(*builtins) };

builtin_t collectives_builtin(const char *name)
{
    for (int k = 0; k < BUILTIN_COUNT; k++)
        if (!strcmp(builtins[k].name, name))
            return builtins[k].builtin;
    return BUILTIN_NONE;
}

void collectives_add_builtins(list_t *names)
{
    for (int k = 0; k < BUILTIN_COUNT; k++)
        list_add(names, builtins[k].name);
}

const char *const group_collectives[] = {"sync",
                                         "shfl",
                                         "shfl_up",
                                         "shfl_down",
                                         "shfl_xor",
                                         "any",
                                         "all",
                                         "ballot",
                                         "match_any",
                                         "match_all",
                                         "reduce",
                                         "inclusive_scan",
                                         "exclusive_scan",
                                         "labeled_partition",
                                         "binary_partition",
                                         "barrier_wait",
                                         "wait",
                                         "wait_prior",
                                         NULL};

const char *const group_names[] = {"this_thread_block",
                                   "tiled_partition",
                                   "coalesced_threads",
                                   "this_grid",
                                   "thread_block",
                                   "thread_group",
                                   "thread_block_tile",
                                   "thread_rank",
                                   "grid_group",
                                   "meta_group_rank",
                                   "memcpy_async",
                                   "invoke_one",
                                   NULL};

const char *const index_variables[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};

bool collectives_is_index_variable(const char *name)
{
    return text_is_one_of(name, index_variables);
}
