/* SPDX-License-Identifier: Apache-2.0 */
/* What programs do wrong, to every kind of resource that lives on the host: reported, and nothing
 * is changed by it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <kmm/resource.h>

static const size_t KIB = 1024, MIB = 1024 * 1024;

/* ---- Every kind ---- */

enum { MOST = 16 };
typedef struct stack {
    kmm_resource_t *parts[MOST];
    int count;
} parts_t;

static bool give_up(void *context, size_t bytes)
{
    return (void)context, (void)bytes, false;
}

static int program_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)stream;
    return posix_memalign(out, 256, bytes) ? KMM_E_MEMORY : 0;
}

static int program_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)bytes, (void)stream;
    free(p);
    return 0;
}

static int make(const char *kind, kmm_resource_t *up, kmm_resource_t **out)
{
    const kmm_callback_options_t callback = {
        .allocate = program_allocate, .deallocate = program_deallocate, .device = -1};
    const kmm_fixed_size_options_t fixed = {.block_bytes = 4 * KIB, .blocks_per_chunk = 16};
    const kmm_arena_options_t threads = {.key = KMM_ARENA_PER_THREAD};
    int status;
    if (!strcmp(kind, "callback"))
        return kmm_callback_resource_create(&callback, out);
    if (!strcmp(kind, "pool"))
        return kmm_pool_resource_create(up, NULL, out);
    if (!strcmp(kind, "arena"))
        return kmm_arena_resource_create(up, NULL, out);
    if (!strcmp(kind, "thread_arena"))
        return kmm_arena_resource_create(up, &threads, out);
    if (!strcmp(kind, "fixed"))
        return kmm_fixed_size_resource_create(up, &fixed, out);
    if (!strcmp(kind, "binning"))
        return (status = kmm_binning_resource_create(up, out)) ? status
                                                               : kmm_binning_add(*out, KIB, NULL);
    if (!strcmp(kind, "limiting"))
        return kmm_limiting_resource_create(up, 64 * MIB, out);
    if (!strcmp(kind, "aligned"))
        return kmm_aligned_resource_create(up, 4096, 2048, out);
    if (!strcmp(kind, "logging"))
        return kmm_logging_resource_create(up, "/dev/null", out);
    if (!strcmp(kind, "statistics"))
        return kmm_statistics_resource_create(up, out);
    if (!strcmp(kind, "tracking"))
        return kmm_tracking_resource_create(up, KMM_TRACK_STACKS, out);
    if (!strcmp(kind, "failure"))
        return kmm_failure_resource_create(up, give_up, NULL, out);
    if (!strcmp(kind, "prefetch"))
        return kmm_prefetch_resource_create(up, out);
    if (!strcmp(kind, "thread_safe"))
        return kmm_thread_safe_resource_create(up, out);
    if (!strcmp(kind, "owning"))
        return kmm_owning_resource_create(up, NULL, 0, out);
    return kmm_host_resource_create(out);
}

static kmm_resource_t *push(parts_t *s, const char *kind)
{
    kmm_resource_t *up = s->count ? s->parts[s->count - 1] : NULL;
    assert_int_equal(make(kind, up, &s->parts[s->count]), 0);
    return s->parts[s->count++];
}

/* Destroys them from the top; an owning one has destroyed what it stands on. */
static void finish(parts_t *s)
{
    while (s->count > 0) {
        kmm_resource_t *r = s->parts[--s->count];
        const bool owns =
            s->count && !strcmp(kmm_resource_name(r), kmm_resource_name(s->parts[s->count - 1]));
        assert_int_equal(kmm_resource_destroy(r), 0);
        s->count -= owns;
    }
}

static void *get(kmm_resource_t *r, size_t bytes)
{
    void *p;
    assert_int_equal(kmm_resource_allocate(r, bytes, 0, NULL, &p), 0);
    memset(p, 7, bytes);
    return p;
}

static void put(kmm_resource_t *r, void *p, size_t bytes)
{
    assert_int_equal(kmm_resource_deallocate(r, p, bytes, NULL), 0);
}

static void check_foreign(kmm_resource_t *r, kmm_resource_t *twin)
{
    char local[512];
    char *p = get(r, 3000), *others = get(twin, 3000);
    void *const foreign[] = {local,
                             p + 1,
                             p + 256,
                             p + 3000,
                             p - 256,
                             others,
                             r,
                             (void *)1,
                             (void *)UINTPTR_MAX,
                             (void *)(UINTPTR_MAX & ~(uintptr_t)255)};
    size_t bytes;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        assert_int_equal(kmm_resource_deallocate(r, foreign[i], 3000, NULL), KMM_E_ADDRESS);
        assert_int_equal(kmm_resource_deallocate(r, foreign[i], KMM_SIZE_RECORDED, NULL),
                         KMM_E_ADDRESS);
        assert_int_equal(kmm_resource_size(r, foreign[i], &bytes), KMM_E_ADDRESS);
        assert_true(strlen(kmm_resource_error_text()) > 10);
    }
    assert_int_equal(kmm_resource_deallocate(r, p, 2999, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_resource_deallocate(r, NULL, 3000, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_resource_size(r, p, &bytes), 0);
    assert_int_equal(bytes, 3000);
    assert_true(p[0] == 7 && p[2999] == 7);
    put(r, p, 3000);
    assert_int_equal(kmm_resource_deallocate(r, p, 3000, NULL), KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_deallocate(r, p, KMM_SIZE_RECORDED, NULL), KMM_E_ADDRESS);
    put(twin, others, 3000);
}

static void check_requests(kmm_resource_t *r)
{
    void *p = &p;
    assert_int_equal(kmm_resource_allocate(r, 1, 3, NULL, &p), KMM_E_INVALID);
    assert_null(p);
    assert_int_equal(kmm_resource_allocate(r, 1, 0, NULL, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_resource_allocate(r, SIZE_MAX, 0, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(r, SIZE_MAX, (size_t)1 << 63, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(r, 1, (size_t)1 << 63, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(r, 0, (size_t)1 << 63, NULL, &p),
                     0); /* of nothing, anything can be had */
    assert_null(p);
    int status =
        kmm_resource_allocate(r, 1, (size_t)1 << 40, NULL, &p); /* the host may promise so much */
    if (status == 0)
        put(r, p, 1);
    else
        assert_true(status == KMM_E_MEMORY || status == KMM_E_UNSUPPORTED);
    status = kmm_resource_allocate(r, 1, MIB, NULL, &p);
    assert_true(status == KMM_E_UNSUPPORTED || (status == 0 && (uintptr_t)p % MIB == 0));
    if (status == 0)
        put(r, p, 1);
}

static void check_nothing(kmm_resource_t *r)
{
    size_t a;
    assert_int_equal(kmm_resource_size(r, NULL, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_resource_size(r, NULL, &a), 0);
    assert_int_equal(kmm_resource_memory_info(r, NULL, &a), KMM_E_INVALID);
    assert_int_equal(kmm_resource_usage(r, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_resource_stream_end(r, (kmm_stream_t)0x1234), 0);
    assert_int_equal(kmm_resource_trim(r, SIZE_MAX), 0);
    assert_int_equal(kmm_resource_trim(r, 0), 0);
    assert_int_equal(kmm_resource_allow(r, 0), KMM_E_UNSUPPORTED);
    assert_false(kmm_resource_equal(NULL, r));
}

static const char *const kinds[] = {"host",         "callback", "pool",        "arena",
                                    "thread_arena", "fixed",    "binning",     "limiting",
                                    "aligned",      "logging",  "statistics",  "tracking",
                                    "failure",      "prefetch", "thread_safe", "owning"};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static void every_kind(void **state)
{
    const char *kind = *state;
    parts_t one = {.count = 0}, other = {.count = 0};
    if (strcmp(kind, "host") && strcmp(kind, "callback")) {
        push(&one, "host");
        push(&other, "host");
    }
    kmm_resource_t *r = push(&one, kind), *twin = push(&other, kind);
    check_requests(r);
    check_nothing(r);
    check_foreign(r, twin);
    kmm_resource_usage_t usage;
    if (kmm_resource_usage(r, &usage) == 0)
        assert_true(usage.live_count == 0 && usage.live_bytes == 0);
    finish(&one);
    finish(&other);
}

static void ten_deep(void **state)
{
    (void)state;
    parts_t one = {.count = 0}, other = {.count = 0};
    static const char *const layers[] = {
        "host",    "pool",     "limiting",    "aligned", "logging", "statistics", "tracking",
        "failure", "prefetch", "thread_safe", "binning", "arena",   "pool"};
    for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++) {
        push(&one, layers[i]);
        push(&other, layers[i]);
    }
    check_requests(one.parts[one.count - 1]);
    check_nothing(one.parts[one.count - 1]);
    check_foreign(one.parts[one.count - 1], other.parts[other.count - 1]);
    kmm_resource_t *r = one.parts[one.count - 1];
    void *p[100];
    for (int i = 0; i < 100; i++)
        p[i] = get(r, (size_t)i * 997 + 1);
    for (int i = 0; i < 100; i++)
        put(r, p[i], (size_t)i * 997 + 1);
    finish(&one);
    finish(&other);
}

/* ---- Particular ones ---- */

/* Memory of upstream that is freed through a limit would widen it. */
static void a_limit_cannot_be_widened(void **state)
{
    (void)state;
    kmm_resource_t *host, *r;
    void *p;
    assert_int_equal(kmm_host_resource_create(&host), 0);
    assert_int_equal(kmm_limiting_resource_create(host, 4 * KIB, &r), 0);
    void *foreign = get(host, KIB), *mine = get(r, 300);
    assert_int_equal(kmm_resource_deallocate(r, foreign, KIB, NULL), KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_deallocate(r, foreign, KMM_SIZE_RECORDED, NULL), KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_allocate(r, 4 * KIB, 0, NULL, &p), KMM_E_MEMORY);
    put(r, mine, 300);
    put(r, get(r, 4 * KIB), 4 * KIB);
    put(host, foreign, KIB);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(host), 0);
}

/* Adaptors that count or write down free nothing that has been allocated through another, though
 * upstream would. */
static void adaptors_free_only_their_own(void **state)
{
    (void)state;
    static const char *const counting[] = {"limiting", "logging", "statistics", "tracking"};
    for (size_t i = 0; i < sizeof(counting) / sizeof(*counting); i++) {
        kmm_resource_t *host, *pool, *r;
        size_t bytes;
        assert_int_equal(kmm_host_resource_create(&host), 0);
        assert_int_equal(kmm_pool_resource_create(host, NULL, &pool), 0);
        assert_int_equal(make(counting[i], pool, &r), 0);
        void *mine = get(r, 3 * KIB), *foreign = get(pool, KIB);
        assert_int_equal(kmm_resource_deallocate(r, foreign, KIB, NULL), KMM_E_ADDRESS);
        assert_int_equal(kmm_resource_deallocate(r, foreign, KMM_SIZE_RECORDED, NULL),
                         KMM_E_ADDRESS);
        assert_int_equal(kmm_resource_deallocate(r, mine, 3 * KIB - 1, NULL), KMM_E_INVALID);
        assert_int_equal(kmm_resource_size(r, mine, &bytes), 0);
        assert_int_equal(bytes, 3 * KIB);
        put(pool, foreign, KIB);
        assert_int_equal(kmm_resource_destroy(r),
                         KMM_E_STATE); /* it says what is left, and leaves it alone */
        put(pool, mine, 3 * KIB);
        assert_int_equal(kmm_resource_destroy(pool), 0);
        assert_int_equal(kmm_resource_destroy(host), 0);
    }
}

/* The first block of what a pool has taken from upstream has the address of the whole, which
 * upstream has allocated: freed there it would take the pool's memory away from under it. */
static void memory_under_a_pool_is_not_freed(void **state)
{
    (void)state;
    static const char *const on_top[] = {"pool", "fixed", "arena", "thread_arena"},
                             *const between[] = {"limiting", "failure", "thread_safe", "binning"};
    for (size_t i = 0; i < sizeof(on_top) / sizeof(*on_top); i++)
        for (size_t k = 0; k < sizeof(between) / sizeof(*between); k++) {
            kmm_resource_t *r[6];
            const kmm_pool_options_t whole = {.initial_bytes = MIB, .maximum_bytes = MIB};
            assert_int_equal(kmm_host_resource_create(&r[0]), 0);
            assert_int_equal(kmm_pool_resource_create(r[0], NULL, &r[1]), 0);
            assert_int_equal(make(between[k], r[1], &r[2]), 0);
            assert_int_equal(i ? make(on_top[i], r[2], &r[3])
                               : kmm_pool_resource_create(r[2], &whole, &r[3]),
                             0);
            assert_int_equal(make("thread_safe", r[1], &r[4]), 0); /* beside what stands on it */
            const size_t bytes =
                i ? 4 * KIB : MIB; /* in a pool, all there is: so the size is right, too */
            void *p = get(r[3], bytes);
            for (int below = 0; below < 5; below++) {
                if (below == 3)
                    continue;
                assert_int_equal(kmm_resource_deallocate(r[below], p, KMM_SIZE_RECORDED, NULL),
                                 KMM_E_ADDRESS);
                assert_int_equal(kmm_resource_deallocate(r[below], p, bytes, NULL), KMM_E_ADDRESS);
            }
            put(r[3], p, bytes);
            assert_int_equal(kmm_resource_destroy(r[4]), 0);
            for (int n = 3; n >= 0; n--)
                assert_int_equal(kmm_resource_destroy(r[n]), 0);
        }
}

/* What upstream cannot free stays with the adaptor, which counts it on. */
static void what_upstream_refuses_stays(void **state)
{
    (void)state;
    kmm_resource_t *host, *r, *top;
    kmm_statistics_t now;
    assert_int_equal(kmm_host_resource_create(&host), 0);
    assert_int_equal(kmm_statistics_resource_create(host, &r), 0);
    assert_int_equal(kmm_limiting_resource_create(r, 4 * KIB, &top), 0);
    void *p = get(top, KIB);
    assert_int_equal(kmm_resource_deallocate(host, p, KIB, NULL), 0); /* past both of them */
    assert_int_equal(kmm_resource_deallocate(top, p, KIB, NULL), KMM_E_ADDRESS);
    assert_int_equal(kmm_statistics_get(r, &now), 0);
    assert_int_equal(now.bytes.current, KIB);
    assert_int_equal(kmm_resource_allocate(top, 4 * KIB, 0, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_destroy(top), KMM_E_STATE);
    assert_int_equal(kmm_resource_destroy(r), KMM_E_STATE);
    assert_int_equal(kmm_resource_destroy(host), 0);
}

static void absurd_options(void **state)
{
    (void)state;
    kmm_resource_t *host, *r = NULL, *binning;
    assert_int_equal(kmm_host_resource_create(&host), 0);
    assert_int_equal(
        kmm_pool_resource_create(host, &(kmm_pool_options_t){.initial_bytes = SIZE_MAX}, &r),
        KMM_E_INVALID);
    assert_int_equal(
        kmm_pool_resource_create(host, &(kmm_pool_options_t){.growth_bytes = SIZE_MAX - 5}, &r),
        KMM_E_INVALID);
    assert_int_equal(
        kmm_arena_resource_create(host, &(kmm_arena_options_t){.arena_bytes = SIZE_MAX - 5}, &r),
        KMM_E_INVALID);
    assert_int_equal(
        kmm_arena_resource_create(host, &(kmm_arena_options_t){.key = (kmm_arena_key_t)77}, &r),
        KMM_E_INVALID);
    assert_int_equal(kmm_owning_resource_create(host, &host, SIZE_MAX / 8 + 1, &r), KMM_E_INVALID);
    assert_int_equal(kmm_aligned_resource_create(host, 3, 0, &r), KMM_E_INVALID);
    const kmm_callback_options_t odd = {.allocate = program_allocate,
                                        .deallocate = program_deallocate,
                                        .kind = (kmm_memory_kind_t)9,
                                        .device = -1};
    assert_int_equal(kmm_callback_resource_create(&odd, &r), KMM_E_INVALID);
    const kmm_callback_options_t far = {
        .allocate = program_allocate, .deallocate = program_deallocate, .device = 1000};
    assert_int_equal(kmm_callback_resource_create(&far, &r), KMM_E_INVALID);
    assert_int_equal(kmm_binning_resource_create(host, &binning), 0);
    assert_int_equal(kmm_binning_add(binning, KIB, binning), KMM_E_INVALID);
    assert_int_equal(kmm_binning_add(binning, SIZE_MAX, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_binning_add(host, KIB, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_statistics_push(host), KMM_E_INVALID);
    assert_int_equal(kmm_logging_flush(NULL), KMM_E_INVALID);
    assert_int_equal(kmm_tracking_outstanding(host, NULL, 0), KMM_E_INVALID);
    assert_int_equal(kmm_resource_destroy(binning), 0);
    assert_int_equal(kmm_resource_destroy(host), 0);
    assert_null(r);
}

static void buffers_that_there_are_not(void **state)
{
    (void)state;
    kmm_buffer_t none = {0};
    kmm_vector_t v = {0};
    char c = 0;
    kmm_stream_t s;
    assert_int_equal(kmm_buffer_resize(&none, 1, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_buffer_write(&none, 0, &c, 1), KMM_E_INVALID);
    assert_int_equal(kmm_buffer_resize(NULL, 1, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_buffer_init(NULL, 1, NULL, NULL), KMM_E_INVALID);
    kmm_buffer_set_stream(NULL, NULL);
    assert_int_equal(kmm_vector_resize(&v, 1, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_vector_get(&v, 0, &c), KMM_E_RANGE);
    assert_int_equal(kmm_scalar_get(NULL, &c), KMM_E_INVALID);
    assert_int_equal(kmm_buffer_deinit(&none), 0);
    assert_null(kmm_stream_pool_next(NULL));
    assert_int_equal(kmm_stream_pool_get(NULL, 0, &s), KMM_E_RANGE);
    kmm_resource_t *host;
    assert_int_equal(kmm_host_resource_create(&host), 0);
    kmm_buffer_t b;
    assert_int_equal(kmm_buffer_init(&b, 8, NULL, host), 0);
    assert_int_equal(kmm_buffer_write(&b, 0, NULL, 8), KMM_E_INVALID);
    assert_int_equal(kmm_buffer_read(&b, 0, NULL, 8), KMM_E_INVALID);
    assert_int_equal(kmm_buffer_deinit(&b), 0);
    memset(&b, 0x5a, sizeof(b));
    assert_int_equal(kmm_buffer_init_copy(&b, NULL, 8, NULL, host), KMM_E_INVALID);
    assert_int_equal(kmm_buffer_deinit(&b), 0); /* it is empty */
    memset(&b, 0x5a, sizeof(b));
    assert_int_equal(kmm_buffer_init_copy(&b, NULL, 0, NULL, host), 0);
    assert_int_equal(kmm_buffer_deinit(&b), 0);
    assert_int_equal(kmm_resource_destroy(host), 0);
}

/* ---- Threads that come and go ---- */

static void *allocate_and_go(void *argument)
{
    void *p;
    return kmm_resource_allocate(argument, 5000, 0, NULL, &p) ? NULL : p;
}

static void *free_and_go(void *argument)
{
    void **work = argument;
    return kmm_resource_deallocate(work[0], work[1], 5000, NULL) ? argument : NULL;
}

static void memory_outlives_threads(void **state)
{
    (void)state;
    static const char *const built[] = {"pool", "arena", "thread_arena", "tracking"};
    for (int k = 0; k < 4; k++) {
        parts_t s = {.count = 0};
        push(&s, "host");
        kmm_resource_t *r = push(&s, built[k]);
        for (int i = 0; i < 200; i++) {
            pthread_t thread;
            void *p, *wrong;
            assert_int_equal(pthread_create(&thread, NULL, allocate_and_go, r), 0);
            pthread_join(thread, &p);
            assert_non_null(p);
            void *work[] = {r, p};
            assert_int_equal(pthread_create(&thread, NULL, free_and_go, work), 0);
            pthread_join(thread, &wrong);
            assert_null(wrong);
        }
        finish(&s);
    }
}

/* Many threads free one pointer: one of them does. */
typedef struct race {
    kmm_resource_t *r;
    void *p;
    int freed[4];
    pthread_barrier_t start;
} race_t;
typedef struct racer {
    race_t *race;
    int number;
} racer_t;

static void *free_at_once(void *argument)
{
    const racer_t *racer = argument;
    pthread_barrier_wait(&racer->race->start);
    racer->race->freed[racer->number] =
        kmm_resource_deallocate(racer->race->r, racer->race->p, 2000, NULL);
    return NULL;
}

static void one_of_many_frees(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        parts_t s = {.count = 0};
        push(&s, "host");
        kmm_resource_t *r = k < 2 ? s.parts[0] : push(&s, kinds[k]);
        for (int i = 0; i < 20; i++) {
            race_t race = {.r = r, .p = get(r, 2000)};
            pthread_t threads[4];
            racer_t racers[4];
            pthread_barrier_init(&race.start, NULL, 4);
            for (int t = 0; t < 4; t++) {
                racers[t] = (racer_t){&race, t};
                pthread_create(&threads[t], NULL, free_at_once, &racers[t]);
            }
            int freed = 0;
            for (int t = 0; t < 4; t++) {
                pthread_join(threads[t], NULL);
                freed += race.freed[t] == 0;
                assert_true(race.freed[t] == 0 || race.freed[t] == KMM_E_ADDRESS);
            }
            pthread_barrier_destroy(&race.start);
            assert_int_equal(freed, 1);
        }
        finish(&s);
    }
}

int main(void)
{
    const struct CMUnitTest own[] = {
        cmocka_unit_test(ten_deep),
        cmocka_unit_test(a_limit_cannot_be_widened),
        cmocka_unit_test(adaptors_free_only_their_own),
        cmocka_unit_test(memory_under_a_pool_is_not_freed),
        cmocka_unit_test(what_upstream_refuses_stays),
        cmocka_unit_test(absurd_options),
        cmocka_unit_test(buffers_that_there_are_not),
        cmocka_unit_test(memory_outlives_threads),
        cmocka_unit_test(one_of_many_frees),
    };
    struct CMUnitTest tests[KINDS + sizeof(own) / sizeof(*own)];
    for (int i = 0; i < KINDS; i++)
        tests[i] = (struct CMUnitTest){kinds[i], every_kind, NULL, NULL, (void *)kinds[i]};
    memcpy(tests + KINDS, own, sizeof(own));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
