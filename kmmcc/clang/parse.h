/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a translation unit by libclang. */
#ifndef KMMCC_CLANG_PARSE_H
#define KMMCC_CLANG_PARSE_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"

/* The functions whose bodies are parsed. Bodies in headers take most of the time and are seldom
 * needed. */
typedef enum bodies { BODIES_OF_MAIN_FILE, BODIES_OF_ALL_FILES } bodies_t;
/* Parses the unit, each file as its `parsed` text. Shows clang's errors at their positions in the
 * sources. False if some are not about pragmas: then kmmcc stops. */
bool parse_unit(unit_t *u, bodies_t bodies);

typedef struct unsaved {
    struct CXUnsavedFile *at;
    unsigned count;
} unsaved_t;
/* Returns the files as clang is to see them. Headers without pragmas are read from disk. */
unsaved_t parse_unsaved(const unit_t *u);
CXIndex parse_index(void);

#endif
