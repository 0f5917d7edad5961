/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a thread block as fibers. Each CPU thread has fibers of its own and shares none.
 *
 * A fiber is in one of five states: ready, waiting at the block's barrier, waiting in its warp,
 * waiting at __activemask to see which other lanes come, or returned. The last fiber that arrives
 * makes the waiting ones ready and gives them the result. So none of them can be overtaken by the
 * next use of the same barrier.
 */
#include <kmm/fiber.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/host/switch.h"
#include "base/api.h"
#include "base/log.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

enum {
    STACK_BYTES = 256 * 1024
}; /* bytes of each fiber's stack; pages that are not touched take no memory */

typedef enum state { READY, AT_BARRIER, IN_WARP, GATHERING, RETURNED } state_t;

typedef struct fiber {
    kmm__context_t context;
    char *stack; /* begins above the guard page */
    state_t state;
    bool started;
    bool yielded;     /* READY: it waits for other fibers in a loop */
    const void *site; /* GATHERING: the address of the call */
    uint32_t turn;    /* a permutation: fibers[i].turn is the fiber that runs i-th */
    uint32_t mask;    /* IN_WARP */
    uint64_t value;   /* IN_WARP */
    uint64_t *values; /* IN_WARP: receives the values of all lanes; on the fiber's stack */
    uint32_t active;
    void *shadow; /* state of the sanitizer */
} fiber_t;

typedef struct worker {
    fiber_t *fibers; /* `capacity` of them, each with a stack */
    uint32_t capacity;
    const kmm_fiber_block_t *block; /* the block that runs; NULL: none */
    uint32_t current, live;
    uint32_t gathering;           /* fibers that are GATHERING */
    uint32_t arrived, predicates; /* fibers at the barrier; those of them with a true predicate */
    uint64_t *random;             /* state of random turns; NULL: fibers run in order */
    int any, all, count;          /* the last barrier's result */
    kmm__context_t scheduler;
    void *shadow;
    const void *scheduler_stack;
    size_t scheduler_bytes;
} worker_t;

static _Thread_local worker_t *this_worker;
static pthread_key_t worker_key;
static pthread_once_t worker_once = PTHREAD_ONCE_INIT;

static __attribute__((noreturn)) void die(const char *text)
{
    kmm__log(KMM__LOG_ERROR, "%s", text);
    abort();
}

/* ---- Stacks ---- */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void worker_destroy(void *pointer)
{
    worker_t *w = pointer;
    for (uint32_t k = 0; k < w->capacity; k++) {
#if defined(__SANITIZE_THREAD__)
        __tsan_destroy_fiber(w->fibers[k].shadow);
#endif
        munmap(w->fibers[k].stack - page_bytes(), STACK_BYTES + page_bytes());
    }
    free(w->fibers);
    free(w);
    this_worker = NULL;
}

static void make_key(void)
{
    if (pthread_key_create(&worker_key, worker_destroy))
        die("cannot run a kernel with barriers: no more thread-specific keys");
}

static worker_t *worker_get(void)
{
    if (this_worker)
        return this_worker;
    pthread_once(&worker_once, make_key);
    this_worker = calloc(1, sizeof(*this_worker));
    if (!this_worker || pthread_setspecific(worker_key, this_worker))
        die("cannot run a kernel with barriers: out of memory");
    return this_worker;
}

static char *stack_create(void)
{
    size_t page = page_bytes();
    char *base = mmap(NULL, STACK_BYTES + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED || mprotect(base, page, PROT_NONE))
        die("cannot run a kernel with barriers: no memory for the threads' stacks");
    return base + page;
}

static void worker_grow(worker_t *w, uint32_t count)
{
    if (count <= w->capacity)
        return;
    fiber_t *fibers = realloc(w->fibers, count * sizeof(*fibers));
    if (!fibers)
        die("cannot run a kernel with barriers: out of memory");
    w->fibers = fibers;
    for (; w->capacity < count; w->capacity++) {
        fibers[w->capacity] = (fiber_t){.stack = stack_create()};
#if defined(__SANITIZE_THREAD__)
        fibers[w->capacity].shadow = __tsan_create_fiber(0);
#endif
    }
}

/* ---- Switching ---- */

static void to_fiber(worker_t *w, fiber_t *f)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&w->shadow, f->stack, STACK_BYTES);
#elif defined(__SANITIZE_THREAD__)
    w->shadow = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->shadow, 0);
#endif
    kmm__context_switch(&w->scheduler, &f->context);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(w->shadow, NULL, NULL);
#endif
}

static void to_scheduler(worker_t *w, fiber_t *f)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(f->state == RETURNED ? NULL : &f->shadow, w->scheduler_stack,
                                   w->scheduler_bytes);
#elif defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(w->shadow, 0);
#endif
    kmm__context_switch(&f->context, &w->scheduler);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(f->shadow, &w->scheduler_stack, &w->scheduler_bytes);
#endif
}

static void release_waiting(worker_t *w, uint32_t warp);

static void fiber_main(void)
{
    worker_t *w = this_worker;
    uint32_t number = w->current;
    fiber_t *f = &w->fibers[number];
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(NULL, &w->scheduler_stack, &w->scheduler_bytes);
#endif
    w->block->thread(w->block->context, number);
    f->state = RETURNED;
    w->live--;
    release_waiting(w, number / KMM_FIBER_WARP); /* others may have waited for this one */
    to_scheduler(w, f);
    abort(); /* not reached: a fiber that has returned is not run again */
}

/* ---- Release ---- */

/* Releases the fibers at the barrier if all that live are there. Called after one has arrived or
 * returned. Only the last to arrive looks at the others. */
static void release_barrier(worker_t *w)
{
    if (w->arrived == 0 || w->arrived < w->live)
        return;
    w->count = (int)w->predicates;
    w->any = w->predicates > 0;
    w->all = w->predicates == w->arrived;
    w->arrived = w->predicates = 0;
    for (uint32_t k = 0; k < w->block->thread_count; k++)
        if (w->fibers[k].state == AT_BARRIER)
            w->fibers[k].state = READY;
}

/* Returns the lanes (bits) that wait with this mask if all living lanes of the mask do; otherwise
 * 0. */
static uint32_t complete_lanes(const fiber_t *lanes, uint32_t lane_count, uint32_t mask)
{
    uint32_t active = 0;
    for (uint32_t k = 0; k < lane_count; k++) {
        if (!(mask >> k & 1) || lanes[k].state == RETURNED)
            continue;
        if (lanes[k].state != IN_WARP || lanes[k].mask != mask)
            return 0;
        active |= 1u << k;
    }
    return active;
}

static void release_lanes(fiber_t *lanes, uint32_t active)
{
    if (!active)
        return;
    for (uint32_t to = 0; to < KMM_FIBER_WARP; to++) {
        if (!(active >> to & 1))
            continue;
        for (uint32_t from = 0; from < KMM_FIBER_WARP; from++)
            lanes[to].values[from] = active >> from & 1 ? lanes[from].value : 0;
        lanes[to].active = active;
    }
    for (uint32_t k = 0; k < KMM_FIBER_WARP; k++)
        if (active >> k & 1)
            lanes[k].state = READY;
}

static uint32_t lane_count(const worker_t *w, uint32_t warp)
{
    const uint32_t left = w->block->thread_count - warp * KMM_FIBER_WARP;
    return left < KMM_FIBER_WARP ? left : KMM_FIBER_WARP;
}

/* Releases the lanes of a mask if all have arrived. Called after one has: only lanes with the same
 * mask can have waited for it. */
static void release_mask(worker_t *w, uint32_t warp, uint32_t mask)
{
    fiber_t *lanes = w->fibers + warp * KMM_FIBER_WARP;
    release_lanes(lanes, complete_lanes(lanes, lane_count(w, warp), mask));
}

/* Releases lanes that waited for one that has returned. */
static void release_warp(worker_t *w, uint32_t warp)
{
    const fiber_t *lanes = w->fibers + warp * KMM_FIBER_WARP;
    for (uint32_t k = 0, count = lane_count(w, warp); k < count; k++)
        if (lanes[k].state == IN_WARP)
            release_mask(w, warp, lanes[k].mask);
}

static void release_waiting(worker_t *w, uint32_t warp)
{
    release_warp(w, warp);
    release_barrier(w);
}

/* Releases the lanes of a warp that are at calls of __activemask, if no other lane of the warp can
 * run on. Lanes at the same call are active together. True: some were released. */
static bool release_gathered(worker_t *w, uint32_t first)
{
    fiber_t *lanes = w->fibers + first;
    uint32_t left = w->block->thread_count - first,
             count = left < KMM_FIBER_WARP ? left : KMM_FIBER_WARP;
    bool any = false;
    for (uint32_t k = 0; k < count; k++)
        if (lanes[k].state == READY && !lanes[k].yielded)
            return false;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t here = 0;
        for (uint32_t i = k; lanes[k].state == GATHERING && i < count; i++)
            here |= lanes[i].state == GATHERING && lanes[i].site == lanes[k].site ? 1u << i : 0;
        for (uint32_t i = k; i < count; i++)
            if (here >> i & 1) {
                lanes[i].state = READY;
                lanes[i].yielded = false;
                lanes[i].active = here;
                w->gathering--;
                any = true;
            }
    }
    return any;
}

static void report_deadlock(const worker_t *w)
{
    const kmm_fiber_block_t *b = w->block;
    uint32_t barrier = 0, warp = 0;
    for (uint32_t k = 0; k < b->thread_count; k++) {
        barrier += w->fibers[k].state == AT_BARRIER;
        warp += w->fibers[k].state == IN_WARP;
    }
    kmm__log(KMM__LOG_ERROR,
             "kernel %s, block (%u, %u, %u) hangs: %u threads wait at __syncthreads, %u in warp "
             "operations for threads of their mask that never come, %u have returned",
             b->kernel, b->index[0], b->index[1], b->index[2], barrier, warp,
             b->thread_count - w->live);
    abort();
}

/* ---- The block ---- */

/* Shuffles the turns (Fisher and Yates, with xorshift): each permutation is as likely as another.
 */
static void shuffle(worker_t *w)
{
    uint64_t x = *w->random;
    for (uint32_t k = 1; k < w->block->thread_count; k++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint32_t other = (uint32_t)(x >> 33) % (k + 1), turn = w->fibers[k].turn;
        w->fibers[k].turn = w->fibers[other].turn;
        w->fibers[other].turn = turn;
    }
    *w->random = x;
}

/* Bytes between a stack's end and its first frame. They differ from fiber to fiber, because stack
 * tops at the same offset of a page would compete for a few lines of the processor's cache. */
static size_t colour(uint32_t k)
{
    enum { STEP = 576, ROOM = 4032 };
    return k * STEP % ROOM / 64 * 64;
}

static bool run_ready(worker_t *w)
{
    bool ran = false;
    if (w->random)
        shuffle(w);
    for (uint32_t i = 0; i < w->block->thread_count; i++) {
        uint32_t k = w->fibers[i].turn;
        fiber_t *f = &w->fibers[k];
        if (f->state != READY)
            continue;
        ran = true;
        f->yielded = false;
        w->current = k;
        if (w->block->resume)
            w->block->resume(w->block->context, k);
        if (!f->started)
            kmm__context_init(&f->context, f->stack, STACK_BYTES - colour(k), fiber_main);
        f->started = true;
        to_fiber(w, f);
    }
    return ran;
}

KMM__API void kmm_fiber_run(const kmm_fiber_block_t *block)
{
    kmm_fiber_run_random(block, NULL);
}

KMM__API void kmm_fiber_run_random(const kmm_fiber_block_t *block, uint64_t *state)
{
    worker_t *w = worker_get();
    if (w->block)
        die("a kernel's thread cannot run another block");
    worker_grow(w, block->thread_count);
    w->block = block;
    w->live = block->thread_count;
    w->random = state;
    w->gathering = w->arrived = w->predicates = 0;
    for (uint32_t k = 0; k < block->thread_count; k++) {
        w->fibers[k].state = READY;
        w->fibers[k].started = w->fibers[k].yielded = false;
        w->fibers[k].turn = k;
    }
    while (w->live) {
        bool ran = run_ready(w);
        for (uint32_t k = 0; w->gathering && k < block->thread_count; k += KMM_FIBER_WARP)
            ran |= release_gathered(w, k);
        if (!ran)
            report_deadlock(w);
    }
    w->block = NULL;
}

static worker_t *running(const char *what)
{
    worker_t *w = this_worker;
    if (w && w->block)
        return w;
    kmm__log(KMM__LOG_ERROR,
             "%s outside a kernel, or in a kernel that calls it where kmmcc cannot see it (a "
             "function of another file)",
             what);
    abort();
}

KMM__API int kmm_fiber_barrier(int predicate, int *any, int *all)
{
    worker_t *w = running("__syncthreads");
    fiber_t *f = &w->fibers[w->current];
    f->state = AT_BARRIER;
    w->arrived++;
    w->predicates += predicate != 0;
    release_barrier(w);
    /* The result stays until all have read it: the next barrier is complete only when this fiber
     * has gone on. */
    to_scheduler(w, f);
    *any = w->any;
    *all = w->all;
    return w->count;
}

KMM__API uint32_t kmm_fiber_exchange(uint32_t mask, uint64_t value, uint64_t values[KMM_FIBER_WARP])
{
    worker_t *w = running("a warp operation");
    fiber_t *f = &w->fibers[w->current];
    if (!(mask >> (w->current % KMM_FIBER_WARP) & 1)) {
        kmm__log(KMM__LOG_ERROR,
                 "kernel %s: a thread calls a warp operation whose mask 0x%08x lacks its own "
                 "lane %u",
                 w->block->kernel, mask, w->current % KMM_FIBER_WARP);
        abort();
    }
    f->state = IN_WARP;
    f->mask = mask;
    f->value = value;
    f->values = values;
    release_mask(w, w->current / KMM_FIBER_WARP, mask);
    to_scheduler(w, f);
    return f->active;
}

KMM__API uint32_t kmm_fiber_lane(void)
{
    return this_worker && this_worker->block ? this_worker->current % KMM_FIBER_WARP : 0;
}

KMM__API uint32_t kmm_fiber_active(void)
{
    worker_t *w = running("__activemask");
    fiber_t *f = &w->fibers[w->current];
    f->state = GATHERING;
    f->site = __builtin_return_address(0);
    w->gathering++;
    to_scheduler(w, f);
    return f->active;
}

KMM__API void kmm_fiber_yield(void)
{
    worker_t *w = this_worker;
    if (!w || !w->block)
        return;
    w->fibers[w->current].yielded = true;
    to_scheduler(w, &w->fibers[w->current]);
}
