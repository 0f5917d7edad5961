/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm's own kernels, loaded when they are first needed. */
#include "launch/own_kernels.h"

#include <pthread.h>
#include <string.h>

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
    c->is_loaded =
        ptx && !d->backend->code_load(d->gpu, ptx, names, KMM__DEVICE_KERNELS, handles);
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

kmm__folding_t kmm__folding_of(const kmm__partials_t *p, const kmm__reduction_t *r,
                                 kmm__addr_t at)
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
