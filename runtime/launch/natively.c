/* SPDX-License-Identifier: Apache-2.0 */
/* Launches with a pragma in native standing. */
#include "launch/natively.h"

#include <stdlib.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/spin.h"
#include "launch/arguments.h"
#include "launch/disjoint.h"
#include "launch/memo.h"
#include "launch/submit.h"
#include "memory/lifetime.h"
#include "memory/residency/native.h"

/* True if the operator gives the same bits in whatever order it is applied. Then the launch as it
 * stands reduces as its chunks would. */
static bool is_exact(const kmm__item_t *item)
{
    return item->type <= KMM_UINT64 && !item->is_pair && item->op != KMM_OP_LAND &&
           item->op != KMM_OP_LOR;
}

/* True if all memory that the clauses name is in arrays which are mapped at their names on the
 * launch's one device, and no clause needs chunks. */
static bool may_be_native(const kmm__submission_t *s, const kmm_kernel_t *kernel)
{
    const kmm_launch_t *l = s->l;
    bool is_checked = kernel->is_clone && kernel->param_bytes[0] == sizeof(kmm_checked_blocks_t),
         may = s->placement.count == 1 && !is_checked;
    for (uint32_t k = 0; k < l->item_count && may; k++) {
        const kmm__array_t *a = kmm__array_find(s->rt, l->items[k].base);
        may = a && a->home == s->placement.device[0] &&
              (l->items[k].mode != KMM_REDUCE || is_exact(&l->items[k]));
    }
    return may;
}

/* Plans all chunks, to find the mistakes that only chunks have. */
static int plan_only(kmm__submission_t *s)
{
    kmm__access_t *accesses = kmm__alloc((s->l->item_count + 1) * sizeof(*accesses));
    int error = 0;
    for (uint32_t k = 0; k < s->part.count && !error; k++) {
        kmm__task_t t = {.accesses = accesses};
        kmm__chunk_box_t box;
        kmm__partition_chunk(&s->part, s->l, k, &box);
        error = kmm__submission_plan(s, &t, &box);
        for (uint32_t i = 0; i < t.access_count; i++)
            kmm__array_unref(accesses[i].array);
    }
    free(accesses);
    return error;
}

/* Locked. Checks a launch that is not divided. */
static int check_native(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args)
{
    s->work = kmm__submission_work(s);
    int error = kmm__arguments_pack(s, kernel, args);
    if (!error && !kmm__memo_find(s)) {
        error = kmm__submission_check(s, s->geometry.grid, s->geometry.block);
        if (!error) {
            kmm__memo_make(s);
            error = plan_only(s);
            error = error ? error : kmm__submission_disjoint(s);
        }
    }
    kmm__memo_end(s, error);
    kmm__work_unref(s->work);
    return error;
}

int kmm__submit_natively(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args)
{
    kmm_launch_t *l = s->l;
    if (l->error || kmm__place_devices(l, s->kind, false, &s->placement))
        return 0;
    if (l->bounded)
        kmm__partition_bound(l, s->geometry.grid, s->geometry.block);
    kmm__spin_lock(&s->rt->lock);
    bool may = may_be_native(s, kernel);
    int error = may ? check_native(s, kernel, args) : 0;
    pthread_mutex_unlock(&s->rt->lock);
    if (!may || error)
        return error;
    kmm__native_note(l->file, l->line, kernel->name);
    return KMM__LAUNCH_NATIVELY;
}
