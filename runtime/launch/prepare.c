/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares a launch: plans its reductions, and checks what must hold before any chunk runs. */
#include "launch/prepare.h"

#include "execute/origin.h"
#include "launch/disjoint.h"
#include "launch/fit.h"
#include "launch/items.h"
#include "launch/reduce.h"
#include "memory/disk/page.h"

static int plan_reductions(kmm__submission_t *s)
{
    uint32_t item;
    int error = kmm__reduce_plan(s->work, s->l, &s->part, &item);
    return error ? kmm__submission_refuse_reduction(s, item, error) : 0;
}

/* Notes where the elements of each item begin, for chunks that work on copies. */
static void note_origins(const kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    const kmm_launch_t *l = s->l;
    if ((!s->rt->checks_access && !s->is_apart) || l->item_count == 0)
        return;
    w->origins = kmm__work_take(w, l->item_count * sizeof(*w->origins));
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *item = &l->items[k];
        w->origins[k] = (kmm__origin_t){
            item->array, item->array ? item->base - item->array->base : 0, item->element};
    }
}

int kmm__submission_prepare(kmm__submission_t *s)
{
    int error = 0;
    uint32_t chunks = s->part.count;
    s->work->chunk_count = kmm__partition_asked(&s->part);
    note_origins(s);
    if (s->part.count == 0)
        return 0;
    if (s->reductions)
        error = plan_reductions(s);
    if (!error && (s->rt->has_spaces || kmm__spill_room(s->rt)))
        error = kmm__submission_fits(s);
    if (!error && (!s->memo || s->part.count != chunks))
        error = kmm__submission_disjoint(s);
    return error;
}
