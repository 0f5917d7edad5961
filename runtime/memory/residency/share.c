/* SPDX-License-Identifier: Apache-2.0 */
/* Access of other devices to frames, one call for each run of neighbours. */
#include "memory/residency/share.h"

#include "memory/residency/pack.h"
#include "memory/residency/physical.h"

/* A run of neighbouring frames that another device is to have access to. */
typedef struct share {
    kmm__device_t *to;
    kmm__frame_t *first;
    uint32_t count;
    uint64_t bytes;
} share_t;

/* If the driver cannot give access, copies between the devices are slower, but right. If it fails,
 * the next copy asks again. */
static void share_run(share_t *s)
{
    kmm__frame_t *f = s->first;
    if (s->count == 0)
        return;
    uint64_t begin = kmm__now();
    int error = f->device->backend->frame_share(f->device->gpu, kmm__frame_address(f), s->bytes,
                                                s->to->gpu);
    kmm__count_since(begin, &f->device->counters.sharings, &f->device->counters.sharing_ns);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "give a peer access", .a = begin, .b = s->bytes);
    if (error && error != KMM_E_UNSUPPORTED) {
        pthread_mutex_lock(&f->device->runtime->lock);
        for (uint32_t k = 0; k < s->count; k++)
            f[k].shared &= ~(1u << s->to->index);
        pthread_mutex_unlock(&f->device->runtime->lock);
    }
    s->count = 0;
    s->bytes = 0;
}

static void share_frame(void *ctx, kmm__frame_t *f)
{
    share_t *s = ctx;
    kmm_runtime_t *rt = f->device->runtime;
    uint32_t bit = 1u << s->to->index;
    pthread_mutex_lock(&rt->lock);
    bool shared = f->shared & bit;
    f->shared |= bit;
    pthread_mutex_unlock(&rt->lock);
    if (shared)
        return;
    if (s->count && f != s->first + s->count)
        share_run(s);
    if (s->count == 0)
        s->first = f;
    s->count++;
    s->bytes += kmm__frame_size(f);
}

void kmm__frames_share(kmm__array_t *a, kmm__device_t *from, kmm__device_t *to,
                       const kmm__layout_t *l, const kmm__box_t *b)
{
    share_t s = {.to = to};
    if (a->residence[from->index].is_packed) {
        kmm__pack_share(from, a->residence[from->index].window, to);
        return;
    }
    kmm__frames_of(a, from, l, b, share_frame, &s);
    share_run(&s);
}
