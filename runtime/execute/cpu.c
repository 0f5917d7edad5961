/* SPDX-License-Identifier: Apache-2.0 */
/* Runs tasks in the host's space. A compute stream of the CPU is a stream of its backend. Kernels
 * are launched on compute streams. For functions and operations, a compute stream is taken:
 * stream_main runs on it, and calls them one after the other. */
#include "execute/cpu.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/range.h"
#include "base/running.h"
#include "base/spin.h"
#include "base/thread.h"
#include "execute/check.h"
#include "execute/copies.h"
#include "execute/failure.h"
#include "execute/kernel.h"
#include "execute/queue.h"
#include "execute/statements.h"
#include "memory/coherence.h"
#include "memory/disk/pin.h"
#include "memory/lifetime.h"
#include "task/inside.h"
#include "task/ticket.h"
#include "task/traced.h"

enum {
    STREAM_DEPTH = 2,  /* kernels on one compute stream at once */
    STREAM_TASKS = 16, /* functions and operations that stream_main takes at once */
    /* Turns of the loops in `linger`: for more work, and for the submitting thread to submit more.
     */
    LINGER = 200,
    LINGER_MORE = 64
};

static void host_task_finished(void *arg, int status);

/* The compute stream with the fewest kernels that is not taken and has room for one; `empty`: that
 * has none. NULL: there is none. */
static kmm__compute_stream_t *stream_choose(kmm__device_t *d, bool empty)
{
    kmm__compute_stream_t *best = NULL;
    for (uint32_t k = 0; k < d->compute_stream_count; k++)
        if (!d->compute_streams[k].is_taken &&
            (!best || d->compute_streams[k].in_flight < best->in_flight))
            best = &d->compute_streams[k];
    return best && best->in_flight < (empty ? 1 : STREAM_DEPTH) ? best : NULL;
}

/* A notification, before and after each kernel of a compute stream. */
static void kernel_started(void *arg, int status)
{
    kmm__compute_stream_t *s = arg;
    (void)status;
    s->ran_from = kmm__now();
}

static void kernel_start(kmm__task_t *t, kmm__compute_stream_t *compute_stream)
{
    kmm__device_t *d = t->device;
    t->issue.compute_stream = (uint32_t)(compute_stream - d->compute_streams);
    compute_stream->in_flight++;
    if (d->runtime->stats)
        d->backend->notify(compute_stream->stream, kernel_started, compute_stream);
    int error = t->error ? 0 : kmm__chunks_launch(&t, 1, compute_stream->stream);
    if (error)
        kmm__fail(t, error, d->backend->error_text(d->backend));
    if (d->backend->notify(compute_stream->stream, host_task_finished, t)) {
        compute_stream->in_flight--;
        kmm__task_finish(t, KMM_E_DEVICE);
    }
}

static void stream_main(const kmm_chunk_t *chunk, void *args);

/* Takes a compute stream for functions and operations. False: none is free. */
static bool stream_take(kmm__device_t *d)
{
    kmm__compute_stream_t *compute_stream = stream_choose(d, true);
    if (!compute_stream)
        return false;
    kmm__run_t run = {.function = stream_main,
                      .args_block = &compute_stream,
                      .args_bytes = sizeof(compute_stream)};
    compute_stream->is_taken = true;
    d->queue->spinning++;
    if (d->backend->launch(compute_stream->stream, &run) == 0)
        return true;
    compute_stream->is_taken = false;
    d->queue->spinning--;
    return false;
}

/* Locked: starts startable tasks as long as there are compute streams for them. */
static void host_dispatch(kmm__device_t *d)
{
    for (kmm__task_t *t; (t = kmm__queue_first(&d->queue->startable));) {
        if (!t->work->kernel) {
            if (d->queue->spinning >= d->queue->startable.count || !stream_take(d))
                return;
            continue;
        }
        kmm__compute_stream_t *compute_stream = stream_choose(d, false);
        if (!compute_stream)
            return;
        kernel_start(kmm__queue_pop(&d->queue->startable), compute_stream);
    }
}

static void host_task_finished(void *arg, int status)
{
    kmm__task_t *t = arg;
    kmm__device_t *d = t->device;
    kmm_runtime_t *rt = d->runtime;
    kmm__compute_stream_t *compute_stream = &d->compute_streams[t->issue.compute_stream];
    if (rt->stats)
        kmm__count(&d->counters.run_ns, kmm__now() - compute_stream->ran_from);
    pthread_mutex_lock(&rt->lock);
    compute_stream->in_flight--;
    if (status && !t->error)
        kmm__fail(t, status, d->backend->error_text(d->backend));
    kmm__task_finish(t, status);
    host_dispatch(d);
    pthread_mutex_unlock(&rt->lock);
}

/* Tasks that stream_main runs before it takes the lock again. */
typedef struct run_list {
    uint32_t count;
    kmm__task_t *tasks[STREAM_TASKS];
    int errors[STREAM_TASKS];
} run_list_t;

static void functions_take(kmm__device_t *d, run_list_t *list)
{
    uint32_t share = d->queue->startable.count / (2 * d->compute_stream_count) + 1;
    list->count = 0;
    while (list->count < share && list->count < STREAM_TASKS && d->queue->startable.count &&
           !kmm__queue_first(&d->queue->startable)->work->kernel)
        list->tasks[list->count++] = kmm__queue_pop(&d->queue->startable);
}

static int function_call(kmm__task_t *t)
{
    if (kmm__check_wants(t))
        return kmm__check_call(t, kmm__function_call);
    kmm__function_call(t);
    return 0;
}

static int function_timed(kmm__task_t *t)
{
    const uint64_t begin = kmm__now();
    int error = function_call(t);
    kmm__count(&t->device->counters.run_ns, kmm__now() - begin);
    return error;
}

static int function_try(kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    if (w->operation)
        return w->operation->run(w->operation);
    kmm__count(&t->device->counters.launches, 1);
    if (__builtin_expect(t->device->runtime->stats != NULL, 0))
        return function_timed(t);
    return function_call(t);
}

/* Not locked: other threads read the task's error, so function_finish sets it. `running` is this
 * thread's. */
static int function_run(kmm__task_t *t, const kmm__running_t **running)
{
    const kmm__task_t *list = t;
    const kmm__running_t now = {&list, 1};
    if (t->error)
        return 0;
    *running = &now;
    KMM__TRACE_TASK(KMM__EVENT_CALL_BEGIN, t, 0);
    if (kmm__ranging())
        kmm__range_begin(&t, 1);
    int error = function_try(t);
    if (kmm__ranging())
        kmm__range_end();
    KMM__TRACE_TASK(KMM__EVENT_CALL_END, t, 0);
    *running = NULL;
    return error;
}

static void function_finish(kmm__task_t *t, int error)
{
    if (error)
        kmm__fail(t, error, kmm_error_string(error));
    kmm__task_finish(t, 0);
}

/* Not locked: waits for another startable task, for less time than waking this thread would take.
 * If one comes, waits a little more, so that the thread that submits can take the lock and submit
 * several. */
static void linger(const kmm__device_t *d)
{
    int k = 0;
    while (k < LINGER &&
           atomic_load_explicit(&d->queue->startable.count, memory_order_relaxed) == 0)
        k++, kmm__relax();
    for (int more = 0; k < LINGER && more < LINGER_MORE; more++)
        kmm__relax();
}

/* This thread's record of what it runs. Not inlined, because the compiler would look the address up
 * again for each task. */
static __attribute__((noinline)) const kmm__running_t **running_of_thread(void)
{
    return &kmm__running;
}

/* Runs functions and operations on a taken compute stream until there are none. */
static void stream_main(const kmm_chunk_t *chunk, void *args)
{
    kmm__compute_stream_t *compute_stream;
    const kmm__running_t **running = running_of_thread();
    run_list_t list;
    (void)chunk;
    memcpy(&compute_stream, args, sizeof(compute_stream));
    kmm__device_t *d = compute_stream->device;
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    for (bool lingered = false;;) {
        functions_take(d, &list);
        if (list.count == 0 && (lingered || d->queue->startable.count))
            break;
        lingered = list.count == 0;
        d->queue->spinning -= !lingered;
        pthread_mutex_unlock(&rt->lock);
        for (uint32_t k = 0; k < list.count; k++)
            list.errors[k] = function_run(list.tasks[k], running);
        if (lingered)
            linger(d);
        kmm__spin_lock(&rt->lock);
        d->queue->spinning += !lingered;
        for (uint32_t k = 0; k < list.count; k++)
            function_finish(list.tasks[k], list.errors[k]);
    }
    d->queue->spinning--;
    compute_stream->is_taken = false;
    host_dispatch(d);
    pthread_mutex_unlock(&rt->lock);
}

void kmm__host_run(kmm__task_t *t)
{
    if (t->work->has_statements) {
        kmm__statements_enter(t);
        return;
    }
    if (t->work->function && t->work->is_undivided) {
        t->work->handed = t;
        pthread_cond_broadcast(&t->runtime->progress);
        return;
    }
    kmm__queue_push(&t->device->queue->startable, t);
    host_dispatch(t->device);
}

static bool masks_are_equal(const sigset_t *a, const sigset_t *b)
{
    bool are = true;
    for (int k = 1; k < NSIG; k++)
        are &= sigismember(a, k) == sigismember(b, k);
    return are;
}

/* What the function leaves set in its thread, which with the pragma is none of the program's. */
static void refuse_left(kmm__task_t *t, const char *what)
{
    char text[200];
    snprintf(text, sizeof(text),
             "the function leaves another %s set in its thread, and its caller would not get it; "
             "set it back before the function returns",
             what);
    kmm__exit_violation();
    kmm__fail(t, KMM_E_ACCESS, text);
}

void kmm__host_run_handed(kmm__work_t *w)
{
    kmm_runtime_t *rt = w->runtime;
    while (w->is_undivided && w->function && !w->handed && w->refs > 1) /* the task is not over */
        kmm__cond_wait(&rt->progress, &rt->lock);
    kmm__task_t *t = w->handed;
    if (!t)
        return;
    w->handed = NULL;
    pthread_mutex_unlock(&rt->lock);
    sigset_t mask, left;
    const locale_t locale = uselocale((locale_t)0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    kmm__running_watch(NULL, 0);
    int error = function_run(t, running_of_thread());
    const bool has_locale = uselocale(locale) == locale;
    pthread_sigmask(SIG_SETMASK, &mask, &left);
    pthread_mutex_lock(&rt->lock);
    if (!has_locale)
        refuse_left(t, "locale");
    if (!masks_are_equal(&mask, &left))
        refuse_left(t, "signal mask");
    function_finish(t, error);
}

/* Makes host buffers of all arrays that t accesses or points to. */
static int buffers_ensure(kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    bool ok = true;
    for (uint32_t k = 0; k < t->access_count; k++)
        ok &= t->accesses[k].array->object.is_abstract ||
              kmm__array_host(t->accesses[k].array) != NULL;
    for (uint32_t k = 0; k < w->pointer_count; k++)
        ok &= kmm__array_host(w->pointers[k].array) != NULL;
    return ok ? 0 : kmm__error_set(KMM_E_MEMORY, "no host memory for its arrays");
}

void kmm__host_arrived(kmm__task_t *t, int error, bool is_last)
{
    if (error && !t->error)
        kmm__fail(t, error, kmm__error_get());
    if (is_last && kmm__task_run_left_fall(t))
        kmm__host_run(t);
}

/* Enqueues copies to the host that t waits for; not if `error` says that its pages could not be
 * had. Unlocks meanwhile. */
static void moves_issue(kmm__task_t *t, kmm__moves_t *moves, int error)
{
    kmm_runtime_t *rt = t->device->runtime;
    pthread_mutex_unlock(&rt->lock);
    if (!error)
        error = kmm__moves_enqueue(moves, true);
    pthread_mutex_lock(&rt->lock);
    if (error && !t->error)
        kmm__fail_copy(t, error, moves->move[0].from);
    if (error)
        kmm__copies_fail(t, error);
    pthread_mutex_unlock(&rt->lock);
    kmm__copies_announce(t, moves);
    pthread_mutex_lock(&rt->lock);
    kmm__moves_drop(moves);
}

void kmm__issue_on_host(kmm__task_t *t)
{
    kmm__moves_t moves = {0};
    kmm__task_run_later(t, 1); /* of this function, until the copies are enqueued */
    int error = buffers_ensure(t);
    if (!error)
        error = kmm__spill_pin_task(t);
    if (!error)
        error = kmm__coherence_acquire(t, &moves);
    if (error)
        kmm__fail(t, error, kmm__error_get());
    kmm__task_issued(t);
    error = moves.count ? kmm__spill_await_task(t) : t->error ? 0 : kmm__spill_expect_task(t);
    if (error && !t->error)
        kmm__fail(t, error, kmm__error_get());
    if (moves.count)
        moves_issue(t, &moves, error);
    if (kmm__task_run_left_fall(t))
        kmm__host_run(t);
}
