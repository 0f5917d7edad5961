/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kmm pragmas of a source stand. */
#ifndef KMMCC_PRAGMA_PRAGMA_H
#define KMMCC_PRAGMA_PRAGMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"

typedef struct pragma {
    size_t begin, end; /* from `#` or `_Pragma` to the end of its last line, less trailing space */
    size_t content;    /* what follows the word kmm */
    size_t content_end;
    bool is_operator; /* _Pragma("kmm ...") */
} pragma_t;
/* The next pragma at or after *from, which moves behind it. */
bool pragma_next(const source_t *s, size_t *from, pragma_t *out);

#endif
