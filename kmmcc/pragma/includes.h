/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of the program that a source includes, whatever #if says. */
#ifndef KMMCC_PRAGMA_INCLUDES_H
#define KMMCC_PRAGMA_INCLUDES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "base/source.h"

/* Whose headers the source and its headers include, besides those of the program. */
enum { USES_CUDA = 1, USES_HIP = 2, USES_KMM = 4, USES_MACRO = 8 /* the word _KMM */ };

typedef struct include_file include_file_t;
/* The name with its quotes, or what a macro makes it of: then there may be several for one place,
 * of which #if chooses. */
typedef struct include {
    size_t begin, end;
    include_file_t *file;
    bool quoted, by_macro, chosen;
} include_t;
struct include_file {
    const char *path, *real; /* as the program names it first; without links and dots */
    const source_t *source;
    bool has_pragma;
    include_t *include;
    int include_count, include_capacity;
    bool reaches_change; /* by transform.c */
};
typedef struct includes {
    include_file_t **file; /* file[0] is the source itself */
    int count;
    unsigned uses; /* USES_... */
} includes_t;
const includes_t *includes_read(const options_t *o, const source_t *source);
bool includes_have_pragma(const includes_t *i);

#endif
