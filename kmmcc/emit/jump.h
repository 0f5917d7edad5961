/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps out of blocks of `data`. */
#ifndef KMMCC_EMIT_JUMP_H
#define KMMCC_EMIT_JUMP_H

#include "clang/unit.h"

/* True if the file has a block of `data` and calls setjmp. kmm's header is then included before the
 * first such call, too. */
bool jump_find(unit_t *u);

#endif
