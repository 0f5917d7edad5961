/* SPDX-License-Identifier: Apache-2.0 */
/* The names of collective operations and of the index variables, in CUDA, HIP and cooperative
 * groups. */
#include "cpu/program/collectives.h"

#include <stddef.h>

const char *const builtin_collectives[] = {"__syncthreads",
                                           "__syncthreads_and",
                                           "__syncthreads_or",
                                           "__syncthreads_count",
                                           "__syncwarp",
                                           "__shfl_sync",
                                           "__shfl_up_sync",
                                           "__shfl_down_sync",
                                           "__shfl_xor_sync",
                                           "__ballot_sync",
                                           "__any_sync",
                                           "__all_sync",
                                           "__match_any_sync",
                                           "__match_all_sync",
                                           "__activemask",
                                           "__reduce_add_sync",
                                           "__reduce_min_sync",
                                           "__reduce_max_sync",
                                           "__reduce_and_sync",
                                           "__reduce_or_sync",
                                           "__reduce_xor_sync",
                                           "__nanosleep",
                                           "__shfl",
                                           "__shfl_up",
                                           "__shfl_down",
                                           "__shfl_xor",
                                           "__ballot",
                                           "__any",
                                           "__all",
                                           NULL};

/* Of cooperative groups: what meets, and what reads the index variables besides. */
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
