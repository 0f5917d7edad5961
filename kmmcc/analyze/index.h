/* SPDX-License-Identifier: Apache-2.0 */
/* The value of an index as a sum over block and thread numbers. */
#ifndef KMMCC_ANALYZE_INDEX_H
#define KMMCC_ANALYZE_INDEX_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "analyze/declaration.h"
#include "analyze/poly.h"
#include "clang/unit.h"

/* The kinds of factors of a product: a sum, or blockIdx.d or blockDim.d alone. */
typedef enum term { TERM_SUM, TERM_BLOCK_INDEX, TERM_BLOCK_DIM } term_t;

/* constant + sum of thread[d] * threadIdx.d + block[d] * blockIdx.d * blockDim.d; NULL is 0. */
typedef struct sum {
    const char *constant, *thread[3], *block[3];
} sum_t;

typedef struct value {
    bool known;
    term_t term;
    int dimension;
    sum_t sum;
} index_t;

typedef struct infer {
    const unit_t *u; /* of the kernel's definition */
    const declaration_t *n;
    CXCursor body, instance; /* of the definition; the function that is launched */
    bool used[3];            /* an index depends on this dimension */
    const char *range[3];    /* all stores are guarded by `index < range` */
    const char *axis[3];
    poly_t bound[3];           /* the same range, as the graph shows it; no terms: it does not */
    bool strides;              /* a loop steps by the size of the grid */
    const char *block_axis[3]; /* the axes blockIdx.d */
    bool uses_block[3];        /* an index depends on it */
    bool certain;              /* the launch's range will be what the kernel compares with */
    int depth;
} infer_t;

extern const index_t index_unknown;
index_t index_constant(const char *text);
bool index_is_constant(const index_t *v);
/* True if two cursors are the same expression or statement, however they were reached. */
bool index_is_same(CXCursor a, CXCursor b);
/* Returns the operand in parentheses, implicit conversions, and casts between integers that keep
 * every index. */
CXCursor index_operand(CXCursor c);
index_t index_value(infer_t *f, CXCursor c);
/* Returns the sum as an expression of a clause, with the names of the axes. NULL if it depends on a
 * part of a global index. */
const char *index_text(infer_t *f, const index_t *v);

#endif
