/* SPDX-License-Identifier: Apache-2.0 */
/* What directives govern. */
#ifndef KMMCC_CLANG_BIND_H
#define KMMCC_CLANG_BIND_H

#include "clang/unit.h"

/* After the parse: finds the statement and the launch of each directive. */
void bind_directives(unit_t *u);

#endif
