/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-size blocks, arenas and bins on made-up memory and streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "random_program.h"

static const size_t KIB = 1024, MIB = 1024 * 1024;

typedef struct fixture {
    fake_memory_t memory;
    kmm_resource_t *source, *top;
} fixture_t;

static void begin(fixture_t *f, size_t bytes)
{
    fake_memory_init(&f->memory, bytes);
    f->source = fake_memory_resource(&f->memory, &f->memory.streams.order);
}

static void finish(fixture_t *f)
{
    assert_int_equal(kmm_resource_destroy(f->top), 0);
    assert_int_equal(kmm_resource_destroy(f->source), 0);
    assert_null(f->memory.wrong);
    assert_int_equal(f->memory.held_bytes, 0);
    assert_int_equal(f->memory.streams.events, 0);
    fake_memory_deinit(&f->memory);
}

static void *get(fixture_t *f, size_t bytes, int stream)
{
    void *p;
    assert_int_equal(kmm_resource_allocate(f->top, bytes, 0, fake_stream(stream), &p), 0);
    assert_null(fake_memory_begin(&f->memory, p, bytes, stream));
    return p;
}

static void put(fixture_t *f, void *p, size_t bytes, int stream)
{
    assert_null(fake_memory_end(&f->memory, p, bytes));
    assert_int_equal(kmm_resource_deallocate(f->top, p, bytes, fake_stream(stream)), 0);
}

static void run_programs(fixture_t *f, size_t largest, size_t alignment)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const random_program_t program = { f->top, &f->memory, seed * 7907, 10000, largest, alignment, NULL };
        const char *wrong = random_program(&program);
        if (wrong)
            fail_msg("%s", wrong);
    }
}

static void fixed_blocks_hold_to_the_model(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB);
    const kmm_fixed_size_options_t o = { .block_bytes = 8000, .blocks_per_chunk = 10, .initial_chunks = SIZE_MAX };
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &o, &f.top), 0);
    assert_int_equal(f.memory.held_bytes, 0);
    run_programs(&f, 8000, 256);
    finish(&f);
}

static void arenas_hold_to_the_model(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB);
    assert_int_equal(kmm_arena_resource_create(f.source, &(kmm_arena_options_t){ .arena_bytes = 128 * KIB }, &f.top), 0);
    run_programs(&f, 256 * KIB, 4096);
    finish(&f);
}

static void arenas_of_threads_hold_to_the_model(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB);
    const kmm_arena_options_t o = { .key = KMM_ARENA_PER_THREAD, .arena_bytes = 128 * KIB, .initial_bytes = MIB, .maximum_bytes = 2 * MIB };
    assert_int_equal(kmm_arena_resource_create(f.source, &o, &f.top), 0);
    run_programs(&f, 64 * KIB, 4096);
    assert_true(f.memory.most_held_bytes <= 2 * MIB);
    finish(&f);
}

static void bins_hold_to_the_model(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB);
    kmm_resource_t *pool;
    assert_int_equal(kmm_pool_resource_create(f.source, NULL, &pool), 0);
    assert_int_equal(kmm_binning_resource_create(pool, &f.top), 0);
    assert_int_equal(kmm_binning_add(f.top, 256, NULL), 0);
    assert_int_equal(kmm_binning_add(f.top, 1024, NULL), 0);
    run_programs(&f, 128 * KIB, 4096);
    assert_int_equal(kmm_resource_destroy(f.top), 0);
    f.top = pool;
    finish(&f);
}

static void requests_that_blocks_cannot_meet(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB);
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &(kmm_fixed_size_options_t){ .block_bytes = 1000, .blocks_per_chunk = 4 }, &f.top), 0);
    void *p;
    assert_int_equal(kmm_resource_allocate(f.top, 1025, 0, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(f.top, 10, 512, NULL, &p), KMM_E_UNSUPPORTED);
    p = get(&f, 1024, 1); /* 1000 is rounded up to 1024 */
    put(&f, p, 1024, 1);
    kmm_resource_t *absurd;
    const kmm_fixed_size_options_t o = { .block_bytes = SIZE_MAX / 2, .blocks_per_chunk = 16 };
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &o, &absurd), KMM_E_INVALID);
    finish(&f);
}

static void blocks_of_one_stream_need_no_events(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB);
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &(kmm_fixed_size_options_t){ .block_bytes = 1024, .blocks_per_chunk = 4 }, &f.top), 0);
    fake_complete_all(&f.memory.streams);
    void *first[4];
    for (int i = 0; i < 4; i++)
        first[i] = get(&f, 1000, 1);
    int records = f.memory.streams.records;
    for (int i = 0; i < 4; i++)
        put(&f, first[i], 1000, 1);
    for (int i = 0; i < 100; i++)
        put(&f, get(&f, 1000, 1), 1000, 1);
    assert_int_equal(f.memory.streams.records, records);
    assert_int_equal(f.memory.streams.waits, 0);
    put(&f, get(&f, 1000, 2), 1000, 2);
    assert_int_equal(f.memory.streams.waits, 1);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_blocks_hold_to_the_model),
        cmocka_unit_test(arenas_hold_to_the_model),
        cmocka_unit_test(arenas_of_threads_hold_to_the_model),
        cmocka_unit_test(bins_hold_to_the_model),
        cmocka_unit_test(requests_that_blocks_cannot_meet),
        cmocka_unit_test(blocks_of_one_stream_need_no_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
