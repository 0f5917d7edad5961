/* SPDX-License-Identifier: Apache-2.0 */
/* The end of arrays on a device, by the device's own thread. */
#include "memory/residency/service.h"

#include <stdlib.h>

#include "base/error.h"
#include "memory/lifetime.h"
#include "memory/residency/evict.h"
#include "memory/residency/foresight.h"
#include "memory/residency/pack.h"
#include "memory/residency/physical.h"
#include "memory/residency/reuse.h"

/* Unmaps a frame of a dead array. If the driver does not do that, its memory is lost for others. */
static void frame_release(kmm__device_t *d, kmm__array_t *a, kmm__frame_t *f)
{
    int error = kmm__frame_unmap(d->runtime, f);
    if (!error)
        return;
    kmm__frame_abandon(f);
    a->residence[d->index].is_stuck = true;
    kmm__error_note(d->runtime, error, "memory of %s, which was freed, could not be unmapped: %s",
                    a->label ? a->label : "an array", kmm__error_get());
}

/* Releases a dead array's residence on the device. False: some of its frames are being evicted or
 * moved. */
static bool residence_release(kmm__device_t *d, kmm__array_t *a)
{
    kmm_runtime_t *rt = d->runtime;
    kmm__residence_t *r = &a->residence[d->index];
    for (uint32_t k = 0; r->frames && k < a->frame_count; k++) {
        kmm__frame_t *f = &r->frames[k];
        if (f->state == KMM__FRAME_EVICTING || f->state == KMM__FRAME_MOVING)
            return false;
        if (f->state != KMM__FRAME_ABSENT)
            frame_release(d, a, f);
        kmm__uses_free(f);
    }
    if (r->window)
        d->memory->gone[d->memory->next_gone++ % KMM__GONE] =
            (kmm__gone_t){r->window, kmm__array_span(a) > a->bytes ? kmm__array_span(a) : a->bytes};
    if (r->is_packed) {
        kmm__pack_return(d, r->window);
    } else if (r->window && !r->is_stuck) {
        pthread_mutex_unlock(&rt->lock);
        if (a->home != d || r->window != (kmm__addr_t)(uintptr_t)a->base)
            d->backend->window_release(d->gpu, r->window, kmm__array_span(a));
        pthread_mutex_lock(&rt->lock);
    }
    free(r->frames);
    r->frames = NULL;
    r->window = 0;
    return true;
}

void kmm__frames_service(kmm__device_t *d)
{
    kmm__array_t *waiting = NULL;
    while (d->memory->dead) {
        kmm__array_t *a = d->memory->dead;
        d->memory->dead = a->next_dead[d->index];
        if (residence_release(d, a)) {
            kmm__array_left(a);
            continue;
        }
        a->next_dead[d->index] = waiting;
        waiting = a;
    }
    d->memory->dead = waiting;
}

void kmm__frames_close(kmm__device_t *d)
{
    while (d->memory->spare_count) {
        kmm__spare_t s = d->memory->spare[--d->memory->spare_count];
        d->backend->frame_destroy(d->gpu, s.handle, s.bytes);
    }
    free(d->memory->spare);
    d->memory->spare = NULL;
    kmm__pack_close(d);
    kmm__reuse_free(d);
}
