/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_CHECK=result: each launch also runs undivided, and what both runs leave is compared. */
#ifndef KMM__LAUNCH_COMPARE_H
#define KMM__LAUNCH_COMPARE_H

#include "launch/submission.h"

/* What a launch runs with: a kernel with its arguments, or a function with a block of them. */
typedef struct kmm__call {
    const uint32_t *grid, *block;
    const kmm_kernel_t *kernel; /* NULL: a plain function */
    void **args;
    const void *block_args;
    size_t block_bytes;
} kmm__call_t;

typedef struct kmm__comparison kmm__comparison_t;

/* True if the launch is to be compared: it has several chunks. */
bool kmm__compare_wants(const kmm__submission_t *s);
/* Not locked: runs the launch undivided by `submit`, keeps what it leaves in the arrays, and puts
 * back what they held before. The launch's arrays have been found. Returns 0 or the error of that
 * run. *out is NULL if it cannot be compared, which has been said; else kmm__compare_end must
 * follow. */
int kmm__compare_begin(kmm__submission_t *s, const kmm__call_t *call,
                       int (*submit)(kmm__submission_t *s, const kmm__call_t *call),
                       kmm__comparison_t **out);
/* Not locked: waits for the launch's chunks, compares what they left, and frees c. `error` is that
 * of the launch's submission; if it is not 0, nothing is compared. Returns `error`, or KMM_E_ACCESS
 * with its text if the results differ. */
int kmm__compare_end(kmm__comparison_t *c, kmm__submission_t *s, int error);

#endif
