/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers and the spans of program streams.
 *
 * The spans of a program stream form a queue. Its last span is open, which means that new tasks
 * join it. A marker closes the open span and adds a new one. When the first span is closed and
 * empty, it is removed, and its markers wait for one span less.
 */
#include "task/marker.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/spin.h"
#include "base/thread.h"
#include "base/trace.h"
#include "base/valid.h"
#include "task/inside.h"

typedef struct kmm__program_stream kmm__program_stream_t;

/* The tasks of a program stream between two markers. */
struct kmm__span {
    kmm__program_stream_t *ps;
    uint64_t unfinished;     /* its tasks that are not done */
    uint64_t unissued;       /* its tasks whose work is not on a device's stream */
    int error;               /* first error of its tasks and of tasks of earlier spans */
    kmm__marker_t **markers; /* that closed it; a reference each */
    uint32_t marker_count, marker_capacity;
    struct kmm__span *next;
};

/* The unfinished work of one program stream. */
struct kmm__program_stream {
    const void *stream;
    struct kmm__span *first, *last; /* last is open, all before it are closed */
    kmm__marker_t **gates;          /* markers that later tasks wait for; a reference each */
    uint32_t gate_count, gate_capacity;
    struct kmm__program_stream *next; /* in rt->tasks->program_streams */
};

/*
 *                marker_pass, by the last span or the driver's stream
 *   OPEN (left > 0) -------------------------------------------> REACHED (left == 0)
 *
 * A marker without unfinished work before it is reached at once.
 */
struct kmm__marker {
    kmm_runtime_t *runtime;
    uint32_t refs;  /* held by the program, spans, and gates */
    bool is_of_all; /* it waits for the work of all program streams */
    uint64_t end;   /* tasks before it have lower numbers */
    /* spans and driver's streams that it waits for; changed under the lock, read without it */
    _Atomic uint32_t left;
    int error;          /* first error of the work before it */
    uint64_t time;      /* nanoseconds of CLOCK_MONOTONIC at which it was reached; 0: not yet */
    kmm__task_t **held; /* tasks that may be issued once it is reached; a reference each */
    uint32_t held_count, held_capacity;
};

const char kmm__all_streams = 0;

/* Work on the default stream is ordered with work on all other streams. The stream has two more
 * names: cudaStreamLegacy and, where each thread has a default stream of its own,
 * cudaStreamPerThread. */
bool kmm__stream_is_default(const void *stream)
{
    enum { LEGACY = 1, PER_THREAD = 2 };
    return !stream || (uintptr_t)stream == LEGACY || (uintptr_t)stream == PER_THREAD;
}

static struct kmm__span *span_add(kmm__program_stream_t *ps)
{
    struct kmm__span *s = kmm__alloc(sizeof(*s));
    s->ps = ps;
    *(ps->last ? &ps->last->next : &ps->first) = s;
    ps->last = s;
    return s;
}

static kmm__program_stream_t *program_stream_of(kmm_runtime_t *rt, const void *stream)
{
    for (kmm__program_stream_t *ps = rt->tasks->program_streams; ps; ps = ps->next)
        if (ps->stream == stream)
            return ps;
    kmm__program_stream_t *ps = kmm__alloc(sizeof(*ps));
    ps->stream = stream;
    ps->next = rt->tasks->program_streams;
    rt->tasks->program_streams = ps;
    span_add(ps);
    return ps;
}

static void marker_unref(kmm__marker_t *m)
{
    assert(m->refs > 0);
    if (--m->refs)
        return;
    free(m->held);
    free(m);
}

/* The transition to REACHED. */
static void marker_reached(kmm__marker_t *m)
{
    assert(m->left == 0 && m->time == 0);
    m->time = kmm__now();
    for (uint32_t k = 0; k < m->held_count; k++) {
        kmm__task_release(m->held[k]);
        kmm__task_unref(m->held[k]);
    }
    m->held_count = 0;
    pthread_cond_broadcast(&m->runtime->progress);
}

/* Removes one span or stream from what the marker waits for. */
static void marker_pass(kmm__marker_t *m)
{
    assert(m->left > 0);
    if (--m->left == 0)
        marker_reached(m);
}

#ifndef NDEBUG
/* True if all spans but the last are closed, and each marker still waits for the span it is in. */
static bool program_stream_is_valid(const kmm__program_stream_t *ps)
{
    const struct kmm__span *s = ps->first;
    bool valid = s && ps->last && !ps->last->next;
    for (; valid && s; s = s->next) {
        valid = s->ps == ps && s->unissued <= s->unfinished &&
                (s->marker_count > 0) == (s != ps->last) && (s->next || s == ps->last);
        for (uint32_t k = 0; valid && k < s->marker_count; k++)
            valid = s->markers[k]->left > 0 && s->markers[k]->refs > 0;
    }
    return valid;
}
#endif

/* Removes gates that have been reached. */
static void gates_purge(kmm__program_stream_t *ps)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < ps->gate_count; k++) {
        if (ps->gates[k]->left)
            ps->gates[kept++] = ps->gates[k];
        else
            marker_unref(ps->gates[k]);
    }
    ps->gate_count = kept;
}

void kmm__program_stream_enter(kmm__task_t *t, const void *stream)
{
    kmm__program_stream_t *ps = program_stream_of(t->runtime, stream);
    assert(t->state == KMM__TASK_WAITING && !t->order.span);
    t->order.span = ps->last;
    ps->last->unfinished++;
    ps->last->unissued++;
    t->order.is_unissued = true;
    gates_purge(ps);
    for (uint32_t k = 0; k < ps->gate_count; k++) {
        kmm__marker_t *m = ps->gates[k];
        m->held = kmm__grow(m->held, m->held_count, &m->held_capacity, sizeof(*m->held));
        m->held[m->held_count++] = t;
        kmm__task_ref(t);
        kmm__task_hold(t);
    }
    KMM__ASSERT_SOMETIMES(program_stream_is_valid(ps));
}

/* Removes closed spans that are empty from the front of the queue, and passes their markers. */
static void program_stream_advance(kmm__program_stream_t *ps)
{
    while (ps->first != ps->last && ps->first->unfinished == 0) {
        struct kmm__span *s = ps->first;
        ps->first = s->next;
        if (s->error && !ps->first->error)
            ps->first->error = s->error;
        for (uint32_t k = 0; k < s->marker_count; k++) {
            kmm__marker_t *m = s->markers[k];
            if (s->error && !m->error)
                m->error = s->error;
            marker_pass(m);
            marker_unref(m);
        }
        free(s->markers);
        free(s);
    }
    if (ps->first == ps->last && ps->first->unfinished == 0)
        ps->first->error = 0;
    KMM__ASSERT_SOMETIMES(program_stream_is_valid(ps));
}

void kmm__program_stream_issued(kmm__task_t *t)
{
    if (!t->order.is_unissued)
        return;
    t->order.is_unissued = false;
    if (--t->order.span->unissued == 0 && t->runtime->tasks->issue_waiters)
        pthread_cond_broadcast(&t->runtime->progress);
}

void kmm__program_stream_leave(kmm__task_t *t)
{
    struct kmm__span *s = t->order.span;
    if (!s)
        return;
    kmm__program_stream_issued(t);
    if (t->error && !s->error)
        s->error = t->error;
    s->unfinished--;
    t->order.span = NULL;
    program_stream_advance(s->ps);
}

void kmm__program_stream_return(kmm__task_t *t, const void *stream)
{
    kmm__program_stream_t *ps = program_stream_of(t->runtime, stream);
    assert(!t->order.span && !t->order.is_unissued);
    t->order.span = ps->last;
    ps->last->unfinished++;
    KMM__ASSERT_SOMETIMES(program_stream_is_valid(ps));
}

static void program_stream_mark(kmm__program_stream_t *ps, kmm__marker_t *m)
{
    struct kmm__span *s = ps->last;
    if (ps->first == s && s->unfinished == 0)
        return;
    s->markers = kmm__grow(s->markers, s->marker_count, &s->marker_capacity, sizeof(*s->markers));
    s->markers[s->marker_count++] = m;
    m->left++;
    m->refs++;
    span_add(ps);
    program_stream_advance(ps);
}

static kmm__marker_t *marker_make(kmm_runtime_t *rt, const void *stream)
{
    kmm__marker_t *m = kmm__alloc(sizeof(*m));
    m->runtime = rt;
    m->refs = 1;
    m->is_of_all = stream == &kmm__all_streams;
    m->end = rt->tasks->next_sequence;
    m->left = 1; /* one for this function: the marker is not reached before all streams have it */
    for (kmm__program_stream_t *ps = rt->tasks->program_streams; ps; ps = ps->next)
        if (stream == &kmm__all_streams || ps->stream == stream)
            program_stream_mark(ps, m);
    marker_pass(m);
    return m;
}

int kmm__marker_create(kmm_runtime_t *rt, const void *stream, kmm__marker_t **out)
{
    pthread_mutex_lock(&rt->lock);
    *out = marker_make(rt, stream);
    pthread_mutex_unlock(&rt->lock);
    return 0;
}

int kmm__marker_precede(kmm__marker_t *m, const void *stream)
{
    pthread_mutex_lock(&m->runtime->lock);
    kmm__program_stream_t *ps = program_stream_of(m->runtime, stream);
    gates_purge(ps);
    if (m->left) {
        ps->gates = kmm__grow(ps->gates, ps->gate_count, &ps->gate_capacity, sizeof(*ps->gates));
        ps->gates[ps->gate_count++] = m;
        m->refs++;
    }
    pthread_mutex_unlock(&m->runtime->lock);
    return 0;
}

/* Runs work of the CPU on this thread while it waits for all work. That takes less time than waking
 * another thread. A thread that waits for one stream does not do this, because it could get long
 * work of another stream. */
static void assist(const kmm__marker_t *m)
{
    const kmm_runtime_t *rt = m->runtime;
    for (uint32_t k = 0; k < rt->backend_count && m->is_of_all && !kmm__is_inside(); k++) {
        kmm__backend_t *b = rt->backends[k];
        while (b->assist && m->left && b->assist(b)) {
        }
    }
}

static void put_first(const kmm__marker_t *m)
{
    pthread_mutex_lock(&m->runtime->lock);
    kmm__tasks_await(m->runtime, m->end);
    pthread_mutex_unlock(&m->runtime->lock);
}

static int wait_untraced(kmm__marker_t *m)
{
    kmm_runtime_t *rt = m->runtime;
    if (rt->has_spaces && m->left)
        put_first(m);
    assist(m);
    kmm__spin_until_zero(&m->left, rt->has_spaces && kmm__has_cpus_to_spare() ? KMM__SPIN_DEVICE_NS
                                                                              : KMM__SPIN_NS);
    pthread_mutex_lock(&rt->lock);
    while (m->left)
        kmm__cond_wait(&rt->progress, &rt->lock);
    int error = m->error;
    pthread_mutex_unlock(&rt->lock);
    return error;
}

static __attribute__((cold, noinline)) int wait_traced(kmm__marker_t *m)
{
    const uint64_t begin = kmm__now();
    int error = wait_untraced(m);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "wait for work", .a = begin);
    return error;
}

int kmm__marker_wait(kmm__marker_t *m)
{
    return kmm__tracing() ? wait_traced(m) : wait_untraced(m);
}

int kmm__marker_query(kmm__marker_t *m)
{
    pthread_mutex_lock(&m->runtime->lock);
    int result = m->left ? 0 : m->error ? m->error : 1;
    pthread_mutex_unlock(&m->runtime->lock);
    return result;
}

/* ---- Other code's work on the driver's streams ---- */

kmm__device_t *kmm__current_gpu(const kmm_runtime_t *rt)
{
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        kmm__device_t *d = rt->device[k];
        if (d->backend->follow && d->backend->current(d->backend) == d->ordinal)
            return d;
    }
    return NULL;
}

static bool has_marker(const struct kmm__span *s, const kmm__marker_t *m)
{
    for (uint32_t k = 0; k < s->marker_count; k++)
        if (s->markers[k] == m)
            return true;
    return false;
}

/* True if all unfinished work before m is on streams. */
static bool is_issued(const kmm__marker_t *m)
{
    for (const kmm__program_stream_t *ps = m->runtime->tasks->program_streams; ps && m->left;
         ps = ps->next) {
        uint64_t unissued = 0;
        const struct kmm__span *s = ps->first;
        for (; s && !has_marker(s, m); s = s->next)
            unissued += s->unissued;
        if (s && unissued + s->unissued)
            return false;
    }
    return true;
}

/* Makes the program's stream wait for all that is on the devices' compute and task streams now. */
static int devices_precede(kmm_runtime_t *rt, void *stream)
{
    int error = 0;
    for (uint32_t k = 0; k < rt->device_count; k++) {
        const kmm__device_t *d = rt->device[k];
        for (uint32_t j = 0;
             d->backend->precede && j < d->compute_stream_count + KMM__TASK_STREAMS && !error;
             j++) {
            pthread_mutex_lock(&rt->lock);
            kmm__stream_t *compute_stream = d->compute_streams[j].stream;
            pthread_mutex_unlock(&rt->lock);
            error = compute_stream ? d->backend->precede(compute_stream, stream) : 0;
        }
    }
    return error;
}

/* True if devices of two GPU drivers are in use: streams of one cannot wait for those of the other.
 */
static bool has_two_drivers(const kmm_runtime_t *rt)
{
    uint32_t drivers = 0;
    for (uint32_t k = 0; k < rt->backend_count; k++)
        drivers += rt->backends[k]->precede != NULL;
    return drivers > 1;
}

/* Waits on the host until the work before m is on streams. Then makes `stream` wait for these
 * streams. In the other order there could be a deadlock: enqueueing a kernel may load it, and the
 * driver may then wait for `stream`. */
bool kmm__marker_precede_driver(kmm__marker_t *m, void *stream)
{
    kmm_runtime_t *rt = m->runtime;
    if (has_two_drivers(rt) || kmm__is_inside())
        return false;
    pthread_mutex_lock(&rt->lock);
    rt->tasks->issue_waiters++;
    kmm__tasks_await(rt, m->end);
    while (!is_issued(m))
        kmm__cond_wait(&rt->progress, &rt->lock);
    rt->tasks->issue_waiters--;
    bool reached = m->left == 0;
    pthread_mutex_unlock(&rt->lock);
    return !reached && devices_precede(rt, stream) == 0;
}

static void stream_done(void *arg, int status)
{
    kmm__marker_t *m = arg;
    kmm_runtime_t *rt = m->runtime;
    (void)status; /* an error of other code's work is not reported */
    pthread_mutex_lock(&rt->lock);
    marker_pass(m);
    marker_unref(m);
    pthread_mutex_unlock(&rt->lock);
}

void kmm__stream_follow(kmm_runtime_t *rt, void *stream)
{
    const kmm__device_t *d = rt ? kmm__current_gpu(rt) : NULL;
    if (!d || kmm__is_inside() || d->backend->follow(d->gpu, stream, NULL, NULL) <= 0)
        return;
    kmm__marker_t *m = kmm__alloc(sizeof(*m));
    *m = (kmm__marker_t){.runtime = rt, .refs = 2, .left = 1}; /* one reference is stream_done's */
    bool follows = d->backend->follow(d->gpu, stream, stream_done, m) > 0;
    if (follows)
        kmm__marker_precede(m, stream);
    pthread_mutex_lock(&rt->lock);
    m->refs -= !follows;
    marker_unref(m);
    pthread_mutex_unlock(&rt->lock);
}

uint64_t kmm__marker_time(kmm__marker_t *m)
{
    pthread_mutex_lock(&m->runtime->lock);
    uint64_t time = m->time;
    pthread_mutex_unlock(&m->runtime->lock);
    return time;
}

void kmm__marker_retain(kmm__marker_t *m)
{
    pthread_mutex_lock(&m->runtime->lock);
    m->refs++;
    pthread_mutex_unlock(&m->runtime->lock);
}

void kmm__marker_release(kmm__marker_t *m)
{
    if (!m)
        return;
    kmm_runtime_t *rt = m->runtime;
    pthread_mutex_lock(&rt->lock);
    marker_unref(m);
    pthread_mutex_unlock(&rt->lock);
}

void kmm__program_streams_free(kmm_runtime_t *rt)
{
    while (rt->tasks->program_streams) {
        kmm__program_stream_t *ps = rt->tasks->program_streams;
        rt->tasks->program_streams = ps->next;
        gates_purge(ps);
        free(ps->gates);
        free(ps->first);
        free(ps);
    }
}
