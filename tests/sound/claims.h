/* SPDX-License-Identifier: Apache-2.0 */
/* What the analysis says of a kernel, for the numbers of one launch. */
#ifndef KMM_TESTS_SOUND_CLAIMS_H
#define KMM_TESTS_SOUND_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/affine.h"
#include "analyze/known.h"
#include "ir/ir.h"

enum { MOST_POINTERS = 48, MOST_PARAMETERS = 128, STRUCT_BYTES = 4096 };

/* A pointer that the kernel is given: a parameter, or what lies at a byte of one. */
typedef struct pointer {
    int param, member;
    bool known;
} pointer_t;

/* One load, store or atomic operation, in bytes from the pointer. */
typedef struct seen {
    int pointer, kind, line;
    int64_t begin, end;
} seen_t;

typedef struct claims claims_t;

/* What a launch has: the grid by the numbers of replay_set, and the bytes of each parameter. */
typedef struct launch {
    int64_t grid[12];
    unsigned char argument[MOST_PARAMETERS][STRUCT_BYTES];
} launch_t;

/* `block`: the sizes that the analysis is told, 0 for those that it is not. */
claims_t *claims_new(const ir_function_t *f, const int64_t block[3], const launch_t *l);
int claims_pointers(claims_t *c, const pointer_t **list);
/* From here on, of this thread. */
void claims_thread(claims_t *c, const int64_t thread[3], const int64_t block[3]);
/* The access is one of those that the analysis names. `before`: what the thread did before it. */
bool claims_cover(claims_t *c, const seen_t *s, const seen_t *before, int count);
/* A box that says which bytes it accesses exactly and of which the given accesses, of the thread or
 * with `of_block` of its block, leave some out; NULL: none. */
const box_t *claims_left_out(claims_t *c, const seen_t *list, int count, bool of_block,
                             int64_t *checked);

#endif
