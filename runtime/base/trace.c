/* SPDX-License-Identifier: Apache-2.0 */
/* Trace points: rings of events, and the tracer. */
#include "base/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/spin.h"
#include "base/thread.h"

enum {
    RING = 1 << 14,       /* events of a ring; a power of two */
    PERIOD_NS = 10000000, /* the tracer looks at the rings so often, or when one is half full */
    NAP_NS = 20000,       /* of a thread whose ring is full */
    LISTENERS = 4,
    BUCKETS = 1 << 10
};

/* A thread's events. Rings are never freed, and are used again when their thread has ended. */
typedef struct ring {
    _Atomic uint64_t head; /* events pushed so far; written by the thread */
    _Atomic uint64_t tail; /* events taken so far; written by the tracer */
    uint64_t free_until;   /* of the thread: the tail as it was last seen, plus RING */
    uint32_t thread;       /* its number */
    atomic_bool is_taken;
    struct ring *next;
    uint64_t end; /* of the tracer: the head when it began to take events */
    kmm__event_t events[RING];
} ring_t;

bool kmm__trace_on, kmm__trace_accesses_on;

static _Atomic(ring_t *) rings;
static _Thread_local ring_t *own;
static pthread_key_t ends; /* its value is the thread's ring, so that the thread's end returns it */
static _Atomic uint64_t waited_ns;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t wake, flushed;
static bool is_awake;         /* the tracer has been woken */
static uint64_t wanted, done; /* flushes */
static const kmm__listener_t *listeners[LISTENERS];
static _Atomic uint32_t listener_count;

/* ---- Pushing ---- */

static void tracer_wake(void)
{
    pthread_mutex_lock(&lock);
    is_awake = true;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

static void ring_return(void *ring)
{
    own = NULL;
    atomic_store(&((ring_t *)ring)->is_taken, false);
}

static ring_t *ring_take(void)
{
    ring_t *r = atomic_load(&rings);
    for (bool no = false; r && !atomic_compare_exchange_strong(&r->is_taken, &no, true); no = false)
        r = r->next;
    if (!r) {
        r = kmm__alloc(sizeof(*r));
        atomic_store(&r->is_taken, true);
        r->next = atomic_load(&rings);
        while (!atomic_compare_exchange_weak(&rings, &r->next, r)) {
        }
    }
    r->thread = (uint32_t)syscall(SYS_gettid);
    pthread_setspecific(ends, r);
    return r;
}

static void await_room(ring_t *r, uint64_t head)
{
    const uint64_t begin = kmm__now();
    r->free_until = atomic_load_explicit(&r->tail, memory_order_acquire) + RING;
    if (head < r->free_until)
        return;
    while (head >= r->free_until && kmm__tracing()) {
        tracer_wake();
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
        r->free_until = atomic_load_explicit(&r->tail, memory_order_acquire) + RING;
    }
    atomic_fetch_add(&waited_ns, kmm__now() - begin);
}

void kmm__trace_push(const kmm__event_t *event)
{
    ring_t *r = own ? own : (own = ring_take());
    const uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (head >= r->free_until)
        await_room(r, head);
    kmm__event_t *e = &r->events[head % RING];
    *e = *event;
    e->thread = r->thread;
    e->time = kmm__now();
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    if (head % (RING / 2) == RING / 2 - 1)
        tracer_wake();
}

uint64_t kmm__trace_waited(void)
{
    return atomic_load(&waited_ns);
}

/* ---- Texts ---- */

typedef struct text {
    struct text *next;
    char text[];
} text_t;
static text_t *texts[BUCKETS];
static pthread_mutex_t texts_lock = PTHREAD_MUTEX_INITIALIZER;

const char *kmm__trace_text(const char *text)
{
    uint32_t hash = 5381;
    if (!text)
        return NULL;
    for (const char *c = text; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    text_t **bucket = &texts[hash % BUCKETS];
    pthread_mutex_lock(&texts_lock);
    text_t *t = *bucket;
    while (t && strcmp(t->text, text))
        t = t->next;
    if (!t) {
        const size_t bytes = strlen(text) + 1;
        t = kmm__alloc(sizeof(*t) + bytes);
        memcpy(t->text, text, bytes);
        t->next = *bucket;
        *bucket = t;
    }
    pthread_mutex_unlock(&texts_lock);
    return t->text;
}

/* ---- The tracer ---- */

static void tell(const kmm__event_t *event)
{
    for (uint32_t k = 0, n = atomic_load(&listener_count); k < n; k++)
        if (event->kind != KMM__EVENT_ACCESS || listeners[k]->wants_accesses)
            listeners[k]->event(event);
}

/* The ring with the earliest event that is not taken; NULL: there is none. */
static ring_t *earliest(ring_t *first, uint64_t until)
{
    ring_t *best = NULL;
    uint64_t time = until;
    for (ring_t *r = first; r; r = r->next) {
        const uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
        if (tail == r->end || r->events[tail % RING].time > time ||
            (best && r->events[tail % RING].time == time))
            continue;
        best = r;
        time = r->events[tail % RING].time;
    }
    return best;
}

/* Takes the events until now. An event that is later stays: one that it followed, by a lock, might
 * have been pushed after its ring was looked at. */
static void drain(void)
{
    const uint64_t until = kmm__now();
    ring_t *first = atomic_load(&rings);
    bool any = false;
    for (ring_t *r = first; r; r = r->next)
        r->end = atomic_load_explicit(&r->head, memory_order_acquire);
    for (ring_t *r; (r = earliest(first, until)); any = true) {
        const uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
        tell(&r->events[tail % RING]);
        atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    }
    for (uint32_t k = 0, n = atomic_load(&listener_count); any && k < n; k++)
        listeners[k]->flush();
}

/* Locked: waits for a wake-up, or for the period to end. */
static void await_period(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!is_awake && wanted == done && pthread_cond_timedwait(&wake, &lock, &until) == 0) {
    }
    is_awake = false;
}

static void *tracer_main(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        await_period();
        const uint64_t now = wanted;
        const bool ends_now = now != done;
        pthread_mutex_unlock(&lock);
        drain();
        for (uint32_t k = 0, n = atomic_load(&listener_count); ends_now && k < n; k++)
            listeners[k]->end();
        pthread_mutex_lock(&lock);
        done = now;
        pthread_cond_broadcast(&flushed);
    }
    return NULL;
}

void kmm__trace_flush(void)
{
    if (!kmm__tracing())
        return;
    pthread_mutex_lock(&lock);
    const uint64_t mine = ++wanted;
    pthread_cond_signal(&wake);
    while (done < mine)
        kmm__cond_wait(&flushed, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- Listeners ---- */

/* Runs in a forked process, which has no tracer. */
static void forked(void)
{
    __atomic_store_n(&kmm__trace_on, false, __ATOMIC_RELAXED);
    __atomic_store_n(&kmm__trace_accesses_on, false, __ATOMIC_RELAXED);
    lock = texts_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&rings, NULL);
    own = NULL;
    atomic_store(&listener_count, 0);
    wanted = done = 0;
    is_awake = false;
}

static void conditions_init(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &monotonic);
    pthread_cond_init(&flushed, NULL);
    pthread_condattr_destroy(&monotonic);
}

static void once(void)
{
    pthread_key_create(&ends, ring_return);
    pthread_atfork(NULL, NULL, forked);
}

/* Locked: starts the tracer. */
static int tracer_start(void)
{
    static pthread_once_t first = PTHREAD_ONCE_INIT;
    pthread_t thread;
    pthread_once(&first, once);
    conditions_init();
    int error = kmm__thread_create(&thread, tracer_main, NULL);
    if (!error)
        pthread_detach(thread);
    return error;
}

int kmm__trace_listen(const kmm__listener_t *listener)
{
    pthread_mutex_lock(&lock);
    const uint32_t count = atomic_load(&listener_count);
    int error = count ? 0 : tracer_start();
    if (!error) {
        listeners[count] = listener;
        atomic_store(&listener_count, count + 1);
        __atomic_store_n(&kmm__trace_on, true, __ATOMIC_RELAXED);
        if (listener->wants_accesses)
            __atomic_store_n(&kmm__trace_accesses_on, true, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
    return error;
}
