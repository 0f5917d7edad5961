/* SPDX-License-Identifier: Apache-2.0 */
/* Forms: sums of a chunk's indices times numbers. */
#include "execute/form.h"

/* Beyond these, nothing is known. Sums and products of what is within them fit into 128 bits. */
#define MOST_BY (INT64_C(1) << 48)
#define MOST_CONSTANT ((kmm__wide_t)1 << 100)

kmm__form_t kmm__form_add(const kmm__form_t *a, const kmm__form_t *b, int64_t by)
{
    kmm__form_t out = {.is_known = a->is_known && b->is_known && by < MOST_BY && by > -MOST_BY};
    if (!out.is_known)
        return out;
    out.constant = a->constant + (kmm__wide_t)by * b->constant;
    out.is_known = out.constant < MOST_CONSTANT && out.constant > -MOST_CONSTANT;
    for (int v = 0; v < KMM__VARIABLES && out.is_known; v++) {
        kmm__wide_t sum = a->by[v] + (kmm__wide_t)by * b->by[v];
        out.by[v] = (int64_t)sum;
        out.is_known = sum < MOST_BY && sum > -MOST_BY;
    }
    return out;
}

kmm__form_t kmm__form_number(kmm__wide_t value)
{
    return (kmm__form_t){.is_known = value < MOST_CONSTANT && value > -MOST_CONSTANT,
                         .constant = value};
}

kmm__form_t kmm__form_variable(int variable)
{
    kmm__form_t f = {.is_known = true};
    f.by[variable] = 1;
    return f;
}

int kmm__form_variables(const kmm__form_t *f, int *last)
{
    int count = 0;
    for (int v = 0; v < KMM__VARIABLES; v++) {
        count += f->by[v] != 0;
        *last = f->by[v] ? v : *last;
    }
    return count;
}

bool kmm__form_is_number(const kmm__form_t *f)
{
    int last;
    return f->is_known && kmm__form_variables(f, &last) == 0;
}

static void put_number(kmm__form_t *f, int variable, int64_t value)
{
    f->constant += (kmm__wide_t)f->by[variable] * value;
    f->by[variable] = 0;
}

void kmm__form_fold(kmm__form_t *f, const kmm__ranges_t *r)
{
    for (int d = 0; d < 3; d++) {
        int block = KMM__BLOCK + d, thread = KMM__THREAD + d;
        if (r->block[d] == 1)
            put_number(f, thread, 0);
        if (r->least[block] == r->most[block])
            put_number(f, block, r->least[block]);
        else if (f->by[thread] && f->by[block] == (kmm__wide_t)f->by[thread] * r->block[d]) {
            f->by[KMM__GLOBAL + d] += f->by[thread];
            f->by[block] = f->by[thread] = 0;
        }
    }
}

void kmm__form_ends(const kmm__form_t *f, const kmm__ranges_t *r, kmm__wide_t *least,
                    kmm__wide_t *most)
{
    *least = *most = f->constant;
    for (int v = 0; v < KMM__VARIABLES; v++) {
        kmm__wide_t by = f->by[v];
        *least += by * (by > 0 ? r->least[v] : r->most[v]);
        *most += by * (by > 0 ? r->most[v] : r->least[v]);
    }
}
