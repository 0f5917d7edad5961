/* SPDX-License-Identifier: Apache-2.0 */
/* The source with its edits applied. */
#ifndef KMMCC_EMIT_EMIT_H
#define KMMCC_EMIT_EMIT_H

#include "clang/unit.h"

char *emit_text(unit_t *u); /* NULL after errors */

#endif
