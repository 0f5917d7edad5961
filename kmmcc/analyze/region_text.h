/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials as expressions of a declaration. */
#ifndef KMMCC_ANALYZE_REGION_TEXT_H
#define KMMCC_ANALYZE_REGION_TEXT_H

#include "analyze/affine.h"
#include "analyze/index.h"

/* Returns the polynomial in the names of the kernel's parameters and of the axes, and sets f->used
 * for these axes. NULL: it has no such expression. */
const char *region_text(infer_t *f, const footprint_t *x, poly_t p);

#endif
