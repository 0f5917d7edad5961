/* SPDX-License-Identifier: Apache-2.0 */
/* Every resource that lives on the host passes every case; devices: bench/resource_device.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "conformance.h"

static const size_t MIB = (size_t)1 << 20;

/* What is built for one subject, destroyed in the opposite order. */
typedef struct parts {
    kmm_resource_t *parts[8];
    int count;
} parts_t;

static kmm_resource_t **top(parts_t *k)
{
    return &k->parts[k->count++];
}
static kmm_resource_t *last(parts_t *k)
{
    return k->parts[k->count - 1];
}

static kmm_resource_t *host(parts_t *k)
{
    assert_int_equal(kmm_host_resource_create(top(k)), 0);
    return last(k);
}

static void make_host(parts_t *k)
{
    host(k);
}

/* Where binding is forbidden, as in some containers, there is nothing to test. */
static void make_numa(parts_t *k)
{
    void *p;
    assert_int_equal(kmm_numa_resource_create(0, top(k)), 0);
    int status = kmm_resource_allocate(last(k), 1, 0, NULL, &p);
    if (status == KMM_E_DEVICE) {
        kmm_resource_destroy(last(k));
        skip();
    }
    assert_int_equal(status, 0);
    assert_int_equal(kmm_resource_deallocate(last(k), p, 1, NULL), 0);
}

static int program_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)stream;
    return posix_memalign(out, 64, bytes) ? KMM_E_MEMORY : 0;
}

static int program_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)bytes, (void)stream;
    free(p);
    return 0;
}

static void make_callback(parts_t *k)
{
    const kmm_callback_options_t o = {.allocate = program_allocate,
                                      .deallocate = program_deallocate,
                                      .alignment = 64,
                                      .device = -1};
    assert_int_equal(kmm_callback_resource_create(&o, top(k)), 0);
}

static void make_pool(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_pool_resource_create(h, NULL, top(k)), 0);
}

static void make_pool_without_cache(parts_t *k)
{
    kmm_resource_t *h = host(k);
    const kmm_pool_options_t o = {
        .initial_bytes = MIB, .growth_bytes = 4096, .cache_bytes = SIZE_MAX};
    assert_int_equal(kmm_pool_resource_create(h, &o, top(k)), 0);
}

static void make_arena(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_arena_resource_create(h, NULL, top(k)), 0);
}

static void make_arena_of_threads(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(
        kmm_arena_resource_create(h, &(kmm_arena_options_t){.key = KMM_ARENA_PER_THREAD}, top(k)),
        0);
}

static void make_fixed(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_fixed_size_resource_create(
                         h, &(kmm_fixed_size_options_t){.block_bytes = 64 * 1024}, top(k)),
                     0);
}

static void make_binning(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_binning_resource_create(h, top(k)), 0);
    kmm_resource_t *b = last(k);
    assert_int_equal(kmm_binning_add(b, 4096, NULL), 0);
    assert_int_equal(kmm_binning_add(b, 256, NULL), 0);
    assert_int_equal(kmm_binning_add(b, 65536, NULL), 0);
    assert_int_equal(kmm_binning_add(b, 256, NULL), KMM_E_INVALID);
}

static void make_limiting(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_limiting_resource_create(h, 1100 * MIB, top(k)), 0);
}

static void make_aligned(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_aligned_resource_create(h, 4096, 1000, top(k)), 0);
}

static void make_logging(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_logging_resource_create(h, "/dev/null", top(k)), 0);
}

static void make_statistics(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_statistics_resource_create(h, top(k)), 0);
}

static void make_tracking(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_tracking_resource_create(h, KMM_TRACK_POINTERS, top(k)), 0);
}

static bool give_up(void *context, size_t bytes)
{
    (void)context, (void)bytes;
    return false;
}

static void make_failure(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_failure_resource_create(h, give_up, NULL, top(k)), 0);
}

static void make_thread_safe(parts_t *k)
{
    kmm_resource_t *h = host(k);
    assert_int_equal(kmm_thread_safe_resource_create(h, top(k)), 0);
}

static void make_owning(parts_t *k)
{
    parts_t inner = {.count = 0};
    make_pool(&inner);
    assert_int_equal(kmm_owning_resource_create(inner.parts[1], &inner.parts[0], 1, top(k)), 0);
}

static void make_stack(parts_t *k)
{
    make_pool(k);
    kmm_resource_t *r = last(k);
    assert_int_equal(kmm_statistics_resource_create(r, top(k)), 0);
    r = last(k);
    assert_int_equal(kmm_tracking_resource_create(r, KMM_TRACK_STACKS, top(k)), 0);
    r = last(k);
    assert_int_equal(kmm_logging_resource_create(r, "/dev/null", top(k)), 0);
    r = last(k);
    assert_int_equal(kmm_thread_safe_resource_create(r, top(k)), 0);
}

typedef struct subject {
    const char *name;
    void (*make)(parts_t *k);
    size_t largest, alignment;
} subject_t;

static const subject_t subjects[] = {
    {"host", make_host, 0, 0},
    {"numa node 0", make_numa, 0, 0},
    {"callback", make_callback, 0, 0},
    {"pool", make_pool, 0, 0},
    {"pool without cache", make_pool_without_cache, 0, 0},
    {"arena", make_arena, 0, 0},
    {"arena of threads", make_arena_of_threads, 0, 0},
    {"fixed size", make_fixed, 64 * 1024, 256},
    {"binning", make_binning, 0, 0},
    {"limiting", make_limiting, 0, 0},
    {"aligned", make_aligned, 0, 0},
    {"logging", make_logging, 0, 0},
    {"statistics", make_statistics, 0, 0},
    {"tracking", make_tracking, 0, 0},
    {"failure", make_failure, 0, 0},
    {"thread safe", make_thread_safe, 0, 0},
    {"owning", make_owning, 0, 0},
    {"a stack of adaptors", make_stack, 0, 0},
};

static void conforms(void **state)
{
    const subject_t *subject = *state;
    parts_t k = {.count = 0};
    subject->make(&k);
    conformance_subject_t s = {
        .resource = last(&k),
        .largest = subject->largest ? subject->largest : 1024 * MIB,
        .budget = 64 * MIB,
        .alignment = subject->alignment ? subject->alignment : 65536,
        .host_access = true,
    };
    for (int i = 0; i < CONFORMANCE_STREAMS; i++)
        s.streams[i] = (kmm_stream_t)(uintptr_t)(0x1000 * (i + 1));
    for (int i = 0; i < conformance_case_count; i++) {
        const char *wrong = conformance_cases[i].run(&s);
        if (wrong)
            fail_msg("%s: %s: %s (%s)", subject->name, conformance_cases[i].name, wrong,
                     kmm_resource_error_text());
    }
    while (k.count > 0)
        assert_int_equal(kmm_resource_destroy(k.parts[--k.count]), 0);
}

int main(void)
{
    enum { COUNT = sizeof(subjects) / sizeof(*subjects) };
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++)
        tests[i] =
            (struct CMUnitTest){subjects[i].name, conforms, NULL, NULL, (void *)&subjects[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
