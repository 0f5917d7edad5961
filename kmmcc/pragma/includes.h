/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the headers of the program that a source includes. Conditions (#if) are ignored. */
#ifndef KMMCC_PRAGMA_INCLUDES_H
#define KMMCC_PRAGMA_INCLUDES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/options.h"
#include "base/source.h"

/* The other headers that the source and its headers include. */
enum { USES_CUDA = 1, USES_HIP = 2, USES_KMM = 4, USES_MACRO = 8 /* the word _KMM */ };

typedef struct include_file include_file_t;
/* A header of the program. One without an include guard may be included several times, each time
 * with another meaning, so each #include that names it has an entry of its own. clang knows the
 * second and further ones by names of files that are not there. */
/* An #include. [begin, end) is the name with its quotes, or the macro that stands for it. Such a
 * macro may have several values, and so several entries. */
typedef struct include {
    size_t begin, end;
    include_file_t *file;
    bool quoted, by_macro, chosen;
} include_t;
struct include_file {
    const char *path, *real; /* as the program names it first; without links and dots */
    const char *parsed_as;   /* the name by which clang knows it: `path`, but of a further entry */
    const source_t *source;
    bool has_pragma;
    const include_file_t *first; /* of a further entry; NULL: it is the first */
    bool is_open;                /* its #include lines are being read */
    include_t *include;
    int include_count, include_capacity;
    bool reaches_change; /* by transform.c */
    bool is_nested;      /* by unit.c: another header includes it */
    bool is_forced;      /* -include names it, so it stands before the source */
};
typedef struct includes {
    include_file_t **file; /* file[0] is the source itself */
    int count;
    unsigned uses; /* USES_... */
    list_t asked;  /* by driver/preprocess.c: macros of the compiler for which the files ask */
    const source_t *compiled; /* the source as the real compiler preprocesses it, with its macros;
                                 NULL: the files ask for none */
} includes_t;
includes_t *includes_read(const options_t *o, const source_t *source);
/* Moves the offsets of the #include lines at or behind `at`; `by` may be negative, modulo SIZE_MAX
 * + 1. */
void includes_move(include_file_t *f, size_t at, size_t by);
bool includes_have_pragma(const includes_t *i);
/* Returns the path of a header of -isystem that includes the file although it has #pragma once;
 * NULL: there is none. A copy of the file would count besides the file itself. */
const char *includes_doubled_by(const options_t *o, const includes_t *i, const include_file_t *f);
/* True if clang is to see other names in the #include lines of the file: those of further entries.
 */
bool includes_name_further(const include_file_t *f);
/* True if clang is to see the entry under its own name. */
bool includes_is_renamed(const include_file_t *f);

#endif
