/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices and ordinary memory through page-locked buffers, which several threads of
 * the CPU fill and empty. Page-locking memory costs as much as copying it several times, which
 * memory that is mapped for one launch does not pay back; pin.c says which memory goes which way,
 * by what both cost on this machine (costs.c).
 *
 * In: a thread fills a buffer, and whoever asked for the copy enqueues it from there. Out: the copy
 * goes to a buffer, and once it is there, a thread empties that. So what has been copied out
 * *lands* later than its stream says, and whoever is to learn of it through a notification asks
 * kmm__stage_notify for one.
 */
#include "memory/host/stage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/host/costs.h"
#include "memory/host/near.h"

enum {
    SLOTS = 32,
    MOST_THREADS = 12,
    LEAST_CPUS = 4,
    SPARED_CPUS = 2,
    SLOT_BYTES = 1 << 20,
    USUAL_TIMES = 2
};

typedef enum slot_state {
    SLOT_FREE,
    SLOT_QUEUED, /* for a thread of the CPU */
    SLOT_WORKED, /* a thread fills or empties it */
    SLOT_FILLED, /* in: to be enqueued */
    SLOT_COPIED  /* the device reads or writes it */
} slot_state_t;

/* A piece of a copy: rows of the host's memory, which lie one behind the other in the buffer. */
typedef struct slot {
    struct kmm__stager *stager;
    slot_state_t state;
    char *buffer, *host;
    int node;       /* of the host's memory, that the buffer is on; -1: any */
    kmm__addr_t at; /* on the device */
    int64_t width, pitch, rows;
    kmm__device_t *device;
    kmm__stream_t *stream;
    kmm__stage_t *stage; /* in: of whom it is; NULL: out */
    uint64_t number;     /* out: counts up as pieces are enqueued */
    struct slot *next;
} slot_t;

/* A notification that its stream has delivered, and who is to get it once the pieces before it have
 * landed. */
typedef struct note {
    kmm__device_t *device;
    void (*fn)(void *arg, int status);
    void *arg;
    int status;
    uint64_t number; /* of the first piece behind it */
    struct note *next;
} note_t;

struct kmm__stager {
    pthread_mutex_t lock;   /* no other is taken inside it */
    pthread_cond_t work;    /* a slot was queued */
    pthread_cond_t changed; /* a slot came to another state */
    enum { STAGER_NEW, STAGER_BEGINNING, STAGER_WORKS, STAGER_FAILED } state;
    enum { COSTS_NEW, COSTS_MISSING, COSTS_MEASURING, COSTS_KNOWN } costs_state;
    kmm__copy_costs_t costs; /* all 0 where KMM_STAGE_TIMES says the next */
    double times;            /* kmm__costs_times */
    bool stopping;
    uint32_t threads_wanted, thread_count;
    pthread_t threads[MOST_THREADS];
    size_t slot_bytes;
    char *memory;
    kmm__backend_t *locked_by;
    slot_t slots[2 * SLOTS];  /* for copies in, then for copies out: neither waits for the other */
    slot_t *first, **end;     /* those queued */
    _Atomic uint32_t landing; /* slots of copies out that are in use */
    uint64_t next_number;
    note_t *notes, **notes_end;
    uint32_t coming;     /* notes that their streams have yet to deliver */
    uint32_t delivering; /* threads in notes_deliver */
};

/* ---- Notes ---- */

/* Whether a piece before the note has not landed. Locked. */
static bool is_behind(const struct kmm__stager *p, const note_t *n)
{
    for (uint32_t k = SLOTS; k < 2 * SLOTS; k++)
        if (p->slots[k].state != SLOT_FREE && p->slots[k].device == n->device &&
            p->slots[k].number < n->number)
            return true;
    return false;
}

/* Takes off the first note that waits for nothing any more; NULL: there is none. Locked. */
static note_t *note_take(struct kmm__stager *p)
{
    for (note_t **at = &p->notes; *at; at = &(*at)->next) {
        note_t *n = *at;
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
static void notes_deliver(struct kmm__stager *p)
{
    p->delivering++;
    for (note_t *n; (n = note_take(p));) {
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
    note_t *n = arg;
    struct kmm__stager *p = n->device->runtime->memory->stager;
    n->status = status;
    n->next = NULL;
    pthread_mutex_lock(&p->lock);
    p->coming--;
    *p->notes_end = n;
    p->notes_end = &n->next;
    notes_deliver(p);
    pthread_mutex_unlock(&p->lock);
}

int kmm__stage_notify(kmm__device_t *d, void (*fn)(void *arg, int status), void *arg)
{
    struct kmm__stager *p = d->runtime->memory->stager;
    if (!p->landing) /* what is enqueued on d->out is counted by now */
        return d->backend->notify(d->out, fn, arg);
    note_t *n = kmm__alloc(sizeof(*n));
    *n = (note_t){.device = d, .fn = fn, .arg = arg};
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

static void slot_free(slot_t *s)
{
    s->state = SLOT_FREE;
    s->stager->landing -= s->stage == NULL;
    pthread_cond_broadcast(&s->stager->changed);
}

static void rows_copy(char *to, int64_t to_pitch, const char *from, int64_t from_pitch,
                      const slot_t *s)
{
    for (int64_t k = 0; k < s->rows; k++)
        memcpy(to + k * to_pitch, from + k * from_pitch, (size_t)s->width);
}

/* Locked, unlocks meanwhile. */
static void slot_work(slot_t *s)
{
    struct kmm__stager *p = s->stager;
    s->state = SLOT_WORKED;
    pthread_mutex_unlock(&p->lock);
    if (s->stage)
        rows_copy(s->buffer, s->width, s->host, s->pitch, s);
    else
        rows_copy(s->host, s->pitch, s->buffer, s->width, s);
    pthread_mutex_lock(&p->lock);
    if (s->stage) {
        s->state = SLOT_FILLED;
        s->stage->filling--;
        s->stage->filled++;
        pthread_cond_broadcast(&p->changed);
        return;
    }
    slot_free(s);
    notes_deliver(p);
}

static void *stage_main(void *arg)
{
    struct kmm__stager *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        slot_t *s = p->first;
        if (!s && p->stopping)
            break;
        if (!s) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        p->first = s->next;
        if (!p->first)
            p->end = &p->first;
        slot_work(s);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void slot_queue(slot_t *s)
{
    struct kmm__stager *p = s->stager;
    s->state = SLOT_QUEUED;
    s->next = NULL;
    *p->end = s;
    p->end = &s->next;
    pthread_cond_signal(&p->work);
}

/* ---- Making and end ---- */

/* KMM_STAGE_THREADS, or what the machine can spare. */
static uint32_t threads_wanted(void)
{
    const char *text = getenv("KMM_STAGE_THREADS");
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), n = cpus < LEAST_CPUS ? 0 : cpus - SPARED_CPUS;
    if (text && *text)
        n = strtol(text, NULL, 10);
    return n < 0 ? 0 : n > MOST_THREADS ? MOST_THREADS : (uint32_t)n;
}

/* KMM_STAGE_BYTES: of one buffer; there are 2 * SLOTS. */
static size_t slot_bytes(void)
{
    const char *text = getenv("KMM_STAGE_BYTES");
    long page = sysconf(_SC_PAGESIZE), n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 ? (size_t)((n + page - 1) / page * page) : SLOT_BYTES;
}

/* KMM_STAGE_TIMES: instead of what is measured. */
static int times_given(struct kmm__stager *p)
{
    const char *text = getenv("KMM_STAGE_TIMES");
    char *end;
    if (!text || !*text)
        return 0;
    p->times = strtod(text, &end);
    p->costs_state = COSTS_KNOWN;
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
    p->slot_bytes = slot_bytes();
    return times_given(p);
}

/* The buffers are dealt to the devices, those of each direction alike, and each is near its own. */
static void slots_place(struct kmm__stager *p, kmm_runtime_t *rt, char *memory)
{
    for (uint32_t k = 0; k < 2 * SLOTS; k++) {
        kmm__device_t *d = rt->device[k % SLOTS * rt->visible_count / SLOTS];
        char *buffer = memory + k * p->slot_bytes;
        kmm__near_bind(d, buffer, p->slot_bytes);
        p->slots[k] = (slot_t){.stager = p, .buffer = buffer, .node = kmm__near_node(d)};
    }
}

/* Buffers and threads are made for the first copy. Not locked; others wait. */
static bool begin(struct kmm__stager *p, kmm_runtime_t *rt, kmm__backend_t *backend)
{
    size_t bytes = 2 * SLOTS * p->slot_bytes;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    slots_place(p, rt, memory);
    if (backend->host_register(backend, memory, bytes)) {
        munmap(memory, bytes);
        return false;
    }
    p->memory = memory;
    p->locked_by = backend;
    while (p->thread_count < p->threads_wanted &&
           pthread_create(&p->threads[p->thread_count], NULL, stage_main, p) == 0)
        p->thread_count++;
    return p->thread_count > 0;
}

/* What an earlier process measured, if one did. Locked. */
static void costs_look_up(struct kmm__stager *p, const kmm__device_t *d)
{
    if (p->costs_state != COSTS_NEW)
        return;
    bool known = kmm__costs_load(d, p->threads_wanted, p->slot_bytes, &p->costs);
    p->costs_state = known ? COSTS_KNOWN : COSTS_MISSING;
    p->times = known ? kmm__costs_times(&p->costs) : USUAL_TIMES;
}

bool kmm__stage_works(kmm__device_t *d)
{
    struct kmm__stager *p = d->runtime->memory->stager;
    if (!p->threads_wanted || d->backend->kind == KMM_KIND_HOST)
        return false;
    pthread_mutex_lock(&p->lock);
    costs_look_up(p, d);
    while (p->state == STAGER_BEGINNING)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->state == STAGER_NEW && p->times > 0) {
        p->state = STAGER_BEGINNING;
        pthread_mutex_unlock(&p->lock);
        bool works = begin(p, d->runtime, d->backend);
        pthread_mutex_lock(&p->lock);
        p->state = works ? STAGER_WORKS : STAGER_FAILED;
        pthread_cond_broadcast(&p->changed);
    }
    bool works = p->state == STAGER_WORKS && p->times > 0;
    pthread_mutex_unlock(&p->lock);
    return works;
}

/* A free slot of those from `first` on, on that node of the host's memory if there is one; NULL:
 * none is free. Locked. */
static slot_t *slot_near(struct kmm__stager *p, uint32_t first, int node)
{
    slot_t *any = NULL;
    for (uint32_t k = first; k < first + SLOTS; k++) {
        slot_t *s = &p->slots[k];
        if (s->state == SLOT_FREE && s->node == node)
            return s;
        if (s->state == SLOT_FREE && !any)
            any = s;
    }
    return any;
}

/* ---- What it costs ---- */

/* Frees the buffers of t that have been filled. Locked. */
static void filled_free(struct kmm__stager *p, kmm__stage_t *t)
{
    for (uint32_t k = 0; k < SLOTS && t->filled; k++) {
        slot_t *s = &p->slots[k];
        if (s->state != SLOT_FILLED || s->stage != t)
            continue;
        t->filled--;
        slot_free(s);
    }
}

/* Fills buffers with the sample, as copies in do, and does no more with them. Seconds. */
static double fill_time(struct kmm__stager *p, char *sample)
{
    kmm__stage_t t = {0};
    double begin = kmm__costs_now();
    pthread_mutex_lock(&p->lock);
    for (size_t offset = 0; offset < KMM__SAMPLE_BYTES || t.filling || t.filled;) {
        slot_t *s = offset < KMM__SAMPLE_BYTES ? slot_near(p, 0, -1) : NULL;
        if (s) {
            int64_t n =
                (int64_t)(KMM__SAMPLE_BYTES - offset < p->slot_bytes ? KMM__SAMPLE_BYTES - offset
                                                                     : p->slot_bytes);
            s->host = sample + offset;
            s->width = s->pitch = n;
            s->rows = 1;
            s->stage = &t;
            t.filling++;
            slot_queue(s);
            offset += (size_t)n;
            continue;
        }
        if (!t.filled)
            pthread_cond_wait(&p->changed, &p->lock);
        filled_free(p, &t);
    }
    pthread_mutex_unlock(&p->lock);
    return kmm__costs_now() - begin;
}

static bool measure(struct kmm__stager *p, kmm__device_t *d, kmm__copy_costs_t *out)
{
    char *sample =
        mmap(NULL, KMM__SAMPLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double best = 0;
    if (sample == MAP_FAILED)
        return false;
    memset(sample, 1, KMM__SAMPLE_BYTES); /* what programs map is in use too */
    for (int k = 0; k < KMM__COST_ROUNDS; k++) {
        double took = fill_time(p, sample);
        best = k == 0 || took < best ? took : best;
    }
    out->stage = best / KMM__SAMPLE_BYTES;
    kmm__costs_measure(d, sample, p->memory, SLOTS * p->slot_bytes, out);
    munmap(sample, KMM__SAMPLE_BYTES);
    return true;
}

double kmm__stage_times(kmm__device_t *d, uint64_t bytes)
{
    struct kmm__stager *p = d->runtime->memory->stager;
    kmm__copy_costs_t costs;
    pthread_mutex_lock(&p->lock);
    while (p->costs_state == COSTS_MEASURING)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->costs_state == COSTS_MISSING && bytes >= KMM__SAMPLE_BYTES) {
        p->costs_state = COSTS_MEASURING;
        pthread_mutex_unlock(&p->lock);
        bool measured = measure(p, d, &costs);
        if (measured)
            kmm__costs_save(d, p->threads_wanted, p->slot_bytes, &costs);
        pthread_mutex_lock(&p->lock);
        p->costs_state = COSTS_KNOWN;
        p->costs = measured ? costs : p->costs;
        p->times = measured ? kmm__costs_times(&costs) : p->times;
        pthread_cond_broadcast(&p->changed);
    }
    double times = p->times;
    pthread_mutex_unlock(&p->lock);
    return times;
}

bool kmm__stage_costs(kmm_runtime_t *rt, kmm__copy_costs_t *out, double *times)
{
    struct kmm__stager *p = rt->memory->stager;
    pthread_mutex_lock(&p->lock);
    bool known = p->costs_state == COSTS_KNOWN && p->costs.stage > 0;
    *out = p->costs;
    *times = p->times;
    pthread_mutex_unlock(&p->lock);
    return known;
}

/* Whether nobody will come to the stager any more. Whoever delivered the last note may still be on
 * its way out. Locked. */
static bool is_quiet(const struct kmm__stager *p)
{
    bool quiet = !p->coming && !p->notes && !p->delivering;
    for (uint32_t k = 0; k < 2 * SLOTS; k++)
        quiet &= p->slots[k].state == SLOT_FREE;
    return quiet;
}

void kmm__stage_stop(kmm_runtime_t *rt)
{
    struct kmm__stager *p = rt->memory->stager;
    pthread_mutex_lock(&p->lock);
    while (!is_quiet(p))
        pthread_cond_wait(&p->changed, &p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t k = 0; k < p->thread_count; k++)
        pthread_join(p->threads[k], NULL);
    if (p->memory) {
        p->locked_by->host_unregister(p->locked_by, p->memory);
        munmap(p->memory, 2 * SLOTS * p->slot_bytes);
    }
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    rt->memory->stager = NULL;
}

/* ---- Copies in ---- */

static void sent(void *arg, int status)
{
    slot_t *s = arg;
    struct kmm__stager *p = s->stager;
    (void)status; /* the ticket of the copies tells */
    pthread_mutex_lock(&p->lock);
    slot_free(s);
    pthread_mutex_unlock(&p->lock);
}

/* Enqueues the copies of t whose buffers have been filled. Locked, unlocks meanwhile. */
static int send_filled(struct kmm__stager *p, kmm__stage_t *t)
{
    kmm__backend_t *b = t->device->backend;
    int result = 0;
    for (uint32_t k = 0; k < SLOTS && t->filled; k++) {
        slot_t *s = &p->slots[k];
        if (s->state != SLOT_FILLED || s->stage != t)
            continue;
        kmm__copy_t copy = {.dst_gpu = t->device->gpu,
                            .dst = s->at,
                            .src = (kmm__addr_t)(uintptr_t)s->buffer,
                            .dst_pitch = s->pitch,
                            .src_pitch = s->width,
                            .width = s->width,
                            .rows = s->rows};
        t->filled--;
        s->state = SLOT_COPIED;
        pthread_mutex_unlock(&p->lock);
        int error = b->copy(t->stream, &copy);
        int notified = b->notify(t->stream, sent, s);
        if (notified)
            kmm__stream_drain(b, t->stream);
        pthread_mutex_lock(&p->lock);
        if (notified)
            slot_free(s);
        result = result ? result : error;
    }
    return result;
}

int kmm__stage_finish(kmm__stage_t *t)
{
    struct kmm__stager *p = t->device->runtime->memory->stager;
    int result = 0;
    if (t->is_out)
        return 0;
    pthread_mutex_lock(&p->lock);
    while (t->filling || t->filled) {
        if (!t->filled)
            pthread_cond_wait(&p->changed, &p->lock);
        int error = send_filled(p, t);
        result = result ? result : error;
    }
    pthread_mutex_unlock(&p->lock);
    return result;
}

/* ---- Copies out ---- */

/* Whether something is on its way out to these bytes of the host. Locked. */
static bool is_landing(const struct kmm__stager *p, const char *begin, const char *end)
{
    for (uint32_t k = SLOTS; k < 2 * SLOTS; k++) {
        const slot_t *s = &p->slots[k];
        if (s->state != SLOT_FREE && s->host < end &&
            begin < s->host + (s->rows - 1) * s->pitch + s->width)
            return true;
    }
    return false;
}

void kmm__stage_await(kmm_runtime_t *rt, const char *begin, const char *end)
{
    struct kmm__stager *p = rt->memory->stager;
    if (!p->landing)
        return;
    pthread_mutex_lock(&p->lock);
    while (is_landing(p, begin, end))
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void arrived(void *arg, int status)
{
    slot_t *s = arg;
    struct kmm__stager *p = s->stager;
    pthread_mutex_lock(&p->lock);
    if (!status) {
        slot_queue(s);
    } else { /* the device is lost, which a notification behind this one says too */
        slot_free(s);
        notes_deliver(p);
    }
    pthread_mutex_unlock(&p->lock);
}

/* Locked, unlocks meanwhile. */
static int receive(slot_t *s)
{
    struct kmm__stager *p = s->stager;
    kmm__backend_t *b = s->device->backend;
    kmm__copy_t copy = {.src_gpu = s->device->gpu,
                        .dst = (kmm__addr_t)(uintptr_t)s->buffer,
                        .src = s->at,
                        .dst_pitch = s->width,
                        .src_pitch = s->pitch,
                        .width = s->width,
                        .rows = s->rows};
    s->state = SLOT_COPIED;
    s->number = p->next_number++;
    p->landing++;
    pthread_mutex_unlock(&p->lock);
    int error = b->copy(s->stream, &copy);
    if (!error)
        error = b->notify(s->stream, arrived, s);
    pthread_mutex_lock(&p->lock);
    if (error) {
        slot_free(s);
        notes_deliver(p);
    }
    return error;
}

/* ---- Pieces ---- */

/* A free slot, for which it waits. Locked, unlocks meanwhile. */
static slot_t *slot_take(struct kmm__stager *p, kmm__stage_t *t, int *error)
{
    uint32_t first = t->is_out ? SLOTS : 0;
    int node = kmm__near_node(t->device);
    for (;;) {
        int e = t->filled ? send_filled(p, t) : 0;
        *error = *error ? *error : e;
        slot_t *s = slot_near(p, first, node);
        if (s)
            return s;
        if (!t->filled)
            pthread_cond_wait(&p->changed, &p->lock);
    }
}

/* What fits one buffer. */
static int piece(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width, int64_t pitch,
                 int64_t rows)
{
    struct kmm__stager *p = t->device->runtime->memory->stager;
    int error = 0;
    kmm__stage_await(t->device->runtime, host, host + (rows - 1) * pitch + width);
    pthread_mutex_lock(&p->lock);
    slot_t *s = slot_take(p, t, &error);
    s->at = at;
    s->host = host;
    s->width = width;
    s->pitch = pitch;
    s->rows = rows;
    s->device = t->device;
    s->stream = t->stream;
    s->stage = t->is_out ? NULL : t;
    if (t->is_out) {
        error = receive(s);
    } else if (!error) {
        t->filling++;
        slot_queue(s);
    }
    pthread_mutex_unlock(&p->lock);
    return error;
}

static int run(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width)
{
    int64_t most = (int64_t)t->device->runtime->memory->stager->slot_bytes;
    int error = 0;
    for (int64_t n; width > 0 && !error; width -= n) {
        n = width < most ? width : most;
        error = piece(t, at, host, n, n, 1);
        at += (kmm__addr_t)n;
        host += n;
    }
    return error;
}

int kmm__stage_copy(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width, int64_t pitch,
                    int64_t rows)
{
    int64_t fit = (int64_t)t->device->runtime->memory->stager->slot_bytes / width;
    int error = 0;
    if (rows == 1 || width == pitch)
        return run(t, at, host, width * rows);
    for (int64_t n; rows > 0 && !error; rows -= n) {
        n = fit < 1 ? 1 : fit < rows ? fit : rows;
        error = fit < 1 ? run(t, at, host, width) : piece(t, at, host, width, pitch, n);
        at += (kmm__addr_t)(n * pitch);
        host += n * pitch;
    }
    return error;
}
