/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the graph of ir.h for single threads, with given numbers for grid and parameters. */
#ifndef KMMCC_IR_REPLAY_H
#define KMMCC_IR_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

/* The value of a scalar parameter, or of `bits` bits at byte `member` of a struct parameter (-1:
 * it is no struct). False: it is not known. */
typedef bool replay_param_fn(void *context, int param, int member, int bits, int64_t *value);
/* One access to the bytes [begin, end), counted from the pointer. Not certain: it may not happen,
 * or elsewhere, when `somewhere` is true. */
typedef void replay_visit_fn(void *context, const ir_access_t *a, int64_t begin, int64_t end,
                             bool certain, bool somewhere);

typedef struct replay replay_t;
replay_t *replay_new(const ir_function_t *f, replay_param_fn *param, void *context);
/* Parameters have other values from here on. */
void replay_restart(replay_t *r);
/* ir_grid_t times 3 plus the dimension. Block dimensions and sizes come before thread indices. */
void replay_set(replay_t *r, int what, int64_t value);
/* The value of a node of what is set, outside of loops. False: it is not known. */
bool replay_value(replay_t *r, int node, int64_t *value);
/* True if some value of the function depends on this index or size. */
bool replay_uses(const replay_t *r, int what);
/* True if no loop around the access, which is being visited, has come to its second iteration. */
bool replay_is_first(const replay_t *r, const ir_access_t *a);
/* All accesses of the thread that is set. Of long loops some iterations are left out unless
 * `all`. False: with `all`, the limit of iterations was reached. */
bool replay_thread(replay_t *r, bool all, replay_visit_fn *visit, void *context);

#endif
