/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that chunks of plain functions give what one call gives. */
#ifndef KMMCC_EMIT_PROVE_H
#define KMMCC_EMIT_PROVE_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Warns if it is not proven that chunks of the plain function give what one call gives, and says
 * what keeps the proof from succeeding. moved[k]: the item that moves argument k; NULL: it stays.
 */
void prove_call(unit_t *u, const directive_t *d, const item_t *const *moved);

#endif
