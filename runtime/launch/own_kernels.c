/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm's own kernels, loaded when they are first needed. */
#include "launch/own_kernels.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/thread.h"
#include "execute/completion.h"
#include "execute/queue.h"
#include "memory/lifetime.h"
#include "memory/residency/foresight.h"
#include "task/dag.h"
#include "task/marker.h"

/* Those for one type of element. Constant once they are loaded. */
typedef struct code {
    bool is_tried, is_loaded;
    kmm_kernel_t kernel[KMM__DEVICE_KERNELS];
} code_t;
static code_t codes[KMM__CODES];
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* guards codes; taken last */

static void load(code_t *c, const kmm__device_t *d)
{
    static const char *const names[] = KMM__DEVICE_KERNEL_NAMES;
    static const uint32_t bytes = sizeof(kmm__folding_t);
    const char *ptx = kmm__device_code_ptx[c - codes];
    void *handles[KMM__DEVICE_KERNELS];
    c->is_tried = true;
    c->is_loaded = ptx && !d->backend->code_load(d->gpu, ptx, names, KMM__DEVICE_KERNELS, handles);
    for (int k = 0; k < KMM__DEVICE_KERNELS && c->is_loaded; k++)
        c->kernel[k] = (kmm_kernel_t){.version = KMM_LAUNCH_VERSION,
                                      .kind = d->backend->kind,
                                      .name = names[k],
                                      .handle = handles[k],
                                      .param_count = 1,
                                      .param_bytes = &bytes};
}

const kmm_kernel_t *kmm__own_kernel(const kmm__device_t *d, const kmm__element_t *e,
                                    kmm__device_kernel_t kernel)
{
    code_t *c = &codes[e->is_pair ? KMM__CODE_OF_PAIRS : e->type];
    if (d->backend->kind != KMM_KIND_CUDA)
        return NULL;
    pthread_mutex_lock(&loading);
    if (!c->is_tried)
        load(c, d);
    pthread_mutex_unlock(&loading);
    return c->is_loaded ? &c->kernel[kernel] : NULL;
}

/* The kernels access numbers with aligned accesses. */
static bool is_aligned(const kmm__partials_t *p, const kmm__reduction_t *r)
{
    const uint64_t size = r->element.is_pair ? 1 : kmm__type_bytes(r->element.type);
    return r->element.is_pair ||
           (r->element.bytes == size && (uintptr_t)(p->target->base + r->begin) % size == 0);
}

bool kmm__own_kernels_fold(const kmm__device_t *d, const kmm__partials_t *p,
                           const kmm__reduction_t *r)
{
    const uint64_t elements = (uint64_t)(r->end - r->begin) / r->element.bytes,
                   blocks = elements * p->count / KMM__FOLD_THREADS;
    return is_aligned(p, r) && blocks < INT32_MAX && kmm__own_kernel(d, &r->element, KMM__FOLD);
}

kmm__folding_t kmm__folding_of(const kmm__partials_t *p, const kmm__reduction_t *r, kmm__addr_t at)
{
    kmm__folding_t f;
    memset(&f, 0, sizeof(f)); /* it is a key, too, whose bytes are compared */
    f.partials = at + (uint64_t)(r->begin - p->begin);
    f.target = (uint64_t)(uintptr_t)(p->target->base + r->begin);
    f.partial_bytes = p->partial_bytes;
    f.elements = (uint64_t)(r->end - r->begin) / r->element.bytes;
    f.count = p->count;
    f.op = r->op;
    f.element.type = r->element.type;
    f.element.bytes = r->element.bytes;
    f.element.is_pair = r->element.is_pair;
    f.element.index = r->element.index;
    f.element.value_at = r->element.value_at;
    f.element.index_at = r->element.index_at;
    f.slots = kmm__fold_slots(&f);
    return f;
}

/* ---- Tasks ---- */

enum { ADDRESSES = 2 }; /* of a folding: of its partials and of its target */

static void drop(kmm__work_t *w)
{
    for (uint32_t k = 0; k < w->pointer_count; k++)
        kmm__array_unref(w->pointers[k].array);
}

/* Makes the work of a kernel, whose addresses are translated for the device where it runs. */
static kmm__work_t *make_work(const kmm__device_t *d, kmm__device_kernel_t kernel,
                              const kmm__partials_t *p, const kmm__reduction_t *r)
{
    const bool uses_target = kernel != KMM__FILL || kmm__reduction_is_truth(r);
    kmm__work_t *w = kmm__work_create(d->runtime);
    kmm__folding_t *f = kmm__work_take(w, sizeof(*f));
    *f = kmm__folding_of(p, r, 0);
    w->drop = drop;
    w->kernel = kmm__own_kernel(d, &r->element, kernel);
    w->is_own = true;
    w->chunk_count = 1;
    w->geometry = (kmm_geometry_t){
        {(uint32_t)kmm__fold_blocks(kernel, f), 1, 1}, {KMM__FOLD_THREADS, 1, 1}, 0, NULL};
    w->args = (unsigned char *)f;
    w->args_bytes = sizeof(*f);
    w->arg_count = 1;
    w->arg_offset = kmm__work_take(w, sizeof(*w->arg_offset));
    w->pointers = kmm__work_take(w, ADDRESSES * sizeof(*w->pointers));
    w->pointer_count = uses_target ? ADDRESSES : 1;
    w->pointers[0] =
        (kmm__pointer_t){offsetof(kmm__folding_t, partials), p->array, r->begin - p->begin, -1};
    w->pointers[1] = (kmm__pointer_t){offsetof(kmm__folding_t, target), p->target, r->begin, -1};
    for (uint32_t k = 0; k < w->pointer_count; k++)
        kmm__array_ref(w->pointers[k].array);
    return w;
}

/* Submits work with these accesses. Takes the reference to it. *out receives a reference to the
 * task; NULL: nobody asks. */
static int submit(kmm__device_t *d, kmm__work_t *w, const kmm__access_t *accesses, uint32_t count,
                  kmm__task_t **out)
{
    kmm_runtime_t *rt = d->runtime;
    kmm__tasks_settle(rt);
    kmm__task_t *t = kmm__task_create(rt, w, count);
    for (uint32_t k = 0; k < count; k++) {
        t->accesses[k] = accesses[k];
        kmm__array_ref(accesses[k].array);
    }
    t->access_count = count;
    t->part.exact = true;
    memcpy(t->part.count, w->geometry.grid, sizeof(t->part.count));
    kmm__work_unref(w); /* the task has a reference of its own */
    kmm__task_assign(t, d);
    if (out) {
        kmm__task_ref(t);
        *out = t;
    }
    kmm__program_stream_enter(t, NULL);
    int error = kmm__dag_enter(t);
    kmm__task_fail(t, error);
    kmm__uses_expect(t);
    kmm__task_release(t);
    return error;
}

int kmm__own_kernel_submit(kmm__device_t *d, kmm__device_kernel_t kernel, const kmm__work_t *launch,
                           const kmm__reduction_t *r, const kmm__access_t *accesses, uint32_t count)
{
    kmm__work_t *w = make_work(d, kernel, &launch->partials[r->partials], r);
    w->name = kernel == KMM__FILL ? "start of a reduction" : "end of a reduction";
    w->file = launch->file;
    w->line = launch->line;
    return submit(d, w, accesses, count, NULL);
}

/* Work that does nothing: it fills no elements. */
static kmm__work_t *make_idle_work(kmm_runtime_t *rt, const kmm_kernel_t *kernel)
{
    kmm__work_t *w = kmm__work_create(rt);
    w->kernel = kernel;
    w->is_own = true;
    w->name = "return to the GPU";
    w->chunk_count = 1;
    w->geometry = (kmm_geometry_t){{1, 1, 1}, {KMM__FOLD_THREADS, 1, 1}, 0, NULL};
    w->args_bytes = sizeof(kmm__folding_t);
    w->args = kmm__work_take(w, w->args_bytes);
    w->arg_count = 1;
    w->arg_offset = kmm__work_take(w, sizeof(*w->arg_offset));
    return w;
}

int kmm__own_kernel_gather(kmm_runtime_t *rt)
{
    static const kmm__element_t byte = {.type = KMM_UINT8, .bytes = 1};
    kmm__device_t *d = rt->device[0];
    const kmm_kernel_t *kernel = kmm__own_kernel(d, &byte, KMM__FILL);
    int error = kernel ? 0 : KMM_E_UNSUPPORTED;
    for (uint32_t k = 0; k < rt->memory->array_count && !error; k++) {
        kmm__array_t *a = rt->memory->arrays[k];
        const kmm__access_t all = kmm__access_bytes(a, KMM_READ, 0, (int64_t)a->bytes);
        kmm__task_t *t = NULL;
        if (a == rt->memory->globals)
            continue;
        error = submit(d, make_idle_work(rt, kernel), &all, 1, &t);
        kmm__task_announce(t);
        while (t->state != KMM__TASK_DONE)
            kmm__cond_wait(&rt->progress, &rt->lock);
        error = error ? error : t->error;
        kmm__task_unref(t);
    }
    return error;
}
