/* SPDX-License-Identifier: Apache-2.0 */
/* --explain=svg. */
#ifndef KMMCC_EMIT_EXPLAIN_SVG_H
#define KMMCC_EMIT_EXPLAIN_SVG_H

#include "emit/explained.h"

/* Returns a picture of the arrays of the launches: their chunks, and what one chunk accesses. */
const char *explain_svg(const explained_t *first);

#endif
