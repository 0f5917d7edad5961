/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_memory.h"

#include <stdlib.h>
#include <string.h>

static const uintptr_t BASE = (uintptr_t)1 << 44;
enum { GRANULE = 256 };

static size_t index_of(const void *p) { return ((uintptr_t)p - BASE) / GRANULE; }
static size_t granules_of(size_t bytes) { return (bytes + GRANULE - 1) / GRANULE; }

void fake_memory_init(fake_memory_t *m, size_t bytes)
{
    memset(m, 0, sizeof(*m));
    fake_streams_init(&m->streams);
    pthread_mutex_init(&m->lock, NULL);
    m->count = granules_of(bytes);
    m->granules = calloc(m->count, sizeof(*m->granules));
}

void fake_memory_deinit(fake_memory_t *m) { free(m->granules); }

/* First fit: the model's own bookkeeping is as simple as can be. */
static size_t find_room(const fake_memory_t *m, size_t n)
{
    size_t run = 0;
    for (size_t i = 0; i < m->count; i++) {
        run = m->granules[i].held ? 0 : run + 1;
        if (run == n)
            return i + 1 - n;
    }
    return SIZE_MAX;
}

static int memory_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)stream;
    fake_memory_t *m = context;
    if (m->on_allocate)
        m->on_allocate(m->on_allocate_context);
    pthread_mutex_lock(&m->lock);
    m->allocations++;
    size_t n = granules_of(bytes);
    bool fails = m->fail_allocations > 0 && m->fail_allocations-- > 0;
    size_t at = fails ? SIZE_MAX : find_room(m, n);
    if (at != SIZE_MAX) {
        for (size_t i = at; i < at + n; i++)
            m->granules[i].held = true;
        m->held_bytes += n * GRANULE;
        if (m->most_held_bytes < m->held_bytes)
            m->most_held_bytes = m->held_bytes;
        *out = (void *)(BASE + at * GRANULE);
    }
    pthread_mutex_unlock(&m->lock);
    return at == SIZE_MAX ? KMM_E_MEMORY : 0;
}

static int memory_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)stream;
    fake_memory_t *m = context;
    pthread_mutex_lock(&m->lock);
    for (size_t i = index_of(p), end = i + granules_of(bytes); i < end; i++) {
        fake_granule_t *g = &m->granules[i];
        if (!g->held)
            m->wrong = "memory given back that was not taken";
        if (g->live)
            m->wrong = "memory given back that the program has";
        for (int s = 0; s < FAKE_STREAMS; s++)
            if (!fake_is_completed(&m->streams, s, g->used[s]))
                m->wrong = "memory given back that unfinished work uses";
        memset(g, 0, sizeof(*g));
    }
    m->held_bytes -= granules_of(bytes) * GRANULE;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

static int memory_info(void *context, size_t *available, size_t *total)
{
    fake_memory_t *m = context;
    *total = m->count * GRANULE;
    *available = *total - m->held_bytes;
    return 0;
}

kmm_resource_t *fake_memory_resource(fake_memory_t *m, const kmm_stream_order_t *order)
{
    kmm_callback_options_t options = {
        .context = m, .allocate = memory_allocate, .deallocate = memory_deallocate, .memory_info = memory_info,
        .kind = KMM_MEMORY_DEVICE, .order = order,
    };
    kmm_resource_t *r = NULL;
    kmm_callback_resource_create(&options, &r);
    return r;
}

const char *fake_memory_begin(fake_memory_t *m, void *p, size_t bytes, int stream)
{
    const char *wrong = NULL;
    pthread_mutex_lock(&m->lock);
    for (size_t i = index_of(p), end = i + granules_of(bytes); i < end && !wrong; i++) {
        if (i >= m->count || !m->granules[i].held)
            wrong = "memory handed out that was not taken from upstream";
        else if (m->granules[i].live)
            wrong = "memory handed out twice";
        for (int s = 0; s < FAKE_STREAMS && !wrong; s++)
            if (!fake_is_before(&m->streams, s, m->granules[i].used[s], stream))
                wrong = "memory handed out that unfinished work of another stream uses";
        if (!wrong)
            m->granules[i].live = true;
    }
    pthread_mutex_unlock(&m->lock);
    if (!wrong)
        fake_memory_use(m, p, bytes, stream);
    return wrong;
}

void fake_memory_use(fake_memory_t *m, void *p, size_t bytes, int stream)
{
    uint64_t tick = fake_work(&m->streams, stream);
    pthread_mutex_lock(&m->lock);
    for (size_t i = index_of(p), end = i + granules_of(bytes); i < end; i++)
        m->granules[i].used[stream] = tick;
    pthread_mutex_unlock(&m->lock);
}

const char *fake_memory_end(fake_memory_t *m, void *p, size_t bytes)
{
    const char *wrong = NULL;
    pthread_mutex_lock(&m->lock);
    for (size_t i = index_of(p), end = i + granules_of(bytes); i < end; i++) {
        if (!m->granules[i].live)
            wrong = "memory freed that the program does not have";
        m->granules[i].live = false;
    }
    pthread_mutex_unlock(&m->lock);
    return wrong;
}
