/* SPDX-License-Identifier: Apache-2.0 */
/* The check of each load and store of a chunk. */
#include "execute/exact.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/api.h"
#include "base/log.h"
#include "base/running.h"
#include "execute/exact_device.h"
#include "execute/exact_global.h"
#include "execute/exact_host.h"
#include "execute/exact_order.h"
#include "execute/exact_text.h"
#include "execute/shadow.h"

static atomic_bool is_on;

KMM__API void kmm__exact_begin(void)
{
    atomic_store(&is_on, true);
}

bool kmm__exact_is_on(void)
{
    return atomic_load(&is_on);
}

void kmm__exact_threw(void)
{
    const kmm__running_t *r = kmm__running;
    kmm__check_t *c = r && r->count ? r->tasks[0]->issue.check : NULL;
    if (c)
        atomic_store(&c->has_thrown, true);
}

void kmm__exact_advise(void)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    if (!kmm__exact_is_on() && !atomic_flag_test_and_set(&is_said))
        kmm__log(KMM__LOG_NOTE,
                 "KMM_CHECK=access sees stores that change a value; in a program compiled with "
                 "`kmmcc -fkmm-check` it sees every load and store");
}

/* ---- The arrays ---- */

static int compare_places(const void *a, const void *b)
{
    const kmm__place_t *p = a, *q = b;
    return p->begin < q->begin ? -1 : p->begin > q->begin;
}

static void place_add(kmm__check_t *c, const kmm__array_t *a, uintptr_t at)
{
    if (at)
        c->places[c->place_count++] = (kmm__place_t){at, at + a->bytes, a};
}

/* The addresses by which the host's code and the chunk's device know the runtime's arrays. */
static void places_find(kmm__check_t *c)
{
    kmm__task_t *t = c->task;
    kmm_runtime_t *rt = t->runtime;
    pthread_mutex_lock(&rt->lock);
    uint32_t count = rt->memory->array_count;
    c->places = kmm__alloc((3 * count + 1) * sizeof(*c->places));
    for (uint32_t k = 0; k < count; k++) {
        const kmm__array_t *a = rt->memory->arrays[k];
        if (a->object.is_abstract || a->is_freed)
            continue;
        place_add(c, a, (uintptr_t)a->base);
        if (a->host != a->base)
            place_add(c, a, (uintptr_t)a->host);
        if (t->device->space != KMM__HOST)
            place_add(c, a, (uintptr_t)a->residence[t->device->index].window);
    }
    pthread_mutex_unlock(&rt->lock);
    qsort(c->places, c->place_count, sizeof(*c->places), compare_places);
}

static const kmm__place_t *place_of(const kmm__check_t *c, uintptr_t address)
{
    uint32_t low = 0, high = c->place_count; /* the answer is before `high` */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (c->places[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < c->places[low - 1].end ? &c->places[low - 1] : NULL;
}

void kmm__exact_open(kmm__check_t *c)
{
    const kmm__device_t *d = c->task->device;
    c->is_exact = kmm__exact_is_on() && (d->backend->kind == KMM_KIND_HOST ||
                                         kmm__exact_takes_table(c->task->work->kernel));
    if (!c->is_exact)
        return;
    pthread_mutex_init(&c->lock, NULL);
}

void kmm__exact_before(kmm__check_t *c)
{
    if (!c->is_exact)
        return;
    places_find(c);
    kmm__exact_globals_open(c);
    kmm__exact_order_open(c);
}

void kmm__exact_close(kmm__check_t *c)
{
    if (!c->is_exact)
        return;
    pthread_mutex_destroy(&c->lock);
    kmm__exact_globals_close(c);
    free(c->places);
}

/* ---- Accesses ---- */

/* Adds an access that is wrong from byte `at` to byte `last`. */
static void note(kmm__check_t *c, kmm__violation_t *v, int64_t at, int64_t last, const void *pc)
{
    pthread_mutex_lock(&c->lock);
    if (v->count++ == 0) {
        v->first = v->least = v->most = at;
        v->pc = pc;
    }
    v->least = at < v->least ? at : v->least;
    v->most = last > v->most ? last : v->most;
    pthread_mutex_unlock(&c->lock);
}

/* Returns the kind of a wrong access to a byte; KMM__WRONG_KINDS: it is right. */
static kmm__wrong_t judge(unsigned may, int kind)
{
    if ((kind & KMM__EXACT_LOAD) && !(may & (KMM__MAY_READ | KMM__STORED)))
        return may & KMM__MAY_WRITE ? KMM__LOAD_OLD : KMM__LOAD_UNNAMED;
    if ((kind & KMM__EXACT_STORE) && !(may & KMM__MAY_WRITE))
        return may & KMM__MAY_READ ? KMM__STORE_TO_READ : KMM__STORE_UNNAMED;
    return KMM__WRONG_KINDS;
}

/* An atomic addition to what no clause names is a store to it. */
static kmm__wrong_t judge_byte(const kmm__shadow_t *s, int64_t at, int kind)
{
    unsigned may = at >= 0 && at < (int64_t)s->bytes ? s->may[at] : 0;
    kmm__wrong_t store = judge(may, kind & KMM__EXACT_STORE);
    return store == KMM__WRONG_KINDS ? judge(may, kind) : store;
}

/* Each byte of `may` is changed by one thread, or by several that store the same. */
static void access_copy(kmm__check_t *c, kmm__shadow_t *s, int64_t at, size_t bytes, int kind,
                        const void *pc)
{
    int64_t first[KMM__WRONG_KINDS + 1], last[KMM__WRONG_KINDS + 1];
    bool is_wrong[KMM__WRONG_KINDS + 1] = {false};
    for (int64_t b = at; b < at + (int64_t)bytes; b++) {
        kmm__wrong_t wrong = judge_byte(s, b, kind);
        first[wrong] = is_wrong[wrong] ? first[wrong] : b;
        last[wrong] = b;
        is_wrong[wrong] = true;
        if (s->is_ordered && (kind & (KMM__EXACT_LOAD | KMM__EXACT_ALONE)) == KMM__EXACT_LOAD &&
            wrong == KMM__WRONG_KINDS && !(s->may[b] & (KMM__STORED | KMM__LOADED)))
            s->may[b] |= KMM__LOADED;
        if (wrong == KMM__WRONG_KINDS && (kind & KMM__EXACT_STORE) && !(s->may[b] & KMM__STORED))
            s->may[b] |= KMM__STORED;
    }
    for (int wrong = 0; wrong < KMM__WRONG_KINDS; wrong++)
        if (is_wrong[wrong])
            note(c, &s->wrong[wrong], first[wrong], last[wrong], pc);
}

static void access_elsewhere(kmm__check_t *c, uintptr_t address, size_t bytes, int kind,
                             const void *pc)
{
    const kmm__place_t *p = place_of(c, address);
    if (!p) {
        if (!(kind & KMM__EXACT_ALONE))
            kmm__exact_global_access(c, address, bytes, kind & KMM__EXACT_STORE, pc);
        return;
    }
    pthread_mutex_lock(&c->lock);
    bool is_other = c->elsewhere && c->elsewhere != p->array;
    c->elsewhere = c->elsewhere ? c->elsewhere : p->array;
    pthread_mutex_unlock(&c->lock);
    if (!is_other)
        note(c, &c->other, (int64_t)(address - p->begin), (int64_t)(address - p->begin), pc);
}

KMM__API void kmm__exact_access(const void *address, size_t bytes, int kind, const void *pc)
{
    const kmm__running_t *r = kmm__running;
    if (!r) {
        kmm__exact_host_access(address, bytes, kind, pc);
        return;
    }
    kmm__check_t *c = r->count ? r->tasks[0]->issue.check : NULL;
    if (!c || !c->is_exact)
        return;
    if (!atomic_load_explicit(&c->is_seen, memory_order_relaxed))
        atomic_store_explicit(&c->is_seen, true, memory_order_relaxed);
    for (uint32_t k = 0; k < c->count; k++) {
        kmm__shadow_t *s = &c->shadows[k];
        int64_t at = (int64_t)((uintptr_t)address - (uintptr_t)s->work);
        if (at >= -(int64_t)s->slack && at < (int64_t)(s->size + s->slack)) {
            access_copy(c, s, at, bytes, kind, pc);
            return;
        }
    }
    access_elsewhere(c, (uintptr_t)address, bytes, kind, pc);
}

/* ---- The end of the chunk ---- */

/* Bytes that `write` names and that were not stored. Code that was compiled without -fkmm-check may
 * have stored them: then they have changed. Bytes between the members of a struct are not stored:
 * of an element some of whose bytes are, only eight in a row that are not count. */
typedef struct unstored {
    const kmm__shadow_t *shadow;
    int64_t element;
    uint64_t foreign; /* bytes that such code has stored */
    kmm__violation_t found;
} unstored_t;

static bool is_stored(unstored_t *u, int64_t b)
{
    const kmm__shadow_t *s = u->shadow;
    if (s->may[b] & (KMM__STORED | KMM__MAY_READ))
        return true;
    bool has_changed = s->work[b] != s->image[b];
    u->foreign += has_changed;
    return has_changed;
}

/* Such code may have stored small elements that are equal to the pattern by chance. */
static bool is_sure(const unstored_t *u)
{
    enum { SURE_BYTES = 16 };
    return u->foreign == 0 || u->element >= 4 ||
           u->found.count * (uint64_t)u->element >= SURE_BYTES;
}

static int find_unstored(void *arg, const kmm__rows_t *rows)
{
    enum { PADDING = 7 };
    unstored_t *u = arg;
    for (int64_t k = 0; k < rows->count; k++)
        for (int64_t e = 0; e < rows->width; e += u->element) {
            int64_t at = rows->offset + k * rows->pitch + e, run = 0, longest = 0;
            for (int64_t b = at; b < at + u->element && b < at - e + rows->width; b++) {
                run = is_stored(u, b) ? 0 : run + 1;
                longest = run > longest ? run : longest;
            }
            if (longest < u->element && longest <= PADDING)
                continue;
            if (u->found.count++ == 0)
                u->found.first = u->found.least = at;
            u->found.most = at;
        }
    return 0;
}

static void report_unstored(kmm__check_t *c)
{
    const kmm__task_t *t = c->task;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        unstored_t u = {.shadow = kmm__shadow_of(c, a->array)};
        if (a->mode != KMM_WRITE || !u.shadow || a->item >= t->work->item_count)
            continue;
        u.element = t->work->origins[a->item].element;
        u.element = u.element > 0 ? u.element : 1;
        kmm__layout_rows(a->layout, &a->box, find_unstored, &u);
        if (u.found.count && is_sure(&u))
            kmm__exact_say_unstored(c, u.shadow, a->item, &u.found);
    }
}

void kmm__exact_report(kmm__check_t *c)
{
    if (!c->is_exact || !atomic_load(&c->is_seen))
        return;
    for (uint32_t k = 0; k < c->count; k++)
        for (int wrong = 0; wrong < KMM__WRONG_KINDS; wrong++)
            if (c->shadows[k].wrong[wrong].count)
                kmm__exact_say_wrong(c, &c->shadows[k], (kmm__wrong_t)wrong);
    if (c->other.count)
        kmm__exact_say_elsewhere(c);
    kmm__exact_globals_report(c);
    kmm__exact_order_report(c);
    if (!atomic_load(&c->has_thrown))
        report_unstored(c);
}
