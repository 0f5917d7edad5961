/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of the block: what becomes of a variable depends on its storage. */
#ifndef KMMCC_CPU_LOOPS_DECLARATION_H
#define KMMCC_CPU_LOOPS_DECLARATION_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Whether all its variables have this storage. */
bool declaration_is_stored(const node_t *declaration, storage_t storage);
void declaration_emit(emitter_t *e, node_t *n);

#endif
