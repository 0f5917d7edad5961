/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the block's declarations. A variable's storage decides how it is declared. */
#ifndef KMMCC_CPU_LOOPS_DECLARATION_H
#define KMMCC_CPU_LOOPS_DECLARATION_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* True if the declaration declares only variables of this storage. */
bool declaration_is_stored(const node_t *declaration, storage_t storage);
/* Writes the declaration. */
void declaration_emit(emitter_t *e, node_t *n);

#endif
