/* SPDX-License-Identifier: Apache-2.0 */
/* Holders: the values of coherence maps. */
#include "memory/holders.h"

#include <string.h>

static uint32_t holders_spaces(void *ctx)
{
    return ((kmm_runtime_t *)ctx)->space_count;
}

static void holders_copy(void *ctx, void *dst, const void *src)
{
    kmm__holders_t *to = dst;
    memcpy(dst, src, kmm__holders_ops(ctx)->value_bytes);
    for (uint32_t s = 0; s < holders_spaces(ctx); s++)
        kmm__ticket_ref(to->ready[s]);
}

static void holders_drop(void *ctx, void *value)
{
    kmm__holders_t *h = value;
    for (uint32_t s = 0; s < holders_spaces(ctx); s++)
        kmm__ticket_unref(h->ready[s]);
}

/* True if values are the same; a ticket that is done without error is the same as NULL. */
static bool holders_same(void *ctx, const void *a, const void *b)
{
    const kmm__holders_t *x = a, *y = b;
    if (x->valid != y->valid)
        return false;
    for (uint32_t s = 0; s < holders_spaces(ctx); s++) {
        const kmm__ticket_t *p = x->ready[s], *q = y->ready[s];
        if (p && p->state == KMM__TICKET_DONE && !p->error)
            p = NULL;
        if (q && q->state == KMM__TICKET_DONE && !q->error)
            q = NULL;
        if (p != q)
            return false;
    }
    return true;
}

const kmm__map_ops_t *kmm__holders_ops(kmm_runtime_t *rt)
{
    return &rt->memory->holders_ops;
}

void kmm__holders_ops_init(kmm_runtime_t *rt)
{
    size_t bytes = offsetof(kmm__holders_t, ready) + rt->space_count * sizeof(kmm__ticket_t *);
    rt->memory->holders_ops =
        (kmm__map_ops_t){bytes, holders_copy, holders_drop, holders_same, NULL};
}

/* A copy that has failed counts until its ticket is done: a task that relies on it until then is
 * told why it failed. */
uint32_t kmm__holders_valid(const kmm_runtime_t *rt, const kmm__holders_t *h)
{
    uint32_t valid = h->valid;
    for (uint32_t s = 0; s < rt->space_count; s++)
        if ((h->ready[s] && h->ready[s]->error && h->ready[s]->state == KMM__TICKET_DONE) ||
            (s != KMM__HOST && rt->device[s - 1]->lost))
            valid &= ~(1u << s);
    return valid;
}

void kmm__holders_set(kmm__holders_t *h, uint32_t space, kmm__ticket_t *ticket)
{
    kmm__ticket_ref(ticket);
    kmm__ticket_unref(h->ready[space]);
    h->ready[space] = ticket;
    h->valid |= 1u << space;
}

void kmm__holders_clear(kmm__holders_t *h, uint32_t space)
{
    kmm__ticket_unref(h->ready[space]);
    h->ready[space] = NULL;
    h->valid &= ~(1u << space);
}
