/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a function's graph (ir/ir.h): runs it for single threads, with given numbers for the grid
 * and the parameters. */
#ifndef KMMCC_IR_REPLAY_H
#define KMMCC_IR_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

/* Returns in *value a scalar parameter, or the `bits` bits at byte `member` of a struct parameter
 * (-1: it is no struct). False: the value is not known. */
typedef bool replay_param_fn(void *context, int param, int member, int bits, int64_t *value);
/* Called for one access to bytes [begin, end), counted from the pointer. `certain` false: the
 * access may not happen. `somewhere` true: it may happen at other bytes. */
typedef void replay_visit_fn(void *context, const ir_access_t *a, int64_t begin, int64_t end,
                             bool certain, bool somewhere);

typedef struct replay replay_t;
replay_t *replay_new(const ir_function_t *f, replay_param_fn *param, void *context);
/* Drops all computed values, because parameters have other values from now on. */
void replay_restart(replay_t *r);
/* Sets an index or a size: `what` is an ir_grid_t times 3 plus the dimension. Set sizes and block
 * indices before thread indices. */
void replay_set(replay_t *r, int what, int64_t value);
/* The value of a node of what is set, outside of loops. False: it is not known. */
bool replay_value(replay_t *r, int node, int64_t *value);
/* True if some value of the function depends on this index or size. */
bool replay_uses(const replay_t *r, int what);
/* True if every loop around the access that is being visited is in its first iteration. */
bool replay_is_first(const replay_t *r, const ir_access_t *a);
/* True if so many accesses were visited, where all iterations are run, that no more are. */
bool replay_is_spent(const replay_t *r);
/* Visits all accesses of the thread that was set. most > 0: runs all iterations, but visits no
 * access more often than that. 0: skips some iterations of long loops.
 * False: `most` was given, and it or another limit was reached. */
bool replay_thread(replay_t *r, int64_t most, replay_visit_fn *visit, void *context);

#endif
