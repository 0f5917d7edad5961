/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel, as text for the functions that its body becomes. */
#ifndef KMMCC_CPU_PARAMETERS_H
#define KMMCC_CPU_PARAMETERS_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "clang/unit.h"
#include "cpu/program/program.h"

typedef struct parameters {
    CXCursor at[256];
    int count;
    CXCursor body;
} parameters_t;

enum CXChildVisitResult parameters_find(CXCursor c, CXCursor parent, CXClientData data);
bool parameters_are_written(const unit_t *u, const kernel_t *k, const parameters_t *p, size_t *open,
                            size_t *close);
/* NULL: a macro writes some of them. */
const char *parameters_text(unit_t *u, const parameters_t *p, text_t *names);

#endif
