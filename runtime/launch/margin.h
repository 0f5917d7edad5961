/* SPDX-License-Identifier: Apache-2.0 */
/* Margins of partials: bytes on each side of what a plain function reduces. No clause names them,
 * so a chunk that changes them combines elements that the reduction would lose. */
#ifndef KMM__LAUNCH_MARGIN_H
#define KMM__LAUNCH_MARGIN_H

#include "launch/operation.h"

/* Bytes of each margin of partials k of the launch; 0: there is none. */
int64_t kmm__margin_bytes(const kmm__work_t *w, uint32_t k);
/* Fills the margins around what is reduced at `copy`, if the operation's partials have some. */
void kmm__margin_fill(const kmm__array_operation_t *op, char *copy);
/* Not locked: looks at the margins that touch what the operation folds. Returns 0, or KMM_E_ACCESS
 * if a chunk has changed one, which is noted. */
int kmm__margin_check(const kmm__array_operation_t *op);

#endif
