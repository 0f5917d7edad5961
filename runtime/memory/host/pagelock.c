/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-locking of host buffers, in blocks, when they are first copied. Then copies run at the
 * link's speed, and beside each other.
 *
 * Locking a block takes as long as copying it twice. So while a block is copied, other threads lock
 * the next ones. Two threads are as fast as any number.
 *
 * Memory of the program that is mapped for a while is unlocked at the end of its map. So the first
 * copies of its blocks go through staging buffers (stage.c), if that costs less on this machine
 * (costs.c). Only blocks that are copied repeatedly are locked. Memory for which the bound
 * (locked.c) leaves no room goes through staging buffers, too.
 */
#include "memory/host/pagelock.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/spin.h"
#include "base/thread.h"
#include "base/trace.h"
#include "memory/host/locked.h"
#include "memory/host/numa.h"
#include "memory/host/stage_choice.h"

enum { BLOCK_BYTES = 64 << 20, PAGE = 4096, LOCKERS = 2, NEXT_BLOCKS = 4 };

typedef struct request {
    kmm__array_t *array;
    kmm__device_t *device;
    uint32_t block;
    struct request *next;
} request_t;

struct kmm__pagelockers {
    pthread_mutex_t lock; /* taken while an array's block_lock is held */
    pthread_cond_t wake, idle;
    uint32_t busy; /* threads that lock a block now */
    request_t *first, **end;
    bool stopping;
    uint32_t count;
    pthread_t threads[LOCKERS];
};

/* With a limit of host memory a block is a page, because a page is unlocked before its memory is
 * released. */
static uint64_t block_bytes(const kmm__array_t *a)
{
    return a->pages ? a->page_bytes : BLOCK_BYTES;
}

/* Bytes from the begin of the buffer's first OS page to the buffer. Blocks end where OS pages do,
 * because drivers lock no OS page twice. */
static uint64_t lead(const kmm__array_t *a)
{
    return (uintptr_t)a->host % PAGE;
}

int64_t kmm__pagelock_room(const kmm__array_t *a, int64_t offset)
{
    uint64_t size = block_bytes(a);
    return (int64_t)(size - ((uint64_t)offset + lead(a)) % size);
}

/* The offset of block k in the buffer. */
static uint64_t block_begin(const kmm__array_t *a, uint32_t k)
{
    return k ? k * a->block_bytes - lead(a) : 0;
}

static uint64_t block_size(const kmm__array_t *a, uint32_t k)
{
    uint64_t end = block_begin(a, k + 1);
    return (end < a->bytes ? end : a->bytes) - block_begin(a, k);
}

/* Bytes that block k counts against the bound when it is locked. */
static uint64_t lockable(const kmm__array_t *a, uint32_t k)
{
    uint64_t bytes = block_size(a, k);
    return bytes >= KMM__LOCK_AT_LEAST ? bytes : 0;
}

/* ---- States of a block; with the array's block_lock held ---- */

static void block_begin_locking(kmm__array_t *a, uint32_t k)
{
    assert(a->blocks[k].state == KMM__BLOCK_NEW && !a->blocks[k].locked_by);
    a->blocks[k].state = KMM__BLOCK_LOCKING;
}

/* LOCKING -> READY. locked_by NULL: the driver refused. */
static void block_locked(kmm__array_t *a, uint32_t k, kmm__backend_t *locked_by)
{
    assert(a->blocks[k].state == KMM__BLOCK_LOCKING);
    a->blocks[k] = (kmm__host_block_t){.state = KMM__BLOCK_READY, .locked_by = locked_by};
    pthread_cond_broadcast(&a->block_ready);
}

/* NEW -> READY: the program has locked it. */
static void block_needs_no_lock(kmm__array_t *a, uint32_t k)
{
    assert(a->blocks[k].state == KMM__BLOCK_NEW);
    a->blocks[k].state = KMM__BLOCK_READY;
}

/* READY -> NEW: nothing of it is locked any more. */
static void block_reset(kmm__array_t *a, uint32_t k)
{
    assert(a->blocks[k].state != KMM__BLOCK_LOCKING);
    a->blocks[k] = (kmm__host_block_t){.state = KMM__BLOCK_NEW};
}

/* Locks block k for copies of this device. The caller has marked it LOCKING and taken room for it,
 * and does not hold the block_lock. */
static void block_lock(kmm__array_t *a, kmm__device_t *d, uint32_t k)
{
    kmm__backend_t *backend = d->backend;
    uint64_t bytes = lockable(a, k), begin = kmm__now();
    if (!a->is_mapped)
        kmm__numa_bind(d, a->host + block_begin(a, k), bytes);
    bool locked =
        bytes > 0 && backend->host_register(backend, a->host + block_begin(a, k), bytes) == 0;
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "page-lock", .a = begin, .b = bytes);
    if (!locked)
        kmm__pagelock_unreserve(a->runtime, bytes);
    pthread_mutex_lock(&a->block_lock);
    block_locked(a, k, locked ? backend : NULL);
    pthread_mutex_unlock(&a->block_lock);
}

/* ---- Threads ---- */

static void *lock_main(void *arg)
{
    struct kmm__pagelockers *p = arg;
    KMM__TRACE(.kind = KMM__EVENT_THREAD, .text = "page-locks");
    pthread_mutex_lock(&p->lock);
    for (;;) {
        request_t *r = p->first;
        if (!r && p->stopping)
            break;
        if (!r) {
            kmm__cond_wait(&p->wake, &p->lock);
            continue;
        }
        p->first = r->next;
        if (!p->first)
            p->end = &p->first;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        block_lock(r->array, r->device, r->block); /* the array may be freed after this */
        free(r);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0 && !p->first)
            pthread_cond_broadcast(&p->idle);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void kmm__pagelock_start(kmm_runtime_t *rt)
{
    struct kmm__pagelockers *p = rt->memory->pagelockers = kmm__alloc(sizeof(*p));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->end = &p->first;
}

void kmm__pagelock_settle(kmm_runtime_t *rt)
{
    struct kmm__pagelockers *p = rt->memory->pagelockers;
    pthread_mutex_lock(&p->lock);
    while (p->first || p->busy)
        kmm__cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void kmm__pagelock_stop(kmm_runtime_t *rt)
{
    struct kmm__pagelockers *p = rt->memory->pagelockers;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t k = 0; k < p->count; k++)
        pthread_join(p->threads[k], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    free(p);
    rt->memory->pagelockers = NULL;
}

/* Makes the threads at the first request. False: there are none. */
static bool threads_ensure(struct kmm__pagelockers *p)
{
    while (p->count < LOCKERS && kmm__thread_create(&p->threads[p->count], lock_main, p) == 0)
        p->count++;
    return p->count > 0;
}

/* Queues a block to be locked, if there are threads and room for it. With the array's block_lock.
 */
static void request_block(kmm__array_t *a, kmm__device_t *d, uint32_t k)
{
    struct kmm__pagelockers *p = a->runtime->memory->pagelockers;
    pthread_mutex_lock(&p->lock);
    if (threads_ensure(p) && kmm__pagelock_reserve(a->runtime, lockable(a, k))) {
        request_t *r = kmm__alloc(sizeof(*r));
        *r = (request_t){a, d, k, NULL};
        block_begin_locking(a, k);
        *p->end = r;
        p->end = &r->next;
        pthread_cond_signal(&p->wake);
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- Blocks ---- */

/* True if so much of block k was copied through staging buffers that locking it is likely to pay.
 */
static bool is_worth_locking(const kmm__array_t *a, kmm__device_t *d, uint32_t k)
{
    return !a->is_mapped || !kmm__stage_works(d) ||
           (double)a->blocks[k].staged >= kmm__stage_times(d, a->bytes) * (double)block_size(a, k);
}

/* Queues the next blocks to be locked, unless the array has pages. With the block_lock. */
static void request_next(kmm__array_t *a, kmm__device_t *d, uint32_t k)
{
    for (uint32_t j = k + 1; !a->pages && j <= k + NEXT_BLOCKS && j < a->block_count; j++)
        if (a->blocks[j].state == KMM__BLOCK_NEW && is_worth_locking(a, d, j))
            request_block(a, d, j);
}

/* True if the driver refuses to lock block k, as it does if the program has locked it. */
static bool is_refused(const kmm__array_t *a, kmm__backend_t *backend, uint32_t k)
{
    char *begin = a->host + block_begin(a, k);
    uint64_t bytes = block_size(a, k);
    int error = backend->host_register(backend, begin, bytes < PAGE ? bytes : PAGE);
    if (!error)
        backend->host_unregister(backend, begin);
    return error != 0;
}

typedef enum way { LOCK, STAGE, PLAIN } way_t;

/* Chooses how `bytes` bytes of block k, which is NEW, are copied. LOCK: room has been taken. With
 * the block_lock. */
static way_t choose(kmm__array_t *a, kmm__device_t *d, uint32_t k, int64_t bytes)
{
    kmm__host_block_t *b = &a->blocks[k];
    bool worth = is_worth_locking(a, d, k);
    if (worth && kmm__pagelock_reserve(a->runtime, lockable(a, k)))
        return LOCK;
    if (worth && (a->pages || !kmm__stage_works(d)))
        return PLAIN;
    if (a->is_mapped && b->staged == 0 && is_refused(a, d->backend, k)) {
        block_needs_no_lock(a, k);
        return PLAIN;
    }
    b->staged += (uint64_t)bytes;
    return STAGE;
}

static void blocks_make(kmm__array_t *a)
{
    if (a->blocks)
        return;
    a->block_bytes = block_bytes(a);
    a->block_count = (uint32_t)((a->bytes + lead(a) + a->block_bytes - 1) / a->block_bytes);
    a->blocks = kmm__alloc(a->block_count * sizeof(*a->blocks));
}

bool kmm__pagelock(kmm__array_t *a, kmm__device_t *d, int64_t offset, int64_t bytes)
{
    pthread_mutex_lock(&a->block_lock);
    blocks_make(a);
    uint32_t k = (uint32_t)(((uint64_t)offset + lead(a)) / a->block_bytes);
    bool is_new = a->blocks[k].state == KMM__BLOCK_NEW;
    way_t way = is_new ? choose(a, d, k, bytes) : PLAIN;
    if (way == LOCK)
        block_begin_locking(a, k);
    if (way == LOCK || !is_new)
        request_next(a, d, k);
    while (!is_new && a->blocks[k].state == KMM__BLOCK_LOCKING)
        kmm__cond_wait(&a->block_ready, &a->block_lock);
    pthread_mutex_unlock(&a->block_lock);
    if (way == LOCK)
        block_lock(a, d, k);
    return way != STAGE;
}

void kmm__pagelock_await(kmm__array_t *a)
{
    pthread_mutex_lock(&a->block_lock);
    for (uint32_t k = 0; k < a->block_count; k++)
        while (a->blocks[k].state == KMM__BLOCK_LOCKING)
            kmm__cond_wait(&a->block_ready, &a->block_lock);
    pthread_mutex_unlock(&a->block_lock);
}

void kmm__pageunlock(kmm__array_t *a, uint32_t k)
{
    pthread_mutex_lock(&a->block_lock);
    while (a->blocks && a->blocks[k].state == KMM__BLOCK_LOCKING)
        kmm__cond_wait(&a->block_ready, &a->block_lock);
    kmm__backend_t *backend = a->blocks ? a->blocks[k].locked_by : NULL;
    if (backend) {
        backend->host_unregister(backend, a->host + block_begin(a, k));
        kmm__pagelock_unreserve(a->runtime, block_size(a, k));
    }
    if (a->blocks)
        block_reset(a, k);
    pthread_mutex_unlock(&a->block_lock);
}

void kmm__pageunlock_all(kmm__array_t *a)
{
    for (uint32_t k = 0; k < a->block_count; k++)
        kmm__pageunlock(a, k);
    free(a->blocks);
    a->blocks = NULL;
    a->block_count = 0;
}

uint64_t kmm__pagelock_locked_bytes(const kmm__array_t *a)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < a->block_count; k++)
        sum += a->blocks[k].locked_by ? block_size(a, k) : 0;
    return sum;
}
