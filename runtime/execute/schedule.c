/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Issuing. Each device has a thread that takes tasks that are ready in the order of submission,
 * brings their frames and data, and enqueues them; it never waits for a task's work, only for
 * memory. Tasks in the host's space wait for their data and are then run on the lanes of the CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "memory/disk/spill.h"
#include "memory/host/stage.h"

enum {
    LANE_DEPTH = 2,
    LANE_TASKS = 16,
    LINGER = 200,
    LINGER_MORE = 64,
    DEVICE_DEPTH = 1024,
    EARLY = 16,
    ORDER_LEAST = 256
};

/* ---- Queues ---- */

static bool comes_before(const kmm__task_t *a, const kmm__task_t *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
}

/* Changed under the lock: others only look. */
static void queue_count(kmm__queue_t *q, uint32_t count)
{
    atomic_store_explicit(&q->count, count, memory_order_relaxed);
}

/* Room for one more behind the last one. */
static void queue_room(kmm__queue_t *q)
{
    if (q->head >= q->capacity / 2 && q->head > 0 && q->head + q->count == q->capacity) {
        memmove(q->tasks, q->tasks + q->head, q->count * sizeof(*q->tasks));
        q->head = 0;
    }
    q->tasks = kmm__grow(q->tasks, q->head + q->count, &q->capacity, sizeof(*q->tasks));
}

static void queue_push(kmm__queue_t *q, kmm__task_t *t)
{
    queue_room(q);
    kmm__task_t **heap = q->tasks + q->head;
    uint32_t k = q->count;
    queue_count(q, k + 1);
    if (k == 0)
        q->heaped = false;
    q->heaped |= k > 0 && comes_before(t, heap[k - 1]);
    for (; q->heaped && k > 0 && comes_before(t, heap[(k - 1) / 2]); k = (k - 1) / 2)
        heap[k] = heap[(k - 1) / 2];
    heap[k] = t;
}

static kmm__task_t *queue_first(const kmm__queue_t *q)
{
    return q->count ? q->tasks[q->head] : NULL;
}

static kmm__task_t *queue_pop(kmm__queue_t *q)
{
    if (q->count == 0)
        return NULL;
    kmm__task_t **heap = q->tasks + q->head;
    uint32_t k = 0, count = q->count - 1;
    kmm__task_t *first = heap[0], *last = heap[count];
    queue_count(q, count);
    if (!q->heaped || count == 0) {
        q->head = count ? q->head + 1 : 0;
        return first;
    }
    for (uint32_t child; (child = 2 * k + 1) < count; k = child) {
        child += child + 1 < count && comes_before(heap[child + 1], heap[child]);
        if (!comes_before(heap[child], last))
            break;
        heap[k] = heap[child];
    }
    heap[k] = last;
    return first;
}

/* ---- The order of submission ---- */

static bool is_issued(const kmm__task_t *t)
{
    return t->state == KMM__TASK_ISSUED || t->state == KMM__TASK_DONE;
}

void kmm__order_push(kmm__device_t *d, kmm__task_t *t)
{
    kmm__queue_t *q = &d->order;
    uint32_t kept = 0;
    if (d->space == KMM__HOST || d->runtime->device_count < 2)
        return; /* on one device they are ready in that order */
    for (uint32_t k = 0; q->count >= d->order_trim && k < q->count; k++) {
        if (is_issued(q->tasks[k]))
            kmm__task_unref(q->tasks[k]);
        else
            q->tasks[kept++] = q->tasks[k];
    }
    if (q->count >= d->order_trim) {
        q->count = kept;
        d->order_trim = 2 * kept + ORDER_LEAST;
    }
    q->tasks = kmm__grow(q->tasks, q->count, &q->capacity, sizeof(*q->tasks));
    q->tasks[q->count++] = t;
    kmm__task_ref(t);
}

static void order_drop(kmm__device_t *d)
{
    for (uint32_t k = 0; k < d->order.count; k++)
        kmm__task_unref(d->order.tasks[k]);
    free(d->order.tasks);
    d->order = (kmm__queue_t){0};
}

/* Whether t would have data of tasks evicted that come long before it, and wait for other devices.
 * The oldest task of all is never early, and waits for none; so there is an end. */
static bool is_early(kmm__device_t *d, kmm__task_t *t)
{
    uint64_t bytes;
    uint32_t before = 0;
    if (!d->pressure || t->error)
        return false;
    for (uint32_t k = 0; k < d->order.count && d->order.tasks[k]->sequence < t->sequence; k++) {
        if (is_issued(d->order.tasks[k]))
            continue;
        if (d->order.tasks[k]->state == KMM__TASK_READY)
            return false; /* t has priority over it */
        before++;
    }
    return before > EARLY && !kmm__frames_resident(t, &bytes);
}

/* ---- Failure ---- */

/* Notes why a task failed, with where it comes from and, if known, the argument. */
static void fail(kmm__task_t *t, int error, const char *why)
{
    char where[320];
    const kmm__work_t *w = t->work;
    kmm__describe(t, where, sizeof(where));
    t->error = error;
    if (t->failed_item < w->item_count)
        kmm__error_note(t->device->runtime, error, "%s: argument %s: %s", where,
                        w->item_text[t->failed_item], why);
    else
        kmm__error_note(t->device->runtime, error, "%s: %s", where, why);
}

/* The text of an error of this thread: the backend's, or our own. */
static const char *reason(const kmm__device_t *d, int error)
{
    return kmm__error_is_of_disk(error) ? kmm__error_get() : d->backend->error_text(d->backend);
}

/* Its data could not be copied to the host from a device. */
static void fail_copy(kmm__task_t *t, int error, const kmm__device_t *from)
{
    char why[320];
    snprintf(why, sizeof(why), "its data could not be copied from %s to the host: %s",
             from->info.name, from->backend->error_text(from->backend));
    fail(t, error, why);
}

/* ---- Tasks on streams ---- */

/* For a device's thread: whoever submits lets it in. */
static void device_lock(kmm_runtime_t *rt)
{
    atomic_fetch_add_explicit(&rt->wanting, 1, memory_order_relaxed);
    kmm__spin_lock(&rt->lock);
    atomic_fetch_sub_explicit(&rt->wanting, 1, memory_order_relaxed);
}

/* Tasks that are issued together: they share an event, and are told of together. */
enum { BATCH_TASKS = 64, BATCH_BYTES = 64 << 20 };

typedef struct kmm__batch {
    uint32_t count;
    kmm__task_t *tasks[BATCH_TASKS];
    struct kmm__batch *next; /* of those under way on the device, in the order of their issue */
} batch_t;

static void batch_begin(batch_t *b)
{
    kmm__device_t *d = b->tasks[0]->device;
    *(d->under_way ? &d->under_way_last->next : &d->under_way) = b;
    d->under_way_last = b;
    d->in_flight += b->count;
}

/* Those of a stream end in their order, so it is among the first. */
static void batch_end(batch_t *b)
{
    kmm__device_t *d = b->tasks[0]->device;
    batch_t **at = &d->under_way, *before = NULL;
    for (; *at != b; at = &(*at)->next)
        before = *at;
    *at = b->next;
    if (d->under_way_last == b)
        d->under_way_last = before;
    d->in_flight -= b->count;
}

/* ---- The loss of a device ---- */

enum { SUSPECTS = 4 };

/* Kernels and tasks under way, each once. */
typedef struct suspects {
    const kmm__task_t *task[SUSPECTS];
    uint32_t count, first, last; /* of the tasks; chunks of the first one's launch */
    bool more;
} suspects_t;

static bool is_same_launch(const kmm__work_t *a, const kmm__work_t *b)
{
    return a->name == b->name && a->file == b->file && a->line == b->line;
}

static void suspect(suspects_t *s, const kmm__task_t *t)
{
    uint32_t k = 0;
    while (k < s->count && !is_same_launch(s->task[k]->work, t->work))
        k++;
    s->more |= k == SUSPECTS;
    if (k == s->count && k < SUSPECTS)
        s->task[s->count++] = t;
    if (k)
        return;
    s->first = t == s->task[0] || t->chunk < s->first ? t->chunk : s->first;
    s->last = t->last_chunk > s->last ? t->last_chunk : s->last;
}

/* "a.cu:3: scale or a.cu:7: add" */
static void name_suspects(const suspects_t *s, char *text, size_t size)
{
    size_t n = 0;
    for (uint32_t k = 0; k < s->count && n < size; k++) {
        const kmm__work_t *w = s->task[k]->work;
        n += (size_t)snprintf(text + n, size - n, "%s", k ? " or " : "");
        if (w->file && n < size)
            n += (size_t)snprintf(text + n, size - n, "%s:%d: ", w->file, w->line);
        if (n < size)
            n += (size_t)snprintf(text + n, size - n, "%s", w->name);
    }
    if (s->more && n < size)
        snprintf(text + n, size - n, " or another");
}

/* After a kernel's fault the driver says of all work that it has failed, also of what was done
 * before, and of copies. So all that was under way is named. */
static void note_fault(kmm__device_t *d, int error)
{
    char text[400];
    const char *why = d->backend->error_text(d->backend);
    const char *remedy =
        d->backend->kind == KMM_KIND_CUDA ? "; compute-sanitizer finds which of them" : "";
    suspects_t s = {0};
    for (const batch_t *b = d->under_way; b; b = b->next)
        for (uint32_t k = 0; k < b->count; k++)
            suspect(&s, b->tasks[k]);
    if (s.count == 0)
        return;
    kmm__task_t chunks = *s.task[0];
    chunks.chunk = s.first;
    chunks.last_chunk = s.last;
    if (s.count == 1)
        kmm__describe(&chunks, text, sizeof(text));
    else
        name_suspects(&s, text, sizeof(text));
    kmm__error_note(d->runtime, error, "%s: %s%s", text, why, s.count > 1 ? remedy : "");
}

void kmm__device_lose(kmm__device_t *d, int error)
{
    if (d->backend->kind == KMM_KIND_HOST || d->lost)
        return;
    d->lost = error;
    if (error == KMM_E_KERNEL)
        note_fault(d, error);
}

void kmm__device_doubt(kmm__device_t *d, kmm__event_t *event, int error)
{
    event = event ? event : d->event_count ? d->events[0] : NULL;
    if (error == KMM_E_KERNEL && event && !d->lost && d->backend->event_query(event) == error)
        kmm__device_lose(d, error);
}

/* What was to be enqueued for t has failed. */
static void lose_if_faulty(const kmm__task_t *t, int error)
{
    kmm__device_doubt(t->device, t->ticket->point ? t->ticket->point->event : NULL, error);
}

static void batch_finished(void *arg, int status)
{
    batch_t *b = arg;
    kmm__device_t *d = b->tasks[0]->device;
    kmm_runtime_t *rt = d->runtime;
    kmm__spin_lock(&rt->lock);
    if (status)
        kmm__device_lose(d, status);
    batch_end(b);
    for (uint32_t k = 0; k < b->count; k++) {
        kmm__task_t *t = b->tasks[k];
        if (status && !t->error)
            fail(t, status,
                 b->count > 1
                     ? "this chunk, or one that was issued together with it, failed on the device"
                     : d->backend->error_text(d->backend));
        kmm__task_finish(t, status);
    }
    kmm__device_wake(d);
    pthread_mutex_unlock(&rt->lock);
    free(b);
}

/* ---- Tasks whose work is the program's own statements ---- */

int kmm__side_lane_take(kmm__device_t *d)
{
    for (;;) {
        for (uint32_t k = d->lane_count; k < d->lane_count + KMM__SIDE_LANES; k++) {
            kmm__lane_t *lane = &d->lanes[k];
            if (lane->is_taken)
                continue;
            int error = lane->stream ? 0 : d->backend->stream_create(d->gpu, &lane->stream);
            if (error)
                return kmm__error_set(error, "%s: %s", d->info.name,
                                      d->backend->error_text(d->backend));
            lane->is_taken = true;
            return (int)k;
        }
        /* Those that have one wait for none, so they come to an end. */
        pthread_cond_wait(&d->runtime->progress, &d->runtime->lock);
    }
}

void kmm__side_lane_return(kmm__device_t *d, uint32_t lane)
{
    d->lanes[lane].is_taken = false;
    pthread_cond_broadcast(&d->runtime->progress);
}

static void inline_enter(kmm__task_t *t)
{
    t->entered = true;
    pthread_cond_broadcast(&t->runtime->progress);
}

/* What the statements need is really there. */
static void inline_ready(void *arg, int status)
{
    kmm__task_t *t = arg;
    kmm_runtime_t *rt = t->runtime;
    pthread_mutex_lock(&rt->lock);
    if (status)
        kmm__device_lose(t->device, status);
    if (status && !t->error)
        fail(t, status, t->device->backend->error_text(t->device->backend));
    inline_enter(t);
    pthread_mutex_unlock(&rt->lock);
}

static void inline_finished(void *arg, int status)
{
    kmm__task_t *t = arg;
    pthread_mutex_lock(&t->runtime->lock);
    batch_t *b = t->device->under_way;
    while (b->tasks[0] != t)
        b = b->next;
    pthread_mutex_unlock(&t->runtime->lock);
    batch_finished(b, status);
}

typedef struct drained {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    int status;
} drained_t;

static void stream_drained(void *arg, int status)
{
    drained_t *d = arg;
    pthread_mutex_lock(&d->lock);
    d->done = true;
    d->status = status;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

int kmm__stream_drain(kmm__backend_t *b, kmm__stream_t *s)
{
    drained_t d = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
    int error = b->notify(s, stream_drained, &d);
    pthread_mutex_lock(&d.lock);
    while (!error && !d.done)
        pthread_cond_wait(&d.changed, &d.lock);
    pthread_mutex_unlock(&d.lock);
    return error ? error : d.status;
}

int kmm__inline_launch(kmm__task_t *t, const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                       void **args)
{
    kmm__backend_t *b = t->device->backend;
    kmm__run_t run = {.kernel = kernel, .geometry = *geometry, .args = args};
    memcpy(run.count, geometry->grid, sizeof(run.count));
    if (kernel->kind != b->kind)
        return kmm__error_set(KMM_E_INVALID,
                              "%s: it was built for another kind of device than the task runs on",
                              kernel->name);
    if (kernel->is_clone && kernel->whole) {
        run.kernel = kernel->whole;
        run.args = args + 1;
    }
    kmm__stream_t *stream = t->device->lanes[t->lane].stream;
    int error = b->launch(stream, &run);
    if (!error)
        error = kmm__stream_drain(b, stream); /* statements behind it may use what it wrote */
    return error ? kmm__error_set(error, "%s: %s", kernel->name, b->error_text(b)) : 0;
}

void kmm__inline_end(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    kmm__device_t *d = t->device;
    kmm__stream_t *stream = d->lanes[t->lane].stream;
    if (d->space == KMM__HOST) {
        pthread_mutex_lock(&rt->lock);
        kmm__task_finish(t, 0);
        pthread_mutex_unlock(&rt->lock);
        return;
    }
    int error = t->work->on_any_stream && d->backend->finish ? d->backend->finish(d->gpu) : 0;
    error = error ? error : kmm__ticket_record(t->ticket);
    pthread_mutex_lock(&rt->lock);
    lose_if_faulty(t, error);
    if (error && !t->error)
        fail(t, error, d->backend->error_text(d->backend));
    kmm__task_issued(t);
    pthread_mutex_unlock(&rt->lock);
    error = d->backend->notify(stream, inline_finished, t);
    if (error)
        inline_finished(t, error);
}

typedef struct fetched {
    kmm_runtime_t *runtime;
    kmm__ticket_t *ticket;
    kmm__task_t *task;
} fetched_t;

static void copy_out_finished(void *arg, int status)
{
    fetched_t *f = arg;
    pthread_mutex_lock(&f->runtime->lock);
    if (status) {
        kmm__device_lose(f->ticket->device, status);
        kmm__copies_fail(f->task, status);
    }
    if (status && !f->task->error && f->task->work)
        fail_copy(f->task, status, f->ticket->device);
    kmm__ticket_done(f->ticket);
    kmm__ticket_unref(f->ticket);
    kmm__task_unref(f->task);
    pthread_cond_broadcast(&f->runtime->progress);
    pthread_mutex_unlock(&f->runtime->lock);
    free(f);
}

static void announce_copy_out(kmm__task_t *t, const kmm__move_t *m)
{
    kmm_runtime_t *rt = t->device->runtime;
    fetched_t *f = kmm__alloc(sizeof(*f));
    *f = (fetched_t){rt, m->ticket, t};
    pthread_mutex_lock(&rt->lock);
    kmm__ticket_ref(m->ticket);
    kmm__task_ref(t);
    pthread_mutex_unlock(&rt->lock);
    pthread_mutex_lock(&m->from->out_lock);
    int error = kmm__stage_notify(m->from, copy_out_finished, f);
    pthread_mutex_unlock(&m->from->out_lock);
    if (error)
        copy_out_finished(f, error);
}

/* Copies to the host are announced, because work on the host may wait for them. Not locked. */
static void announce_copies_out(kmm__task_t *t, const kmm__moves_t *moves)
{
    const kmm__ticket_t **said = NULL; /* few beside the moves */
    uint32_t count = 0, capacity = 0;
    for (uint32_t k = 0; k < moves->count; k++) {
        const kmm__move_t *m = &moves->move[k];
        bool again = false;
        for (uint32_t j = count; j-- > 0 && !again;)
            again = said[j] == m->ticket;
        if (m->to != NULL || again)
            continue;
        said = kmm__grow(said, count, &capacity, sizeof(*said));
        said[count++] = m->ticket;
        announce_copy_out(t, m);
    }
    free(said);
}

static void copies_drained(void *arg, int status)
{
    kmm__task_t *t = arg;
    kmm_runtime_t *rt = t->runtime;
    pthread_mutex_lock(&rt->lock);
    if (status)
        kmm__device_lose(t->device, status);
    kmm__task_finish_left_fall(t);
    kmm__task_unref(t);
    pthread_mutex_unlock(&rt->lock);
}

/* Of a task that could not be enqueued whole: its kernel waits for no copies, so the task itself
 * does, before it gives its frames back. Locked, unlocks meanwhile. */
static void copies_drain(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    uint32_t count = t->copy_count; /* fixed from here on */
    t->finish_left += count;
    for (uint32_t k = 0; k < count; k++) {
        kmm__ticket_t *c = t->copies[k];
        kmm__device_t *d = c->device;
        pthread_mutex_t *lock = c->stream == d->in    ? &d->in_lock
                                : c->stream == d->out ? &d->out_lock
                                                      : &d->peer_lock;
        kmm__task_ref(t);
        pthread_mutex_unlock(&rt->lock);
        pthread_mutex_lock(lock);
        int error = c->stream == d->out ? kmm__stage_notify(d, copies_drained, t)
                                        : d->backend->notify(c->stream, copies_drained, t);
        pthread_mutex_unlock(lock);
        if (error)
            copies_drained(t, error);
        pthread_mutex_lock(&rt->lock);
    }
}

/* Enqueues what has to come before the kernel of a task whose frames are pinned. Not locked. */
static int enqueue_before(kmm__task_t *t, kmm__moves_t *moves)
{
    kmm__device_t *d = t->device;
    kmm__stream_t *lane = d->lanes[t->lane].stream;
    int error = 0;
    if (moves->count) { /* what goes through the host is waited for there, and must be announced by
                           then */
        error = kmm__moves_enqueue(moves, true);
        announce_copies_out(t, moves);
        int e = kmm__moves_enqueue(moves, false);
        error = error ? error : e;
    }
    if (error) {
        pthread_mutex_lock(&d->runtime->lock);
        lose_if_faulty(t, error);
        if (!t->error)
            fail(t, error, reason(d, error));
        kmm__copies_fail(t, error);
        pthread_mutex_unlock(&d->runtime->lock);
    }
    for (uint32_t k = 0; k < t->wait_count && !error; k++)
        error = kmm__ticket_wait(t->waits[k], d, lane);
    return error ? error : t->error;
}

/* Everything of such a task, but for its event. */
static int enqueue(kmm__task_t *t, kmm__moves_t *moves)
{
    int error = enqueue_before(t, moves);
    return error ? error : kmm__chunks_launch(&t, 1, t->device->lanes[t->lane].stream);
}

/* The same for tasks of a batch whose chunks are launched as one; those of which something failed
 * are left out. */
static void enqueue_joined(kmm__task_t *const *tasks, uint32_t count, int *errors)
{
    kmm__stream_t *lane = tasks[0]->device->lanes[tasks[0]->lane].stream;
    kmm__moves_t none = {0};
    bool all = true;
    for (uint32_t k = 0; k < count; k++) {
        errors[k] = enqueue_before(tasks[k], &none);
        all &= !errors[k];
    }
    int error = all ? kmm__chunks_launch(tasks, count, lane) : 0;
    for (uint32_t k = 0; k < count; k++)
        if (!errors[k])
            errors[k] = all ? error : kmm__chunks_launch(tasks + k, 1, lane);
}

static void enqueue_all(const batch_t *b, kmm__moves_t *moves, int errors[BATCH_TASKS])
{
    uint32_t last = b->count - 1;
    for (uint32_t k = 0, n; k < last + (moves->count == 0); k += n) {
        n = kmm__chunks_join(b->tasks + k, last - k + (moves->count == 0));
        enqueue_joined(b->tasks + k, n, errors + k);
    }
    if (moves->count) /* its launch waits for its copies alone */
        errors[last] = enqueue(b->tasks[last], moves);
}

/* Brings a task's frames, unless they are known to be there, and plans its copies. Locked; false
 * when it failed, and is finished. */
static bool prepare(kmm__task_t *t, bool resident, kmm__moves_t *moves)
{
    int error = kmm__frames_acquire(t, resident);
    if (error) {
        kmm__device_doubt(t->device, NULL, error);
        fail(t, error, kmm__error_get());
        kmm__task_finish(t, error);
        return false;
    }
    error = kmm__spill_hold_task(t);
    if (!error)
        error = kmm__coherence_acquire(t, moves);
    if (error)
        fail(t, error, kmm__error_get());
    return true;
}

/* Enqueues a batch, of which only the last task may have copies. Called locked, unlocks meanwhile.
 */
static void batch_enqueue(batch_t *b, kmm__moves_t *moves)
{
    kmm__device_t *d = b->tasks[0]->device;
    kmm_runtime_t *rt = d->runtime;
    int errors[BATCH_TASKS];
    for (uint32_t k = 0; k < b->count; k++)
        kmm__ticket_arm(b->tasks[k]->ticket, k ? b->tasks[0]->ticket : NULL);
    batch_begin(b);
    pthread_mutex_unlock(&rt->lock);
    enqueue_all(b, moves, errors);
    int recorded = kmm__ticket_record(b->tasks[0]->ticket);
    for (uint32_t k = 1; k < b->count; k++)
        kmm__ticket_recorded(b->tasks[k]->ticket);
    device_lock(rt);
    for (uint32_t k = 0; k < b->count; k++) {
        int error = errors[k] ? errors[k] : recorded;
        lose_if_faulty(b->tasks[k], error);
        if (error && !b->tasks[k]->error)
            fail(b->tasks[k], error, reason(d, error));
        kmm__task_issued(b->tasks[k]);
    }
    if (errors[b->count - 1])
        copies_drain(b->tasks[b->count - 1]);
    kmm__moves_drop(moves);
    pthread_mutex_unlock(&rt->lock);
    int notified = d->backend->notify(d->lanes[b->tasks[0]->lane].stream, batch_finished, b);
    if (notified)
        batch_finished(b, notified);
    device_lock(rt);
}

/* Brings everything a task of the program's own statements needs; the thread that runs them does
 * the rest. */
static void inline_issue(kmm__task_t *t, kmm__moves_t *moves)
{
    kmm__device_t *d = t->device;
    kmm_runtime_t *rt = d->runtime;
    batch_t *b = kmm__alloc(sizeof(*b)); /* until inline_finished */
    b->tasks[b->count++] = t;
    kmm__ticket_arm(t->ticket, NULL);
    batch_begin(b);
    pthread_mutex_unlock(&rt->lock);
    int error = enqueue(t, moves);
    pthread_mutex_lock(&rt->lock);
    lose_if_faulty(t, error);
    if (error && !t->error)
        fail(t, error, reason(d, error));
    if (error)
        copies_drain(t);
    kmm__moves_drop(moves);
    if ((d->backend->native && !t->work->on_any_stream) || t->error) {
        inline_enter(t);
        return;
    }
    pthread_mutex_unlock(&rt->lock);
    error = d->backend->notify(d->lanes[t->lane].stream, inline_ready, t);
    if (error)
        inline_ready(t, error);
    pthread_mutex_lock(&rt->lock);
}

static kmm__task_t *ready_pop(kmm__device_t *d);

/* Issues t and, as long as they need nothing brought and are small, tasks that are ready behind it.
 */
static void issue_on_stream(kmm__task_t *t)
{
    kmm__device_t *d = t->device;
    kmm__moves_t moves = {0};
    uint64_t bytes, total;
    if (!prepare(t, false, &moves))
        return;
    if (t->work->is_inline) {
        inline_issue(t, &moves);
        return;
    }
    batch_t *b = kmm__alloc(sizeof(*b));
    b->tasks[b->count++] = t;
    bool more = kmm__frames_resident(t, &total) && !kmm__spill_may_wait(d->runtime);
    while (more && moves.count == 0 && b->count < BATCH_TASKS) {
        kmm__task_t *next = queue_first(&d->ready);
        more = next && !next->error && !next->work->is_inline && next->lane == t->lane &&
               kmm__frames_resident(next, &bytes) && total + bytes <= BATCH_BYTES;
        if (more && (next = ready_pop(d)) && prepare(next, true, &moves)) {
            b->tasks[b->count++] = next;
            total += bytes;
        }
    }
    batch_enqueue(b, &moves);
}

/* ---- Tasks in the host's space ---- */

static void host_task_finished(void *arg, int status);

/* The lane with the least to do that has room, or, `empty`, nothing to do; NULL: none. */
static kmm__lane_t *lane_choose(kmm__device_t *d, bool empty)
{
    kmm__lane_t *best = NULL;
    for (uint32_t k = 0; k < d->lane_count; k++)
        if (!d->lanes[k].is_taken && (!best || d->lanes[k].in_flight < best->in_flight))
            best = &d->lanes[k];
    return best && best->in_flight < (empty ? 1 : LANE_DEPTH) ? best : NULL;
}

static void kernel_start(kmm__task_t *t, kmm__lane_t *lane)
{
    kmm__device_t *d = t->device;
    t->lane = (uint32_t)(lane - d->lanes);
    lane->in_flight++;
    int error = t->error ? 0 : kmm__chunks_launch(&t, 1, lane->stream);
    if (error)
        fail(t, error, d->backend->error_text(d->backend));
    if (d->backend->notify(lane->stream, host_task_finished, t)) {
        lane->in_flight--;
        kmm__task_finish(t, KMM_E_DEVICE);
    }
}

static void lane_main(const kmm_chunk_t *chunk, void *args);

/* Has a lane run functions and operations until there are none. */
static bool lane_take(kmm__device_t *d)
{
    kmm__lane_t *lane = lane_choose(d, true);
    if (!lane)
        return false;
    kmm__run_t run = {.function = lane_main, .args_block = &lane, .args_bytes = sizeof(lane)};
    lane->is_taken = true;
    d->seekers++;
    if (d->backend->launch(lane->stream, &run) == 0)
        return true;
    lane->is_taken = false;
    d->seekers--;
    return false;
}

/* Locked: sees to it that startable tasks are started as far as there are lanes. Enqueuing on the
 * CPU is quick. */
static void host_dispatch(kmm__device_t *d)
{
    for (kmm__task_t *t; (t = queue_first(&d->startable));) {
        if (!t->work->kernel) {
            if (d->seekers >= d->startable.count || !lane_take(d))
                return;
            continue;
        }
        kmm__lane_t *lane = lane_choose(d, false);
        if (!lane)
            return;
        kernel_start(queue_pop(&d->startable), lane);
    }
}

static void host_task_finished(void *arg, int status)
{
    kmm__task_t *t = arg;
    kmm__device_t *d = t->device;
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    d->lanes[t->lane].in_flight--;
    if (status && !t->error)
        fail(t, status, d->backend->error_text(d->backend));
    kmm__task_finish(t, status);
    host_dispatch(d);
    pthread_mutex_unlock(&rt->lock);
}

/* Tasks that a lane runs one after the other before it takes the lock again. */
typedef struct run_list {
    uint32_t count;
    kmm__task_t *tasks[LANE_TASKS];
    int errors[LANE_TASKS];
} run_list_t;

static void functions_take(kmm__device_t *d, run_list_t *list)
{
    uint32_t share = d->startable.count / (2 * d->lane_count) + 1;
    list->count = 0;
    while (list->count < share && list->count < LANE_TASKS && d->startable.count &&
           !queue_first(&d->startable)->work->kernel)
        list->tasks[list->count++] = queue_pop(&d->startable);
}

/* Not locked: others read the task's error, so it is noted by function_finish. */
static int function_run(kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    if (t->error)
        return 0;
    if (w->operation)
        return w->operation->run(w->operation);
    _Alignas(16) unsigned char packed[w->args_bytes + 16];
    kmm__arguments_write(t, packed);
    __atomic_fetch_add(&t->device->launches, 1, __ATOMIC_RELAXED);
    kmm__function_begin();
    w->function(&t->range, packed);
    kmm__function_end();
    return 0;
}

static void function_finish(kmm__task_t *t, int error)
{
    if (error)
        fail(t, error, kmm_error_string(error));
    kmm__task_finish(t, 0);
}

/* Waits a little for another task to start: less than it costs to be woken. Not locked. Whoever
 * submitted it may be about to submit more: it gets the lock first, so that several are taken at a
 * time. */
static void linger(const kmm__device_t *d)
{
    int k = 0;
    while (k < LINGER && atomic_load_explicit(&d->startable.count, memory_order_relaxed) == 0)
        k++, kmm__relax();
    for (int more = 0; k < LINGER && more < LINGER_MORE; more++)
        kmm__relax();
}

/* Runs functions and operations, and finishes them, which may make others startable. */
static void lane_main(const kmm_chunk_t *chunk, void *args)
{
    kmm__lane_t *lane;
    run_list_t list;
    (void)chunk;
    memcpy(&lane, args, sizeof(lane));
    kmm__device_t *d = lane->device;
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    for (bool lingered = false;;) {
        functions_take(d, &list);
        if (list.count == 0 && (lingered || d->startable.count))
            break;
        lingered = list.count == 0;
        d->seekers -= !lingered;
        pthread_mutex_unlock(&rt->lock);
        for (uint32_t k = 0; k < list.count; k++)
            list.errors[k] = function_run(list.tasks[k]);
        if (lingered)
            linger(d);
        kmm__spin_lock(&rt->lock);
        d->seekers += !lingered;
        for (uint32_t k = 0; k < list.count; k++)
            function_finish(list.tasks[k], list.errors[k]);
    }
    d->seekers--;
    lane->is_taken = false;
    host_dispatch(d);
    pthread_mutex_unlock(&rt->lock);
}

void kmm__host_run(kmm__task_t *t)
{
    if (t->work->is_inline) {
        inline_enter(t);
        return;
    }
    queue_push(&t->device->startable, t);
    host_dispatch(t->device);
}

/* Makes host buffers for everything the task touches. */
static int buffers_ensure(kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    bool ok = true;
    for (uint32_t k = 0; k < t->access_count; k++)
        ok &= t->accesses[k].array->is_abstract || kmm__array_host(t->accesses[k].array) != NULL;
    for (uint32_t k = 0; k < w->pointer_count; k++)
        ok &= kmm__array_host(w->pointers[k].array) != NULL;
    return ok ? 0 : kmm__error_set(KMM_E_MEMORY, "no host memory for its arrays");
}

void kmm__host_arrived(kmm__task_t *t, int error, bool is_last)
{
    if (error && !t->error)
        fail(t, error, kmm__error_get());
    if (is_last && --t->done_left == 0)
        kmm__host_run(t);
}

static void issue_on_host(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->device->runtime;
    kmm__moves_t moves = {0};
    t->done_left++; /* ours, until the copies are on their way */
    int error = buffers_ensure(t);
    if (!error)
        error = kmm__spill_hold_task(t);
    if (!error)
        error = kmm__coherence_acquire(t, &moves);
    if (error)
        fail(t, error, kmm__error_get());
    kmm__task_issued(t);
    error = moves.count ? kmm__spill_await_task(t) : t->error ? 0 : kmm__spill_expect_task(t);
    if (error && !t->error)
        fail(t, error, kmm__error_get());
    if (moves.count) {
        int moved = error;
        pthread_mutex_unlock(&rt->lock);
        if (!moved)
            moved = kmm__moves_enqueue(&moves, true);
        pthread_mutex_lock(&rt->lock);
        if (moved && !t->error)
            fail_copy(t, moved, moves.move[0].from);
        if (moved)
            kmm__copies_fail(t, moved);
        pthread_mutex_unlock(&rt->lock);
        announce_copies_out(t, &moves);
        pthread_mutex_lock(&rt->lock);
        kmm__moves_drop(&moves);
    }
    if (--t->done_left == 0)
        kmm__host_run(t);
}

/* ---- The thread ---- */

void kmm__device_wake(kmm__device_t *d)
{
    atomic_store_explicit(&d->wakes, atomic_load_explicit(&d->wakes, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    pthread_cond_signal(&d->wake);
}

void kmm__ready_push(kmm__task_t *t)
{
    /* Where all data is in one memory, and stays there, there is nothing to bring or to wait for.
     */
    if (t->is_plain && !t->error) {
        t->state = KMM__TASK_ISSUED;
        kmm__host_run(t);
        return;
    }
    if (!t->runtime->has_spaces && !kmm__spill_room(t->runtime) && !t->error) {
        issue_on_host(t);
        return;
    }
    queue_push(&t->device->ready, t);
    kmm__device_wake(t->device);
}

static kmm__task_t *ready_pop(kmm__device_t *d)
{
    kmm__task_t *first = queue_first(&d->ready);
    return first && d->in_flight < DEVICE_DEPTH && !is_early(d, first) ? queue_pop(&d->ready)
                                                                       : NULL;
}

static void issue(kmm__task_t *t)
{
    if (!t->error && t->device->lost)
        fail(t, t->device->lost, "its device was lost by an earlier failure");
    if (t->error) {
        kmm__task_finish(t, t->error);
        return;
    }
    if (t->device->space == KMM__HOST)
        issue_on_host(t);
    else
        issue_on_stream(t);
}

static void *device_main(void *arg)
{
    kmm__device_t *d = arg;
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    for (bool lingers = false;;) { /* when there is nothing to do: whoever submits or finishes tasks
                                      is likely to make more ready soon */
        uint64_t seen = d->wakes;
        kmm__frames_service(d);
        kmm__frames_evict_ahead(d);
        kmm__task_t *t = ready_pop(d);
        if (t) {
            issue(t);
            lingers = d->backend->kind != KMM_KIND_HOST;
        } else if (rt->stopping) {
            break;
        } else if (d->wakes == seen && lingers) {
            pthread_mutex_unlock(&rt->lock);
            kmm__spin_while(&d->wakes, seen);
            device_lock(rt);
            lingers = d->wakes != seen;
        } else if (d->wakes == seen) {
            pthread_cond_wait(&d->wake, &rt->lock);
        }
    }
    pthread_mutex_unlock(&rt->lock);
    return NULL;
}

static int streams_create(kmm__device_t *d)
{
    const kmm__backend_t *b = d->backend;
    int error = 0;
    d->lane_count = d->info.lanes ? d->info.lanes : 1;
    d->lanes = kmm__alloc((d->lane_count + KMM__SIDE_LANES) * sizeof(*d->lanes));
    for (uint32_t k = 0; k < d->lane_count && !error; k++) {
        d->lanes[k].device = d;
        error = b->stream_create(d->gpu, &d->lanes[k].stream);
    }
    if (d->space == KMM__HOST)
        return error;
    error = error ? error : b->stream_create(d->gpu, &d->in);
    error = error ? error : b->stream_create(d->gpu, &d->out);
    return error ? error : b->stream_create(d->gpu, &d->peer);
}

void kmm__device_init(kmm__device_t *d)
{
    pthread_cond_init(&d->wake, NULL);
    pthread_mutex_init(&d->in_lock, NULL);
    pthread_mutex_init(&d->out_lock, NULL);
    pthread_mutex_init(&d->peer_lock, NULL);
}

int kmm__device_start(kmm__device_t *d)
{
    int error = streams_create(d);
    if (error)
        return kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
    if (pthread_create(&d->thread, NULL, device_main, d))
        return kmm__error_set(KMM_E_MEMORY, "no thread for %s", d->info.name);
    d->thread_runs = true;
    return 0;
}

static void stream_drop(kmm__device_t *d, kmm__stream_t *s)
{
    if (s)
        d->backend->stream_destroy(s);
}

void kmm__device_end(kmm__device_t *d)
{
    if (d->thread_runs)
        pthread_join(d->thread, NULL);
    kmm__ahead_stop(d);
    kmm__frames_close(d);
}

void kmm__device_stop(kmm__device_t *d)
{
    order_drop(d);
    for (uint32_t k = 0; k < d->event_count; k++)
        d->backend->event_destroy(d->events[k]);
    free(d->events);
    for (uint32_t k = 0; d->lanes && k < d->lane_count + KMM__SIDE_LANES; k++)
        stream_drop(d, d->lanes[k].stream);
    free(d->lanes);
    free(d->ready.tasks);
    free(d->startable.tasks);
    stream_drop(d, d->in);
    stream_drop(d, d->out);
    stream_drop(d, d->peer);
    if (d->gpu)
        d->backend->close(d->gpu);
    pthread_cond_destroy(&d->wake);
    pthread_mutex_destroy(&d->in_lock);
    pthread_mutex_destroy(&d->out_lock);
    pthread_mutex_destroy(&d->peer_lock);
    free(d);
}
