/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: the threads of a block that meet at barriers. One CPU thread runs a block at a time, fiber
 * by fiber; a fiber runs until it returns or has to wait. So no fiber ever runs beside another of
 * its block, and no lock is needed.
 */
#include <kmm/host/fiber.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api.h"

enum { STACK_BYTES = 128 << 10, GUARD_BYTES = 64 << 10, WARP = 32 };

typedef enum fiber_state { FIBER_RUNNABLE, FIBER_AT_BARRIER, FIBER_IN_WARP, FIBER_RETURNED } fiber_state_t;

typedef struct fiber {
    void *stack_pointer;
    fiber_state_t state;
} fiber_t;

/* Lanes of a warp that meet. It is open until all of the mask that are left have come; then each
 * takes the values, and the last frees it. */
typedef struct meeting {
    uint32_t mask, arrived, left; /* left: have come and not taken the values yet */
    bool complete;
    uint64_t values[WARP];
    struct meeting *next;
} meeting_t;

/* What a CPU thread keeps for kernels. */
typedef struct worker {
    unsigned capacity; /* fibers there are stacks for */
    char *stacks;
    fiber_t *fibers;
    meeting_t **meetings; /* of each warp */
    meeting_t *spare;
    void *shared;
    size_t shared_bytes;
    /* The block that runs: */
    void *scheduler; /* stack pointer of kmm_fiber_run */
    unsigned count, current, live, waiting;
    kmm_fiber_votes_t votes, result;
    void (*fn)(void *arg, unsigned index);
    void *arg;
    const char *kernel;
} worker_t;

static _Thread_local worker_t *self;
static pthread_key_t worker_key;
static pthread_once_t worker_once = PTHREAD_ONCE_INIT;

static _Noreturn void give_up(const char *text)
{
    fprintf(stderr, "kmm: error: kernel %s: %s\n", self && self->kernel ? self->kernel : "?", text);
    abort();
}

/* ---- Switching ---- */

/* Saves the registers that a call preserves on the stack, stores the stack pointer in *from, and
 * continues at `to`, the same way. */
void kmm__fiber_switch(void **from, void *to);

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl kmm__fiber_switch\n"
        ".hidden kmm__fiber_switch\n"
        ".type kmm__fiber_switch,@function\n"
        "kmm__fiber_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    subq $8, %rsp\n    stmxcsr (%rsp)\n    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n    fldcw 4(%rsp)\n    addq $8, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size kmm__fiber_switch,.-kmm__fiber_switch\n");

/* A stack from which a switch arrives at `entry` as if it had been called. */
static void *stack_prepare(char *top, void (*entry)(void))
{
    void **sp = (void **)(void *)top;
    uint32_t control[2];
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control[0]), "=m"(control[1]));
    *--sp = NULL; /* entry never returns; keeps the stack aligned as at a call */
    *--sp = (void *)entry;
    for (int k = 0; k < 6; k++)
        *--sp = NULL;
    *--sp = NULL;
    memcpy(sp, control, sizeof(control));
    return sp;
}
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl kmm__fiber_switch\n"
        ".hidden kmm__fiber_switch\n"
        ".type kmm__fiber_switch,%function\n"
        "kmm__fiber_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    mov x2, sp\n    str x2, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n    ret\n"
        ".size kmm__fiber_switch,.-kmm__fiber_switch\n");

static void *stack_prepare(char *top, void (*entry)(void))
{
    void **sp = (void **)(void *)(top - 160);
    memset(sp, 0, 160);
    sp[11] = (void *)entry; /* x30 */
    return sp;
}
#else
#error "fibers need a context switch for this processor: add one beside those of x86-64 and aarch64"
#endif

/* ---- Workers ---- */

static size_t stacks_bytes(unsigned count)
{
    return (size_t)count * (STACK_BYTES + GUARD_BYTES);
}

static void worker_free(void *p)
{
    worker_t *w = p;
    if (w->stacks)
        munmap(w->stacks, stacks_bytes(w->capacity));
    while (w->spare) {
        meeting_t *m = w->spare;
        w->spare = m->next;
        free(m);
    }
    free(w->fibers);
    free(w->meetings);
    free(w->shared);
    free(w);
}

static void worker_key_create(void)
{
    pthread_key_create(&worker_key, worker_free);
}

static worker_t *worker(void)
{
    if (self)
        return self;
    pthread_once(&worker_once, worker_key_create);
    self = calloc(1, sizeof(*self));
    if (!self)
        give_up("no host memory for its threads");
    pthread_setspecific(worker_key, self);
    return self;
}

static void worker_grow(worker_t *w, unsigned count)
{
    if (count <= w->capacity)
        return;
    if (w->stacks)
        munmap(w->stacks, stacks_bytes(w->capacity));
    w->stacks = mmap(NULL, stacks_bytes(count), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    free(w->fibers);
    free(w->meetings);
    w->fibers = calloc(count, sizeof(*w->fibers));
    w->meetings = calloc((count + WARP - 1) / WARP, sizeof(*w->meetings));
    w->capacity = count;
    bool ok = w->stacks != MAP_FAILED && w->fibers && w->meetings;
    for (unsigned k = 0; k < count && ok; k++)
        ok = mprotect(w->stacks + stacks_bytes(k) + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) == 0;
    if (!ok)
        give_up("no host memory for the stacks of its threads");
}

KMM__API void *kmm_host_shared_memory(size_t bytes)
{
    worker_t *w = worker();
    if (bytes > w->shared_bytes) {
        free(w->shared);
        w->shared_bytes = (bytes + 255) / 256 * 256;
        w->shared = aligned_alloc(256, w->shared_bytes);
        if (!w->shared)
            give_up("no host memory for its shared memory");
    }
    return w->shared;
}

/* ---- Running ---- */

static void meetings_check(worker_t *w, unsigned warp);
static void barrier_check(worker_t *w);

static void yield_to_scheduler(worker_t *w)
{
    kmm__fiber_switch(&w->fibers[w->current].stack_pointer, w->scheduler);
}

static void fiber_main(void)
{
    worker_t *w = self;
    unsigned index = w->current;
    w->fn(w->arg, index);
    w->fibers[index].state = FIBER_RETURNED;
    w->live--;
    barrier_check(w);
    meetings_check(w, index / WARP);
    kmm__fiber_switch(&w->fibers[index].stack_pointer, w->scheduler);
    give_up("a thread ran on after its end");
}

KMM__API void kmm_fiber_run(unsigned count, void (*fn)(void *arg, unsigned index), void *arg, const char *kernel)
{
    worker_t *w = worker();
    worker_grow(w, count);
    w->count = w->live = count;
    w->waiting = 0;
    w->votes = (kmm_fiber_votes_t){ 0, 1, 0 };
    w->fn = fn;
    w->arg = arg;
    w->kernel = kernel;
    for (unsigned k = 0; k < count; k++)
        w->fibers[k] = (fiber_t){ stack_prepare(w->stacks + stacks_bytes(k + 1), fiber_main), FIBER_RUNNABLE };
    while (w->live) {
        bool any = false;
        for (unsigned k = 0; k < count; k++) {
            if (w->fibers[k].state != FIBER_RUNNABLE)
                continue;
            any = true;
            w->current = k;
            kmm__fiber_switch(&w->scheduler, w->fibers[k].stack_pointer);
        }
        if (!any)
            give_up("some threads of a block wait at a barrier or for lanes of their warp that will never come");
    }
    w->count = 0;
}

static worker_t *running(void)
{
    if (!self || self->count == 0)
        give_up("a barrier or warp operation outside of a kernel that was compiled to have one");
    return self;
}

KMM__API unsigned kmm_fiber_index(void)
{
    return running()->current;
}

KMM__API uint32_t kmm_fiber_lanes(void)
{
    const worker_t *w = running();
    unsigned first = w->current / WARP * WARP;
    uint32_t lanes = 0;
    for (unsigned k = 0; k < WARP && first + k < w->count; k++)
        if (w->fibers[first + k].state != FIBER_RETURNED)
            lanes |= 1u << k;
    return lanes;
}

/* ---- The barrier ---- */

/* Lets all go on when all that are left have come. */
static void barrier_check(worker_t *w)
{
    if (w->waiting == 0 || w->waiting < w->live)
        return;
    w->result = w->votes;
    w->votes = (kmm_fiber_votes_t){ 0, 1, 0 };
    w->waiting = 0;
    for (unsigned k = 0; k < w->count; k++)
        if (w->fibers[k].state == FIBER_AT_BARRIER)
            w->fibers[k].state = FIBER_RUNNABLE;
}

KMM__API kmm_fiber_votes_t kmm_fiber_barrier(int predicate)
{
    worker_t *w = running();
    w->votes.count += predicate != 0;
    w->votes.all &= predicate != 0;
    w->votes.any |= predicate != 0;
    w->waiting++;
    w->fibers[w->current].state = FIBER_AT_BARRIER;
    barrier_check(w);
    yield_to_scheduler(w);
    return w->result; /* the next barrier cannot be complete before this fiber comes to it */
}

/* ---- Meetings of a warp ---- */

static uint32_t lanes_left(const worker_t *w, unsigned warp)
{
    uint32_t lanes = 0;
    for (unsigned k = 0; k < WARP && warp * WARP + k < w->count; k++)
        if (w->fibers[warp * WARP + k].state != FIBER_RETURNED)
            lanes |= 1u << k;
    return lanes;
}

static void meetings_check(worker_t *w, unsigned warp)
{
    for (meeting_t *m = w->meetings[warp]; m; m = m->next) {
        if (m->complete || (m->mask & lanes_left(w, warp)) & ~m->arrived)
            continue;
        m->complete = true;
        m->left = m->arrived;
        for (unsigned k = 0; k < WARP; k++)
            if (m->arrived >> k & 1)
                w->fibers[warp * WARP + k].state = FIBER_RUNNABLE;
    }
}

static meeting_t *meeting_join(worker_t *w, unsigned warp, uint32_t mask, unsigned lane)
{
    meeting_t *m = w->meetings[warp];
    while (m && (m->complete || m->mask != mask || m->arrived >> lane & 1))
        m = m->next;
    if (m)
        return m;
    m = w->spare;
    if (m)
        w->spare = m->next;
    else if (!(m = malloc(sizeof(*m))))
        give_up("no host memory for a warp's exchange");
    *m = (meeting_t){ .mask = mask, .next = w->meetings[warp] };
    w->meetings[warp] = m;
    return m;
}

static void meeting_leave(worker_t *w, unsigned warp, meeting_t *m, unsigned lane)
{
    m->left &= ~(1u << lane);
    if (m->left)
        return;
    meeting_t **at = &w->meetings[warp];
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    m->next = w->spare;
    w->spare = m;
}

KMM__API uint32_t kmm_fiber_exchange(uint32_t mask, uint64_t value, uint64_t values[32])
{
    worker_t *w = running();
    unsigned warp = w->current / WARP, lane = w->current % WARP;
    if (!(mask >> lane & 1))
        give_up("a warp operation whose mask leaves out the thread that calls it");
    meeting_t *m = meeting_join(w, warp, mask, lane);
    m->arrived |= 1u << lane;
    m->values[lane] = value;
    w->fibers[w->current].state = FIBER_IN_WARP;
    meetings_check(w, warp);
    if (w->fibers[w->current].state != FIBER_RUNNABLE)
        yield_to_scheduler(w);
    uint32_t met = m->arrived;
    memcpy(values, m->values, sizeof(m->values));
    meeting_leave(w, warp, m, lane);
    return met;
}
