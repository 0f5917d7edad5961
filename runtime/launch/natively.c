/* SPDX-License-Identifier: Apache-2.0 */
/* Launches with a pragma in native standing. */
#include "launch/natively.h"

#include <stdlib.h>
#include <string.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/spin.h"
#include "launch/arguments.h"
#include "launch/disjoint.h"
#include "launch/items.h"
#include "launch/keep.h"
#include "launch/memo.h"
#include "launch/native_chunks.h"
#include "launch/placement.h"
#include "launch/reduce.h"
#include "launch/sites.h"
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

static bool rounds(const kmm_launch_t *l)
{
    bool is = false;
    for (uint32_t k = 0; k < l->item_count; k++)
        is |= l->items[k].mode == KMM_REDUCE && !is_exact(&l->items[k]);
    return is;
}

/* True if the result depends on the chunks: then the launch is divided. A kernel without a clone
 * runs as one chunk always. */
static bool needs_chunks(const kmm__submission_t *s, const kmm_kernel_t *kernel)
{
    return kernel->is_clone && s->part.count > 1 && rounds(s->l);
}

/* True if -fkmm-check has made the kernel's clone. */
static bool is_checked(const kmm_kernel_t *kernel)
{
    return kernel->is_clone && kernel->param_bytes[0] == sizeof(kmm_checked_blocks_t);
}

/* True for a launch that an only GPU makes as it stands whatever its values are: kmmcc has proven
 * its description, so there is no mistake to find. */
static bool is_proven(const kmm_launch_t *l, const kmm_kernel_t *kernel)
{
    return l->inferred && !rounds(l) && !is_checked(kernel);
}

/* True if all memory that the clauses name is in arrays which are mapped at their names on the
 * current device. */
static bool may_be_native(const kmm__submission_t *s, const kmm_kernel_t *kernel)
{
    const kmm_launch_t *l = s->l;
    bool may = !is_checked(kernel);
    for (uint32_t k = 0; k < l->item_count && may; k++) {
        const kmm__array_t *a = kmm__array_find(s->rt, l->items[k].base);
        may = a && a->home == s->placement.device[0];
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

static int plan_reductions(kmm__submission_t *s, bool is_known)
{
    uint32_t item;
    if (is_known)
        kmm__arguments_words(s);
    int error = kmm__reduce_plan_natively(s->work, s->l, &s->part, !is_known, &item);
    if (!error)
        return 0;
    return item < s->l->item_count
               ? kmm__submission_refuse_item(s, &s->l->items[item], error, kmm__error_get())
               : kmm__submission_refuse(s, error, kmm__error_get());
}

/* What has no memo yet is checked. */
static int check(kmm__submission_t *s)
{
    const bool is_known = kmm__memo_find(s);
    int error = is_known ? 0 : kmm__submission_check(s, s->geometry.grid, s->geometry.block);
    if (!error && s->reductions && s->part.count)
        error = plan_reductions(s, is_known);
    if (error || is_known)
        return error;
    kmm__memo_make(s);
    error = plan_only(s);
    return error ? error : kmm__submission_disjoint(s);
}

/* Returns how the launch is made; 0: it cannot be native. */
static int decide(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args)
{
    kmm__native_chunks_t *chunks = NULL;
    if (kmm__site_pays(s, kernel))
        return 0;
    if (needs_chunks(s, kernel) && !(chunks = kmm__native_chunks_make(s)))
        return 0;
    kmm__memo_note_native(s, chunks);
    if (chunks)
        kmm__native_chunks_keep(chunks, &s->geometry, args);
    kmm__native_chunks_unref(chunks);
    return chunks ? KMM__LAUNCH_IN_CHUNKS : KMM__LAUNCH_NATIVELY;
}

/* Locked. Checks a launch. Returns how it is made, an error, or 0: it cannot be native. */
static int check_native(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args)
{
    s->work = kmm__submission_work(s);
    int error = kmm__arguments_pack(s, kernel, args);
    error = error ? error : check(s);
    int result = error ? error : decide(s, kernel, args);
    kmm__memo_end(s, error);
    kmm__work_unref(s->work);
    return result;
}

static void note(const kmm_launch_t *l, const kmm_kernel_t *kernel, int how)
{
    kmm__native_note(l->file, l->line, kernel->name);
    kmm__log_debug("%s:%d: %s: natively%s", l->file ? l->file : "?", l->line, kmm__launch_name(l),
                   how == KMM__LAUNCH_IN_CHUNKS ? ", in chunks" : "");
}

/* False if libkmm fills in the kernel's parameter 0, of which the program's launch knows nothing.
 */
static bool has_first(const kmm_kernel_t *kernel, void **args)
{
    return !kernel->is_clone || args[0];
}

/* What is known of a launch that comes again. */
typedef struct known {
    bool is;
    kmm__native_chunks_t *chunks; /* NULL: it is made as it stands */
    kmm__kept_t *kept;            /* to keep the description; NULL: it is not kept */
} known_t;

/* Looks for the launch's memo. */
static known_t recall(kmm_launch_t *l, const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                      void **args)
{
    known_t known = {0};
    kmm__axis_t axis[KMM_MAX_AXES]; /* as the program describes them */
    memcpy(axis, l->axis, sizeof(axis));
    if (l->bounded)
        kmm__partition_bound(l, geometry->grid, geometry->block);
    kmm__spin_lock(&l->runtime->lock);
    const kmm__words_t *words = kmm__memo_find_native(l, kernel, geometry, args, &known.chunks);
    known.is = words != NULL;
    if (known.chunks)
        kmm__native_chunks_keep(known.chunks, geometry, args);
    if (words && l->site && !known.chunks && !rounds(l)) {
        known.kept = kmm__kept_make(kernel, geometry, has_first(kernel, args), words,
                                    atomic_load(&l->runtime->memory->index_changes));
        memcpy(l->axis, axis, sizeof(axis));
    }
    pthread_mutex_unlock(&l->runtime->lock);
    return known;
}

/* Among several GPUs each launch is counted (kmm__site_pays). */
int kmm__submit_again(kmm_launch_t *l, const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                      void **args)
{
    known_t known = {0};
    if (l->error || !kmm__native_enter(kernel->kind))
        return 0;
    if (kmm__place_only_gpu(l->runtime, kernel->kind)) {
        if (l->where == KMM_ON_ALL && is_proven(l, kernel)) {
            known.is = true;
            known.kept =
                l->site ? kmm__kept_make(kernel, geometry, has_first(kernel, args), NULL, 0) : NULL;
        } else {
            known = recall(l, kernel, geometry, args);
        }
    }
    if (!known.is || (known.chunks && !kmm__native_chunks_reserve())) {
        kmm__native_leave();
        return 0;
    }
    const int how = known.chunks ? KMM__LAUNCH_IN_CHUNKS : KMM__LAUNCH_NATIVELY;
    note(l, kernel, how);
    if (known.kept)
        kmm__kept_keep(known.kept, l);
    else
        kmm__launch_free(l);
    return how;
}

int kmm__submit_natively(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args)
{
    kmm_launch_t *l = s->l;
    if (l->error || kmm__place_devices(l, s->kind, false, &s->placement))
        return 0;
    if (s->placement.count == 1 && is_proven(l, kernel)) {
        note(l, kernel, KMM__LAUNCH_NATIVELY);
        return KMM__LAUNCH_NATIVELY;
    }
    if ((l->is_divided && s->placement.count > 1 && kmm__native_may_end()) ||
        !kmm__place_on_current(&s->placement))
        return 0;
    if (l->bounded)
        kmm__partition_bound(l, s->geometry.grid, s->geometry.block);
    s->is_native = true;
    kmm__spin_lock(&s->rt->lock);
    int result = may_be_native(s, kernel) ? check_native(s, kernel, args) : 0;
    pthread_mutex_unlock(&s->rt->lock);
    if (result == KMM__LAUNCH_IN_CHUNKS && !kmm__native_chunks_reserve())
        result = 0;
    if (result > 0)
        note(l, kernel, result);
    return result;
}
