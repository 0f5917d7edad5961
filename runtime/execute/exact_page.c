/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the pages to which the chunks of a launch have stored. */
#include "execute/exact_page.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "task/work.h"

enum { FEW = 16 };

static kmm__page_t **slot_of(const kmm__pages_t *p, uintptr_t begin)
{
    uint32_t k =
        (uint32_t)(begin / KMM__PAGE * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (p->slots - 1);
    while (p->at[k] && p->at[k]->begin != begin)
        k = (k + 1) & (p->slots - 1);
    return &p->at[k];
}

kmm__page_t *kmm__page_find(const kmm__pages_t *p, uintptr_t begin)
{
    return p->slots ? *slot_of(p, begin) : NULL;
}

void *kmm__page_take(kmm__work_t *w, size_t bytes)
{
    pthread_mutex_lock(&w->runtime->lock);
    void *block = kmm__work_take(w, bytes);
    pthread_mutex_unlock(&w->runtime->lock);
    return block;
}

void kmm__page_add(kmm__pages_t *p, kmm__page_t *page, kmm__work_t *w)
{
    if (2 * p->count >= p->slots) {
        kmm__pages_t more = {.slots = p->slots ? 2 * p->slots : FEW, .count = p->count};
        size_t bytes = more.slots * sizeof(kmm__page_t *);
        more.at = w ? kmm__page_take(w, bytes) : kmm__alloc(bytes);
        for (uint32_t k = 0; k < p->slots; k++)
            if (p->at[k])
                *slot_of(&more, p->at[k]->begin) = p->at[k];
        if (!w)
            free(p->at);
        p->at = more.at;
        p->slots = more.slots;
    }
    *slot_of(p, page->begin) = page;
    __atomic_store_n(&p->count, p->count + 1, __ATOMIC_RELAXED);
}

static void forget_in(kmm__page_t *p, uintptr_t begin, uintptr_t end)
{
    const unsigned char wrong = KMM__BYTE_LOOSE | KMM__BYTE_SEVERAL;
    uintptr_t at = p->begin > begin ? p->begin : begin;
    for (; at < p->begin + KMM__PAGE && at < end; at++)
        if ((p->flags[at % KMM__PAGE] & wrong) != wrong)
            p->flags[at % KMM__PAGE] = 0;
}

void kmm__page_forget(const kmm__pages_t *p, uintptr_t begin, uintptr_t end)
{
    if ((end - begin) / KMM__PAGE > p->slots) {
        for (uint32_t k = 0; k < p->slots; k++)
            if (p->at[k])
                forget_in(p->at[k], begin, end);
        return;
    }
    for (uintptr_t at = begin & ~(uintptr_t)(KMM__PAGE - 1); at < end; at += KMM__PAGE) {
        kmm__page_t *page = kmm__page_find(p, at);
        if (page)
            forget_in(page, begin, end);
    }
}
