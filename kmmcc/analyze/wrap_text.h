/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions under which what is inferred holds, as clauses. */
#ifndef KMMCC_ANALYZE_WRAP_TEXT_H
#define KMMCC_ANALYZE_WRAP_TEXT_H

#include <stdbool.h>

#include "analyze/affine.h"
#include "analyze/index.h"
#include "base/text.h"

/* Adds the clauses `fits(...)` for the boxes of the `wanted` parameters. Returns NULL, or why
 * clauses cannot say some condition. */
const char *wrap_text(infer_t *f, footprint_t *x, const bool *wanted, text_t *out);

#endif
