/* SPDX-License-Identifier: Apache-2.0 */
/* The parse by libclang. */
#ifndef KMMCC_CLANG_PARSE_H
#define KMMCC_CLANG_PARSE_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"

/* Bodies of functions in headers take most of the time and are seldom needed. */
typedef enum bodies { BODIES_OF_MAIN_FILE, BODIES_OF_ALL_FILES } bodies_t;
/* Parses the unit, each file as its `parsed` text; clang's errors are shown at their places in the
 * sources. False when some are not about pragmas: then nothing more can be said. */
bool parse_unit(unit_t *u, bodies_t bodies);

typedef struct unsaved {
    struct CXUnsavedFile *at;
    unsigned count;
} unsaved_t;
/* The files as clang is to see them; headers without pragmas are read from disk. */
unsaved_t parse_unsaved(const unit_t *u);
CXIndex parse_index(void);

#endif
