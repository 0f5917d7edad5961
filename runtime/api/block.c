/* SPDX-License-Identifier: Apache-2.0 */
/* Open blocks of `data` directives, and jumps out of them. */
#include "api/block.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "execute/exact_host.h"
#include "launch/maps.h"

/* glibc's function that calls f(arg) when the thread ends, or when it calls exit: before all
 * functions that atexit has registered. NULL: the C library lacks it. */
extern int __cxa_thread_atexit_impl(void (*f)(void *arg), void *arg, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

typedef struct block block_t;
typedef struct mark mark_t;

/* What a thread has of blocks. */
typedef struct owner {
    block_t *last;       /* the block that it has entered last */
    uintptr_t low, high; /* its stack; fibers have others */
    bool is_watched;     /* its end is watched */
    uint64_t entered;    /* blocks so far */
    mark_t *marks;       /* the setjmps so far, one for each buffer */
    uint32_t mark_count, mark_capacity;
} owner_t;

struct block {
    block_t *before;   /* of the same thread */
    block_t *next;     /* of all threads */
    kmm_runtime_t *rt; /* NULL: its map has ended, or its runtime */
    void *base;
    uintptr_t frame;
    uint64_t number; /* of the thread's blocks */
    const char *file;
    int line;
};

/* A setjmp. */
struct mark {
    const void *buffer;
    uint64_t entered; /* blocks of the thread at that time */
};

atomic_uint kmm__blocks_open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and rt of each block */
static block_t *all;
static _Thread_local owner_t own;

/* ---- The list ---- */

static void block_free(block_t *b)
{
    pthread_mutex_lock(&lock);
    block_t **at = &all;
    while (*at && *at != b)
        at = &(*at)->next;
    if (*at)
        *at = b->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&kmm__blocks_open, 1);
    free(b);
}

/* The block's runtime, of which it is no block any more. NULL: its map has ended. */
static kmm_runtime_t *block_take(block_t *b)
{
    pthread_mutex_lock(&lock);
    kmm_runtime_t *rt = b->rt;
    b->rt = NULL;
    pthread_mutex_unlock(&lock);
    return rt;
}

/* Ends the block's map. Returns 0 or an error, whose text is set. */
static int block_end(block_t *b)
{
    kmm_runtime_t *rt = block_take(b);
    if (!rt)
        return 0;
    int touched = kmm__exact_host_leave(b->base), ended = kmm__maps_end(rt, &b->base, 1);
    return touched ? touched : ended;
}

static block_t *pop(void)
{
    block_t *b = own.last;
    own.last = b->before;
    return b;
}

/* ---- The end of a thread, and exit ---- */

static bool is_left(const block_t *b, const void *frame)
{
    uintptr_t now = (uintptr_t)frame;
    return own.low <= b->frame && b->frame < now && now < own.high;
}

static void say(const block_t *b, const char *text)
{
    kmm__log(KMM__LOG_ERROR, "%s:%d: %s", b->file, b->line, text);
    kmm__exit_unasked();
}

/* This thread ends, or calls exit, perhaps inside of its blocks. */
static void thread_ends(void *arg)
{
    (void)arg;
    while (own.last) {
        block_t *b = pop();
        bool left = is_left(b, __builtin_frame_address(0));
        if (block_end(b))
            say(b, kmm__error_get());
        else if (left)
            say(b, "the block of `data` was left by a jump, or its thread ended inside of it; its "
                   "arrays have come back only now");
        block_free(b);
    }
    free(own.marks);
    own = (owner_t){0};
}

/* A copy of some block of rt, which is none of it from now on. */
static bool take_one(const kmm_runtime_t *rt, block_t *out)
{
    pthread_mutex_lock(&lock);
    block_t *b = all;
    while (b && b->rt != rt)
        b = b->next;
    if (b) {
        *out = *b;
        b->rt = NULL;
    }
    pthread_mutex_unlock(&lock);
    return b != NULL;
}

void kmm__blocks_exit(const kmm_runtime_t *rt, bool can_end)
{
    block_t b;
    while (take_one(rt, &b)) {
        if (!can_end)
            kmm__log(KMM__LOG_WARNING,
                     "%s:%d: the block of `data` has not ended, because a chunk or a task called "
                     "exit; its arrays are not written back",
                     b.file, b.line);
        else if (kmm__maps_end(b.rt, &b.base, 1))
            say(&b, kmm__error_get());
    }
}

void kmm__blocks_forget(const kmm_runtime_t *rt)
{
    if (!rt) /* a forked process, whose other threads may have held it */
        lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    for (block_t *b = all; b; b = b->next)
        b->rt = rt && b->rt != rt ? b->rt : NULL;
    pthread_mutex_unlock(&lock);
    if (rt)
        return;
    all = own.last = NULL;
    atomic_store(&kmm__blocks_open, 0);
}

/* ---- Entering and leaving ---- */

static void watch_thread(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    own.is_watched = true;
    if (__cxa_thread_atexit_impl)
        __cxa_thread_atexit_impl(thread_ends, NULL, &__dso_handle);
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        own.low = (uintptr_t)low;
        own.high = own.low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

void kmm__block_enter(kmm_runtime_t *rt, void *base, const void *frame, const char *file, int line)
{
    block_t *b = kmm__alloc(sizeof(*b));
    if (!own.is_watched)
        watch_thread();
    *b = (block_t){own.last, NULL, rt, base, (uintptr_t)frame, ++own.entered, file, line};
    own.last = b;
    atomic_fetch_add(&kmm__blocks_open, 1);
    pthread_mutex_lock(&lock);
    b->next = all;
    all = b;
    pthread_mutex_unlock(&lock);
}

bool kmm__block_leave(const void *base)
{
    block_t **at = &own.last;
    while (*at && (*at)->base != base)
        at = &(*at)->before;
    block_t *b = *at;
    if (!b)
        return true;
    *at = b->before;
    bool lasts = block_take(b) != NULL;
    block_free(b);
    return lasts;
}

void kmm__blocks_find_left(const void *frame)
{
    while (own.last && is_left(own.last, frame)) {
        block_t *b = pop();
        const char *file = b->file;
        int line = b->line, error = block_end(b);
        block_free(b);
        kmm_directive_check(
            error
                ? error
                : kmm__error_set(KMM_E_STATE, "the block of `data` was left by a jump; its arrays "
                                              "have come back only now"),
            file, line);
    }
}

/* ---- Jumps that kmmcc has compiled ---- */

/* The thread's mark of the buffer; NULL: none. The newest are the last. */
static mark_t *mark_of(const void *buffer)
{
    for (uint32_t k = own.mark_count; k > 0; k--)
        if (own.marks[k - 1].buffer == buffer)
            return &own.marks[k - 1];
    return NULL;
}

/* Drops the older half, if there are many: buffers in memory that the program has freed. */
static void marks_trim(void)
{
    enum { MOST = 256 };
    if (own.mark_count < MOST)
        return;
    own.mark_count = MOST / 2;
    memmove(own.marks, own.marks + MOST / 2, own.mark_count * sizeof(*own.marks));
}

KMM__API void kmm_jump_mark(const void *buffer)
{
    mark_t *m = mark_of(buffer);
    if (!own.is_watched)
        watch_thread();
    if (!m) {
        marks_trim();
        own.marks = kmm__grow(own.marks, own.mark_count, &own.mark_capacity, sizeof(*own.marks));
        m = &own.marks[own.mark_count++];
    }
    *m = (mark_t){buffer, own.entered};
}

KMM__API int kmm_jump_arrived(int value, const void *buffer)
{
    const mark_t *m = value ? mark_of(buffer) : NULL;
    while (m && own.last && own.last->number > m->entered) {
        block_t *b = pop();
        const char *file = b->file;
        int line = b->line, error = block_end(b);
        block_free(b);
        kmm_directive_check(error, file, line);
    }
    return value;
}
