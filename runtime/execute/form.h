/* SPDX-License-Identifier: Apache-2.0 */
/* Forms: sums of a chunk's indices times numbers. Pure functions. */
#ifndef KMM__EXECUTE_FORM_H
#define KMM__EXECUTE_FORM_H

#include <stdbool.h>
#include <stdint.h>

enum { KMM__FORM_LOOPS = 8, KMM__VARIABLES = 9 + KMM__FORM_LOOPS };

/* The variables of a form, in three dimensions each; then the iterations of loops. */
enum {
    KMM__GLOBAL = 0, /* blockIdx * blockDim + threadIdx */
    KMM__BLOCK = 3,  /* blockIdx */
    KMM__THREAD = 6, /* threadIdx */
    KMM__LOOP = 9
};

typedef __int128 kmm__wide_t;

typedef struct kmm__form {
    bool is_known;
    kmm__wide_t constant;
    int64_t by[KMM__VARIABLES];
} kmm__form_t;

/* The values of each variable in a chunk: from least to most. None: most < least. */
typedef struct kmm__ranges {
    int64_t least[KMM__VARIABLES], most[KMM__VARIABLES];
    int64_t block[3]; /* threads of a block in each dimension */
} kmm__ranges_t;

/* a + by * b; not known if a number gets too large. */
kmm__form_t kmm__form_add(const kmm__form_t *a, const kmm__form_t *b, int64_t by);
kmm__form_t kmm__form_number(kmm__wide_t value);
kmm__form_t kmm__form_variable(int variable);
bool kmm__form_is_number(const kmm__form_t *f);
/* Returns how many variables the form has; *last receives the last of them. */
int kmm__form_variables(const kmm__form_t *f, int *last);
/* Puts global indices for sums of block and thread indices, and numbers for variables that have one
 * value only. */
void kmm__form_fold(kmm__form_t *f, const kmm__ranges_t *r);
/* The least and the greatest value. `f` is folded. */
void kmm__form_ends(const kmm__form_t *f, const kmm__ranges_t *r, kmm__wide_t *least,
                    kmm__wide_t *most);

#endif
