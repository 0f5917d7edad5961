/* SPDX-License-Identifier: Apache-2.0 */
/* Binding: finds the statement and the launch that each directive governs. */
#ifndef KMMCC_CLANG_BIND_H
#define KMMCC_CLANG_BIND_H

#include "clang/unit.h"

/* Binds all directives. Called after the parse. */
void bind_directives(unit_t *u);

#endif
