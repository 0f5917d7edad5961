/* SPDX-License-Identifier: Apache-2.0 */
/* Names the copies of functions. */
#ifndef KMMCC_GPU_NAME_H
#define KMMCC_GPU_NAME_H

#include <clang-c/Index.h>
#include <stddef.h>

#include "base/source.h"
#include "clang/unit.h"

/* Sets the prefix of the copies' names: the first of kmm_, kmm_clone_, kmm_clone2_ ... that makes
 * no name of the program. */
void name_choose_prefix(unit_t *u);
/* Returns the namespaces around the function, as "a::b::". */
const char *name_namespaces(CXCursor c);
/* Returns what is written before the function's name at `at`, where `from` calls the copy: the
 * prefix, and the namespaces if `from` is not in them. A using-declaration of the function does not
 * declare its copy. */
const char *name_prefix_at(const unit_t *u, const source_t *s, size_t at, CXCursor function,
                           CXCursor from);

#endif
