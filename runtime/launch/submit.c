/* SPDX-License-Identifier: Apache-2.0 */
/* Submits launches: turns a description and arguments into tasks of the DAG. */
#include "launch/submit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/spin.h"
#include "base/trace.h"
#include "execute/batch.h"
#include "execute/completion.h"
#include "execute/cpu.h"
#include "execute/queue.h"
#include "execute/raise.h"
#include "launch/arguments.h"
#include "launch/compare.h"
#include "launch/disjoint.h"
#include "launch/fits.h"
#include "launch/gate.h"
#include "launch/host_uses.h"
#include "launch/items.h"
#include "launch/join.h"
#include "launch/memo.h"
#include "launch/natively.h"
#include "launch/nodes.h"
#include "launch/plan.h"
#include "launch/prepare.h"
#include "launch/reduce.h"
#include "launch/sites.h"
#include "launch/state.h"
#include "launch/variables.h"
#include "launch/wait.h"
#include "launch/whole.h"
#include "memory/disk/page.h"
#include "memory/lifetime.h"
#include "memory/residency/foresight.h"
#include "memory/residency/native.h"
#include "task/dag.h"
#include "task/inside.h"
#include "task/marker.h"

enum {
    BATCH = 16,      /* maximum number of chunks entered before the lock is handed over */
    MOST_BATCH = 64, /* the maximum if devices have memory of their own */
    HAND_OVER = 64   /* loop turns during which devices' threads can take the lock */
};

/* This thread's latest launch has returned with all its results. */
static _Thread_local bool has_waited;

/* ---- Tasks ---- */

static void access_push(kmm__task_t *t, const kmm__access_t *a)
{
    t->accesses[t->access_count++] = *a;
    kmm__array_ref(a->array);
}

/* Rounds the edges of a hull outwards. A hull may contain more than is used, so a larger one is
 * right too. Without rounding, hundreds of launches whose hulls differ a little, as along a
 * diagonal, would cut maps into a cell for every row and column. */
static void round_hull(kmm__access_t *a)
{
    enum { PIECES = 16, LINE = 64 };
    for (uint32_t d = 0; d < a->layout->dims; d++) {
        int64_t extent = a->layout->extent[d], unit = d + 1 < a->layout->dims ? 1 : LINE;
        int64_t piece = (extent / PIECES / unit + 1) * unit;
        a->box.lo[d] -= a->box.lo[d] % piece;
        a->box.hi[d] += (piece - a->box.hi[d] % piece) % piece;
        a->box.hi[d] = a->box.hi[d] < extent ? a->box.hi[d] : extent;
    }
}

static bool may_round(const kmm__submission_t *s, const kmm__access_t *a)
{
    return !a->exact && a->mode != KMM_WRITE && a->layout->dims > 1 && !a->array->is_mapped &&
           s->work->chunk_count == 1 && s->placement.count == 1 && !s->rt->checks_access &&
           !s->is_tight;
}

/* Gives t the access of item k, unless its region is empty in the chunk. */
static int plan_item(kmm__submission_t *s, kmm__task_t *t, const kmm__chunk_box_t *box, uint32_t k)
{
    const kmm__item_t *item = &s->l->items[k];
    kmm__layout_t shaped;
    kmm__access_t *a = &t->accesses[t->access_count];
    int planned = kmm__plan(item, s->l->axis_count, box, a, &shaped);
    if (planned < 0)
        return kmm__submission_refuse_item(s, item, planned, kmm__error_get());
    if (planned == 0)
        return 0;
    if (a->layout == &shaped)
        a->layout = kmm__work_layout(s->work, &shaped);
    a->item = (uint16_t)k;
    a->element = item->element <= UINT8_MAX ? (uint8_t)item->element : 0;
    t->part.exact &= a->mode == KMM_READ || a->exact;
    if (may_round(s, a))
        round_hull(a);
    t->access_count++;
    kmm__array_ref(a->array);
    return 0;
}

int kmm__submission_plan(kmm__submission_t *s, kmm__task_t *t, const kmm__chunk_box_t *box)
{
    kmm__work_t *w = s->work;
    t->part.exact = true;
    if (w->kernel) {
        kmm__access_t a =
            kmm__access_bytes(s->rt->memory->globals, s->annotated ? KMM_READ : KMM_UPDATE, 0, 1);
        access_push(t, &a);
    }
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        int error = item->array && item->mode != KMM_REDUCE ? plan_item(s, t, box, k) : 0;
        if (error)
            return error;
    }
    for (uint32_t k = 0; k < w->reduction_count; k++) {
        kmm__access_t a = kmm__reduce_access(w, &w->reductions[k], t->part.chunk);
        access_push(t, &a);
    }
    for (uint32_t k = 0; !s->annotated && k < w->pointer_count; k++) {
        kmm__array_t *array = w->pointers[k].array;
        kmm__access_t a = kmm__access_bytes(array, KMM_UPDATE, 0, (int64_t)array->bytes);
        if (array->bytes)
            access_push(t, &a);
    }
    return 0;
}

/* Gives t its accesses: those of the memo, or planned ones. */
static int plan_chunk(kmm__submission_t *s, kmm__task_t *t, const kmm__chunk_box_t *box)
{
    if (s->memo && s->part.count == 1 && kmm__memo_plan(s, t))
        return 0;
    int error = kmm__submission_plan(s, t, box);
    if (!error && s->new_memo)
        kmm__memo_add_plan(s, t);
    return error;
}

/* Creates the task of chunk k, with its accesses and its device. It is not in the DAG yet. */
static kmm__task_t *make_chunk(kmm__submission_t *s, uint32_t k, int *error)
{
    kmm__chunk_box_t box;
    kmm__work_t *w = s->work;
    kmm__partition_chunk(&s->part, s->l, k, &box);
    kmm__tasks_settle(s->rt);
    kmm__task_t *t =
        kmm__task_create(s->rt, w, s->l->item_count + (s->annotated ? 0 : w->pointer_count) + 1);
    kmm__partition_numbers(&s->part, k, &t->part.chunk, &t->part.last_chunk);
    for (uint32_t i = 0; i < KMM_MAX_SPLIT; i++) {
        t->part.offset[i] = (uint32_t)box.first[i];
        t->part.count[i] = (uint32_t)box.count[i];
        t->part.range.lower[i] = s->part.lower[i];
        t->part.range.begin[i] = s->part.lower[i] + box.first[i];
        t->part.range.end[i] = t->part.range.begin[i] + box.count[i];
    }
    t->part.range.launch = s->number;
    t->part.range.thread = s->function ? kmm_thread_number() : 0;
    t->priority = s->l->priority;
    t->awaited = s->function && s->l->is_undivided;
    *error = plan_chunk(s, t, &box);
    s->is_loose |= t->access_count == 0;
    kmm__task_assign(t, kmm__place_chunk(&s->placement, k - s->begin, t));
    t->part.is_direct = s->is_direct && !*error;
    kmm__program_stream_enter(t, w->geometry.stream);
    return t;
}

/* True if no chunk can read what another chunk of the launch writes, because all accesses to a
 * written array name the same elements. Then each chunk can be entered into the DAG completely
 * before the next one is planned. */
static bool chunks_are_apart(const kmm_launch_t *l)
{
    for (uint32_t i = 0; i < l->item_count; i++) {
        const kmm__item_t *w = &l->items[i];
        for (uint32_t k = 0; k < l->item_count && w->mode != KMM_READ; k++) {
            const kmm__item_t *r = &l->items[k];
            if (r->array != w->array || k == i)
                continue;
            if (r->base != w->base || r->dims != w->dims || r->section_count != w->section_count ||
                memcmp(r->extent, w->extent, r->dims * sizeof(*r->extent)) ||
                memcmp(r->section, w->section, r->section_count * sizeof(*r->section)))
                return false;
        }
    }
    return true;
}

/* Enters chunks from `first` on into the DAG, each completely before the next one. Stops after
 * `most` chunks, or when their bytes reach KMM__BATCH_BYTES. *n receives the number of chunks
 * entered. A chunk that fails carries its error. */
static int submit_apart(kmm__submission_t *s, uint32_t first, uint32_t most, uint32_t *n)
{
    kmm__task_t *tasks[MOST_BATCH];
    uint64_t bytes = 0;
    int result = 0;
    for (*n = 0; *n < most && bytes < KMM__BATCH_BYTES; ++*n) {
        int error = 0;
        kmm__task_t *t = tasks[*n] = make_chunk(s, first + *n, &error);
        error = error ? error : kmm__dag_enter(t);
        kmm__task_fail(t, error);
        kmm__uses_expect(t);
        result = result ? result : error;
        bytes += t->bytes;
    }
    for (uint32_t k = 0; k < *n; k++)
        kmm__task_release(tasks[k]);
    return result;
}

/* Releases the lock for a short time if other threads wait for it, so that devices' threads start
 * while the launch is being submitted. */
static void hand_over(kmm_runtime_t *rt)
{
    pthread_mutex_unlock(&rt->lock);
    for (int k = 0; k < HAND_OVER && atomic_load_explicit(&rt->lock_waiters, memory_order_relaxed);
         k++)
        kmm__relax();
    kmm__spin_lock(&rt->lock);
}

/* Enters all chunks of a launch in which a chunk may read what another one writes. There are three
 * passes. First, all chunks find what they follow. Then all writes are recorded, and last all
 * reads. */
static int submit_together(kmm__submission_t *s)
{
    uint32_t n = s->end - s->begin;
    kmm__task_t **tasks = kmm__alloc(n * sizeof(*tasks));
    int result = 0;
    for (uint32_t k = 0; k < n; k++) {
        int error = 0;
        tasks[k] = make_chunk(s, s->begin + k, &error);
        if (!error)
            error = kmm__dag_follow(tasks[k]);
        kmm__task_fail(tasks[k], error);
        result = result ? result : error;
    }
    for (uint32_t k = 0; k < n; k++) {
        int error = kmm__dag_conflicts(tasks[k]);
        kmm__task_fail(tasks[k], error);
        result = result ? result : error;
        kmm__dag_record(tasks[k], true);
        kmm__uses_expect(tasks[k]);
    }
    for (uint32_t k = 0; k < n; k++)
        kmm__dag_record(tasks[k], false);
    for (uint32_t k = 0; k < n; k++)
        kmm__task_release(tasks[k]);
    free(tasks);
    return result;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Hashes what a launch has in common with the same launch of the next iteration: kernel, line,
 * number of chunks and arrays. */
static uint64_t identity_of(const kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    uint64_t hash = mix(mix((uint64_t)s->l->line, (uintptr_t)w->name),
                        (uintptr_t)w->kernel ^ (uintptr_t)w->function);
    hash = mix(hash, s->part.count);
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        hash = mix(mix(hash, (uintptr_t)item->base),
                   item->array ? item->array->id
                               : 0); /* memory that is mapped anew is another array */
    }
    for (uint32_t k = 0; !s->annotated && k < w->pointer_count; k++)
        hash = mix(hash, w->pointers[k].array->id);
    return hash;
}

/* Hands the partials of this node's chunks to the node that folds them. True: it is this one. */
static bool gather(kmm__submission_t *s)
{
    pthread_mutex_unlock(&s->rt->lock);
    bool is_here = s->rt->launches->nodes->gather(s);
    kmm__spin_lock(&s->rt->lock);
    return is_here;
}

static int submit_work(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    s->is_entered = true;
    kmm__device_t *only = s->placement.count == 1 ? s->placement.device[0] : NULL;
    int error = w->reduction_count ? kmm__reduce_begin(s->rt, w, only) : 0;
    s->number = s->function ? ++s->rt->launches->calls : 0;
    if (s->rt->has_spaces)
        w->pattern = kmm__pattern_note(s->rt, identity_of(s));
    bool apart = s->part.count == 1 || chunks_are_apart(s->l);
    /* Handing over the lock costs as much as several chunks. Devices with memory of their own issue
     * chunks in batches, so for them more chunks are entered at a time. */
    uint32_t most = s->rt->has_spaces ? MOST_BATCH : BATCH;
    for (uint32_t k = s->begin, n; k < s->end && !error; k += n) {
        kmm__tasks_throttle(s->rt);
        n = s->end - k;
        error = apart ? submit_apart(s, k, n < most ? n : most, &n) : submit_together(s);
        if (k + n < s->end)
            hand_over(s->rt);
    }
    if (!error && w->reduction_count && (!s->is_part || gather(s)))
        error = kmm__reduce_end(s->rt, w, only);
    return error;
}

/* Drops the work's references to arrays. Frees the partials. */
static void work_drop(kmm__work_t *w)
{
    for (uint32_t k = 0; k < w->pointer_count; k++)
        kmm__array_unref(w->pointers[k].array);
    for (uint32_t k = 0; k < w->partials_count; k++) {
        if (!w->partials[k].array)
            continue;
        kmm__array_forget(w->partials[k].array);
        kmm__array_unref(w->partials[k].array);
    }
}

kmm__work_t *kmm__submission_work(kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    kmm__work_t *w = kmm__work_create(s->rt);
    w->drop = work_drop;
    w->name = kmm__launch_name(l);
    if (l->label)
        w->name = memcpy(kmm__work_take(w, strlen(l->label) + 1), l->label, strlen(l->label));
    w->file = l->file;
    w->line = l->line;
    w->geometry = s->geometry;
    w->function = s->function;
    w->rounding = kmm__rounding_now();
    w->flags = s->flags;
    w->launcher = s->function ? kmm__raise_launcher() : 0;
    w->graph = l->graph;
    w->is_undivided = l->is_undivided;
    w->item_text = kmm__work_take(w, l->item_count * sizeof(*w->item_text));
    w->item_count = l->item_count;
    for (uint32_t k = 0; k < l->item_count; k++) {
        w->item_text[k] = l->items[k].text;
        w->varying |= (uint64_t)kmm__plan_varies(&l->items[k], l->axis_count) << k;
        s->reductions += l->items[k].mode == KMM_REDUCE;
        w->followed |= (uint64_t)(l->items[k].holds_pointers && w->function) << k;
        w->pointed |= (uint64_t)(l->items[k].stores_pointers && w->function) << k;
        w->packed |= (uint64_t)l->items[k].is_packed << k;
    }
    if (s->reductions) {
        w->reductions = kmm__work_take(w, s->reductions * sizeof(*w->reductions));
        w->partials = kmm__work_take(w, s->reductions * sizeof(*w->partials));
    }
    return w;
}

int kmm__submission_check(kmm__submission_t *s, const uint32_t grid[3], const uint32_t block[3])
{
    const bool is_kernel = s->work->kernel != NULL, *has_chunk = s->l->has_chunk;
    if (kmm__partition(s->l, grid, block, !is_kernel, &s->part))
        return kmm__submission_refuse(s, KMM_E_RANGE, kmm__error_get());
    kmm__arguments_words(s);
    int error = kmm__submission_resolve(s);
    if (!error)
        error = kmm__arguments_find(s);
    if (!error && s->annotated)
        error = kmm__arguments_check(s);
    if (!error && s->annotated && !(has_chunk[0] || has_chunk[1] || has_chunk[2]))
        kmm__partition_choose(&s->part, s->l, s->rt, s->kind);
    if (!error)
        kmm__partition_join(&s->part, s->l, s->rt, &s->placement);
    if (!error && s->l->inferred && s->part.count > 1 && !kmm__stores_are_apart(s->l))
        error = kmm__submission_refuse(s, KMM_E_RANGE, "its stores may meet in one array");
    return error;
}

/* Submits the chunks of this node. */
static int submit_chunks(kmm__submission_t *s)
{
    if (s->part.count == 0)
        return 0;
    if (!s->memo) {
        kmm__memo_make(s); /* before the arguments become addresses of host memory */
        kmm__submission_make_direct(s);
    }
    if (!s->is_part)
        s->end = s->part.count;
    s->placement.chunks = s->end - s->begin;
    if (s->placement.count > 1)
        kmm__site_place(s);
    return submit_work(s);
}

static int pack(kmm__submission_t *s, const kmm__call_t *call)
{
    if (call->kernel)
        return kmm__arguments_pack(s, call->kernel, call->args);
    kmm__arguments_copy(s, call->block_args, call->block_bytes);
    return 0;
}

static int submit_untraced(kmm__submission_t *s, const kmm__call_t *call)
{
    kmm_launch_t *l = s->l;
    kmm__comparison_t *comparison = NULL;
    if (l->error)
        return kmm__submission_refuse(s, l->error, l->error_text);
    const bool awaits = (l->awaits && !l->nowait) || (s->reads_home && !kmm__is_inside());
    if (s->annotated && (l->item_count || awaits) && kmm__is_inside() && !kmm__inside_task())
        return kmm__submission_refuse(s, KMM_E_STATE,
                                      "it is launched inside a chunk, which would "
                                      "wait for it and may hold what it needs; "
                                      "call the function without the pragma there");
    KMM__NATIVE_HOLD(error, s->rt, "a launch in chunks");
    if (!error)
        error = kmm__place_devices(l, s->kind, call->kernel == NULL, &s->placement);
    if (error)
        return kmm__submission_refuse(s, error, kmm__error_get());
    if (l->bounded && call->kernel)
        kmm__partition_bound(l, call->grid, call->block);
    kmm__gate_enter(s->rt);
    kmm__spin_lock(&s->rt->lock);
    s->work = kmm__submission_work(s);
    error = pack(s, call);
    if (!error && !kmm__memo_find(s))
        error = kmm__submission_check(s, call->grid, call->block);
    if (!error && s->function)
        error = kmm__variables_check(s);
    if (!error && s->rt->checks_access)
        error = kmm__host_uses_check(s);
    if (!error && kmm__compare_wants(s)) {
        pthread_mutex_unlock(&s->rt->lock);
        error = kmm__compare_begin(s, call, submit_untraced, &comparison);
        s->is_apart = comparison && call->kernel && s->kind == KMM_KIND_HOST;
        kmm__spin_lock(&s->rt->lock);
    }
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(s->rt);
    s->begin = s->end = 0;
    s->is_part = false;
    if (!error && nodes)
        nodes->divide(s);
    if (!error)
        error = kmm__submission_prepare(s);
    if (!error && nodes) {
        pthread_mutex_unlock(&s->rt->lock);
        error = nodes->launch(s);
        kmm__spin_lock(&s->rt->lock);
    }
    if (!error)
        error = submit_chunks(s);
    kmm__host_run_handed(s->work);
    kmm__submission_log(s);
    kmm__memo_end(s, error);
    kmm__work_unref(s->work);
    pthread_mutex_unlock(&s->rt->lock);
    if (nodes)
        nodes->launched(s->rt);
    kmm__gate_leave();
    if (comparison)
        error = kmm__compare_end(comparison, s, error);
    has_waited = awaits || (s->mapped_count && !l->nowait);
    if (!error && awaits)
        error = kmm__submission_await(s);
    int unmapped = kmm__submission_unmap(s);
    kmm__raise_settle();
    return error ? error : unmapped;
}

static __attribute__((cold, noinline)) int submit_traced(kmm__submission_t *s,
                                                         const kmm__call_t *call)
{
    const uint64_t begin = kmm__now();
    int error = submit_untraced(s, call);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "submit",
               .file = kmm__trace_text(kmm__launch_name(s->l)), .a = begin,
               .c = (uint64_t)s->l->line);
    return error;
}

static int submit(kmm__submission_t *s, const kmm__call_t *call)
{
    return kmm__tracing() ? submit_traced(s, call) : submit_untraced(s, call);
}

KMM__API int kmm_launch_waited(void)
{
    return has_waited;
}

/* ---- The calls ---- */

static void count_undone(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&rt->lock);
    rt->launches->undone++;
    pthread_mutex_unlock(&rt->lock);
}

int kmm__submit_kernel(kmm_launch_t *l, bool annotated, const kmm_kernel_t *kernel,
                       const kmm_geometry_t *geometry, void **args)
{
    kmm__submission_t s;
    int error;
    bool empty = false;
    kmm__submission_begin(&s, l);
    s.annotated = annotated;
    s.kind = kernel->kind;
    s.geometry = *geometry;
    for (int d = 0; d < 3; d++)
        empty |= geometry->grid[d] == 0 || geometry->block[d] == 0;
    if (annotated && !empty && kmm__native_enter(kernel->kind)) {
        error = kmm__submit_natively(&s, kernel, args);
        if (error <= 0)
            kmm__native_leave();
        if (error < 0 && (l->inferred || l->undone))
            error = KMM__NOT_HELD;
        if (error) {
            kmm__launch_free(l);
            return error;
        }
        kmm__submission_begin(&s, l);
        s.annotated = annotated;
        s.kind = kernel->kind;
    }
    if (annotated && kernel->kind != KMM_KIND_HOST && !kernel->is_clone)
        kmm__launch_whole(l, kernel);
    if (s.rt && !empty && !kmm__fits_hold(l, geometry)) {
        error = KMM__NOT_HELD;
    } else if (!s.rt) {
        error = kmm__error_set(KMM_E_NO_DEVICE, "there is no runtime");
    } else if (empty) {
        error = kmm__submission_refuse(&s, KMM_E_INVALID, "the grid or the block is empty");
    } else {
        s.geometry = *geometry;
        const kmm__call_t call = {geometry->grid, geometry->block, kernel, args, NULL, 0};
        error = submit(&s, &call);
        if (error && (l->inferred || l->undone) && !s.is_entered)
            error = KMM__NOT_HELD;
    }
    if (error == KMM__NOT_HELD)
        count_undone(s.rt);
    kmm__launch_free(l);
    return error;
}

KMM__API int kmm_launch_call(kmm_launch_t *l, kmm_function_t *function, const void *args,
                             size_t args_bytes)
{
    static const uint32_t one[3] = {1, 1, 1};
    kmm__submission_t s;
    int error;
    kmm__launch_join(l);
    kmm__submission_begin(&s, l);
    s.kind = KMM_KIND_HOST;
    s.annotated = true;
    s.function = function;
    s.flags = kmm__flags_begin();
    if (!s.rt)
        error = kmm__error_set(KMM_E_NO_DEVICE, "there is no runtime");
    else if (args_bytes > KMM__MAX_ARGS_BYTES)
        error = kmm__submission_refuse(&s, KMM_E_INVALID, "its arguments are too large");
    else if (kmm__launch_null_item(l))
        error = kmm__submission_refuse_item(
            &s, kmm__launch_null_item(l), KMM_E_INVALID,
            "it is a null pointer, which is none any more where a chunk moves it; call the "
            "function without the pragma then");
    else if (!(error = kmm__variables_arrive(&s)))
        error = submit(&s, &(kmm__call_t){one, one, NULL, NULL, args, args_bytes});
    kmm__launch_free(l);
    kmm__flags_end(s.flags, kmm_thread_number());
    return error;
}
