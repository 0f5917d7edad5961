/* SPDX-License-Identifier: Apache-2.0 */
/* The disk's thread. It reads and writes pages and releases their memory. */
#include "memory/disk/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/trace.h"
#include "memory/disk/job.h"
#include "memory/disk/pin.h"
#include "memory/host/pagelock.h"

/* Not locked: releases a page's memory to the system. Nothing uses it. */
static void give_back(kmm__page_t *s)
{
    kmm__pageunlock(s->array, s->index);
    madvise(kmm__page_memory(s), kmm__page_bytes(s), MADV_DONTNEED);
}

/* Called locked, unlocks meanwhile. */
static void give_back_and_leave(kmm__spill_t *p, kmm__page_t *s)
{
    pthread_mutex_unlock(&p->runtime->lock);
    give_back(s);
    pthread_mutex_lock(&p->runtime->lock);
    kmm__page_leave(p, s);
}

/* Numbers the transfers of the process. */
static uint64_t next_number(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

static void trace(const kmm__job_t *j, kmm__event_kind_t kind)
{
    KMM__TRACE(.kind = (uint8_t)kind, .mode = j->kind == KMM__JOB_WRITE, .a = j->number,
               .b = j->op.bytes);
}

/* Called locked, unlocks meanwhile. */
static void job_begin(kmm__spill_t *p, kmm__job_t *j)
{
    kmm__page_t *s = j->page;
    bool leaves = j->kind == KMM__JOB_WRITE || j->kind == KMM__JOB_RELEASE;
    if (leaves && s->pins) { /* it was pinned meanwhile */
        kmm__page_stay(p, s);
        free(j);
        return;
    }
    if (j->kind == KMM__JOB_WRITE && s->array->refs == 0) {
        j->kind = KMM__JOB_RELEASE;
        p->stats.dropped += kmm__page_bytes(s);
    }
    if (j->kind == KMM__JOB_RELEASE) {
        give_back_and_leave(p, s);
        free(j);
        return;
    }
    if (s->slot < 0)
        s->slot = kmm__slot_take(p);
    j->op = (kmm__disk_op_t){.writes = j->kind == KMM__JOB_WRITE,
                             .memory = j->buffer ? j->buffer->memory : kmm__page_memory(s),
                             .bytes = kmm__page_bytes(s),
                             .offset = s->slot * (int64_t)p->page_bytes,
                             .owner = j};
    p->in_flight++;
    j->number = kmm__tracing() ? next_number() : 0;
    trace(j, KMM__EVENT_DISK_BEGIN);
    pthread_mutex_unlock(&p->runtime->lock);
    if (j->kind == KMM__JOB_WRITE)
        j->checksum = kmm__disk_checksum(j->op.memory, j->op.bytes);
    kmm__disk_start(p->disk, &j->op);
    pthread_mutex_lock(&p->runtime->lock);
}

static void write_finish(kmm__spill_t *p, kmm__job_t *j)
{
    kmm__page_t *s = j->page;
    if (j->op.error) {
        p->failures++;
        p->write_error = j->op.error;
        kmm__page_stay(p, s);
        return;
    }
    s->clean = true;
    s->checksum = j->checksum;
    p->stats.written += j->op.bytes;
    if (s->pins)
        kmm__page_stay(p, s);
    else
        give_back_and_leave(p, s);
}

static void read_finish(kmm__spill_t *p, kmm__job_t *j)
{
    kmm__page_t *s = j->page;
    int error = j->op.error ? j->op.error : j->checksum != s->checksum ? KMM_E_CORRUPT : 0;
    p->stats.read += j->op.bytes;
    if (j->kind == KMM__JOB_FILL) {
        j->buffer->error = error;
        j->buffer->reading = false;
        s->slot_readers--;
        pthread_cond_broadcast(&p->changed);
    } else if (error) {
        s->error = error;
        pthread_mutex_unlock(&p->runtime->lock);
        give_back(s);
        pthread_mutex_lock(&p->runtime->lock);
        kmm__page_fail(p, s);
        kmm__spill_tell_waiters(p, s, error);
    } else {
        kmm__page_arrive(p, s);
        kmm__spill_tell_waiters(p, s, 0);
    }
}

static void job_finish(kmm__spill_t *p, kmm__job_t *j)
{
    p->in_flight--;
    if (j->number)
        trace(j, KMM__EVENT_DISK_END);
    if (j->kind == KMM__JOB_WRITE)
        write_finish(p, j);
    else
        read_finish(p, j);
    free(j);
}

static void *disk_main(void *arg)
{
    kmm__spill_t *p = arg;
    KMM__TRACE(.kind = KMM__EVENT_THREAD, .text = "reads and writes pages");
    pthread_mutex_lock(&p->runtime->lock);
    for (;;) {
        kmm__job_t *j = kmm__job_pop(p);
        if (j) {
            job_begin(p, j);
            continue;
        }
        if (p->stopping && p->in_flight == 0)
            break;
        p->awaits = true;
        pthread_mutex_unlock(&p->runtime->lock);
        kmm__disk_op_t *op = kmm__disk_await(p->disk);
        j = op ? op->owner : NULL;
        if (j && j->kind != KMM__JOB_WRITE && !op->error)
            j->checksum = kmm__disk_checksum(op->memory, op->bytes);
        pthread_mutex_lock(&p->runtime->lock);
        p->awaits = false;
        if (j)
            job_finish(p, j);
    }
    pthread_mutex_unlock(&p->runtime->lock);
    return NULL;
}

/* Starts the thread with all signals blocked. A write to a file that may not grow raises a signal,
 * and the program's handlers must not run on this thread. */
int kmm__disk_thread_start(kmm__spill_t *p)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    p->thread_runs = pthread_create(&p->thread, NULL, disk_main, p) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return p->thread_runs ? 0 : kmm__error_set(KMM_E_MEMORY, "no thread for the disk");
}

void kmm__disk_thread_stop(kmm__spill_t *p)
{
    if (!p->thread_runs)
        return;
    pthread_mutex_lock(&p->runtime->lock);
    p->stopping = true;
    kmm__disk_wake(p->disk);
    pthread_mutex_unlock(&p->runtime->lock);
    pthread_join(p->thread, NULL);
}
