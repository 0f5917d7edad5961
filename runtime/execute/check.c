/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KMM_CHECK=access: checks that chunks access only what their clauses say.
 *
 * Each chunk works on copies of its arrays. In a copy, all bytes that the chunk may not read hold a
 * pattern, which is a NaN as float, double, half and bfloat16, and a conspicuous integer. Each copy
 * of a chunk has another one, so a pattern that the chunk stores tells where it was read. When the
 * chunk is done, bytes that it may not write are compared with what they were. Only bytes that it
 * may write are copied back. So the arrays themselves hold a pattern only where a chunk promised to
 * store a value and did not.
 *
 * Chunks that KMM_CHECK=result compares work on such copies, too, but nothing is reported
 * (execute/apart.h).
 *
 * On the CPU and its pretend devices whole arrays are copied, by functions that run on the stream
 * before and after the kernel. On GPUs only the frames that the chunk touches are copied, and the
 * device's thread waits for each chunk. The driver reports a store outside of these frames.
 */
#include "execute/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "execute/apart.h"
#include "execute/exact.h"
#include "execute/exact_device.h"
#include "execute/failure.h"
#include "execute/proof.h"
#include "execute/remains.h"
#include "execute/shadow.h"

enum { READS = KMM__MAY_READ, WRITES = KMM__MAY_WRITE, BLOCK = KMM__SHADOW_BLOCK };

typedef kmm__shadow_t shadow_t;

/* ---- Copies ---- */

/* False: KMM_CHECK=result compares what the chunk leaves. */
static bool reports(const kmm__check_t *c)
{
    return c->task->runtime->checks_access;
}

static bool works_on_host(const kmm__task_t *t)
{
    return t->device->backend->kind == KMM_KIND_HOST;
}

/* True if the bytes beside a copy hold the pattern, too. */
static bool has_margins(const kmm__check_t *c)
{
    return works_on_host(c->task) && !c->is_exact && reports(c);
}

static uint64_t up_to(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t mapped_bytes(const shadow_t *s)
{
    return 3 * s->size + 2 * s->slack;
}

static bool shadow_add(kmm__check_t *c, kmm__array_t *a)
{
    if (a->object.is_abstract || kmm__shadow_of(c, a))
        return true;
    shadow_t *s = &c->shadows[c->count];
    *s = (shadow_t){.array = a, .bytes = a->bytes, .size = (a->bytes / BLOCK + 1) * BLOCK};
    s->slack = has_margins(c)                ? BLOCK
               : !c->is_exact                ? 0
               : works_on_host(c->task)      ? KMM__EXACT_SLACK
               : c->task->device->info.whole ? KMM__EXACT_WHOLE_SLACK
                                             : up_to(KMM__EXACT_SLACK, a->frame_bytes);
    s->image = mmap(NULL, mapped_bytes(s), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->image == MAP_FAILED)
        return false;
    s->may = (unsigned char *)s->image + s->size;
    s->work = (char *)s->may + s->size + s->slack;
    c->count++;
    return true;
}

/* Of a window, with what is free beside it. */
static uint64_t window_bytes(const shadow_t *s)
{
    return s->array->frame_count * s->array->frame_bytes + 2 * s->slack;
}

static void device_close(kmm__check_t *c, shadow_t *s)
{
    const kmm__device_t *d = c->task->device;
    uint64_t frame = s->array->frame_bytes;
    bool is_stuck = false; /* what is not unmapped stays */
    for (uint32_t k = 0; s->frames && k < s->array->frame_count; k++) {
        if (!s->frames[k])
            continue;
        if (k < s->mapped &&
            kmm__stays_mapped(d, d->backend->frame_unmap(d->gpu, s->window + k * frame, frame)))
            is_stuck = true;
        else
            d->backend->frame_destroy(d->gpu, s->frames[k],
                                      d->info.whole ? window_bytes(s) : frame);
    }
    if (s->window && !d->info.whole && !is_stuck)
        d->backend->window_release(d->gpu, s->window - s->slack, window_bytes(s));
    free(s->frames);
}

static void check_close(kmm__check_t *c)
{
    kmm__exact_device_close(c);
    for (uint32_t k = 0; k < c->count; k++) {
        device_close(c, &c->shadows[k]);
        munmap(c->shadows[k].image, mapped_bytes(&c->shadows[k]));
        free(c->shadows[k].named);
    }
    c->task->issue.check = NULL;
    kmm__exact_close(c);
    free(c->shadows);
    free(c);
}

/* Makes the copies of t's arrays. NULL: there is no memory for them. The array that holds partials
 * is among t's accesses. */
static kmm__check_t *check_open(kmm__task_t *t, kmm__stream_t *stream)
{
    kmm__check_t *c = kmm__alloc(sizeof(*c));
    bool ok = true;
    c->task = t;
    c->stream = stream;
    kmm__exact_open(c);
    c->shadows = kmm__alloc((t->access_count + t->work->pointer_count) * sizeof(*c->shadows) + 1);
    for (uint32_t k = 0; k < t->access_count && ok; k++)
        ok = shadow_add(c, t->accesses[k].array);
    for (uint32_t k = 0; k < t->work->pointer_count && ok; k++)
        ok = shadow_add(c, t->work->pointers[k].array);
    if (ok && !reports(c))
        kmm__apart_open(c);
    if (ok)
        return t->issue.check = c;
    check_close(c);
    return NULL;
}

const char *kmm__check_copy(const kmm__check_t *c, const kmm__array_t *a)
{
    const shadow_t *s = works_on_host(c->task) ? kmm__shadow_of(c, a) : NULL;
    return s ? s->work : NULL;
}

uint64_t kmm__check_base(const kmm__check_t *c, const kmm__array_t *a)
{
    const shadow_t *s = kmm__shadow_of(c, a);
    return works_on_host(c->task) ? (uint64_t)(uintptr_t)s->work : s->window;
}

/* ---- Before the chunk ---- */

/* One pass over the accesses of a task. */
typedef struct walk {
    kmm__check_t *check;
    shadow_t *shadow;
    kmm_mode_t mode;
    bool back; /* true: from copies to arrays */
    uint64_t real;
} walk_t;

static int device_copy(walk_t *w, const kmm__rows_t *rows, char *mine)
{
    const kmm__device_t *d = w->check->task->device;
    kmm__copy_t copy = {.dst_pitch = rows->pitch,
                        .src_pitch = rows->pitch,
                        .width = rows->width,
                        .rows = rows->count};
    uint64_t host = (uint64_t)(uintptr_t)(mine + rows->offset),
             device = w->real + (uint64_t)rows->offset;
    copy.dst_gpu = w->back ? d->gpu : NULL;
    copy.src_gpu = w->back ? NULL : d->gpu;
    copy.dst = w->back ? device : host;
    copy.src = w->back ? host : device;
    return d->backend->copy(w->check->stream, &copy);
}

static int walk_rows(void *arg, const kmm__rows_t *rows)
{
    walk_t *w = arg;
    shadow_t *s = w->shadow;
    unsigned char may = w->mode == KMM_READ    ? READS
                        : w->mode == KMM_WRITE ? WRITES
                                               : READS | WRITES;
    for (int64_t k = 0; k < rows->count; k++) {
        int64_t at = rows->offset + k * rows->pitch;
        for (int64_t b = at; b < at + rows->width && !w->back && !s->named; b++)
            s->may[b] |= may;
        char *real = (char *)(uintptr_t)w->real + at;
        if (!works_on_host(w->check->task))
            continue;
        if (w->back)
            memcpy(real, s->work + at, (size_t)rows->width);
        else if (w->mode != KMM_WRITE)
            memcpy(s->image + at, real, (size_t)rows->width);
    }
    if (works_on_host(w->check->task) || (!w->back && w->mode == KMM_WRITE))
        return 0;
    return device_copy(w, rows, w->back ? s->work : s->image);
}

/* Copies what the chunk reads from the arrays to their images, or, `back`, what it has written to
 * the arrays. */
static int walk(kmm__check_t *c, bool back)
{
    const kmm__task_t *t = c->task;
    int error = 0;
    for (uint32_t k = 0; k < t->access_count && !error; k++) {
        const kmm__access_t *a = &t->accesses[k];
        walk_t w = {
            .check = c, .shadow = kmm__shadow_of(c, a->array), .mode = a->mode, .back = back};
        if (!w.shadow || (back && a->mode == KMM_READ))
            continue;
        w.real = t->device->space == KMM__HOST ? (uint64_t)(uintptr_t)a->array->host
                                               : a->array->residence[t->device->index].window;
        error = kmm__layout_rows(a->layout, &a->box, walk_rows, &w);
    }
    return error;
}

/* Whether the block at byte `b` of the copy is used: on a GPU only frames that the chunk touches
 * are. */
static bool has_block(const shadow_t *s, size_t b)
{
    if (s->named)
        return s->named[b / BLOCK];
    if (!s->frames)
        return true;
    uint64_t frame = b / s->array->frame_bytes;
    return frame < s->array->frame_count && s->frames[frame];
}

static void fill_with_pattern(const kmm__check_t *c, shadow_t *s)
{
    char block[BLOCK];
    for (size_t b = 0; b < BLOCK; b++)
        block[b] = (char)kmm__shadow_pattern(c, s, b);
    for (size_t b = 0; b < s->size; b += BLOCK)
        if (has_block(s, b))
            memcpy(s->image + b, block, BLOCK);
    for (size_t b = 0; b < s->slack && has_margins(c); b += BLOCK) {
        memcpy(s->work - s->slack + b, block, BLOCK);
        memcpy(s->work + s->size + b, block, BLOCK);
    }
}

/* Fills the images. On a GPU this enqueues copies, which are done when the stream is. */
static int check_before(kmm__check_t *c)
{
    for (uint32_t k = 0; k < c->count; k++)
        fill_with_pattern(c, &c->shadows[k]);
    return walk(c, false);
}

static void images_use(kmm__check_t *c)
{
    for (uint32_t k = 0; k < c->count; k++) {
        const shadow_t *s = &c->shadows[k];
        for (size_t b = 0; b < s->size; b += BLOCK)
            if (has_block(s, b))
                memcpy(s->work + b, s->image + b, BLOCK);
    }
}

/* ---- After the chunk ---- */

static void report(kmm__check_t *c, const shadow_t *s, size_t begin, size_t end, size_t total)
{
    kmm__task_t *t = c->task;
    kmm_runtime_t *rt = t->runtime;
    char where[320], range[160], more[64] = "";
    uint32_t item = kmm__shadow_item(c, s, (int64_t)begin, true);
    kmm__shadow_range(c, s, item, begin, end, range, sizeof(range));
    if (total > end - begin)
        snprintf(more, sizeof(more), ", %zu bytes in all", total);
    pthread_mutex_lock(&rt->lock);
    kmm__task_describe(t, where, sizeof(where));
    kmm__exact_advise();
    kmm__task_fail(t, KMM_E_ACCESS);
    kmm__task_blame(t, (uint16_t)item);
    kmm__error_note(rt, KMM_E_ACCESS, "%s: argument %s: the chunk stores to %s%s, which %s", where,
                    item < t->work->item_count ? t->work->item_text[item] : "?", range, more,
                    s->may[begin] & READS ? "its clauses let it read only"
                                          : "none of its clauses names");
    pthread_mutex_unlock(&rt->lock);
}

/* Reports a store to what lies beside the array. */
static void find_outside(kmm__check_t *c, const shadow_t *s)
{
    const int64_t end = (int64_t)(s->size + s->slack);
    int64_t b = -(int64_t)s->slack;
    while (b < end && (unsigned char)s->work[b] == kmm__shadow_pattern(c, s, (size_t)b))
        b = b == -1 ? (int64_t)s->bytes : b + 1;
    if (b == end)
        return;
    kmm__task_t *t = c->task;
    const uint32_t item = kmm__shadow_item(c, s, b, true);
    char where[320];
    pthread_mutex_lock(&t->runtime->lock);
    kmm__task_describe(t, where, sizeof(where));
    kmm__exact_advise();
    kmm__task_fail(t, KMM_E_ACCESS);
    kmm__task_blame(t, (uint16_t)item);
    kmm__error_note(t->runtime, KMM_E_ACCESS,
                    "%s: argument %s: the chunk stores %lld bytes %s its array, which none of its "
                    "clauses names",
                    where, item < t->work->item_count ? t->work->item_text[item] : "?",
                    (long long)(b < 0 ? -b : b - (int64_t)s->bytes),
                    b < 0 ? "before the begin of" : "behind the end of");
    pthread_mutex_unlock(&t->runtime->lock);
}

/* Reports bytes that the chunk has changed and may not write. */
static void find_stores(kmm__check_t *c, const shadow_t *s)
{
    size_t begin = s->bytes, end = 0, total = 0;
    for (size_t b = 0; b < s->bytes; b += BLOCK) {
        if (!has_block(s, b) || !memcmp(s->work + b, s->image + b, BLOCK))
            continue;
        for (size_t k = b; k < b + BLOCK && k < s->bytes; k++) {
            if (s->work[k] == s->image[k] || (s->may[k] & (WRITES | KMM__STORED)))
                continue;
            if (total++ == 0)
                begin = k, end = k + 1;
            else if (k - end < KMM__SURE_BYTES && s->may[k] == s->may[begin])
                end = k + 1; /* equal bytes in between were probably stored too */
        }
    }
    if (total)
        report(c, s, begin, end, total);
    else if (has_margins(c))
        find_outside(c, s);
}

static int check_after(kmm__check_t *c)
{
    if (!reports(c))
        return walk(c, true);
    kmm__exact_report(c);
    for (uint32_t k = 0; k < c->count; k++)
        if (!c->shadows[k].wrong[KMM__STORE_UNNAMED].count &&
            !c->shadows[k].wrong[KMM__STORE_TO_READ].count)
            find_stores(c, &c->shadows[k]);
    if (!atomic_load(&c->is_seen) && !atomic_load(&c->has_thrown))
        kmm__remains_warn(c);
    return walk(c, true);
}

/* ---- On the CPU ---- */

static void run_before(const kmm_chunk_t *chunk, void *args)
{
    kmm__check_t *c;
    (void)chunk;
    memcpy(&c, args, sizeof(c));
    check_before(c);
    kmm__exact_before(c);
    images_use(c);
}

static void run_after(const kmm_chunk_t *chunk, void *args)
{
    kmm__check_t *c;
    (void)chunk;
    memcpy(&c, args, sizeof(c));
    check_after(c);
    check_close(c);
}

static int launch_on_host(kmm__check_t *c, int (*launch)(kmm__task_t *t, kmm__stream_t *stream))
{
    const kmm__backend_t *b = c->task->device->backend;
    const kmm__task_t *t = c->task;
    kmm__run_t run = {.function = run_before,
                      .args_block = &c,
                      .args_bytes = sizeof(c),
                      .tasks = &t,
                      .task_count = 1};
    int error = b->launch(c->stream, &run);
    if (error) {
        check_close(c);
        return error;
    }
    error = launch(c->task, c->stream);
    run.function = run_after;
    int ended = b->launch(c->stream, &run); /* also frees the copies, which run_before needs */
    return error ? error : ended;
}

int kmm__check_call(kmm__task_t *t, void (*call)(kmm__task_t *t))
{
    kmm__check_t *c = check_open(t, NULL);
    if (!c)
        return KMM_E_MEMORY;
    check_before(c);
    kmm__exact_before(c);
    images_use(c);
    call(t);
    check_after(c);
    check_close(c);
    return 0;
}

/* ---- On GPUs ---- */

typedef struct touched {
    shadow_t *shadow;
} touched_t;

static int touch_rows(void *arg, const kmm__rows_t *rows)
{
    shadow_t *s = ((touched_t *)arg)->shadow;
    for (int64_t k = 0; k < rows->count; k++) {
        uint64_t at = (uint64_t)(rows->offset + k * rows->pitch),
                 last = at + (uint64_t)rows->width - 1;
        for (uint64_t f = at / s->array->frame_bytes; f <= last / s->array->frame_bytes; f++)
            s->frames[f] = 1; /* wanted */
    }
    return 0;
}

/* Where memory cannot be mapped, a frame has the whole array, and its handle is its address. */
static int device_open_whole(const kmm__device_t *d, shadow_t *s)
{
    s->frames = kmm__alloc(s->array->frame_count * sizeof(*s->frames));
    int error = d->backend->frame_create(d->gpu, window_bytes(s), &s->frames[0]);
    s->window = error ? 0 : s->frames[0] + s->slack;
    return error;
}

static int device_open(kmm__check_t *c, shadow_t *s)
{
    const kmm__task_t *t = c->task;
    const kmm__device_t *d = t->device;
    uint64_t frame = s->array->frame_bytes;
    touched_t touched = {s};
    int error = d->backend->window_reserve(d->gpu, window_bytes(s), &s->window);
    s->window += error ? 0 : s->slack;
    kmm__frame_handle_t *wanted = s->frames =
        kmm__alloc(s->array->frame_count * sizeof(*s->frames));
    for (uint32_t k = 0; k < t->access_count; k++)
        if (t->accesses[k].array == s->array)
            kmm__layout_rows(t->accesses[k].layout, &t->accesses[k].box, touch_rows, &touched);
    s->frames = kmm__alloc(s->array->frame_count * sizeof(*s->frames));
    for (uint32_t k = 0; k < s->array->frame_count && !error; k++) {
        if (wanted[k])
            error = d->backend->frame_create(d->gpu, frame, &s->frames[k]);
        if (error == KMM_E_MEMORY &&
            d->info.host_backed) /* as for the array itself, if a chunk needs so much */
            error = d->backend->frame_create_host_backed(d->gpu, frame, &s->frames[k]);
        if (wanted[k] && !error)
            error = d->backend->frame_map(d->gpu, s->window + k * frame, s->frames[k], frame);
        s->mapped = k + !error;
    }
    free(wanted);
    return error;
}

/* Copies the images to the window's frames, or, `back`, those to `work`. */
static int device_frames(kmm__check_t *c, shadow_t *s, bool back)
{
    uint64_t frame = s->array->frame_bytes;
    walk_t w = {.check = c, .shadow = s, .back = !back, .real = s->window};
    int error = 0;
    for (uint32_t k = 0; k < s->array->frame_count && !error; k++) {
        uint64_t at = k * frame, width = at + frame > s->bytes ? s->bytes - at : frame;
        kmm__rows_t rows = {(int64_t)at, (int64_t)width, (int64_t)width, 1};
        if (s->frames[k])
            error = device_copy(&w, &rows, back ? s->work : s->image);
    }
    return error;
}

static int device_step(kmm__check_t *c, bool back)
{
    int error = 0;
    for (uint32_t k = 0; k < c->count && !error; k++)
        error = device_frames(c, &c->shadows[k], back);
    return error ? error : kmm__stream_drain(c->task->device->backend, c->stream);
}

/* Chunks run one by one, so that a fault is this one's. */
static void fail_alone(kmm__task_t *t, int error)
{
    if (error != KMM_E_KERNEL)
        return;
    pthread_mutex_lock(&t->runtime->lock);
    if (!t->error && !t->device->lost)
        kmm__fail(t, error, t->device->backend->error_text(t->device->backend));
    pthread_mutex_unlock(&t->runtime->lock);
}

static int launch_on_device(kmm__check_t *c, int (*launch)(kmm__task_t *t, kmm__stream_t *stream))
{
    kmm__backend_t *b = c->task->device->backend;
    int error = 0;
    for (uint32_t k = 0; k < c->count && !error; k++)
        error = c->task->device->info.whole ? device_open_whole(c->task->device, &c->shadows[k])
                                            : device_open(c, &c->shadows[k]);
    error = error ? error : check_before(c);
    error = error ? error : kmm__stream_drain(b, c->stream);
    images_use(c);
    kmm__exact_before(c);
    error = error || !c->is_exact ? error : kmm__exact_device_begin(c);
    error = error ? error : device_step(c, false);
    if (!error) {
        error = launch(c->task, c->stream);
        error = error || !c->is_exact ? error : kmm__exact_device_fetch(c);
        error = error ? error : device_step(c, true);
        fail_alone(c->task, error);
    }
    if (!error && c->is_exact)
        kmm__exact_device_end(c);
    error = error ? error : check_after(c);
    int drained = kmm__stream_drain(b, c->stream); /* copies that came before an error, too */
    check_close(c);
    return error ? error : drained;
}

/* ---- The interface ---- */

bool kmm__check_wants(const kmm__task_t *t)
{
    return t->work->origins && !t->work->has_statements && !t->work->operation;
}

int kmm__check_launch(kmm__task_t *t, kmm__stream_t *stream,
                      int (*launch)(kmm__task_t *t, kmm__stream_t *stream))
{
    if (kmm__exact_is_on() && kmm__proof_holds(t)) {
        kmm__count(&t->device->counters.proven, 1);
        return launch(t, stream);
    }
    kmm__check_t *c = check_open(t, stream);
    if (!c)
        return KMM_E_MEMORY;
    return works_on_host(t) ? launch_on_host(c, launch) : launch_on_device(c, launch);
}

int kmm__check_config(kmm_runtime_t *rt)
{
    const char *text = getenv("KMM_CHECK");
    rt->checks_access = kmm__exact_is_on();
    rt->checks_result = false;
    while (text && *text) {
        const int length = (int)strcspn(text, ",");
        if (length == 6 && strncmp(text, "access", 6) == 0)
            rt->checks_access = true;
        else if (length == 6 && strncmp(text, "result", 6) == 0)
            rt->checks_result = true;
        else
            return kmm__error_set(KMM_E_INVALID,
                                  "KMM_CHECK=%.*s: no such check; there are `access` and `result`",
                                  length, text);
        text += length + (text[length] == ',');
    }
    return 0;
}
