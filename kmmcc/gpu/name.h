/* SPDX-License-Identifier: Apache-2.0 */
/* The names of copies. */
#ifndef KMMCC_GPU_NAME_H
#define KMMCC_GPU_NAME_H

#include <clang-c/Index.h>
#include <stddef.h>

#include "base/source.h"
#include "clang/unit.h"

/* What the copies' names begin with: the first of kmm_, kmm_clone_, kmm_clone2_ ... that makes no
 * name of the program. */
void name_choose_prefix(unit_t *u);
/* The namespaces around the function, as "a::b::". */
const char *name_namespaces(CXCursor c);
/* What is written before the name of the function, at `at`, where `from` names its copy: the
 * prefix, with namespaces where `from` is not in them, since a using-declaration does not name the
 * copy. */
const char *name_prefix_at(const unit_t *u, const source_t *s, size_t at, CXCursor function,
                           CXCursor from);

#endif
