/* SPDX-License-Identifier: Apache-2.0 */
/* Dependences. Each object maps every element to the task that wrote the element last and the tasks
 * that have read it since. A new task follows the writers of what it touches and the readers of
 * what it writes. */
#include "task/dag.h"

#include "base/error.h"
#include "task/users.h"

/* ---- Writing ---- */

/* True if t stores every element of access a and reads no old value. False if another access of t
 * reads or updates the same array, because it may read an old value. */
static bool is_fresh(const kmm__task_t *t, const kmm__access_t *a)
{
    bool fresh = a->mode == KMM_WRITE;
    for (uint32_t k = 0; fresh && k < t->access_count; k++)
        fresh = t->accesses[k].array != a->array || t->accesses[k].mode == KMM_WRITE;
    return fresh;
}

static kmm__users_t written_by(kmm__task_t *t, const kmm__access_t *a)
{
    return (kmm__users_t){.writer = t, .homes = 1u << t->device->space, .fresh = is_fresh(t, a)};
}

/* ---- Following and recording ---- */

typedef struct follow {
    kmm__task_t *task;
    const kmm__access_t *access;
    bool siblings_only;
    int error;
} follow_t;

/* Makes f->task follow another chunk of its launch that writes the same region. If both regions are
 * exact, sets the error KMM_E_OVERLAP. Hulls may overlap where the elements do not; then the chunks
 * run one after the other. */
static void follow_sibling(follow_t *f, kmm__task_t *writer)
{
    if (f->access->exact && writer->part.exact)
        f->error = KMM_E_OVERLAP;
    kmm__task_add_edge(writer, f->task, true);
}

static int follow_part(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    follow_t *f = arg;
    const kmm__users_t *u = value;
    bool writes = f->access->mode != KMM_READ, reads = f->access->mode != KMM_WRITE;
    bool sibling = u->writer && u->writer->work_id == f->task->work_id;
    if (sibling && writes && u->writer != f->task)
        follow_sibling(f, u->writer);
    if (f->siblings_only)
        return 0;
    if (u->writer && !sibling)
        kmm__task_add_edge(u->writer, f->task, reads);
    kmm__task_t *const *readers = kmm__users_readers(u);
    for (uint32_t k = 0; writes && k < u->reader_count; k++)
        if (readers[k]->work_id != f->task->work_id)
            kmm__task_add_edge(readers[k], f->task, false);
    return 0;
}

/* Returns f->error and sets its text; 0: no error. */
static int follow_result(const follow_t *f)
{
    const kmm__task_t *t = f->task;
    char where[256];
    if (!f->error)
        return 0;
    kmm__task_describe(t, where, sizeof(where));
    return kmm__error_set(
        f->error, "%s: argument %s: another chunk of this launch writes the same elements", where,
        f->access->item < t->work->item_count ? t->work->item_text[f->access->item] : "?");
}

/* True if access a of t follows no task and need not be in the map. That is so under four
 * conditions: a only reads; no unfinished task writes the object; no task that wrote it has failed;
 * placement does not ask for its readers, because there is one visible device or the object has no
 * data. */
static bool reads_freely(const kmm__task_t *t, const kmm__access_t *a)
{
    const kmm__object_t *x = kmm__object_of(a->array);
    return a->mode == KMM_READ && x->writers == 0 && !x->failed &&
           (x->is_abstract || t->runtime->visible_count < 2);
}

static int follow(kmm__task_t *t, bool siblings_only)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        follow_t f = {t, a, siblings_only, 0};
        kmm__box_t boxes[2 * KMM__DIMS];
        if ((siblings_only && a->mode == KMM_READ) || reads_freely(t, a))
            continue;
        if (a->mode != KMM_READ)
            kmm__reads_enter(kmm__object_of(a->array), t);
        int n = kmm__object_boxes(kmm__object_of(a->array), a, boxes);
        for (int b = 0; b < n; b++)
            kmm__map_visit(kmm__object_of(a->array)->users.map, &boxes[b], follow_part, &f);
        if (f.error)
            return follow_result(&f);
    }
    return 0;
}

int kmm__dag_follow(kmm__task_t *t)
{
    return follow(t, false);
}

int kmm__dag_conflicts(kmm__task_t *t)
{
    return follow(t, true);
}

static bool is_home(const kmm__task_t *t, const kmm__users_t *u)
{
    return u->homes >> t->device->space & 1;
}

static int is_not_home(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    return !is_home(arg, value);
}

static int make_home(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    ((kmm__users_t *)value)->homes |= 1u << ((const kmm__task_t *)arg)->device->space;
    return 0;
}

/* Records access k of t, which reads. Makes t's space a home of what t reads, for placement. */
static void record_read(kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = t->runtime->has_spaces && !reads_freely(t, a)
                ? kmm__object_boxes(kmm__object_of(a->array), a, boxes)
                : 0;
    for (int b = 0; b < n; b++)
        if (kmm__map_visit(kmm__object_of(a->array)->users.map, &boxes[b], is_not_home, t))
            kmm__map_update(kmm__object_of(a->array)->users.map, &boxes[b], make_home, t);
    kmm__reads_push(&kmm__object_of(a->array)->reads, t, k);
}

void kmm__dag_record(kmm__task_t *t, bool writes)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        kmm__box_t boxes[2 * KMM__DIMS];
        if ((a->mode != KMM_READ) != writes)
            continue;
        if (!writes) {
            record_read(t, k);
            continue;
        }
        int n = kmm__object_boxes(kmm__object_of(a->array), a, boxes);
        kmm__users_t written = written_by(t, a);
        for (int b = 0; b < n; b++)
            kmm__map_assign(kmm__object_of(a->array)->users.map, &boxes[b], &written);
    }
}

typedef struct enter {
    follow_t follow;
    kmm__users_t written;
    uint32_t parts;
} enter_t;

static int enter_part(void *arg, const kmm__box_t *part, void *value)
{
    enter_t *e = arg;
    follow_part(&e->follow, part, value);
    e->parts++;
    kmm__users_replace(value, &e->written);
    return 0;
}

typedef struct enter_read {
    follow_t follow;
    bool not_home;
} enter_read_t;

static int enter_read_part(void *arg, const kmm__box_t *part, const void *value)
{
    enter_read_t *e = arg;
    e->not_home |= !is_home(e->follow.task, value);
    return follow_part(&e->follow, part, value);
}

static void enter_read(kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    if (reads_freely(t, a)) {
        kmm__reads_push(&kmm__object_of(a->array)->reads, t, k);
        return;
    }
    enter_read_t e = {{t, a, false, 0}, false};
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = kmm__object_boxes(kmm__object_of(a->array), a, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(kmm__object_of(a->array)->users.map, &boxes[b], enter_read_part, &e);
    for (int b = 0; b < n && e.not_home && t->runtime->has_spaces; b++)
        kmm__map_update(kmm__object_of(a->array)->users.map, &boxes[b], make_home, t);
    kmm__reads_push(&kmm__object_of(a->array)->reads, t, k);
}

static int enter_write(kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    enter_t e = {{t, a, false, 0}, written_by(t, a), 0};
    kmm__box_t boxes[2 * KMM__DIMS];
    if (kmm__object_of(a->array)->reads.count)
        kmm__reads_enter(kmm__object_of(a->array), t);
    int n = kmm__object_boxes(kmm__object_of(a->array), a, boxes);
    /* must follow kmm__object_boxes, which may replace the map */
    kmm__map_t *map = kmm__object_of(a->array)->users.map;
    for (int b = 0; b < n; b++) {
        e.parts = 0;
        kmm__map_update(map, &boxes[b], enter_part, &e);
        if (e.parts > 1)
            kmm__map_assign(map, &boxes[b], &e.written);
    }
    return follow_result(&e.follow);
}

/* Enters reads first, then updates, then plain writes. A write of t replaces the element's last
 * writer in the map, which t's reads must find before that. */
int kmm__dag_enter(kmm__task_t *t)
{
    int result = 0;
    bool stores = false;
    for (uint32_t k = 0; k < t->access_count; k++)
        if (t->accesses[k].mode == KMM_READ)
            enter_read(t, k);
    for (uint32_t k = 0; k < t->access_count; k++) {
        int error = t->accesses[k].mode == KMM_UPDATE ? enter_write(t, k) : 0;
        stores |= t->accesses[k].mode == KMM_WRITE;
        result = result ? result : error;
    }
    for (uint32_t k = 0; stores && k < t->access_count; k++) {
        int error = t->accesses[k].mode == KMM_WRITE ? enter_write(t, k) : 0;
        result = result ? result : error;
    }
    return result;
}
