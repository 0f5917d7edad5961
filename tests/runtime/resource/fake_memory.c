/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a device's memory: an array with an entry for each granule. */
#include "fake_memory.h"

#include <stdlib.h>
#include <string.h>

#include "resource/source.h"

static const uintptr_t BASE = (uintptr_t)1 << 44;
enum { GRANULE = 256, PLACES_PER_FRAME = 64 };

static size_t index_of(const void *p)
{
    return ((uintptr_t)p - BASE) / GRANULE;
}
static size_t granules_of(size_t bytes)
{
    return (bytes + GRANULE - 1) / GRANULE;
}

void fake_memory_init(fake_memory_t *m, size_t bytes)
{
    memset(m, 0, sizeof(*m));
    fake_streams_init(&m->streams);
    pthread_mutex_init(&m->lock, NULL);
    m->count = granules_of(bytes);
    m->granules = calloc(m->count, sizeof(*m->granules));
}

void fake_memory_init_frames(fake_memory_t *m, size_t bytes, size_t frame_bytes)
{
    fake_memory_init(m, bytes);
    m->frame_granules = frame_bytes / GRANULE;
    const size_t frames = m->count / m->frame_granules;
    m->frames = calloc(frames, sizeof(*m->frames));
    m->place_count = frames * PLACES_PER_FRAME;
    m->places = calloc(m->place_count, sizeof(*m->places));
    for (size_t i = 0; i < m->place_count; i++)
        m->places[i].frame = -1;
}

void fake_memory_deinit(fake_memory_t *m)
{
    free(m->granules);
    free(m->frames);
    free(m->places);
    free(m->mapper);
}

/* The granule i after an address; NULL: there is no memory. */
static fake_granule_t *granule(fake_memory_t *m, const void *p, size_t i)
{
    i += index_of(p);
    if (!m->places)
        return i < m->count ? &m->granules[i] : NULL;
    const size_t place = i / m->frame_granules;
    if (place >= m->place_count || m->places[place].frame < 0)
        return NULL;
    return &m->granules[(size_t)m->places[place].frame * m->frame_granules + i % m->frame_granules];
}

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

/* ---- Frames that are mapped; locked ---- */

static void use_ends(fake_memory_t *m, uint64_t used[FAKE_STREAMS], const char *wrong)
{
    for (int s = 0; s < FAKE_STREAMS; s++) {
        if (!fake_is_completed(&m->streams, s, used[s]))
            m->wrong = wrong;
        used[s] = 0;
    }
}

static void frame_free(fake_memory_t *m, int frame)
{
    for (size_t i = 0; i < m->frame_granules; i++) {
        fake_granule_t *g = &m->granules[(size_t)frame * m->frame_granules + i];
        if (g->live)
            m->wrong = "a frame given back that the program has";
        use_ends(m, g->used, "a frame given back that unfinished work uses");
        memset(g, 0, sizeof(*g));
    }
    m->held_bytes -= m->frame_granules * GRANULE;
}

static void place_clear(fake_memory_t *m, size_t place)
{
    fake_place_t *p = &m->places[place];
    if (p->frame < 0)
        return;
    fake_frame_t *f = &m->frames[p->frame];
    use_ends(m, p->used, "an address unmapped that unfinished work uses");
    if (f->home == (int)place)
        f->home = -1;
    if (--f->mappings == 0 && f->home < 0)
        frame_free(m, p->frame);
    p->frame = -1;
}

/* A frame that nobody has; -1: there is none. From the end, so that they do not lie as their
 * addresses do. */
static int frame_new(fake_memory_t *m)
{
    for (size_t f = m->count / m->frame_granules; f-- > 0;) {
        if (m->granules[f * m->frame_granules].held)
            continue;
        for (size_t i = 0; i < m->frame_granules; i++)
            m->granules[f * m->frame_granules + i].held = true;
        m->held_bytes += m->frame_granules * GRANULE;
        if (m->most_held_bytes < m->held_bytes)
            m->most_held_bytes = m->held_bytes;
        return (int)f;
    }
    return -1;
}

/* Addresses for an area, the lowest that are free; SIZE_MAX: there are none. */
static size_t reserve(fake_memory_t *m, size_t frames)
{
    for (size_t i = 0, run = 0; i < m->place_count; i++) {
        run = m->places[i].reserved ? 0 : run + 1;
        if (run < frames)
            continue;
        for (size_t k = i + 1 - frames; k <= i; k++)
            m->places[k] =
                (fake_place_t){.frame = -1, .reserved = true, .first = k == i + 1 - frames};
        return i + 1 - frames;
    }
    return SIZE_MAX;
}

static void area_free(fake_memory_t *m, size_t place)
{
    if (!m->places[place].first)
        m->wrong = "an area given back that there is not";
    do {
        place_clear(m, place);
        m->places[place].reserved = m->places[place].first = false;
        place++;
    } while (place < m->place_count && m->places[place].reserved && !m->places[place].first);
}

static size_t place_of(const fake_memory_t *m, uintptr_t address)
{
    return (address - BASE) / (m->frame_granules * GRANULE);
}

static int area_new(fake_memory_t *m, const kmm__piece_t *pieces, size_t count, size_t frames,
                    void **out)
{
    const size_t at = reserve(m, frames);
    size_t next = at;
    if (at == SIZE_MAX)
        return KMM_E_MEMORY;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < pieces[k].frames; i++) {
            fake_place_t *from = &m->places[place_of(m, pieces[k].address) + i];
            if (from->frame < 0 || m->frames[from->frame].home != from - m->places)
                m->wrong = "a frame is gathered from where it is not at home";
            m->places[next++].frame = from->frame;
        }
    for (; next < at + frames && (m->places[next].frame = frame_new(m)) >= 0; next++)
        continue;
    for (size_t i = at; i < next; i++) {
        fake_frame_t *f = &m->frames[m->places[i].frame];
        f->mappings++;
        if (next == at + frames || f->mappings == 1)
            f->home = (int)i;
    }
    if (next < at + frames) {
        area_free(m, at);
        return KMM_E_MEMORY;
    }
    *out = (void *)(BASE + at * m->frame_granules * GRANULE);
    return 0;
}

static int mapped_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    fake_memory_t *m = context;
    (void)stream;
    pthread_mutex_lock(&m->lock);
    m->allocations++;
    bool fails = m->fail_allocations > 0 && m->fail_allocations-- > 0;
    int status =
        fails ? KMM_E_MEMORY
              : area_new(m, NULL, 0,
                         (granules_of(bytes) + m->frame_granules - 1) / m->frame_granules, out);
    pthread_mutex_unlock(&m->lock);
    return status;
}

static int mapped_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    fake_memory_t *m = context;
    (void)bytes, (void)stream;
    pthread_mutex_lock(&m->lock);
    area_free(m, place_of(m, (uintptr_t)p));
    pthread_mutex_unlock(&m->lock);
    return 0;
}

static fake_memory_t *memory_of(kmm_resource_t *r)
{
    return *(fake_memory_t **)(r->mapper + 1);
}

static int mapped_gather(kmm_resource_t *r, const kmm__piece_t *pieces, size_t count, size_t frames,
                         void **out)
{
    fake_memory_t *m = memory_of(r);
    pthread_mutex_lock(&m->lock);
    m->gathers++;
    bool fails = m->fail_gathers > 0 && m->fail_gathers-- > 0;
    int status = fails ? KMM_E_DEVICE : area_new(m, pieces, count, frames, out);
    pthread_mutex_unlock(&m->lock);
    return status
               ? status
               : kmm__source_adopt((kmm__source_t *)r, *out, frames * m->frame_granules * GRANULE);
}

static int mapped_forget(kmm_resource_t *r, const kmm__piece_t *piece)
{
    fake_memory_t *m = memory_of(r);
    pthread_mutex_lock(&m->lock);
    m->forgets++;
    for (size_t i = 0; i < piece->frames; i++)
        place_clear(m, place_of(m, piece->address) + i);
    pthread_mutex_unlock(&m->lock);
    return 0;
}

/* What the source finds its memory by lies behind the mapper. */
static void add_mapper(fake_memory_t *m, kmm_resource_t *r)
{
    m->mapper = calloc(1, sizeof(*m->mapper) + sizeof(m));
    *m->mapper = (kmm__mapper_t){m->frame_granules * GRANULE, mapped_gather, mapped_forget};
    *(fake_memory_t **)(m->mapper + 1) = m;
    r->mapper = m->mapper;
}

kmm_resource_t *fake_memory_resource(fake_memory_t *m, const kmm_stream_order_t *order)
{
    kmm_callback_options_t options = {
        .context = m,
        .allocate = memory_allocate,
        .deallocate = memory_deallocate,
        .memory_info = memory_info,
        .kind = KMM_MEMORY_DEVICE,
        .order = order,
    };
    if (m->places) {
        options.allocate = mapped_allocate;
        options.deallocate = mapped_deallocate;
    }
    kmm_resource_t *r = NULL;
    kmm_callback_resource_create(&options, &r);
    if (m->places)
        add_mapper(m, r);
    return r;
}

const char *fake_memory_begin(fake_memory_t *m, void *p, size_t bytes, int stream)
{
    const char *wrong = NULL;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < granules_of(bytes) && !wrong; i++) {
        fake_granule_t *g = granule(m, p, i);
        if (!g || !g->held)
            wrong = "memory handed out that was not taken from upstream";
        else if (g->live)
            wrong = "memory handed out twice";
        for (int s = 0; s < FAKE_STREAMS && !wrong; s++)
            if (!fake_is_before(&m->streams, s, g->used[s], stream))
                wrong = "memory handed out that unfinished work of another stream uses";
        if (!wrong)
            g->live = true;
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
    for (size_t i = 0; i < granules_of(bytes); i++) {
        granule(m, p, i)->used[stream] = tick;
        if (m->places)
            m->places[(index_of(p) + i) / m->frame_granules].used[stream] = tick;
    }
    pthread_mutex_unlock(&m->lock);
}

const char *fake_memory_end(fake_memory_t *m, void *p, size_t bytes)
{
    const char *wrong = NULL;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < granules_of(bytes); i++) {
        fake_granule_t *g = granule(m, p, i);
        if (!g || !g->live)
            return pthread_mutex_unlock(&m->lock), "memory freed that the program does not have";
        g->live = false;
    }
    pthread_mutex_unlock(&m->lock);
    return wrong;
}
