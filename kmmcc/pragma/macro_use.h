/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the uses of the program's macros, and marks them in copies of the files. */
#ifndef KMMCC_PRAGMA_MACRO_USE_H
#define KMMCC_PRAGMA_MACRO_USE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "pragma/includes.h"
#include "pragma/macro.h"

/* What a use expands to in one pass; a header that is included several times has it several times.
 */
typedef struct macro_variant {
    const char *text; /* on one line, with _Pragma */
    int pass;
} macro_variant_t;

/*
 * A name that some definition in the program makes a macro, with the parentheses that follow it; or
 * a _Pragma. Whether it is a macro where it stands is not known. Uses do not overlap.
 */
typedef struct macro_use {
    int file; /* its number in includes_t */
    size_t begin, end;
    bool is_literal;     /* _Pragma("...") */
    bool follows;        /* it stands in the statement below a pragma of kmm */
    bool is_left_out;    /* it is not marked, since a mark changes what it means */
    bool is_quoted;      /* a macro makes a string of it */
    bool splits_counter; /* __COUNTER__ is in it more than once, or a part of a token */
    macro_variant_t *variant;
    int variant_count, variant_capacity;
    const char *expansion; /* what copies have in its place; NULL: the use itself */
} macro_use_t;

typedef struct macro_uses {
    const includes_t *includes;
    macro_use_t *at; /* by file, then by place */
    int count, capacity;
    const char **kept; /* words of CUDA in definitions, which stay as they are; ends with NULL */
    bool writes;  /* a definition has _Pragma, or some _Pragma has an argument that is no string */
    bool is_kmm;  /* what a macro writes may be a pragma of kmm */
    bool selects; /* some use follows a pragma, and some definition has _Generic or <<< */
} macro_uses_t;

/* The names between which the preprocessed text of use number K stands, less K. */
#define USE_BEGIN "kmm__use_"
#define USE_END "kmm__end_"

macro_uses_t macro_uses_find(const includes_t *includes, const options_t *o);
/* Copies with the uses marked or not, or without what keeps words of CUDA; or the files themselves.
 */
typedef enum copy_kind { COPY_MARKED, COPY_PLAIN, COPY_BARE, COPY_NONE } copy_kind_t;
/* Returns one copy for each file; NULL for COPY_NONE. */
const macro_copy_t *macro_uses_copies(const macro_uses_t *uses, copy_kind_t kind);

#endif
