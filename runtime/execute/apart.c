/* SPDX-License-Identifier: Apache-2.0 */
#include "execute/apart.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "memory/array.h"

enum { BLOCK = KMM__SHADOW_BLOCK };

/* Notes the blocks of rows in the copy `arg`, and those beside them: a halo that no clause names
 * holds the pattern. */
static int name_blocks(void *arg, const kmm__rows_t *rows)
{
    const kmm__shadow_t *s = arg;
    const int64_t blocks = (int64_t)s->size / BLOCK;
    for (int64_t k = 0; k < rows->count; k++) {
        const int64_t at = rows->offset + k * rows->pitch, last = at + rows->width - 1;
        for (int64_t b = at / BLOCK - 1; b <= last / BLOCK + 1; b++)
            if (b >= 0 && b < blocks)
                s->named[b] = 1;
    }
    return 0;
}

static size_t run_end(const kmm__shadow_t *s, size_t b)
{
    const size_t blocks = s->size / BLOCK, first = b;
    while (b < blocks && s->named[b] == s->named[first])
        b++;
    return b;
}

/* Leaves access to the blocks that are named. Each gap costs the process a mapping, of which it has
 * some ten thousand: a copy with many gaps stays accessible. */
static void protect(const kmm__shadow_t *s)
{
    enum { MOST_RUNS = 64 };
    const size_t blocks = s->size / BLOCK;
    uint32_t runs = 0;
    for (size_t b = 0; b < blocks; b = run_end(s, b))
        runs++;
    if (runs > MOST_RUNS || sysconf(_SC_PAGESIZE) != BLOCK)
        return;
    for (size_t b = 0, end; b < blocks; b = end) {
        end = run_end(s, b);
        if (!s->named[b])
            mprotect(s->work + b * BLOCK, (end - b) * BLOCK, PROT_NONE); /* or it is accessible */
    }
}

void kmm__apart_open(kmm__check_t *c)
{
    const kmm__task_t *t = c->task;
    for (uint32_t k = 0; k < c->count; k++)
        c->shadows[k].named = kmm__alloc(c->shadows[k].size / BLOCK);
    for (uint32_t k = 0; k < t->access_count; k++) {
        kmm__shadow_t *s = kmm__shadow_of(c, t->accesses[k].array);
        if (s)
            kmm__layout_rows(t->accesses[k].layout, &t->accesses[k].box, name_blocks, s);
    }
    for (uint32_t k = 0; k < c->count; k++)
        protect(&c->shadows[k]);
}
