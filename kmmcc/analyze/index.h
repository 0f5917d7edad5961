/* SPDX-License-Identifier: Apache-2.0 */
/* The value of an index, as a sum over block and thread numbers. */
#ifndef KMMCC_ANALYZE_INDEX_H
#define KMMCC_ANALYZE_INDEX_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "analyze/declaration.h"
#include "clang/unit.h"

/* What may be a factor of a product: a sum, or blockIdx.d or blockDim.d by itself. */
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
    CXCursor body, instance; /* of the definition; what is launched */
    bool used[3];            /* an index moves with the dimension */
    const char *range[3];    /* all that is stored is behind `index < range` */
    const char *axis[3];
    bool certain; /* the range will be what the kernel compares with */
    int depth;
} infer_t;

extern const index_t index_unknown;
index_t index_constant(const char *text);
bool index_is_constant(const index_t *v);
/* Whether two cursors are the same expression or statement, however they were reached. */
bool index_is_same(CXCursor a, CXCursor b);
/* Below parentheses, implicit conversions, and casts between integers that keep every index. */
CXCursor index_operand(CXCursor c);
index_t index_value(infer_t *f, CXCursor c);
/* The sum as words of a clause, in the names of the axes; NULL when it depends on a part of a
 * global index. */
const char *index_text(infer_t *f, const index_t *v);

#endif
