/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that kernels find in memory: what they read and write through these libkmm does not see.
 */
#ifndef KMMCC_CPU_PROGRAM_NESTED_H
#define KMMCC_CPU_PROGRAM_NESTED_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* depends: that is known where the template is used. */
typedef struct nested {
    CXType seen[32];
    int count;
    bool found, depends;
} nested_t;

/* Whether something that the kernel's parameters point to holds pointers. */
nested_t nested_pointers_of(CXCursor kernel);

#endif
