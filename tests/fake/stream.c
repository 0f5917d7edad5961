/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's streams: each is a thread that does its work in order. Nothing but events orders
 * two of them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

enum { MAX_ARGUMENTS = 32, PLAIN_SHARED = 48 << 10 };

struct fake_event {
    int device, references;
    bool is_timed;
    uint64_t recorded, done;
    double ms; /* when the record `done` was reached, if is_timed */
};

typedef struct range {
    const char *at;
    size_t bytes;
    bool is_device;
    int device;
} range_t;

typedef enum work { COPY, FILL, KERNEL, RECORD, WAIT } work_t;

typedef struct op {
    work_t work;
    struct op *next;
    bool fails; /* by KMM_FAKE_FAIL */
    range_t dst, src;
    size_t width, rows, dst_pitch, src_pitch;
    int value;
    fake_kernel_t *kernel;
    uint32_t grid[3], block[3];
    unsigned shared;
    void *args[MAX_ARGUMENTS];
    fake_event_t *event;
    uint64_t sequence;
    int *parts; /* of a record that several streams have to come to: how many of them; NULL: only
                   this one */
} op_t;

struct fake_stream {
    int device;
    pthread_t thread;
    op_t *first, *last;     /* first stays until it has run */
    bool closing, blocking; /* blocking: the default stream waits for it */
    uint64_t busy_until;    /* of its thread */
    bool capturing, spoiled;
    int mode;            /* of the capture */
    fake_graph_t *graph; /* what has been captured */
    fake_stream_t *next;
};

static fake_stream_t *streams;

struct fake_graph {
    op_t *first, *last;
    int references;
};

/* ---- What enqueued work uses ---- */

static bool overlap(const char *a, size_t an, const char *b, size_t bn)
{
    return a < b + bn && b < a + an;
}

void fake_check_unused(const char *at, size_t bytes, const char *what)
{
    for (const fake_stream_t *s = streams; s; s = s->next)
        for (const op_t *o = fake_devices[s->device].lost ? NULL : s->first; o;
             o = o->next) { /* a lost device does nothing any more */
            bool uses =
                (o->work == COPY || o->work == FILL) && overlap(o->dst.at, o->dst.bytes, at, bytes);
            uses |= o->work == COPY && overlap(o->src.at, o->src.bytes, at, bytes);
            if (uses)
                fake_broken(what);
        }
}

void fake_check_no_streams(int device)
{
    for (const fake_stream_t *s = streams; s; s = s->next)
        if (s->device == device)
            fake_broken("a context ends while it has streams");
}

/* ---- Doing it ---- */

static int run_block(const op_t *o, const uint32_t block[3])
{
    fake_warp_t w = {.block = block, .grid = o->grid, .size = o->block, .lanes = fake_lanes()};
    uint32_t threads = o->block[0] * o->block[1] * o->block[2];
    int r = FAKE_OK;
    if (!o->kernel->run_warp)
        return o->kernel->run(block, o->grid, (void **)o->args);
    for (; w.first < threads && !r; w.first += w.lanes) {
        w.count = threads - w.first < w.lanes ? threads - w.first : w.lanes;
        r = o->kernel->run_warp(&w, (void **)o->args);
    }
    return r;
}

static int run_kernel(const op_t *o)
{
    int r = FAKE_OK;
    const fake_program_kernel_t *of_program = (const fake_program_kernel_t *)o->kernel;
    if (!o->kernel->run && !o->kernel->run_warp)
        return of_program->run(of_program, o->grid, o->block, o->shared, (void **)o->args);
    for (uint32_t z = 0; z < o->grid[2]; z++)
        for (uint32_t y = 0; y < o->grid[1]; y++)
            for (uint32_t x = 0; x < o->grid[0] && !r; x++)
                r = run_block(o, (uint32_t[3]){x, y, z});
    return r;
}

static int run(const op_t *o)
{
    char *dst = (char *)o->dst.at;
    if (o->work == KERNEL)
        return run_kernel(o);
    if (o->work == FILL)
        memset(dst, o->value, o->width);
    for (size_t row = 0; o->work == COPY && row < o->rows; row++)
        memmove(dst + row * o->dst_pitch, o->src.at + row * o->src_pitch, o->width);
    return FAKE_OK;
}

static void release_event(fake_event_t *e)
{
    if (--e->references)
        return;
    free(e);
    fake_live.events--;
}

static bool may_touch(const range_t *r)
{
    return !r->is_device || fake_is_accessible(r->at, r->bytes, r->device);
}

/* Locked. */
static void event_done(fake_event_t *e, uint64_t sequence)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    e->done = sequence;
    e->ms = 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Locked, but for the work itself. */
static void perform(fake_stream_t *s, op_t *o)
{
    fake_device_t *d = &fake_devices[s->device];
    bool is_last = o->work == RECORD && (!o->parts || --*o->parts == 0);
    if (is_last)
        free(o->parts);
    if (is_last && o->event->done < o->sequence)
        event_done(o->event, o->sequence);
    while (o->work == WAIT && o->event->done < o->sequence)
        pthread_cond_wait(&fake_changed, &fake_lock);
    if (o->work == RECORD || o->work == WAIT) {
        release_event(o->event);
        return;
    }
    int r = d->lost;
    if (!r && o->fails)
        r = o->work == KERNEL ? FAKE_LAUNCH_FAILED : FAKE_ILLEGAL_ADDRESS;
    if (!r && (!may_touch(&o->dst) || !may_touch(&o->src)))
        r = FAKE_ILLEGAL_ADDRESS;
    if (r) {
        d->lost = r;
        return;
    }
    bool is_link = o->work == COPY && o->dst.is_device != o->src.is_device;
    uint64_t rate = is_link ? fake_link_begin(d) : 0;
    d->running++;
    pthread_mutex_unlock(&fake_lock);
    r = run(o);
    fake_take_time(&s->busy_until, o->width * (o->rows ? o->rows : 1), o->work == KERNEL, rate);
    pthread_mutex_lock(&fake_lock);
    d->running--;
    d->copying -= is_link;
    pthread_cond_broadcast(&fake_changed);
    if (r)
        d->lost = r;
}

static void free_arguments(op_t *o)
{
    for (int k = 0; k < MAX_ARGUMENTS; k++)
        free(o->args[k]);
}

static void *serve(void *arg)
{
    fake_stream_t *s = arg;
    pthread_mutex_lock(&fake_lock);
    for (;;) {
        while (!s->first && !s->closing)
            pthread_cond_wait(&fake_changed, &fake_lock);
        op_t *o = s->first;
        if (!o)
            break;
        perform(s, o);
        s->first = o->next;
        if (!s->first)
            s->last = NULL;
        free_arguments(o);
        free(o);
        pthread_cond_broadcast(&fake_changed);
    }
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

/* ---- Enqueuing ---- */

static void append(op_t **first, op_t **last, const op_t *model)
{
    op_t *o = malloc(sizeof(*o));
    *o = *model;
    if (*last)
        (*last)->next = o;
    else
        *first = o;
    *last = o;
}

static void enqueue(fake_stream_t *s, const op_t *model)
{
    append(&s->first, &s->last, model);
    pthread_cond_broadcast(&fake_changed);
}

/* The default stream, NULL, does its work at once. */
static int enqueue_work(int device, fake_stream_t *s, op_t *o)
{
    bool kernel = o->work == KERNEL;
    if (!s) {
        int r = run(o);
        free_arguments(o);
        return r;
    }
    fake_enter();
    if (s->capturing) {
        append(&s->graph->first, &s->graph->last, o);
        pthread_mutex_unlock(&fake_lock);
        return FAKE_OK;
    }
    fake_device_t *d = &fake_devices[s->device];
    int r = device != s->device ? FAKE_INVALID_CONTEXT : fake_devices[device].lost;
    if (!r && fake_strikes(FAKE_LOST))
        r = d->lost = FAKE_ILLEGAL_ADDRESS;
    if (!r && fake_strikes(kernel ? FAKE_LAUNCH : FAKE_COPY))
        r = FAKE_UNKNOWN;
    if (!r) {
        o->fails = fake_strikes(kernel ? FAKE_RUNNING : FAKE_COPYING);
        enqueue(s, o);
    }
    pthread_mutex_unlock(&fake_lock);
    if (r)
        free_arguments(o);
    return r;
}

/* Copies of rows do not go across address space of a device that is not mapped, though no row lies
 * there. */
static bool may_copy_rows(const fake_copy_t *c)
{
    size_t dst = (c->rows - 1) * c->dst_pitch + c->width,
           src = (c->rows - 1) * c->src_pitch + c->width;
    if (c->rows < 2)
        return true;
    if (c->width > c->dst_pitch || c->width > c->src_pitch)
        return false;
    pthread_mutex_lock(&fake_lock);
    bool may = (!c->to_device || fake_is_continuous(c->dst, dst)) &&
               (!c->from_device || fake_is_continuous(c->src, src));
    pthread_mutex_unlock(&fake_lock);
    return may;
}

int fake_enqueue_copy(int device, fake_stream_t *s, const fake_copy_t *c)
{
    if (!c->width || !c->rows)
        return FAKE_OK;
    op_t o = {
        .work = COPY,
        .dst = {c->dst, (c->rows - 1) * c->dst_pitch + c->width, c->to_device, c->dst_device},
        .src = {c->src, (c->rows - 1) * c->src_pitch + c->width, c->from_device, c->src_device},
        .width = c->width,
        .rows = c->rows,
        .dst_pitch = c->dst_pitch,
        .src_pitch = c->src_pitch};
    if (!may_copy_rows(c))
        return FAKE_INVALID_VALUE;
    return enqueue_work(device, s, &o);
}

int fake_enqueue_fill(int device, fake_stream_t *s, void *dst, int value, size_t bytes)
{
    op_t o = {
        .work = FILL, .dst = {dst, bytes, true, device}, .width = bytes, .rows = 1, .value = value};
    return enqueue_work(device, s, &o);
}

static bool can_launch(const uint32_t grid[3], const uint32_t block[3])
{
    enum {
        MOST_THREADS = 1024,
        MOST_DEPTH = 64,
        MOST_ROWS = 65535
    }; /* of a block; of its z; of a grid's y and z */
    return grid[0] && grid[1] && grid[2] && grid[0] <= INT32_MAX && grid[1] <= MOST_ROWS &&
           grid[2] <= MOST_ROWS && block[0] && block[1] && block[2] && block[2] <= MOST_DEPTH &&
           (uint64_t)block[0] * block[1] * block[2] <= MOST_THREADS;
}

int fake_enqueue_kernel(int device, fake_stream_t *s, fake_kernel_t *k, const uint32_t grid[3],
                        const uint32_t block[3], unsigned shared, void **args)
{
    op_t o = {.work = KERNEL,
              .kernel = k,
              .grid = {grid[0], grid[1], grid[2]},
              .block = {block[0], block[1], block[2]},
              .shared = shared};
    unsigned limit = k->shared_limit ? (unsigned)k->shared_limit : PLAIN_SHARED;
    if (!can_launch(grid, block) || shared > limit || k->parameters > MAX_ARGUMENTS)
        return FAKE_INVALID_VALUE;
    for (uint32_t i = 0; i < k->parameters; i++) {
        o.args[i] = malloc(k->parameter_bytes[i]);
        memcpy(o.args[i], args[i], k->parameter_bytes[i]);
    }
    pthread_mutex_lock(&fake_lock);
    fake_live.launches++;
    pthread_mutex_unlock(&fake_lock);
    return enqueue_work(device, s, &o);
}

/* ---- Graphs ---- */

enum { GLOBAL = 0, RELAXED = 2 };
static _Thread_local int thread_mode = GLOBAL;

int fake_capture_exchange(int *mode)
{
    int before = thread_mode;
    if (*mode < GLOBAL || *mode > RELAXED)
        return FAKE_INVALID_VALUE;
    thread_mode = *mode;
    *mode = before;
    return FAKE_OK;
}

bool fake_capture_forbids(void)
{
    bool any = false;
    for (fake_stream_t *s = streams; s && thread_mode != RELAXED; s = s->next)
        if (s->capturing && s->mode == GLOBAL)
            any = s->spoiled = true;
    return any;
}

int fake_capture_begin(fake_stream_t *s, int mode)
{
    if (!s || s->capturing || mode < GLOBAL || mode > RELAXED)
        return FAKE_INVALID_VALUE;
    fake_enter();
    s->graph = calloc(1, sizeof(*s->graph));
    s->graph->references = 1;
    s->capturing = true;
    s->spoiled = false;
    s->mode = mode;
    pthread_mutex_unlock(&fake_lock);
    return FAKE_OK;
}

int fake_capture_status(const fake_stream_t *s, int *out)
{
    fake_enter();
    *out = s && s->capturing;
    pthread_mutex_unlock(&fake_lock);
    return FAKE_OK;
}

int fake_capture_end(fake_stream_t *s, fake_graph_t **out)
{
    *out = NULL;
    if (!s || !s->capturing)
        return FAKE_INVALID_VALUE;
    fake_enter();
    fake_graph_t *g = s->graph;
    s->capturing = false;
    pthread_mutex_unlock(&fake_lock);
    if (s->spoiled) {
        fake_graph_destroy(g);
        return FAKE_CAPTURE_INVALIDATED;
    }
    *out = g;
    return FAKE_OK;
}

fake_graph_t *fake_graph_keep(fake_graph_t *g)
{
    g->references++;
    return g;
}

int fake_graph_destroy(fake_graph_t *g)
{
    if (--g->references)
        return FAKE_OK;
    for (op_t *o = g->first, *next; o; o = next) {
        next = o->next;
        free_arguments(o);
        free(o);
    }
    free(g);
    return FAKE_OK;
}

int fake_graph_launch(fake_graph_t *g, fake_stream_t *s)
{
    int r = FAKE_OK;
    for (const op_t *o = g->first; o && !r; o = o->next) {
        op_t copy = *o;
        copy.next = NULL;
        for (uint32_t k = 0; o->kernel && k < o->kernel->parameters; k++) {
            copy.args[k] = malloc(o->kernel->parameter_bytes[k]);
            memcpy(copy.args[k], o->args[k], o->kernel->parameter_bytes[k]);
        }
        r = enqueue_work(s ? s->device : 0, s, &copy);
    }
    return r;
}

/* ---- Streams ---- */

int fake_stream_create(int device, bool blocking, fake_stream_t **out)
{
    fake_stream_t *s = calloc(1, sizeof(*s));
    s->device = device;
    s->blocking = blocking;
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[device].lost;
    if (!r && fake_strikes(FAKE_STREAM))
        r = FAKE_NO_MEMORY;
    if (!r) {
        s->next = streams;
        streams = s;
        fake_live.streams++;
    }
    pthread_mutex_unlock(&fake_lock);
    if (r) {
        free(s);
        return r;
    }
    if (pthread_create(&s->thread, NULL, serve, s))
        fake_broken("no thread for a stream");
    *out = s;
    return FAKE_OK;
}

int fake_stream_destroy(fake_stream_t *s)
{
    int forbidden = fake_enter_unsafe();
    s->closing = true;
    pthread_cond_broadcast(&fake_changed);
    pthread_mutex_unlock(&fake_lock);
    pthread_join(s->thread, NULL);
    fake_enter();
    fake_stream_t **p = &streams;
    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    fake_live.streams--;
    int r = forbidden ? forbidden : fake_devices[s->device].lost;
    pthread_mutex_unlock(&fake_lock);
    free(s);
    return r;
}

int fake_stream_query(fake_stream_t *s)
{
    if (!s)
        return FAKE_OK; /* the default stream, on which nothing ever is */
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[s->device].lost;
    if (!r && s->first)
        r = FAKE_NOT_READY;
    pthread_mutex_unlock(&fake_lock);
    return r;
}

int fake_stream_synchronize(fake_stream_t *s)
{
    fake_enter();
    fake_live.flushes++;
    while (s && s->first)
        pthread_cond_wait(&fake_changed, &fake_lock);
    int r = s ? fake_devices[s->device].lost : FAKE_OK;
    pthread_mutex_unlock(&fake_lock);
    return r;
}

static bool is_idle(void)
{
    for (const fake_stream_t *s = streams; s; s = s->next)
        if (s->first)
            return false;
    return true;
}

void fake_settle(void)
{
    fake_enter();
    while (!is_idle())
        pthread_cond_wait(&fake_changed, &fake_lock);
    pthread_mutex_unlock(&fake_lock);
}

int fake_stream_wait(fake_stream_t *s, fake_event_t *e)
{
    if (!s)
        return fake_event_synchronize(e);
    fake_enter();
    int r = s->capturing ? FAKE_CAPTURE_UNSUPPORTED : fake_devices[s->device].lost;
    if (!r && fake_strikes(FAKE_WAIT))
        r = FAKE_UNKNOWN;
    if (!r) {
        e->references++;
        enqueue(s, &(op_t){.work = WAIT, .event = e, .sequence = e->recorded});
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

/* ---- Events ---- */

int fake_event_create(int device, bool is_timed, fake_event_t **out)
{
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[device].lost;
    if (!r && fake_strikes(FAKE_EVENT))
        r = FAKE_NO_MEMORY;
    fake_live.events += !r;
    pthread_mutex_unlock(&fake_lock);
    if (r)
        return r;
    fake_event_t *e = calloc(1, sizeof(*e));
    e->device = device;
    e->is_timed = is_timed;
    e->references = 1;
    *out = e;
    return FAKE_OK;
}

int fake_event_destroy(fake_event_t *e)
{
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[e->device].lost;
    release_event(e);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

/* On the default stream, on which nothing is left to do, but which waits for all that are blocking,
 * though it does not say so when it is asked. */
static int record_default(fake_event_t *e)
{
    fake_enter();
    int r = fake_devices[e->device].lost;
    int *parts = calloc(1, sizeof(*parts));
    e->recorded += !r;
    for (fake_stream_t *s = r ? NULL : streams; s; s = s->next) {
        if (!s->blocking || s->device != e->device || !s->first)
            continue;
        e->references++;
        ++*parts;
        enqueue(s, &(op_t){.work = RECORD, .event = e, .sequence = e->recorded, .parts = parts});
    }
    if (!*parts) {
        event_done(e, e->recorded);
        free(parts);
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

int fake_event_record(fake_event_t *e, fake_stream_t *s)
{
    if (!s)
        return record_default(e);
    fake_enter();
    int r = e->device != s->device ? FAKE_INVALID_CONTEXT
            : s->capturing         ? FAKE_CAPTURE_UNSUPPORTED
                                   : fake_devices[s->device].lost;
    if (!r && fake_strikes(FAKE_RECORD))
        r = FAKE_UNKNOWN;
    if (!r) {
        e->references++;
        enqueue(s, &(op_t){.work = RECORD, .event = e, .sequence = ++e->recorded});
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

int fake_event_query(fake_event_t *e)
{
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[e->device].lost;
    if (!r && e->done < e->recorded)
        r = FAKE_NOT_READY;
    pthread_mutex_unlock(&fake_lock);
    return r;
}

int fake_event_elapsed(float *ms, fake_event_t *from, fake_event_t *to)
{
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[to->device].lost;
    if (!r && (!from->is_timed || !to->is_timed || from->device != to->device || !from->recorded ||
               !to->recorded))
        r = FAKE_INVALID_HANDLE;
    if (!r && (from->done < from->recorded || to->done < to->recorded))
        r = FAKE_NOT_READY;
    if (!r)
        *ms = (float)(to->ms - from->ms);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

int fake_event_synchronize(fake_event_t *e)
{
    fake_enter();
    for (uint64_t sequence = e->recorded; e->done < sequence;)
        pthread_cond_wait(&fake_changed, &fake_lock);
    int r = fake_devices[e->device].lost;
    pthread_mutex_unlock(&fake_lock);
    return r;
}
