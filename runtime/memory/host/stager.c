/* SPDX-License-Identifier: Apache-2.0 */
/* Staging buffers, and the threads that fill and empty them. */
#include "memory/host/stager.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "memory/host/numa.h"
#include "memory/state.h"

enum { LEAST_CPUS = 4, SPARED_CPUS = 2, BUFFER_BYTES = 1 << 20 };

/* ---- Notes ---- */

/* Locked: true if a piece before the note has not landed. */
static bool is_behind(const struct kmm__stager *p, const kmm__staged_note_t *n)
{
    for (uint32_t k = KMM__STAGE_BUFFERS; k < 2 * KMM__STAGE_BUFFERS; k++)
        if (p->buffers[k].state != KMM__STAGING_FREE && p->buffers[k].device == n->device &&
            p->buffers[k].number < n->number)
            return true;
    return false;
}

/* Locked: removes the first note that waits for nothing. NULL: there is none. */
static kmm__staged_note_t *note_take(struct kmm__stager *p)
{
    for (kmm__staged_note_t **at = &p->notes; *at; at = &(*at)->next) {
        kmm__staged_note_t *n = *at;
        if (is_behind(p, n))
            continue;
        *at = n->next;
        if (!n->next)
            p->notes_end = at;
        return n;
    }
    return NULL;
}

/* Locked, unlocks meanwhile. */
void kmm__notes_deliver(struct kmm__stager *p)
{
    p->delivering++;
    for (kmm__staged_note_t *n; (n = note_take(p));) {
        pthread_mutex_unlock(&p->lock);
        n->fn(n->arg, n->status);
        free(n);
        pthread_mutex_lock(&p->lock);
    }
    if (--p->delivering == 0)
        pthread_cond_broadcast(&p->changed);
}

static void note_arrived(void *arg, int status)
{
    kmm__staged_note_t *n = arg;
    struct kmm__stager *p = n->device->runtime->memory->stager;
    n->status = status;
    n->next = NULL;
    pthread_mutex_lock(&p->lock);
    p->coming--;
    *p->notes_end = n;
    p->notes_end = &n->next;
    kmm__notes_deliver(p);
    pthread_mutex_unlock(&p->lock);
}

int kmm__stage_notify(kmm__device_t *d, void (*fn)(void *arg, int status), void *arg)
{
    struct kmm__stager *p = d->runtime->memory->stager;
    if (!p->landing) /* pieces of all that is on d->out are counted by now */
        return d->backend->notify(d->out, fn, arg);
    kmm__staged_note_t *n = kmm__alloc(sizeof(*n));
    *n = (kmm__staged_note_t){.device = d, .fn = fn, .arg = arg};
    pthread_mutex_lock(&p->lock);
    n->number = p->next_number;
    p->coming++;
    pthread_mutex_unlock(&p->lock);
    int error = d->backend->notify(d->out, note_arrived, n);
    if (!error)
        return 0;
    free(n);
    pthread_mutex_lock(&p->lock);
    p->coming--;
    pthread_mutex_unlock(&p->lock);
    return error;
}

/* ---- The threads ---- */

void kmm__staging_free(kmm__staging_t *s)
{
    s->state = KMM__STAGING_FREE;
    s->stager->landing -= s->stage == NULL;
    pthread_cond_broadcast(&s->stager->changed);
}

static void rows_copy(char *to, int64_t to_pitch, const char *from, int64_t from_pitch,
                      const kmm__staging_t *s)
{
    for (int64_t k = 0; k < s->rows; k++)
        memcpy(to + k * to_pitch, from + k * from_pitch, (size_t)s->width);
}

/* Locked, unlocks meanwhile. */
static void buffer_work(kmm__staging_t *s)
{
    struct kmm__stager *p = s->stager;
    s->state = KMM__STAGING_WORKED;
    pthread_mutex_unlock(&p->lock);
    if (s->stage)
        rows_copy(s->memory, s->width, s->host, s->pitch, s);
    else
        rows_copy(s->host, s->pitch, s->memory, s->width, s);
    pthread_mutex_lock(&p->lock);
    if (s->stage) {
        s->state = KMM__STAGING_FILLED;
        s->stage->filling--;
        s->stage->filled++;
        pthread_cond_broadcast(&p->changed);
        return;
    }
    kmm__staging_free(s);
    kmm__notes_deliver(p);
}

static void *stage_main(void *arg)
{
    struct kmm__stager *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        kmm__staging_t *s = p->first;
        if (!s && p->stopping)
            break;
        if (!s) {
            kmm__cond_wait(&p->work, &p->lock);
            continue;
        }
        p->first = s->next;
        if (!p->first)
            p->end = &p->first;
        buffer_work(s);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void kmm__staging_queue(kmm__staging_t *s)
{
    struct kmm__stager *p = s->stager;
    s->state = KMM__STAGING_QUEUED;
    s->next = NULL;
    *p->end = s;
    p->end = &s->next;
    pthread_cond_signal(&p->work);
}

kmm__staging_t *kmm__staging_near(struct kmm__stager *p, uint32_t first, int node)
{
    kmm__staging_t *any = NULL;
    for (uint32_t k = first; k < first + KMM__STAGE_BUFFERS; k++) {
        kmm__staging_t *s = &p->buffers[k];
        if (s->state == KMM__STAGING_FREE && s->node == node)
            return s;
        if (s->state == KMM__STAGING_FREE && !any)
            any = s;
    }
    return any;
}

/* ---- Making and end ---- */

/* Returns an integer environment variable, or `otherwise`: what base/environment.c warns of is
 * ignored. */
static long environment_number(const char *name, long least, long most, long otherwise)
{
    const char *text = getenv(name);
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    return text && *text && *end == '\0' && n >= least && n <= most ? n : otherwise;
}

/* Threads: KMM_STAGE_THREADS, or as many as the machine can spare. */
static uint32_t threads_wanted(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), n = cpus < LEAST_CPUS ? 0 : cpus - SPARED_CPUS;
    n = n < KMM__STAGE_THREADS ? n : KMM__STAGE_THREADS;
    return (uint32_t)environment_number("KMM_STAGE_THREADS", 0, KMM__STAGE_THREADS, n);
}

/* Bytes of one buffer, of which there are 2 * KMM__STAGE_BUFFERS: KMM_STAGE_BYTES, or a default. */
static size_t buffer_bytes(void)
{
    enum { MOST = 1 << 30 };
    long page = sysconf(_SC_PAGESIZE),
         n = environment_number("KMM_STAGE_BYTES", 1, MOST, BUFFER_BYTES);
    return (size_t)((n + page - 1) / page * page);
}

/* Reads KMM_STAGE_TIMES, which replaces what is measured. Returns 0 or an error. */
static int times_given(struct kmm__stager *p)
{
    const char *text = getenv("KMM_STAGE_TIMES");
    char *end;
    if (!text || !*text)
        return 0;
    p->times = strtod(text, &end);
    p->costs_state = KMM__COSTS_KNOWN;
    return *end == '\0' && p->times >= 0
               ? 0
               : kmm__error_set(KMM_E_INVALID, "KMM_STAGE_TIMES=%s: no number, such as 2.5 or 0",
                                text);
}

int kmm__stage_start(kmm_runtime_t *rt)
{
    struct kmm__stager *p = rt->memory->stager = kmm__alloc(sizeof(*p));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->end = &p->first;
    p->notes_end = &p->notes;
    p->threads_wanted = threads_wanted();
    p->buffer_bytes = buffer_bytes();
    return times_given(p);
}

/* Divides the buffers of each half among the devices in equal parts, and binds each to memory near
 * its device. */
static void buffers_place(struct kmm__stager *p, kmm_runtime_t *rt, char *memory)
{
    for (uint32_t k = 0; k < 2 * KMM__STAGE_BUFFERS; k++) {
        kmm__device_t *d =
            rt->device[k % KMM__STAGE_BUFFERS * rt->visible_count / KMM__STAGE_BUFFERS];
        char *buffer = memory + k * p->buffer_bytes;
        kmm__numa_bind(d, buffer, p->buffer_bytes);
        p->buffers[k] = (kmm__staging_t){.stager = p, .memory = buffer, .node = kmm__numa_node(d)};
    }
}

bool kmm__stager_begin(struct kmm__stager *p, kmm_runtime_t *rt, kmm__backend_t *backend)
{
    size_t bytes = 2 * KMM__STAGE_BUFFERS * p->buffer_bytes;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    buffers_place(p, rt, memory);
    if (backend->host_register(backend, memory, bytes)) {
        munmap(memory, bytes);
        return false;
    }
    p->memory = memory;
    p->locked_by = backend;
    while (p->thread_count < p->threads_wanted &&
           kmm__thread_create(&p->threads[p->thread_count], stage_main, p) == 0)
        p->thread_count++;
    return p->thread_count > 0;
}

/* Locked: true if no thread uses the stager any more. The thread that delivered the last note may
 * still be on its way out. */
static bool is_quiet(const struct kmm__stager *p)
{
    bool quiet = !p->coming && !p->notes && !p->delivering;
    for (uint32_t k = 0; k < 2 * KMM__STAGE_BUFFERS; k++)
        quiet &= p->buffers[k].state == KMM__STAGING_FREE;
    return quiet;
}

void kmm__stage_stop(kmm_runtime_t *rt)
{
    struct kmm__stager *p = rt->memory->stager;
    pthread_mutex_lock(&p->lock);
    while (!is_quiet(p))
        kmm__cond_wait(&p->changed, &p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t k = 0; k < p->thread_count; k++)
        pthread_join(p->threads[k], NULL);
    if (p->memory) {
        p->locked_by->host_unregister(p->locked_by, p->memory);
        munmap(p->memory, 2 * KMM__STAGE_BUFFERS * p->buffer_bytes);
    }
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    rt->memory->stager = NULL;
}
