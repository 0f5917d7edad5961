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
/* True if the text has a directive's words where a macro may make a pragma of them: in a
 * definition, or in an argument. */
bool source_may_write_pragma(const source_t *s);
/* True if `#pragma kmm` or `_Pragma("kmm` is in the text outside of comments and strings, or if a
 * macro may make one. */
bool source_has_pragma(const source_t *s);

#endif
