/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kmm pragmas of a source. */
#ifndef KMMCC_PRAGMA_PRAGMA_H
#define KMMCC_PRAGMA_PRAGMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"

typedef struct pragma {
    size_t begin, end; /* from `#` or `_Pragma` to the end of its last line, less trailing space */
    size_t content;    /* offset behind the word kmm */
    size_t content_end;
    bool is_operator; /* _Pragma("kmm ...") */
} pragma_t;
/* Finds the next pragma at or behind *from, and moves *from behind it. False if there is none. */
bool pragma_next(const source_t *s, size_t *from, pragma_t *out);

#endif
