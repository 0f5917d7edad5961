/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of host memory: making and end. Rules that exclude deadlocks:
 *
 *  1. A task's pages are pinned all at once, before its work is planned, by one thread at a time
 * (the turn). That thread waits only for tasks that have all their pages, and for the disk's
 *     thread. So room becomes free, and the thread with the turn gets it.
 *  2. Copies to devices are planned before their sources are in memory. They never wait for room: a
 *     page that is not in memory is read into a buffer, which is free when its copy is done.
 *  3. The disk's thread waits only for the disk and needs no memory: pages are written from where
 * they are. A page that could not be written stays.
 */
#include "memory/disk/spill.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/disk/thread.h"

enum { OS_PAGE = 4096, PAGES_OF_LIMIT = 32, LEAST_PAGES = 8 };
#define PAGE_MOST ((uint64_t)8 << 20)

static uint64_t choose_page_bytes(uint64_t limit)
{
    uint64_t size = OS_PAGE;
    while (size < PAGE_MOST && size * 2 <= limit / PAGES_OF_LIMIT)
        size *= 2;
    return size;
}

/* Divides the limit into buffers and room for pages. Only devices with memory of their own need
 * buffers. */
static int choose_sizes(kmm__spill_t *p, uint64_t limit)
{
    const kmm_runtime_t *rt = p->runtime;
    const kmm__backend_t *first = NULL;
    uint64_t least = LEAST_PAGES * OS_PAGE, buffers = 0;
    p->page_bytes = choose_page_bytes(limit);
    for (uint32_t k = 0; k < rt->device_count; k++) {
        const kmm__device_t *d = rt->device[k];
        if (d->space == KMM__HOST)
            continue;
        p->crosses |= first && first != d->backend;
        first = d->backend;
        buffers = KMM__SPILL_BUFFERS * p->page_bytes;
        least =
            least > LEAST_PAGES * d->info.granularity ? least : LEAST_PAGES * d->info.granularity;
    }
    if (limit < least + buffers)
        return kmm__error_set(KMM_E_INVALID,
                              "KMM_HOST_MEM: %llu bytes are too few; %llu is the least",
                              (unsigned long long)limit, (unsigned long long)(least + buffers));
    p->limit = limit - buffers;
    if (!buffers)
        return 0;
    if (kmm_host_resource_create(&p->host) ||
        kmm_resource_allocate(p->host, buffers, OS_PAGE, NULL, &p->buffer_memory))
        return kmm__error_set(KMM_E_MEMORY, "no host memory for buffers of %llu bytes",
                              (unsigned long long)buffers);
    for (uint32_t k = 0; k < KMM__SPILL_BUFFERS; k++)
        p->buffers[k].memory = (char *)p->buffer_memory + k * p->page_bytes;
    return 0;
}

int kmm__spill_start(kmm_runtime_t *rt, uint64_t limit, const char *folder)
{
    kmm__spill_t *p = kmm__alloc(sizeof(*p));
    p->runtime = rt;
    p->urgent_end = &p->urgent;
    p->queue_end = &p->queue;
    pthread_cond_init(&p->changed, NULL);
    rt->memory->spill = p;
    int error = choose_sizes(p, limit);
    if (!error)
        error = kmm__disk_open(&p->disk, folder, getenv("KMM_SPILL_IO"));
    return error ? error : kmm__disk_thread_start(p);
}

void kmm__spill_stop(kmm_runtime_t *rt)
{
    kmm__spill_t *p = rt->memory->spill;
    if (!p)
        return;
    kmm__disk_thread_stop(p);
    for (uint32_t k = 0; k < KMM__SPILL_BUFFERS; k++)
        if (p->buffers[k].locked_by)
            p->buffers[k].locked_by->host_unregister(p->buffers[k].locked_by, p->buffers[k].memory);
    if (p->buffer_memory)
        kmm_resource_deallocate(p->host, p->buffer_memory, KMM_SIZE_RECORDED, NULL);
    kmm_resource_destroy(p->host);
    if (p->disk)
        kmm__disk_close(p->disk);
    pthread_cond_destroy(&p->changed);
    free(p->free_slots);
    free(p);
    rt->memory->spill = NULL;
}

void kmm__spill_stats(kmm_runtime_t *rt, kmm__spill_stats_t *out)
{
    const kmm__spill_t *p = rt->memory->spill;
    *out = (kmm__spill_stats_t){0};
    if (!p)
        return;
    *out = p->stats;
    out->limit = p->limit;
    out->resident = p->resident;
    out->page_bytes = p->page_bytes;
    out->file_bytes = (uint64_t)(p->slot_count - p->free_count) * p->page_bytes;
    out->async = kmm__disk_is_async(p->disk);
    out->direct = kmm__disk_is_direct(p->disk);
}
