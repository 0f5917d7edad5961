/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/margin.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/runtime.h"

enum { BYTES = 128, FILL = 0xa5 };

/* KMM_CHECK=access sees each byte that a chunk changes. Partials of several items have elements of
 * one beside those of another. */
int64_t kmm__margin_bytes(const kmm__work_t *w, uint32_t k)
{
    uint32_t items = 0;
    for (uint32_t j = 0; j < w->reduction_count; j++)
        items += w->reductions[j].partials == k;
    return items == 1 && !w->runtime->checks_access ? BYTES : 0;
}

void kmm__margin_fill(const kmm__array_operation_t *op, char *copy)
{
    const int64_t margin = op->partials.margin;
    memset(copy - margin, FILL, (size_t)margin);
    memset(copy + (op->reduction.end - op->reduction.begin), FILL, (size_t)margin);
}

/* The first of the `bytes` bytes that has been changed; `bytes`: none. */
static int64_t find_changed(const char *at, int64_t bytes)
{
    int64_t k = 0;
    while (k < bytes && (unsigned char)at[k] == FILL)
        k++;
    return k;
}

/* at: byte of the target. */
static int note(const kmm__array_operation_t *op, int64_t at)
{
    kmm_runtime_t *rt = op->array->runtime;
    const int64_t size = op->reduction.element.bytes,
                  from = at - (op->partials.base - op->partials.target->base),
                  element = (from < 0 ? from - size + 1 : from) / size;
    kmm__exit_violation();
    pthread_mutex_lock(&rt->lock);
    kmm__error_note(rt, KMM_E_ACCESS,
                    "%s:%d: %s: argument %s: a chunk changes element %lld, which no clause names, "
                    "so that what it stores there is lost; widen the region",
                    op->file ? op->file : "?", op->line, op->launch, op->item, (long long)element);
    pthread_mutex_unlock(&rt->lock);
    return KMM_E_ACCESS;
}

int kmm__margin_check(const kmm__array_operation_t *op)
{
    const kmm__partials_t *p = &op->partials;
    const kmm__reduction_t *r = &op->reduction;
    const int64_t margin = p->margin;
    for (uint32_t k = 0; k < p->count && margin; k++) {
        const char *copy = op->array->host + k * p->partial_bytes - p->begin;
        int64_t changed = find_changed(copy + r->end, margin);
        if (op->begin + (int64_t)op->bytes == r->end && changed < margin)
            return note(op, r->end + changed);
        changed = find_changed(copy + r->begin - margin, margin);
        if (op->begin == r->begin && changed < margin)
            return note(op, r->begin - margin + changed);
    }
    return 0;
}
