/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials as expressions of a declaration. */
#ifndef KMMCC_ANALYZE_REGION_TEXT_H
#define KMMCC_ANALYZE_REGION_TEXT_H

#include "analyze/affine.h"
#include "analyze/index.h"

/* In the names of the kernel's parameters and of the axes, which f->used then has; NULL: it cannot
 * be said. */
const char *region_text(infer_t *f, const footprint_t *x, poly_t p);

#endif
