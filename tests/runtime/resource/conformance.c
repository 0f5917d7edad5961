/* SPDX-License-Identifier: Apache-2.0 */
/* The cases that every resource must pass, each written against the interface alone. */
#include "conformance.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return #condition;                                                                     \
    } while (0)

static const size_t MIB = (size_t)1 << 20;

typedef struct piece {
    unsigned char *p;
    size_t bytes;
    unsigned char mark;
    kmm_stream_t stream;
} piece_t;

static uint64_t roll(uint64_t *state, uint64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % n;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int piece_get(const conformance_subject_t *s, size_t bytes, kmm_stream_t stream,
                     unsigned char mark, piece_t *out)
{
    void *p;
    int status = kmm_resource_allocate(s->resource, bytes, 0, stream, &p);
    *out = (piece_t){p, bytes, mark, stream};
    if (status == 0 && bytes && s->host_access)
        out->p[0] = out->p[bytes / 2] = out->p[bytes - 1] = mark;
    return status;
}

static bool piece_is_whole(const conformance_subject_t *s, const piece_t *a)
{
    if (!s->host_access || a->bytes == 0)
        return true;
    return a->p[0] == a->mark && a->p[a->bytes / 2] == a->mark && a->p[a->bytes - 1] == a->mark;
}

static const char *piece_put(const conformance_subject_t *s, const piece_t *a, kmm_stream_t stream)
{
    CHECK(piece_is_whole(s, a));
    if (stream != a->stream && s->order)
        CHECK(s->order(stream, a->stream) == 0);
    CHECK(kmm_resource_deallocate(s->resource, a->p, a->bytes, stream) == 0);
    return NULL;
}

static const char *identity(const conformance_subject_t *s)
{
    CHECK(kmm_resource_equal(s->resource, s->resource));
    CHECK(!kmm_resource_equal(s->resource, NULL));
    CHECK(kmm_resource_name(s->resource)[0] != 0);
    CHECK(kmm_resource_device(s->resource) >= -1);
    size_t available, total;
    int status = kmm_resource_memory_info(s->resource, &available, &total);
    CHECK(status == KMM_E_UNSUPPORTED || (status == 0 && available <= total));
    return NULL;
}

static const char *zero_bytes(const conformance_subject_t *s)
{
    void *p = &p;
    CHECK(kmm_resource_allocate(s->resource, 0, 0, s->streams[0], &p) == 0);
    CHECK(p == NULL);
    CHECK(kmm_resource_deallocate(s->resource, p, 0, s->streams[0]) == 0);
    CHECK(kmm_resource_deallocate(s->resource, p, KMM_SIZE_RECORDED, s->streams[0]) == 0);
    return NULL;
}

static const char *all_sizes(const conformance_subject_t *s)
{
    for (size_t power = 1; power <= s->largest; power *= 2)
        for (int off = -1; off <= 1; off++) {
            size_t bytes = smaller(power + (size_t)off, s->largest), recorded;
            piece_t a;
            CHECK(piece_get(s, bytes, s->streams[0], 0x5a, &a) == 0);
            CHECK((uintptr_t)a.p % 256 == 0);
            CHECK(kmm_resource_size(s->resource, a.p, &recorded) == 0 && recorded == bytes);
            const char *wrong = piece_put(s, &a, s->streams[0]);
            if (wrong)
                return wrong;
        }
    return NULL;
}

static const char *absurd_sizes(const conformance_subject_t *s)
{
    const size_t absurd[] = {SIZE_MAX, (size_t)PTRDIFF_MAX + 1, PTRDIFF_MAX, PTRDIFF_MAX - 4096,
                             (size_t)1 << 52};
    for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++) {
        void *p = &p;
        CHECK(kmm_resource_allocate(s->resource, absurd[i], 0, s->streams[0], &p) == KMM_E_MEMORY);
        CHECK(p == NULL);
        CHECK(kmm_resource_error_text()[0] != 0);
    }
    piece_t a;
    CHECK(piece_get(s, 1000, s->streams[0], 1, &a) == 0);
    return piece_put(s, &a, s->streams[0]);
}

static const char *alignments(const conformance_subject_t *s)
{
    void *p[24];
    int n = 0;
    for (size_t alignment = 1; alignment <= s->alignment; alignment *= 2, n++) {
        CHECK(kmm_resource_allocate(s->resource, 777, alignment, s->streams[0], &p[n]) == 0);
        CHECK((uintptr_t)p[n] % (alignment > 256 ? alignment : 256) == 0);
    }
    while (n-- > 0)
        CHECK(kmm_resource_deallocate(s->resource, p[n], 777, s->streams[0]) == 0);
    CHECK(kmm_resource_allocate(s->resource, 777, 48, s->streams[0], &p[0]) == KMM_E_INVALID);
    return NULL;
}

static int by_address(const void *a, const void *b)
{
    const piece_t *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p;
}

static const char *pieces_are_distinct(const conformance_subject_t *s)
{
    enum { COUNT = 300 };
    piece_t a[COUNT];
    uint64_t state = 12345;
    size_t most = smaller(s->largest, s->budget / COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(piece_get(s, roll(&state, most) + 1, s->streams[i % 2], (unsigned char)i, &a[i]) ==
              0);
    qsort(a, COUNT, sizeof(*a), by_address);
    for (int i = 0; i + 1 < COUNT; i++)
        CHECK(a[i].p + a[i].bytes <= a[i + 1].p);
    for (int i = 0; i < COUNT; i++) {
        const char *wrong = piece_put(s, &a[i], a[i].stream);
        if (wrong)
            return wrong;
    }
    return NULL;
}

static const char *wrong_frees(const conformance_subject_t *s)
{
    piece_t a;
    int local;
    CHECK(piece_get(s, 1000, s->streams[0], 9, &a) == 0);
    CHECK(kmm_resource_deallocate(s->resource, a.p, 1001, s->streams[0]) == KMM_E_INVALID);
    CHECK(kmm_resource_deallocate(s->resource, a.p, 0, s->streams[0]) == KMM_E_INVALID);
    CHECK(kmm_resource_deallocate(s->resource, &local, sizeof(local), s->streams[0]) ==
          KMM_E_ADDRESS);
    CHECK(kmm_resource_deallocate(s->resource, a.p + 8, 992, s->streams[0]) == KMM_E_ADDRESS);
    const char *wrong = piece_put(s, &a, s->streams[0]);
    if (wrong)
        return wrong;
    CHECK(kmm_resource_deallocate(s->resource, a.p, 1000, s->streams[0]) == KMM_E_ADDRESS);
    CHECK(kmm_resource_deallocate(s->resource, a.p, KMM_SIZE_RECORDED, s->streams[0]) ==
          KMM_E_ADDRESS);
    return NULL;
}

/* A seeded load on some streams: allocations, and frees on the same stream or another. */
static const char *load(const conformance_subject_t *s, uint64_t seed, int streams, int steps,
                        size_t budget)
{
    enum { MOST = 256 };
    piece_t *a = calloc(MOST, sizeof(*a));
    int count = 0;
    uint64_t state = seed;
    const char *wrong = NULL;
    for (int i = 0; i < steps && !wrong; i++) {
        if (count < MOST && (count == 0 || roll(&state, 100) < 55)) {
            size_t bytes = roll(&state, smaller(s->largest, budget / MOST)) + 1;
            int status = piece_get(s, bytes, s->streams[roll(&state, (uint64_t)streams)],
                                   (unsigned char)i, &a[count]);
            count += status == 0;
            wrong = status ? "an allocation within the budget failed" : NULL;
        } else {
            int which = (int)roll(&state, (uint64_t)count);
            wrong = piece_put(s, &a[which], s->streams[roll(&state, (uint64_t)streams)]);
            a[which] = a[--count];
        }
    }
    while (count > 0 && !wrong) {
        wrong = piece_put(s, &a[count - 1], a[count - 1].stream);
        count--;
    }
    free(a);
    return wrong;
}

static const char *mixed_load(const conformance_subject_t *s)
{
    return load(s, 99, 1, 10000, s->budget);
}
static const char *mixed_load_on_streams(const conformance_subject_t *s)
{
    return load(s, 77, CONFORMANCE_STREAMS, 10000, s->budget);
}

typedef struct worker {
    const conformance_subject_t *subject;
    uint64_t seed;
    const char *wrong;
} worker_t;

static void *run_worker(void *argument)
{
    worker_t *w = argument;
    conformance_subject_t s = *w->subject; /* each thread has one stream to itself */
    s.streams[0] = s.streams[w->seed % CONFORMANCE_STREAMS];
    w->wrong = load(&s, w->seed * 7919, 1, 4000, s.budget / CONFORMANCE_STREAMS);
    return NULL;
}

static const char *threads_at_once(const conformance_subject_t *s)
{
    pthread_t threads[CONFORMANCE_STREAMS];
    worker_t workers[CONFORMANCE_STREAMS];
    const char *wrong = NULL;
    for (int i = 0; i < CONFORMANCE_STREAMS; i++) {
        workers[i] = (worker_t){s, (uint64_t)i + 1, NULL};
        pthread_create(&threads[i], NULL, run_worker, &workers[i]);
    }
    for (int i = 0; i < CONFORMANCE_STREAMS; i++) {
        pthread_join(threads[i], NULL);
        wrong = wrong ? wrong : workers[i].wrong;
    }
    return wrong;
}

/* ---- Allocated by one thread, freed by another ---- */

enum { HANDED = 2000, HAND = 16 };
typedef struct hand_over {
    const conformance_subject_t *subject;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    piece_t pieces[HAND];
    int count;
    const char *wrong;
} hand_over_t;

static void *run_consumer(void *argument)
{
    hand_over_t *h = argument;
    for (int i = 0; i < HANDED; i++) {
        pthread_mutex_lock(&h->lock);
        while (h->count == 0 && !h->wrong)
            pthread_cond_wait(&h->changed, &h->lock);
        if (h->wrong) {
            pthread_mutex_unlock(&h->lock);
            break;
        }
        piece_t a = h->pieces[--h->count];
        pthread_cond_signal(&h->changed);
        pthread_mutex_unlock(&h->lock);
        const char *wrong = piece_put(h->subject, &a, h->subject->streams[1]);
        if (wrong) {
            pthread_mutex_lock(&h->lock);
            h->wrong = wrong;
            pthread_cond_signal(&h->changed);
            pthread_mutex_unlock(&h->lock);
        }
    }
    return NULL;
}

static const char *freed_by_another_thread(const conformance_subject_t *s)
{
    hand_over_t h = {
        .subject = s, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t consumer;
    uint64_t state = 4242;
    pthread_create(&consumer, NULL, run_consumer, &h);
    for (int i = 0; i < HANDED; i++) {
        piece_t a;
        int status = piece_get(s, roll(&state, smaller(s->largest, s->budget / (4 * HAND))) + 1,
                               s->streams[0], (unsigned char)i, &a);
        pthread_mutex_lock(&h.lock);
        if (status)
            h.wrong = "an allocation within the budget failed";
        while (h.count == HAND && !h.wrong)
            pthread_cond_wait(&h.changed, &h.lock);
        if (!h.wrong)
            h.pieces[h.count++] = a;
        pthread_cond_signal(&h.changed);
        pthread_mutex_unlock(&h.lock);
        if (h.wrong)
            break;
    }
    pthread_join(consumer, NULL);
    return h.wrong;
}

static const char *memory_is_given_back(const conformance_subject_t *s)
{
    piece_t a;
    CHECK(piece_get(s, smaller(s->largest, MIB), s->streams[2], 3, &a) == 0);
    const char *wrong = piece_put(s, &a, s->streams[2]);
    if (wrong)
        return wrong;
    CHECK(kmm_resource_trim(s->resource, 0) == 0);
    CHECK(piece_get(s, smaller(s->largest, MIB), s->streams[3], 3, &a) == 0);
    wrong = piece_put(s, &a, s->streams[3]);
    kmm_resource_usage_t usage;
    if (kmm_resource_usage(s->resource, &usage) == 0)
        CHECK(usage.live_count == 0 && usage.live_bytes == 0);
    return wrong;
}

static const char *streams_end(const conformance_subject_t *s)
{
    for (int i = 0; i < CONFORMANCE_STREAMS; i++)
        CHECK(kmm_resource_stream_end(s->resource, s->streams[i]) == 0);
    return mixed_load_on_streams(s);
}

const conformance_case_t conformance_cases[] = {
    {"identity", identity},
    {"zero bytes", zero_bytes},
    {"all sizes", all_sizes},
    {"absurd sizes", absurd_sizes},
    {"alignments", alignments},
    {"pieces are distinct", pieces_are_distinct},
    {"wrong frees", wrong_frees},
    {"mixed load", mixed_load},
    {"mixed load on streams", mixed_load_on_streams},
    {"threads at once", threads_at_once},
    {"freed by another thread", freed_by_another_thread},
    {"memory is given back", memory_is_given_back},
    {"streams end", streams_end},
};
const int conformance_case_count = sizeof(conformance_cases) / sizeof(*conformance_cases);
