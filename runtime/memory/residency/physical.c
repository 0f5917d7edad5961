/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory of frames: spare frames, host-backed frames, unmapping. */
#include "memory/residency/physical.h"

#include "base/alloc.h"
#include "base/error.h"

void kmm__spare_push(kmm__device_t *d, kmm__frame_handle_t handle, uint64_t bytes)
{
    d->memory->spare = kmm__grow(d->memory->spare, d->memory->spare_count,
                                 &d->memory->spare_capacity, sizeof(*d->memory->spare));
    d->memory->spare[d->memory->spare_count++] = (kmm__spare_t){handle, bytes};
}

bool kmm__spare_take(kmm__device_t *d, uint64_t bytes, kmm__frame_handle_t *out)
{
    for (uint32_t k = d->memory->spare_count; k-- > 0;) {
        if (d->memory->spare[k].bytes != bytes)
            continue;
        *out = d->memory->spare[k].handle;
        d->memory->spare[k] = d->memory->spare[--d->memory->spare_count];
        return true;
    }
    return false;
}

uint64_t kmm__memory_prove(kmm__device_t *d, uint64_t bytes)
{
    struct kmm__device_memory *m = d->memory;
    const uint64_t unit = d->info.granularity;
    kmm__frame_handle_t frame;
    if (m->proved < m->used)
        m->proved = m->used;
    for (uint64_t more = bytes - m->used; bytes > m->proved && more >= unit; more /= 2) {
        uint64_t size = more / unit * unit;
        int error = d->backend->frame_create(d->gpu, size, &frame);
        if (error == KMM_E_MEMORY)
            continue;
        if (error)
            return bytes; /* the driver has failed, which the acquisition says */
        d->backend->frame_destroy(d->gpu, frame, size);
        if (m->proved < m->used + size)
            m->proved = m->used + size;
        break;
    }
    if (m->limit < m->most && m->limit < m->proved)
        m->limit = m->proved < m->most ? m->proved : m->most;
    return bytes < m->proved ? bytes : m->proved;
}

/* Gives a spare frame, of whatever size, back to the driver. */
void kmm__spare_destroy(kmm_runtime_t *rt, kmm__device_t *d)
{
    kmm__spare_t s = d->memory->spare[--d->memory->spare_count];
    pthread_mutex_unlock(&rt->lock);
    d->backend->frame_destroy(d->gpu, s.handle, s.bytes);
    pthread_mutex_lock(&rt->lock);
    /* not earlier: another thread would allocate memory that is still in use */
    d->memory->used -= s.bytes;
    kmm__trace_memory(d);
}

void kmm__host_backed_destroy(kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    pthread_mutex_unlock(&d->runtime->lock);
    d->backend->frame_destroy(d->gpu, f->handle, kmm__frame_size(f));
    pthread_mutex_lock(&d->runtime->lock);
    d->memory->host_backed_bytes -= kmm__frame_size(f);
    f->host_backed = false;
}

/* Not locked: unmaps f's memory in its window. */
static int memory_unmap(kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    uint64_t begin = kmm__now();
    int error = d->info.whole
                    ? 0
                    : d->backend->frame_unmap(d->gpu, kmm__frame_address(f), kmm__frame_size(f));
    if (error)
        kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
    kmm__count_since(begin, &d->counters.mappings, &d->counters.mapping_ns);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .mode = 1, .device = d->number, .text = "unmap", .a = begin,
               .b = kmm__frame_size(f));
    return error;
}

int kmm__frame_unmap(kmm_runtime_t *rt, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    kmm__frame_begin_unmapping(f);
    pthread_mutex_unlock(&rt->lock);
    int error = memory_unmap(f);
    pthread_mutex_lock(&rt->lock);
    if (kmm__stays_mapped(d, error)) { /* the memory must not be mapped elsewhere */
        kmm__frame_unmapping_failed(f);
        return error;
    }
    if (error && !d->lost)
        kmm__error_note(rt, error, "%s", kmm__error_get());
    if (d->info.whole)
        f->array->residence[d->index].window = 0;
    if (f->host_backed)
        kmm__host_backed_destroy(f);
    else
        kmm__spare_push(d, f->handle, kmm__frame_size(f));
    kmm__frame_unmapped(f);
    return 0;
}

void kmm__frame_abandon(kmm__frame_t *f)
{
    kmm__frame_begin_unmapping(f);
    kmm__frame_unmapped(f);
}
