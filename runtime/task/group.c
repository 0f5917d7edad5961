/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: the tasks that a thread submits between two calls. */
#include "task/group.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "task/inside.h"

enum { TEXT_BYTES = 512 };

struct kmm__group {
    _Atomic uint32_t refs; /* held by events, by the thread that has it open, and by tasks */
    uint64_t left;         /* tasks that are not done */
    uint64_t end;          /* its tasks have lower numbers */
    int error;             /* the first of its tasks; 0: none has failed */
    char text[TEXT_BYTES]; /* of that error */
    void **maps;           /* bases of memory that its launches have left mapped */
    uint32_t map_count, map_capacity;
};

static _Thread_local kmm__group_t *opened; /* a reference */

kmm__group_t *kmm__group_create(void)
{
    kmm__group_t *g = kmm__alloc(sizeof(*g));
    g->refs = 1;
    return g;
}

void kmm__group_retain(kmm__group_t *g)
{
    atomic_fetch_add(&g->refs, 1);
}

void kmm__group_release(kmm__group_t *g)
{
    if (atomic_fetch_sub(&g->refs, 1) > 1)
        return;
    free(g->maps);
    free(g);
}

void kmm__group_open(kmm__group_t *g)
{
    kmm__group_t *before = opened;
    if (g)
        kmm__group_retain(g);
    opened = g;
    if (before)
        kmm__group_release(before);
}

kmm__group_t *kmm__group_opened(void)
{
    return opened;
}

/* Keeps the text of the error: the one that was noted for these chunks, or else what is known. */
static void keep_text(kmm__group_t *g, const kmm__work_t *w, uint32_t first, uint32_t last)
{
    const kmm__error_t *noted = &w->runtime->error;
    kmm__work_describe(w, first, last, g->text, sizeof(g->text));
    const size_t n = strlen(g->text);
    if (noted->code == g->error && strncmp(noted->text, g->text, n) == 0)
        snprintf(g->text, sizeof(g->text), "%s", noted->text);
    else
        snprintf(g->text + n, sizeof(g->text) - n, ": %s", kmm_error_string(g->error));
}

kmm__group_t *kmm__group_enter(uint64_t sequence)
{
    kmm__group_t *g = opened;
    if (!g || (kmm__is_inside() && !kmm__inside_task()))
        return NULL;
    kmm__group_retain(g);
    g->left++;
    g->end = sequence + 1;
    return g;
}

void kmm__group_leave(kmm__group_t *g, int error, const kmm__work_t *w, uint32_t first,
                      uint32_t last)
{
    assert(g->left > 0);
    if (error && !g->error) {
        g->error = error;
        keep_text(g, w, first, last);
    }
    if (--g->left == 0)
        pthread_cond_broadcast(&w->runtime->progress);
    kmm__group_release(g);
}

void kmm__group_note_map(void *base)
{
    kmm__group_t *g = opened;
    if (!g || !base)
        return;
    g->maps = kmm__grow(g->maps, g->map_count, &g->map_capacity, sizeof(*g->maps));
    g->maps[g->map_count++] = base;
}

void *kmm__group_take_map(kmm__group_t *g)
{
    return g->map_count ? g->maps[--g->map_count] : NULL;
}

bool kmm__group_is_done(const kmm__group_t *g)
{
    return g->left == 0;
}

uint64_t kmm__group_end(const kmm__group_t *g)
{
    return g->end;
}

bool kmm__group_await(kmm_runtime_t *rt, kmm__group_t *g, uint64_t until)
{
    while (g->left && kmm__cond_wait_until(&rt->progress, &rt->lock, until)) {
    }
    return g->left == 0;
}

int kmm__group_error(kmm_runtime_t *rt, const kmm__group_t *g)
{
    if (!g->error)
        return 0;
    if (rt->error.code == g->error && strcmp(rt->error.text, g->text) == 0)
        return kmm__error_tell(rt, g->error);
    return kmm__error_set(g->error, "%s", g->text);
}
