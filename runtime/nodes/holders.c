/* SPDX-License-Identifier: Apache-2.0 */
/* Holder maps: a sorted list of runs. It has about as many runs as there are nodes, because each
 * node holds a part of an array. */
#include "nodes/holders.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void kmm__holder_map_init(kmm__holder_map_t *m, int64_t bytes)
{
    *m = (kmm__holder_map_t){.bytes = bytes};
    m->run = kmm__grow(m->run, m->count, &m->capacity, sizeof(*m->run));
    m->run[m->count++] = (kmm__held_t){0, 1, 0};
}

void kmm__holder_map_free(kmm__holder_map_t *m)
{
    free(m->run);
}

/* Returns the index of the run that begins at a byte; the end of the map has the number of runs. */
static uint32_t cut(kmm__holder_map_t *m, int64_t at)
{
    uint32_t low = 0, high = m->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (m->run[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (at >= m->bytes || (low < m->count && m->run[low].begin == at))
        return low;
    m->run = kmm__grow(m->run, m->count, &m->capacity, sizeof(*m->run));
    memmove(&m->run[low + 1], &m->run[low], (m->count - low) * sizeof(*m->run));
    m->run[low] = m->run[low - 1];
    m->run[low].begin = at;
    m->count++;
    return low;
}

static int64_t end_of(const kmm__holder_map_t *m, uint32_t k)
{
    return k + 1 < m->count ? m->run[k + 1].begin : m->bytes;
}

/* The nearest node before `node`, around, that held the run before this command. */
static uint32_t source_of(const kmm__held_t *run, uint32_t node)
{
    const uint64_t old = run->holders & ~run->fresh;
    for (uint32_t k = 1; k < KMM__NODES_MOST; k++) {
        uint32_t from = (node + KMM__NODES_MOST - k) % KMM__NODES_MOST;
        if (old >> from & 1)
            return from;
    }
    return node;
}

void kmm__holder_map_read(kmm__holder_map_t *m, uint32_t node, const int64_t range[2],
                          kmm__missing_fn_t *fn, void *ctx)
{
    const uint64_t bit = UINT64_C(1) << node;
    if (range[0] >= range[1])
        return;
    uint32_t first = cut(m, range[0]), end = cut(m, range[1]);
    for (uint32_t k = first; k < end; k++) {
        kmm__held_t *run = &m->run[k];
        if (run->holders & bit)
            continue;
        fn(ctx, source_of(run, node), run->begin, end_of(m, k));
        run->holders |= bit;
        run->fresh |= bit;
    }
}

void kmm__holder_map_look(const kmm__holder_map_t *m, uint32_t node, const int64_t range[2],
                          kmm__missing_fn_t *fn, void *ctx)
{
    for (uint32_t k = 0; k < m->count && m->run[k].begin < range[1]; k++) {
        const kmm__held_t *run = &m->run[k];
        const int64_t begin = run->begin > range[0] ? run->begin : range[0],
                      end = end_of(m, k) < range[1] ? end_of(m, k) : range[1];
        if (begin < end)
            fn(ctx, run->holders >> node & 1 ? node : source_of(run, node), begin, end);
    }
}

void kmm__holder_map_write(kmm__holder_map_t *m, uint32_t node, int64_t begin, int64_t end)
{
    if (begin >= end)
        return;
    uint32_t first = cut(m, begin), last = cut(m, end);
    m->run[first] = (kmm__held_t){begin, UINT64_C(1) << node, 0};
    memmove(&m->run[first + 1], &m->run[last], (m->count - last) * sizeof(*m->run));
    m->count -= last - first - 1;
}

bool kmm__holder_map_is_of(kmm__holder_map_t *m, uint32_t node, const int64_t range[2], bool alone)
{
    const uint64_t bit = UINT64_C(1) << node;
    bool is = true;
    for (uint32_t k = 0; k < m->count && m->run[k].begin < range[1]; k++)
        if (end_of(m, k) > range[0])
            is &= alone ? m->run[k].holders == bit : (m->run[k].holders & bit) != 0;
    return is;
}

void kmm__holder_map_settle(kmm__holder_map_t *m)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        m->run[k].fresh = 0;
        if (kept && m->run[kept - 1].holders == m->run[k].holders)
            continue;
        m->run[kept++] = m->run[k];
    }
    m->count = kept;
}
