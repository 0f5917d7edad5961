/* SPDX-License-Identifier: Apache-2.0 */
/* Types as the generated source writes them. */
#ifndef KMMCC_CLANG_WRITTEN_H
#define KMMCC_CLANG_WRITTEN_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/options.h"

/* The type of pointers whose own type cannot be written outside of the called function. */
extern const char TYPE_OPAQUE[];

/* Returns the type as it is written for a field: in C before the enclosing function, in C++ where
 * the call stands. There the program may have given the type's name to something else, so names
 * begin with `::`. The result has "(unnamed" in it where the type has no name. */
const char *type_written(lang_t lang, CXType type);
/* True if no name of the program is in the type: it is made of numbers, void and pointers. */
bool type_is_plain(CXType type);
/* Returns the declaration of a variable. The name is within the type of an array or of a pointer to
 * a function. */
const char *type_declaration(const char *type, const char *name);

#endif
