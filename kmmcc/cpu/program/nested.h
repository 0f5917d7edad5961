/* SPDX-License-Identifier: Apache-2.0 */
/* Nested pointers: pointers that kernels load from memory. libkmm does not see the accesses through
 * these. */
#ifndef KMMCC_CPU_PROGRAM_NESTED_H
#define KMMCC_CPU_PROGRAM_NESTED_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* found: the kernel has nested pointers. depends: only an instance of the template tells if it has.
 * seen: the types that have been visited. */
typedef struct nested {
    CXType seen[32];
    int count;
    bool found, depends;
} nested_t;

/* Finds out if the memory that the kernel's parameters point to holds pointers. */
nested_t nested_pointers_of(CXCursor kernel);

#endif
