/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sheets of host buffers are in memory. Rules that keep it from getting stuck:
 *
 *  1. Sheets are held all at once, before the work that needs them is planned; one thread at a time
 *     collects them (the turn), and while it waits for room it waits only for work that holds all
 * it needs and for the disk's thread. So room comes back, and it gets it.
 *  2. Copies to devices are planned before their sources are in memory. They never wait for room:
 * what is not in memory passes through a buffer, which is free again when its copy is done.
 *  3. The disk's thread waits for nothing but the disk, and needs no memory: sheets are written
 * from where they are. A sheet that could not be written stays.
 */
#include "memory/disk/spill.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kmm/resource.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/coherence.h"
#include "memory/disk/disk.h"
#include "memory/host/pin.h"
#include "memory/residency/dead.h"
#include "memory/residency/frame.h"

enum { PAGE = 4096, SHEETS_OF_LIMIT = 32, BUFFERS = 4, AHEAD_PART = 8, LEAST_SHEETS = 8 };
#define SHEET_MOST ((uint64_t)8 << 20)

typedef enum sheet_state {
    SHEET_ABSENT,  /* no pages; stored, or the host holds nothing of it */
    SHEET_READING, /* being read */
    SHEET_RESIDENT,
    SHEET_LEAVING /* being written, or its pages given back; stays when something holds it by then
                   */
} sheet_state_t;

/* Invariant: on the idle list exactly when RESIDENT and pins == 0. */
struct kmm__sheet {
    kmm__array_t *array;
    uint32_t index;
    uint32_t pins;         /* work that needs it in memory */
    uint32_t promises;     /* planned copies that will read it, which the coherence map may have
                              forgotten by then */
    uint32_t slot_readers; /* reads of its slot into buffers: the slot must not be written */
    sheet_state_t state;
    bool stored;           /* its slot has the newest of what the host holds of it */
    bool spoiled;          /* it will not be, once it has been read: who waits for that writes it */
    kmm__task_t **waiters; /* tasks on the host that run once it has been read */
    uint32_t waiter_count, waiter_capacity;
    int error;         /* of the last read */
    int64_t slot;      /* in the file, -1: none */
    uint64_t checksum; /* of what the slot has */
    uint64_t used;     /* the clock when it was used last */
    uint64_t stamp;    /* the collection that listed it last, as number `listed` */
    uint32_t listed;
    kmm__sheet_t *previous, *next; /* idle list, longest unused first */
};

/* A buffer through which a sheet is read for one source. */
struct kmm__buffer {
    char *memory;
    kmm__backend_t *locked_by; /* page-locked for; NULL: not */
    bool tried;                /* page-locking was */
    bool busy, reading;
    int error;
};

typedef enum job_kind { JOB_WRITE, JOB_RELEASE, JOB_READ, JOB_FILL } job_kind_t;

typedef struct job {
    job_kind_t kind;
    kmm__sheet_t *sheet;
    kmm__buffer_t *buffer; /* of JOB_FILL */
    uint64_t checksum;
    kmm__disk_op_t op;
    struct job *next;
} job_t;

struct kmm__spill {
    kmm_runtime_t *runtime;
    kmm__disk_t *disk;
    uint64_t limit, sheet_bytes;
    uint64_t resident, leaving; /* bytes of sheets that are not ABSENT; of those that are LEAVING */
    kmm__sheet_t *idle_head, *idle_tail;
    uint64_t clock, stamp;
    uint64_t turn, next_turn; /* whose turn it is to collect; the next ticket */
    uint64_t failures;        /* writes that failed */
    int write_error;          /* of the last one */
    pthread_cond_t changed;   /* a sheet, a buffer or the turn */
    int64_t *free_slots;
    uint32_t free_count, free_capacity;
    int64_t slot_count;
    bool crosses; /* devices of several drivers exchange data through the host */
    kmm__buffer_t buffers[BUFFERS];
    kmm_resource_t *host; /* where the buffers' memory is from */
    void *buffer_memory;
    /* The disk's thread. */
    pthread_t thread;
    bool thread_runs, stopping, awaits;
    job_t *urgent, **urgent_end; /* reads: somebody waits for each */
    job_t *queue, **queue_end;
    uint32_t in_flight;
    kmm__spill_stats_t stats;
};

/* ---- Sheets ---- */

static uint64_t sheet_bytes(const kmm__sheet_t *s)
{
    uint64_t size = s->array->runtime->memory->spill->sheet_bytes,
             left = s->array->bytes - s->index * size;
    return left >= size ? size : (left + PAGE - 1) / PAGE * PAGE;
}

static char *sheet_memory(const kmm__sheet_t *s)
{
    return s->array->host + s->index * s->array->runtime->memory->spill->sheet_bytes;
}

static void idle_push(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->next = NULL;
    s->previous = p->idle_tail;
    *(p->idle_tail ? &p->idle_tail->next : &p->idle_head) = s;
    p->idle_tail = s;
}

static void idle_push_front(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->previous = NULL;
    s->next = p->idle_head;
    *(p->idle_head ? &p->idle_head->previous : &p->idle_tail) = s;
    p->idle_head = s;
}

static void idle_remove(kmm__spill_t *p, kmm__sheet_t *s)
{
    *(s->previous ? &s->previous->next : &p->idle_head) = s->next;
    *(s->next ? &s->next->previous : &p->idle_tail) = s->previous;
    s->previous = s->next = NULL;
}

static void sheet_pin(kmm__spill_t *p, kmm__sheet_t *s)
{
    if (s->pins++ == 0 && s->state == SHEET_RESIDENT)
        idle_remove(p, s);
}

static void sheet_unpin(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->used = ++p->clock;
    if (--s->pins == 0 && s->state == SHEET_RESIDENT)
        idle_push(p, s);
    pthread_cond_broadcast(&p->changed);
}

/* Everything that was RESIDENT or on its way there is accounted for in `resident`. */
static void become_resident(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->stored &= !s->spoiled;
    s->spoiled = false;
    s->state = SHEET_RESIDENT;
    if (s->pins == 0)
        idle_push(p, s);
    pthread_cond_broadcast(&p->changed);
}

static void become_absent(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->spoiled = false;
    s->state = SHEET_ABSENT;
    p->resident -= sheet_bytes(s);
    pthread_cond_broadcast(&p->changed);
}

static void room_take(kmm__spill_t *p, const kmm__sheet_t *s)
{
    p->resident += sheet_bytes(s);
    if (p->resident > p->stats.most)
        p->stats.most = p->resident;
}

/* ---- Jobs for the disk's thread ---- */

static void job_push(kmm__spill_t *p, job_kind_t kind, kmm__sheet_t *s, kmm__buffer_t *b)
{
    job_t *j = kmm__alloc(sizeof(*j));
    bool urgent = kind == JOB_READ || kind == JOB_FILL;
    *j = (job_t){.kind = kind, .sheet = s, .buffer = b};
    job_t ***end = urgent ? &p->urgent_end : &p->queue_end;
    **end = j;
    *end = &j->next;
    if (p->awaits) {
        p->awaits = false;
        kmm__disk_wake(p->disk);
    }
}

static job_t *job_pop(kmm__spill_t *p)
{
    job_t *j = p->urgent ? p->urgent : p->queue;
    if (!j || p->in_flight == KMM__DISK_DEPTH)
        return NULL;
    if (j == p->urgent) {
        p->urgent = j->next;
        if (!p->urgent)
            p->urgent_end = &p->urgent;
    } else {
        p->queue = j->next;
        if (!p->queue)
            p->queue_end = &p->queue;
    }
    return j;
}

static int64_t slot_take(kmm__spill_t *p)
{
    return p->free_count ? p->free_slots[--p->free_count] : p->slot_count++;
}

static void slot_give(kmm__spill_t *p, int64_t slot)
{
    p->free_slots =
        kmm__grow(p->free_slots, p->free_count, &p->free_capacity, sizeof(*p->free_slots));
    p->free_slots[p->free_count++] = slot;
}

/* ---- Letting go ---- */

typedef struct judge {
    const kmm_runtime_t *runtime;
    bool host, alone; /* the host holds something; something that nobody else holds */
} judge_t;

static int judge_part(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    judge_t *j = arg;
    const kmm__holders_t *h = value;
    uint32_t valid = kmm__holders_valid(j->runtime, h);
    bool elsewhere = false;
    if (!(valid & 1u << KMM__HOST))
        return 0;
    for (uint32_t s = 1; valid >> s; s++)
        elsewhere |= (valid >> s & 1) && (!h->ready[s] || h->ready[s]->state == KMM__TICKET_DONE);
    j->host = true;
    j->alone |= !elsewhere;
    return j->alone;
}

static int renounce_part(void *arg, const kmm__box_t *part, void *value)
{
    (void)arg, (void)part;
    kmm__holders_t *h = value;
    kmm__ticket_unref(h->ready[KMM__HOST]);
    h->ready[KMM__HOST] = NULL;
    h->valid &= ~(1u << KMM__HOST);
    return 0;
}

static int sheet_boxes(const kmm__sheet_t *s, kmm__box_t out[2 * KMM__DIMS])
{
    int64_t begin = (int64_t)(s->index * s->array->runtime->memory->spill->sheet_bytes),
            end = begin + (int64_t)sheet_bytes(s);
    if (end > (int64_t)s->array->bytes)
        end = (int64_t)s->array->bytes;
    return kmm__layout_split(&s->array->coherence.layout, begin, end, out);
}

static judge_t judge(const kmm__sheet_t *s)
{
    judge_t j = {s->array->runtime, s->promises > 0, s->promises > 0};
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = sheet_boxes(s, boxes);
    for (int b = 0; b < n && !j.alone; b++)
        kmm__map_visit(s->array->coherence.map, &boxes[b], judge_part, &j);
    return j;
}

/* Whether an idle sheet can go without being written. If so, and if the host gives up what it holds
 * of it, says so. */
static bool goes_unwritten(kmm__sheet_t *s)
{
    kmm__box_t boxes[2 * KMM__DIMS];
    if (s->stored || s->array->refs == 0)
        return true;
    judge_t j = judge(s);
    if (j.alone)
        return false;
    int n = j.host ? sheet_boxes(s, boxes) : 0;
    if (n)
        s->array->settled.whole &= ~(1u << KMM__HOST);
    for (int b = 0; b < n; b++)
        if (kmm__map_update(s->array->coherence.map, &boxes[b], renounce_part, NULL))
            return false; /* cut short: written, and what was renounced is elsewhere all the same */
    return true;
}

/* Begins to let go of the sheet that has been idle longest; false when there is none. */
static bool let_go(kmm__spill_t *p, bool unwritten_only)
{
    for (kmm__sheet_t *s = p->idle_head; s; s = s->next) {
        bool unwritten = goes_unwritten(s);
        if (!unwritten && (unwritten_only || s->slot_readers))
            continue;
        idle_remove(p, s);
        s->state = SHEET_LEAVING;
        p->leaving += sheet_bytes(s);
        if (unwritten && !s->stored)
            p->stats.dropped += sheet_bytes(s);
        job_push(p, unwritten ? JOB_RELEASE : JOB_WRITE, s, NULL);
        return true;
    }
    return false;
}

/* Keeps some room ahead of who will need it. */
static void let_go_ahead(kmm__spill_t *p)
{
    while (p->resident - p->leaving + p->limit / AHEAD_PART > p->limit && let_go(p, false))
        continue;
}

static int write_error(kmm__spill_t *p)
{
    bool full = p->write_error == ENOSPC || p->write_error == EDQUOT || p->write_error == EFBIG;
    return kmm__error_set(
        full ? KMM_E_DISK_FULL : KMM_E_IO,
        "%s: %llu bytes of host memory could not be written there: %s; %llu bytes are stored "
        "there, "
        "and KMM_HOST_MEM allows %llu in memory",
        kmm__disk_folder(p->disk), (unsigned long long)p->sheet_bytes, strerror(p->write_error),
        (unsigned long long)(uint64_t)(p->slot_count - p->free_count) * p->sheet_bytes,
        (unsigned long long)p->limit);
}

static int room_make(kmm__spill_t *p, uint64_t bytes)
{
    uint64_t failures = p->failures;
    while (p->resident + bytes > p->limit) {
        bool failed = p->failures != failures;
        if (p->resident - p->leaving + bytes > p->limit && let_go(p, failed))
            continue;
        if (failed && p->leaving == 0)
            return write_error(p);
        pthread_cond_wait(&p->changed, &p->runtime->lock);
    }
    return 0;
}

/* ---- Holding ---- */

static void turn_enter(kmm__spill_t *p)
{
    uint64_t mine = p->next_turn++;
    while (p->turn != mine)
        pthread_cond_wait(&p->changed, &p->runtime->lock);
}

static void turn_leave(kmm__spill_t *p)
{
    p->turn++;
    pthread_cond_broadcast(&p->changed);
}

static int read_error(kmm__spill_t *p, const kmm__sheet_t *s, int error)
{
    long long at = (long long)s->slot * (long long)p->sheet_bytes;
    if (error == KMM_E_CORRUPT)
        return kmm__error_set(error,
                              "%s: %llu bytes at byte %lld of the spill file are not what was "
                              "written there (checksum)",
                              kmm__disk_folder(p->disk), (unsigned long long)sheet_bytes(s), at);
    return kmm__error_set(
        KMM_E_IO, "%s: %llu bytes at byte %lld of the spill file could not be read: %s",
        kmm__disk_folder(p->disk), (unsigned long long)sheet_bytes(s), at, strerror(error));
}

/* Brings one sheet to memory, or on its way there. It is pinned. */
static int sheet_bring(kmm__spill_t *p, const kmm__hold_t *h)
{
    kmm__sheet_t *s = h->sheet;
    while (s->state == SHEET_LEAVING)
        pthread_cond_wait(&p->changed, &p->runtime->lock);
    if (s->state != SHEET_ABSENT)
        return 0;
    int error = room_make(p, sheet_bytes(s));
    if (error || s->state != SHEET_ABSENT) /* a source may have brought it meanwhile */
        return error;
    room_take(p, s);
    if (s->stored && (h->covers ? h->reads : true) && judge(s).host) {
        s->state = SHEET_READING;
        job_push(p, JOB_READ, s, NULL);
    } else {
        s->stored = false; /* its pages are empty now */
        become_resident(p, s);
    }
    return 0;
}

/* Until the sheet is in memory; errors are those of the read. */
static int sheet_await(kmm__spill_t *p, kmm__sheet_t *s)
{
    while (s->state == SHEET_READING)
        pthread_cond_wait(&p->changed, &p->runtime->lock);
    return s->state == SHEET_RESIDENT ? 0 : read_error(p, s, s->error);
}

static void will_be_written(kmm__sheet_t *s)
{
    if (s->state == SHEET_READING)
        s->spoiled = true;
    else if (s->state == SHEET_RESIDENT) /* one that could not be read stays as it is on disk */
        s->stored = false;
}

static int held_bring(kmm__spill_t *p, kmm__held_t *held, bool awaits)
{
    int error = 0;
    turn_enter(p);
    for (uint32_t k = 0; k < held->count; k++)
        sheet_pin(p, held->hold[k].sheet);
    for (uint32_t k = 0; k < held->count && !error; k++)
        error = sheet_bring(p, &held->hold[k]);
    turn_leave(p);
    for (uint32_t k = 0; k < held->count && !error && awaits; k++)
        error = sheet_await(p, held->hold[k].sheet);
    for (uint32_t k = 0; k < held->count; k++) {
        if (error)
            sheet_unpin(p, held->hold[k].sheet);
        else if (held->hold[k].writes)
            will_be_written(held->hold[k].sheet);
    }
    return error;
}

static int held_acquire(kmm__spill_t *p, kmm__held_t *held, bool awaits)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < held->count; k++)
        bytes += sheet_bytes(held->hold[k].sheet);
    if (bytes > p->limit) {
        held->count = 0;
        return kmm__error_set(KMM_E_MEMORY,
                              "needs %llu bytes of host memory at once, of which KMM_HOST_MEM "
                              "leaves %llu; a chunk of at most 1/%llu "
                              "of its size would fit",
                              (unsigned long long)bytes, (unsigned long long)p->limit,
                              (unsigned long long)((bytes + p->limit - 1) / p->limit));
    }
    bool full = p->resident + bytes > p->limit;
    int error = held->count ? held_bring(p, held, awaits) : 0;
    if (error)
        held->count = 0;
    else if (full)
        let_go_ahead(p);
    return error;
}

void kmm__spill_release(kmm_runtime_t *rt, kmm__held_t *held)
{
    for (uint32_t k = 0; k < held->count; k++)
        sheet_unpin(rt->memory->spill, held->hold[k].sheet);
    free(held->hold);
    *held = (kmm__held_t){0};
}

/* ---- What has to be held ---- */

typedef struct collect {
    kmm__spill_t *spill;
    kmm__held_t *held;
    kmm__array_t *array;
    bool reads, writes, whole; /* whole: rows are one run of bytes, all of which are written */
    bool more;                 /* something was added */
} collect_t;

static void collect_sheet(collect_t *c, kmm__sheet_t *s, bool covers)
{
    if (s->stamp != c->spill->stamp) {
        s->stamp = c->spill->stamp;
        s->listed = c->held->count;
        c->held->hold =
            kmm__grow(c->held->hold, c->held->count, &c->held->capacity, sizeof(*c->held->hold));
        c->held->hold[c->held->count++] = (kmm__hold_t){.sheet = s};
        c->more = true;
    }
    kmm__hold_t *h = &c->held->hold[s->listed];
    h->reads |= c->reads;
    h->writes |= c->writes;
    h->covers |= covers;
}

static void collect_bytes(collect_t *c, int64_t begin, int64_t end)
{
    int64_t size = (int64_t)c->spill->sheet_bytes;
    for (int64_t k = begin / size; k * size < end; k++) {
        int64_t last =
            (k + 1) * size < (int64_t)c->array->bytes ? (k + 1) * size : (int64_t)c->array->bytes;
        collect_sheet(c, &c->array->sheets[k], c->whole && begin <= k * size && end >= last);
    }
}

static int collect_rows(void *arg, const kmm__rows_t *rows)
{
    collect_t *c = arg;
    if (rows->count > 1 && rows->pitch <= (int64_t)c->spill->sheet_bytes) {
        bool whole = c->whole;
        c->whole = false;
        collect_bytes(c, rows->offset,
                      rows->offset + (rows->count - 1) * rows->pitch + rows->width);
        c->whole = whole;
        return 0;
    }
    for (int64_t k = 0; k < rows->count; k++)
        collect_bytes(c, rows->offset + k * rows->pitch,
                      rows->offset + k * rows->pitch + rows->width);
    return 0;
}

/* Lists anew what is already held, so that only what is missing is added. */
static void collect_begin(collect_t *c, kmm__spill_t *p, kmm__held_t *held)
{
    *c = (collect_t){.spill = p, .held = held};
    p->stamp++;
    for (uint32_t k = 0; k < held->count; k++) {
        held->hold[k].sheet->stamp = p->stamp;
        held->hold[k].sheet->listed = k;
    }
}

static int is_elsewhere(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    uint32_t valid = kmm__holders_valid(arg, value);
    return valid && !(valid & 1u << KMM__HOST);
}

/* Whether what a task on the host reads has to be copied there first, which is writing, too. */
static bool is_fetched(const kmm__access_t *a)
{
    kmm_runtime_t *rt = a->array->runtime;
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes), any = 0;
    for (int b = 0; b < n && !any; b++)
        any = kmm__map_visit(a->array->coherence.map, &boxes[b], is_elsewhere, rt);
    return any;
}

static void collect_host_task(collect_t *c, void *task)
{
    const kmm__task_t *t = task;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (!a->array->sheets)
            continue;
        c->array = a->array;
        c->reads = a->mode != KMM_WRITE;
        c->writes = a->mode != KMM_READ || is_fetched(a);
        c->whole = a->mode == KMM_WRITE;
        kmm__layout_rows(a->layout, &a->box, collect_rows, c);
    }
}

/* Parts that only a device of another driver holds come through the host. */
typedef struct crossing {
    collect_t *collect;
    const kmm__task_t *task;
} crossing_t;

static int collect_crossing(void *arg, const kmm__box_t *part, const void *value)
{
    crossing_t *x = arg;
    const kmm__device_t *to = x->task->device;
    uint32_t valid = kmm__holders_valid(to->runtime, value);
    if (!valid || valid & (1u << KMM__HOST | 1u << to->space))
        return 0;
    for (uint32_t k = 0; k < to->runtime->device_count; k++) {
        const kmm__device_t *d = to->runtime->device[k];
        if (d->space != KMM__HOST && (valid >> d->space & 1) && d->backend == to->backend)
            return 0;
    }
    return kmm__layout_rows(&x->collect->array->coherence.layout, part, collect_rows, x->collect);
}

static void collect_device_task(collect_t *c, void *task)
{
    kmm__task_t *t = task;
    kmm_runtime_t *rt = t->device->runtime;
    crossing_t x = {c, t};
    c->writes = true;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        kmm__box_t boxes[2 * KMM__DIMS];
        if (a->mode == KMM_WRITE || a->array->object.is_abstract || a->array->is_mapped ||
            !kmm__array_host(a->array))
            continue;
        c->array = a->array;
        int n = kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes);
        for (int b = 0; b < n; b++)
            kmm__map_visit(a->array->coherence.map, &boxes[b], collect_crossing, &x);
    }
}

static int evict_sole(void *arg, const kmm__box_t *part, const void *value)
{
    crossing_t *x = arg;
    const kmm__device_t *from = x->task->device;
    if (kmm__holders_valid(from->runtime, value) != 1u << from->space)
        return 0;
    return kmm__layout_rows(&x->collect->array->coherence.layout, part, collect_rows, x->collect);
}

static void collect_frame(collect_t *c, void *frame)
{
    kmm__frame_t *f = frame;
    kmm__array_t *a = f->array;
    kmm__task_t where = {.device = f->device};
    crossing_t x = {c, &where};
    kmm__box_t boxes[2 * KMM__DIMS];
    int64_t begin = (int64_t)(f->index * a->frame_bytes), end = begin + (int64_t)a->frame_bytes;
    c->array = a;
    c->writes = true;
    if (end > (int64_t)a->bytes)
        end = (int64_t)a->bytes;
    int n = kmm__layout_split(&a->coherence.layout, begin, end, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(a->coherence.map, &boxes[b], evict_sole, &x);
}

/* Holds all that `fn` lists. What that is may become more while we wait: then all is given back and
 * taken anew, so that nothing is held by who waits for more. */
static int hold_all(kmm__spill_t *p, kmm__held_t *held, bool awaits,
                    void (*fn)(collect_t *c, void *arg), void *arg)
{
    for (uint32_t pinned = 0;;) {
        collect_t c;
        collect_begin(&c, p, held);
        fn(&c, arg);
        if (!c.more)
            return 0;
        while (pinned)
            sheet_unpin(p, held->hold[--pinned].sheet);
        int error = held_acquire(p, held, awaits);
        if (error) {
            free(held->hold);
            *held = (kmm__held_t){0};
            return error;
        }
        pinned = held->count;
    }
}

int kmm__spill_hold_task(kmm__task_t *t)
{
    kmm__spill_t *p = t->device->runtime->memory->spill;
    bool on_host = t->device->space == KMM__HOST;
    kmm__held_t held = {0};
    if (!p || (!on_host && !p->crosses))
        return 0;
    int error = hold_all(p, &held, !on_host, on_host ? collect_host_task : collect_device_task, t);
    if (held.count) {
        t->residency.held = kmm__alloc(sizeof(*t->residency.held));
        *t->residency.held = held;
    }
    return error;
}

bool kmm__spill_may_wait(const kmm_runtime_t *rt)
{
    return rt->memory->spill && rt->memory->spill->crosses;
}

int kmm__spill_await_task(kmm__task_t *t)
{
    int error = 0;
    for (uint32_t k = 0; t->residency.held && k < t->residency.held->count && !error; k++)
        error = sheet_await(t->device->runtime->memory->spill, t->residency.held->hold[k].sheet);
    return error;
}

int kmm__spill_expect_task(kmm__task_t *t)
{
    kmm__held_t *held = t->residency.held;
    for (uint32_t k = 0; held && k < held->count; k++)
        if (held->hold[k].sheet->state == SHEET_ABSENT) /* it could not be read */
            return read_error(t->device->runtime->memory->spill, held->hold[k].sheet,
                              held->hold[k].sheet->error);
    for (uint32_t k = 0; held && k < held->count; k++) {
        kmm__sheet_t *s = held->hold[k].sheet;
        if (s->state != SHEET_READING)
            continue;
        s->waiters =
            kmm__grow(s->waiters, s->waiter_count, &s->waiter_capacity, sizeof(*s->waiters));
        s->waiters[s->waiter_count++] = t;
        if (held->pending++ == 0)
            kmm__task_run_later(t, 1);
    }
    return 0;
}

/* Tells the tasks that wait for a read. */
static void tell_waiters(kmm__spill_t *p, kmm__sheet_t *s, int error)
{
    kmm__task_t **waiters = s->waiters;
    uint32_t count = s->waiter_count;
    s->waiters = NULL;
    s->waiter_count = s->waiter_capacity = 0;
    for (uint32_t k = 0; k < count; k++)
        waiters[k]->runtime->tasks->hooks->arrived(waiters[k], error ? read_error(p, s, error) : 0,
                                                   --waiters[k]->residency.held->pending == 0);
    free(waiters);
}

void kmm__spill_release_task(kmm__task_t *t)
{
    if (!t->residency.held)
        return;
    kmm__spill_release(t->device->runtime, t->residency.held);
    free(t->residency.held);
    t->residency.held = NULL;
}

int kmm__spill_hold_frame(kmm__frame_t *f, kmm__held_t *held)
{
    kmm__spill_t *p = f->array->runtime->memory->spill;
    *held = (kmm__held_t){0};
    return p && f->array->sheets && !kmm__frame_is_dead(f)
               ? hold_all(p, held, true, collect_frame, f)
               : 0;
}

/* ---- Sources ---- */

typedef struct promise {
    kmm__array_t *array;
    bool given;
} promise_t;

static void promise_bytes(const promise_t *p, int64_t begin, int64_t end)
{
    int64_t size = (int64_t)p->array->runtime->memory->spill->sheet_bytes;
    for (int64_t k = begin / size; k * size < end; k++) {
        kmm__sheet_t *s = &p->array->sheets[k];
        s->promises = p->given ? s->promises + 1 : s->promises - 1;
    }
}

static int promise_rows(void *arg, const kmm__rows_t *rows)
{
    promise_t *p = arg;
    bool dense = rows->pitch <= (int64_t)p->array->runtime->memory->spill->sheet_bytes;
    if (dense || rows->count == 1)
        promise_bytes(p, rows->offset,
                      rows->offset + (rows->count - 1) * rows->pitch + rows->width);
    for (int64_t k = 0; k < rows->count && !dense && rows->count > 1; k++)
        promise_bytes(p, rows->offset + k * rows->pitch,
                      rows->offset + k * rows->pitch + rows->width);
    return 0;
}

void kmm__spill_promise(kmm__array_t *a, const kmm__layout_t *layout, const kmm__box_t *box,
                        bool given)
{
    promise_t p = {a, given};
    if (a->sheets)
        kmm__layout_rows(layout, box, promise_rows, &p);
}

static kmm__buffer_t *buffer_take(kmm__spill_t *p)
{
    for (uint32_t k = 0; k < BUFFERS; k++)
        if (!p->buffers[k].busy)
            return &p->buffers[k];
    return NULL;
}

/* A sheet is read to memory of its own while there is room that nobody waits for; otherwise it
 * passes through a buffer, and makes room for its next time only when something there was last used
 * before it was. So data that is read over and over in one order stays where it is instead of
 * pushing out what is needed next. */
static bool source_fits(kmm__spill_t *p, const kmm__sheet_t *s)
{
    if (p->turn != p->next_turn)
        return false;
    if (p->resident + sheet_bytes(s) <= p->limit)
        return true;
    if (p->idle_head && p->idle_head->used < s->used && p->leaving < p->limit / AHEAD_PART)
        let_go(p, false);
    return false;
}

/* Locked; the sheet is pinned. False: it is neither in memory nor on its way. */
static bool source_brings(kmm__spill_t *p, kmm__sheet_t *s)
{
    if (s->state != SHEET_ABSENT)
        return s->state != SHEET_LEAVING;
    if (!source_fits(p, s))
        return false;
    room_take(p, s);
    s->state = SHEET_READING;
    job_push(p, JOB_READ, s, NULL);
    return true;
}

static bool source_fill(kmm__spill_t *p, kmm__sheet_t *s, bool waits, kmm__source_t *out)
{
    kmm__buffer_t *b = buffer_take(p);
    if (!b && !waits)
        return false;
    if (!b) {
        pthread_cond_wait(&p->changed, &p->runtime->lock);
        return false;
    }
    b->busy = b->reading = true;
    s->slot_readers++;
    s->used = ++p->clock;
    out->buffer = b;
    job_push(p, JOB_FILL, s, b);
    return true;
}

bool kmm__source_begin(kmm__array_t *a, int64_t offset, bool waits, kmm__source_t *out)
{
    kmm_runtime_t *rt = a->runtime;
    kmm__spill_t *p = rt->memory->spill;
    kmm__sheet_t *s = &a->sheets[(uint64_t)offset / p->sheet_bytes];
    bool begun = false;
    *out = (kmm__source_t){.sheet = s};
    pthread_mutex_lock(&rt->lock);
    kmm__array_ref(a);
    out->missing = s->state == SHEET_ABSENT && !s->stored;
    begun = out->missing && waits;
    while (!begun && !out->missing) {
        sheet_pin(p, s);
        while (s->state == SHEET_LEAVING && waits)
            pthread_cond_wait(&p->changed, &rt->lock);
        begun = source_brings(p, s);
        if (begun)
            break;
        uint64_t used = s->used;
        sheet_unpin(p, s);
        s->used = used; /* it was not */
        begun = s->state == SHEET_ABSENT && source_fill(p, s, waits, out);
        if (!waits)
            break;
    }
    if (!begun) {
        kmm__array_unref(a);
        out->sheet = NULL;
    }
    pthread_mutex_unlock(&rt->lock);
    return begun;
}

/* Page-locks a buffer for who uses it first. Nobody else has it. */
static void buffer_prepare(kmm__buffer_t *b, kmm__backend_t *backend, uint64_t bytes)
{
    if (b->tried || bytes < KMM__LOCK_AT_LEAST)
        return;
    b->tried = true;
    if (backend->host_register(backend, b->memory, bytes) == 0)
        b->locked_by = backend;
}

int kmm__source_await(kmm__source_t *s, kmm__backend_t *backend)
{
    kmm__array_t *a = s->sheet->array;
    kmm_runtime_t *rt = a->runtime;
    kmm__spill_t *p = rt->memory->spill;
    kmm__buffer_t *b = s->buffer;
    s->base = a->host;
    if (s->missing) {
        kmm__source_end(s);
        return kmm__error_set(
            KMM_E_IO,
            "a part of an array that the host should hold is neither in memory nor on disk");
    }
    pthread_mutex_lock(&rt->lock);
    while (b && b->reading)
        pthread_cond_wait(&p->changed, &rt->lock);
    int error = !b ? sheet_await(p, s->sheet) : b->error ? read_error(p, s->sheet, b->error) : 0;
    pthread_mutex_unlock(&rt->lock);
    if (b) {
        buffer_prepare(b, backend, p->sheet_bytes);
        s->base = (char *)((uintptr_t)b->memory - s->sheet->index * p->sheet_bytes);
    }
    if (error)
        kmm__source_end(s);
    return error;
}

void kmm__source_end(kmm__source_t *s)
{
    kmm__array_t *a = s->sheet->array;
    kmm_runtime_t *rt = a->runtime;
    pthread_mutex_lock(&rt->lock);
    if (s->buffer) {
        s->buffer->busy = false;
        pthread_cond_broadcast(&rt->memory->spill->changed);
    } else if (!s->missing) {
        sheet_unpin(rt->memory->spill, s->sheet);
    }
    kmm__array_unref(a);
    pthread_mutex_unlock(&rt->lock);
    *s = (kmm__source_t){0};
}

/* ---- The disk's thread ---- */

/* Gives a sheet's pages back. Not locked; nobody uses them. */
static void give_pages(kmm__sheet_t *s)
{
    kmm__unpin(s->array, s->index);
    madvise(sheet_memory(s), sheet_bytes(s), MADV_DONTNEED);
}

static void stays(kmm__spill_t *p, kmm__sheet_t *s)
{
    p->leaving -= sheet_bytes(s);
    become_resident(p, s);
}

/* Called locked, unlocks meanwhile. */
static void leave(kmm__spill_t *p, kmm__sheet_t *s)
{
    pthread_mutex_unlock(&p->runtime->lock);
    give_pages(s);
    pthread_mutex_lock(&p->runtime->lock);
    p->leaving -= sheet_bytes(s);
    become_absent(p, s);
}

/* Called locked, unlocks meanwhile. */
static void job_begin(kmm__spill_t *p, job_t *j)
{
    kmm__sheet_t *s = j->sheet;
    bool leaves = j->kind == JOB_WRITE || j->kind == JOB_RELEASE;
    if (leaves && s->pins) { /* somebody has come to need it */
        stays(p, s);
        free(j);
        return;
    }
    if (j->kind == JOB_WRITE && s->array->refs == 0) {
        j->kind = JOB_RELEASE;
        p->stats.dropped += sheet_bytes(s);
    }
    if (j->kind == JOB_RELEASE) {
        leave(p, s);
        free(j);
        return;
    }
    if (s->slot < 0)
        s->slot = slot_take(p);
    j->op = (kmm__disk_op_t){.writes = j->kind == JOB_WRITE,
                             .memory = j->buffer ? j->buffer->memory : sheet_memory(s),
                             .bytes = sheet_bytes(s),
                             .offset = s->slot * (int64_t)p->sheet_bytes,
                             .owner = j};
    p->in_flight++;
    pthread_mutex_unlock(&p->runtime->lock);
    if (j->kind == JOB_WRITE)
        j->checksum = kmm__disk_checksum(j->op.memory, j->op.bytes);
    kmm__disk_start(p->disk, &j->op);
    pthread_mutex_lock(&p->runtime->lock);
}

static void write_finish(kmm__spill_t *p, job_t *j)
{
    kmm__sheet_t *s = j->sheet;
    if (j->op.error) {
        p->failures++;
        p->write_error = j->op.error;
        stays(p, s);
        return;
    }
    s->stored = true;
    s->checksum = j->checksum;
    p->stats.written += j->op.bytes;
    if (s->pins)
        stays(p, s);
    else
        leave(p, s);
}

static void read_finish(kmm__spill_t *p, job_t *j)
{
    kmm__sheet_t *s = j->sheet;
    int error = j->op.error ? j->op.error : j->checksum != s->checksum ? KMM_E_CORRUPT : 0;
    p->stats.read += j->op.bytes;
    if (j->kind == JOB_FILL) {
        j->buffer->error = error;
        j->buffer->reading = false;
        s->slot_readers--;
        pthread_cond_broadcast(&p->changed);
    } else if (error) {
        s->error = error;
        pthread_mutex_unlock(&p->runtime->lock);
        give_pages(s);
        pthread_mutex_lock(&p->runtime->lock);
        become_absent(p, s);
        tell_waiters(p, s, error);
    } else {
        become_resident(p, s);
        tell_waiters(p, s, 0);
    }
}

static void job_finish(kmm__spill_t *p, job_t *j)
{
    p->in_flight--;
    if (j->kind == JOB_WRITE)
        write_finish(p, j);
    else
        read_finish(p, j);
    free(j);
}

static void *disk_main(void *arg)
{
    kmm__spill_t *p = arg;
    pthread_mutex_lock(&p->runtime->lock);
    for (;;) {
        job_t *j = job_pop(p);
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
        if (j && j->kind != JOB_WRITE && !op->error)
            j->checksum = kmm__disk_checksum(op->memory, op->bytes);
        pthread_mutex_lock(&p->runtime->lock);
        p->awaits = false;
        if (j)
            job_finish(p, j);
    }
    pthread_mutex_unlock(&p->runtime->lock);
    return NULL;
}

/* ---- Arrays ---- */

void kmm__spill_array(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    if (!p || a->is_mapped || a->object.is_abstract)
        return;
    a->sheet_count = (uint32_t)((a->bytes + p->sheet_bytes - 1) / p->sheet_bytes);
    a->sheets = kmm__alloc(a->sheet_count * sizeof(*a->sheets));
    for (uint32_t k = 0; k < a->sheet_count; k++)
        a->sheets[k] = (kmm__sheet_t){.array = a, .index = k, .slot = -1};
}

void kmm__spill_array_dead(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    for (uint32_t k = 0; a->sheets && k < a->sheet_count; k++) {
        kmm__sheet_t *s = &a->sheets[k];
        if (s->state != SHEET_RESIDENT || s->pins)
            continue;
        idle_remove(p, s);
        idle_push_front(p, s);
    }
    if (a->sheets)
        pthread_cond_broadcast(&p->changed);
}

/* Gives the slots of sheets back, neighbours together. Called locked, unlocks meanwhile. */
static void slots_give(kmm__spill_t *p, kmm__array_t *a)
{
    pthread_mutex_unlock(&p->runtime->lock);
    for (uint32_t k = 0, n; k < a->sheet_count; k += n) {
        int64_t first = a->sheets[k].slot;
        for (n = 1; first >= 0 && k + n < a->sheet_count && a->sheets[k + n].slot == first + n;)
            n++;
        if (first >= 0)
            kmm__disk_discard(p->disk, first * (int64_t)p->sheet_bytes, n * p->sheet_bytes);
    }
    pthread_mutex_lock(&p->runtime->lock);
    for (uint32_t k = a->sheet_count; k-- > 0;)
        if (a->sheets[k].slot >= 0)
            slot_give(p, a->sheets[k].slot);
}

void kmm__spill_forget(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    if (!a->sheets)
        return;
    for (uint32_t k = 0; k < a->sheet_count; k++) {
        kmm__sheet_t *s = &a->sheets[k];
        while (s->state == SHEET_LEAVING || s->state == SHEET_READING || s->slot_readers)
            pthread_cond_wait(&p->changed, &p->runtime->lock);
        if (s->state != SHEET_RESIDENT)
            continue;
        idle_remove(p, s);
        become_absent(p, s);
    }
    slots_give(p, a);
    free(a->sheets);
    a->sheets = NULL;
    a->sheet_count = 0;
}

/* ---- Making and end ---- */

static uint64_t choose_sheet(uint64_t limit)
{
    uint64_t size = PAGE;
    while (size < SHEET_MOST && size * 2 <= limit / SHEETS_OF_LIMIT)
        size *= 2;
    return size;
}

/* The limit less the buffers, which only devices with memory of their own need. */
static int choose_sizes(kmm__spill_t *p, uint64_t limit)
{
    const kmm_runtime_t *rt = p->runtime;
    const kmm__backend_t *first = NULL;
    uint64_t least = LEAST_SHEETS * PAGE, buffers = 0;
    p->sheet_bytes = choose_sheet(limit);
    for (uint32_t k = 0; k < rt->device_count; k++) {
        const kmm__device_t *d = rt->device[k];
        if (d->space == KMM__HOST)
            continue;
        p->crosses |= first && first != d->backend;
        first = d->backend;
        buffers = BUFFERS * p->sheet_bytes;
        least =
            least > LEAST_SHEETS * d->info.granularity ? least : LEAST_SHEETS * d->info.granularity;
    }
    if (limit < least + buffers)
        return kmm__error_set(KMM_E_INVALID,
                              "KMM_HOST_MEM: %llu bytes are too few; %llu is the least",
                              (unsigned long long)limit, (unsigned long long)(least + buffers));
    p->limit = limit - buffers;
    if (!buffers)
        return 0;
    if (kmm_host_resource_create(&p->host) ||
        kmm_resource_allocate(p->host, buffers, PAGE, NULL, &p->buffer_memory))
        return kmm__error_set(KMM_E_MEMORY, "no host memory for buffers of %llu bytes",
                              (unsigned long long)buffers);
    for (uint32_t k = 0; k < BUFFERS; k++)
        p->buffers[k].memory = (char *)p->buffer_memory + k * p->sheet_bytes;
    return 0;
}

/* With all signals blocked: a file that may not grow any more raises one, and the program's
 * handlers are not for us. */
static int thread_start(kmm__spill_t *p)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    p->thread_runs = pthread_create(&p->thread, NULL, disk_main, p) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return p->thread_runs ? 0 : kmm__error_set(KMM_E_MEMORY, "no thread for the disk");
}

int kmm__spill_start(kmm_runtime_t *rt, uint64_t limit, const char *folder)
{
    kmm__spill_t *p = kmm__alloc(sizeof(*p));
    p->runtime = rt;
    p->urgent_end = &p->urgent;
    p->queue_end = &p->queue;
    pthread_cond_init(&p->changed, NULL);
    rt->memory->spill = p;
    int error = choose_sizes(p, limit);
    if (!error)
        error = kmm__disk_open(&p->disk, folder, getenv("KMM_SPILL_IO"));
    return error ? error : thread_start(p);
}

void kmm__spill_stop(kmm_runtime_t *rt)
{
    kmm__spill_t *p = rt->memory->spill;
    if (!p)
        return;
    if (p->thread_runs) {
        pthread_mutex_lock(&rt->lock);
        p->stopping = true;
        kmm__disk_wake(p->disk);
        pthread_mutex_unlock(&rt->lock);
        pthread_join(p->thread, NULL);
    }
    for (uint32_t k = 0; k < BUFFERS; k++)
        if (p->buffers[k].locked_by)
            p->buffers[k].locked_by->host_unregister(p->buffers[k].locked_by, p->buffers[k].memory);
    if (p->buffer_memory)
        kmm_resource_deallocate(p->host, p->buffer_memory, KMM_SIZE_RECORDED, NULL);
    kmm_resource_destroy(p->host);
    if (p->disk)
        kmm__disk_close(p->disk);
    pthread_cond_destroy(&p->changed);
    free(p->free_slots);
    free(p);
    rt->memory->spill = NULL;
}

uint64_t kmm__spill_room(const kmm_runtime_t *rt)
{
    return rt->memory->spill ? rt->memory->spill->limit : 0;
}

uint64_t kmm__spill_sheet_bytes(const kmm_runtime_t *rt)
{
    return rt->memory->spill ? rt->memory->spill->sheet_bytes : 0;
}

void kmm__spill_stats(kmm_runtime_t *rt, kmm__spill_stats_t *out)
{
    const kmm__spill_t *p = rt->memory->spill;
    *out = (kmm__spill_stats_t){0};
    if (!p)
        return;
    *out = p->stats;
    out->limit = p->limit;
    out->resident = p->resident;
    out->sheet_bytes = p->sheet_bytes;
    out->stored = (uint64_t)(p->slot_count - p->free_count) * p->sheet_bytes;
    out->async = kmm__disk_is_async(p->disk);
    out->direct = kmm__disk_is_direct(p->disk);
}
