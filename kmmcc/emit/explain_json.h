/* SPDX-License-Identifier: Apache-2.0 */
/* --explain=json, whose form docs/explain.md describes. */
#ifndef KMMCC_EMIT_EXPLAIN_JSON_H
#define KMMCC_EMIT_EXPLAIN_JSON_H

#include "emit/explained.h"

/* Returns the document about the launches, and the marks of launches without a pragma. */
const char *explain_json(const explained_t *first, const marks_t *const *marks, int mark_count);

#endif
