/* SPDX-License-Identifier: Apache-2.0 */
#include "execute/remains.h"

#include <string.h>

#include "base/log.h"
#include "execute/shadow.h"
#include "task/task.h"

typedef struct remains {
    kmm__check_t *check;
    const kmm__access_t *access;
    const kmm__shadow_t *shadow, *of; /* what is searched, for the pattern of which copy */
    size_t begin, end;
} remains_t;

/* True if the chunk has left the element at byte `at` as it was. */
static bool is_old(const remains_t *u, size_t at, size_t bytes)
{
    return u->access->mode != KMM_WRITE &&
           !memcmp(u->shadow->work + at, u->shadow->image + at, bytes);
}

/* Finds elements that hold the pattern. Small ones may by chance, so several in a row are needed.
 */
static int find_remains(void *arg, const kmm__rows_t *rows)
{
    remains_t *u = arg;
    const kmm__work_t *w = u->check->task->work;
    size_t element =
               u->access->item < w->item_count ? (size_t)w->origins[u->access->item].element : 1,
           run = 0;
    unsigned char held[4];
    for (size_t b = 0; b < sizeof(held); b++)
        held[b] = kmm__shadow_pattern(u->check, u->of, b);
    size_t least = element >= 4 ? element : KMM__SURE_BYTES;
    for (int64_t k = 0; k < rows->count; k++, run = 0) {
        size_t at = (size_t)(rows->offset + k * rows->pitch);
        for (size_t b = at; b < at + (size_t)rows->width; b++) {
            bool same = (unsigned char)u->shadow->work[b] == held[b & 3] &&
                        (u->of != u->shadow || !(u->shadow->may[b] & KMM__MAY_READ));
            run = same ? run + 1 : 0;
            if (run < least || (b + 1 - at) % (element ? element : 1) ||
                is_old(u, b + 1 - least, least))
                continue;
            if (u->begin == u->end)
                u->begin = b + 1 - run, u->end = b + 1;
            else if (b + 1 - run <= u->end)
                u->end = b + 1;
        }
    }
    return 0;
}

/* The chunk leaves elements of a `write` item out, or stores there what it may not read. */
static void warn_remains(const remains_t *u)
{
    kmm__task_t *t = u->check->task;
    char where[320], range[160];
    uint32_t to = u->access->item, from = kmm__shadow_item(u->check, u->of, -1, false);
    pthread_mutex_lock(&t->runtime->lock);
    const bool first = !t->work->is_warned;
    t->work->is_warned = true;
    kmm__task_describe(t, where, sizeof(where));
    pthread_mutex_unlock(&t->runtime->lock);
    kmm__shadow_range(u->check, u->shadow, to, u->begin, u->end, range, sizeof(range));
    if (first && u->of == u->shadow)
        kmm__log(KMM__LOG_WARNING,
                 "%s: argument %s: `write` promises to store every element, but the chunk does "
                 "not store %s; say `update`",
                 where, t->work->item_text[to], range);
    else if (first)
        kmm__log(KMM__LOG_WARNING,
                 "%s: argument %s: the chunk has read elements that no clause lets it read, and "
                 "stored them to argument %s, or sums with them, %s; widen the region",
                 where, from < t->work->item_count ? t->work->item_text[from] : "?",
                 t->work->item_text[to], range);
}

void kmm__remains_warn(kmm__check_t *c)
{
    const kmm__task_t *t = c->task;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        const kmm__shadow_t *s = kmm__shadow_of(c, a->array);
        if (a->mode == KMM_READ || !s || a->item >= t->work->item_count)
            continue;
        for (uint32_t i = 0; i < c->count; i++) {
            remains_t u = {c, a, s, &c->shadows[i], 0, 0};
            if (u.of == s ? a->mode == KMM_WRITE : t->work->origins[a->item].element >= 4)
                kmm__layout_rows(a->layout, &a->box, find_remains, &u);
            if (u.begin != u.end)
                warn_remains(&u);
        }
    }
}
