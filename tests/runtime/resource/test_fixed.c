/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-size blocks, arenas and bins on made-up memory and streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "random_program.h"
#include "resource/resource.h"

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
        const random_program_t program = {f->top,  &f->memory, seed * 7907, 10000,
                                          largest, alignment,  NULL};
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
    const kmm_fixed_size_options_t o = {
        .block_bytes = 8000, .blocks_per_chunk = 10, .initial_chunks = SIZE_MAX};
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
    assert_int_equal(kmm_arena_resource_create(
                         f.source, &(kmm_arena_options_t){.arena_bytes = 128 * KIB}, &f.top),
                     0);
    run_programs(&f, 256 * KIB, 4096);
    finish(&f);
}

static void arenas_of_threads_hold_to_the_model(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB);
    const kmm_arena_options_t o = {.key = KMM_ARENA_PER_THREAD,
                                   .arena_bytes = 128 * KIB,
                                   .initial_bytes = MIB,
                                   .maximum_bytes = 2 * MIB};
    assert_int_equal(kmm_arena_resource_create(f.source, &o, &f.top), 0);
    run_programs(&f, 64 * KIB, 4096);
    assert_true(f.memory.most_held_bytes <= 2 * MIB);
    finish(&f);
}

static void what_arenas_do_not_use_is_available(void **state)
{
    (void)state;
    fixture_t f;
    size_t available, total;
    begin(&f, 4 * MIB);
    const kmm_arena_options_t o = {.arena_bytes = 128 * KIB, .maximum_bytes = MIB};
    assert_int_equal(kmm_arena_resource_create(f.source, &o, &f.top), 0);
    void *p = get(&f, 4 * KIB, 1), *q = get(&f, 8 * KIB, 2);
    assert_int_equal(kmm_resource_memory_info(f.top, &available, &total), 0);
    assert_int_equal(total, MIB);
    assert_int_equal(available, MIB - 12 * KIB);
    put(&f, p, 4 * KIB, 1);
    put(&f, q, 8 * KIB, 2);
    assert_int_equal(kmm_resource_memory_info(f.top, &available, &total), 0);
    assert_int_equal(available, MIB);
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

/* A bin gives memory again on the stream that asks, in whose order alone it may be used: so a pool
 * on the bins may not hand it to another stream at once, though the bins themselves stand on memory
 * that is free for all. */
static void bins_give_memory_in_order_only(void **state)
{
    (void)state;
    fixture_t f;
    kmm_resource_t *binning, *bin, *pool;
    begin(&f, MIB);
    f.source->ordered = false; /* as the driver's own is */
    assert_int_equal(kmm_binning_resource_create(f.source, &binning), 0);
    const kmm_fixed_size_options_t one = {.block_bytes = 64 * KIB, .blocks_per_chunk = 1};
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &one, &bin), 0);
    assert_int_equal(kmm_binning_add(binning, 64 * KIB, bin), 0);
    f.top = binning;
    void *p = get(&f, 64 * KIB, 1), *q, *r;
    put(&f, p, 64 * KIB, 1); /* its work is not over */
    const kmm_pool_options_t o = {.growth_bytes = 64 * KIB, .cache_bytes = SIZE_MAX};
    assert_int_equal(kmm_pool_resource_create(binning, &o, &pool), 0);
    f.top = pool;
    q = get(&f, 4 * KIB, 2);
    r = get(&f, 4 * KIB, 3);
    put(&f, q, 4 * KIB, 2);
    put(&f, r, 4 * KIB, 3);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(binning), 0);
    f.top = bin;
    finish(&f);
}

/* ---- Stacks ---- */

static bool give_up(void *context, size_t bytes)
{
    return (void)context, (void)bytes, false;
}

static int make_layer(int which, kmm_resource_t *up, kmm_resource_t **out)
{
    switch (which) {
    case 0:
        return kmm_pool_resource_create(up, &(kmm_pool_options_t){.growth_bytes = 256 * KIB}, out);
    case 1:
        return kmm_pool_resource_create(up,
                                        &(kmm_pool_options_t){.cache_bytes = SIZE_MAX,
                                                              .growth_bytes = 64 * KIB,
                                                              .reuse = KMM_REUSE_WAIT_FIRST},
                                        out);
    case 2:
        return kmm_arena_resource_create(up, &(kmm_arena_options_t){.arena_bytes = 128 * KIB}, out);
    case 3:
        return kmm_arena_resource_create(
            up, &(kmm_arena_options_t){.key = KMM_ARENA_PER_THREAD, .arena_bytes = 64 * KIB}, out);
    case 4:
        return kmm_fixed_size_resource_create(
            up,
            &(kmm_fixed_size_options_t){
                .block_bytes = 256 * KIB, .blocks_per_chunk = 1, .initial_chunks = SIZE_MAX},
            out);
    case 5: {
        int status = kmm_binning_resource_create(up, out);
        return status ? status : kmm_binning_add(*out, 512, NULL);
    }
    case 6: return kmm_statistics_resource_create(up, out);
    case 7: return kmm_thread_safe_resource_create(up, out);
    case 8: return kmm_failure_resource_create(up, give_up, NULL, out);
    case 9: return kmm_limiting_resource_create(up, 3 * MIB, out);
    case 10: return kmm_tracking_resource_create(up, KMM_TRACK_POINTERS, out);
    default: return kmm_logging_resource_create(up, "/dev/null", out);
    }
}
enum {
    REUSERS = 5,
    LAYERS = 12
}; /* layers that use memory again come first: one of them is at the bottom */

/* Whatever stands on what, no memory is used before the work that used it before is over or ordered
 * before. */
static void stacks_hold_to_the_model(void **state)
{
    (void)state;
    for (int i = 0; i < REUSERS * LAYERS * LAYERS; i += 3) {
        fixture_t f;
        kmm_resource_t *r[4];
        const int layers[3] = {i % REUSERS, i / REUSERS % LAYERS, i / REUSERS / LAYERS};
        begin(&f, 4 * MIB);
        f.source->ordered = i % 2; /* as the driver's pool, or as the driver's memory */
        r[0] = f.source;
        bool blocks = false;
        for (int n = 0; n < 3; n++) {
            assert_int_equal(make_layer(layers[n], r[n], &r[n + 1]), 0);
            blocks |= layers[n] == 4;
        }
        const random_program_t program = {r[3],
                                          &f.memory,
                                          (uint64_t)i + 77,
                                          1000,
                                          blocks ? 200 * KIB : 256 * KIB,
                                          blocks ? 256 : 4096,
                                          NULL};
        const char *wrong = random_program(&program);
        if (wrong)
            fail_msg("%s: %s", kmm_resource_name(r[3]), wrong);
        assert_int_equal(kmm_resource_destroy(r[3]), 0);
        assert_int_equal(kmm_resource_destroy(r[2]), 0);
        f.top = r[1];
        finish(&f);
    }
}

static void requests_that_blocks_cannot_meet(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB);
    assert_int_equal(kmm_fixed_size_resource_create(
                         f.source,
                         &(kmm_fixed_size_options_t){.block_bytes = 1000, .blocks_per_chunk = 4},
                         &f.top),
                     0);
    void *p;
    assert_int_equal(kmm_resource_allocate(f.top, 1025, 0, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(f.top, 10, 512, NULL, &p), KMM_E_UNSUPPORTED);
    p = get(&f, 1024, 1); /* 1000 is rounded up to 1024 */
    put(&f, p, 1024, 1);
    kmm_resource_t *absurd;
    const kmm_fixed_size_options_t o = {.block_bytes = SIZE_MAX / 2, .blocks_per_chunk = 16};
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &o, &absurd), KMM_E_INVALID);
    const kmm_fixed_size_options_t many = {
        .block_bytes = 1, .blocks_per_chunk = (size_t)1 << 60}; /* blocks are 256 at least */
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &many, &absurd), KMM_E_INVALID);
    finish(&f);
}

static void blocks_of_one_stream_need_no_events(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB);
    assert_int_equal(kmm_fixed_size_resource_create(
                         f.source,
                         &(kmm_fixed_size_options_t){.block_bytes = 1024, .blocks_per_chunk = 4},
                         &f.top),
                     0);
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

static size_t held(fixture_t *f)
{
    return f->memory.held_bytes / KIB;
}

static void chunks_without_live_blocks_go_back(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB);
    const kmm_fixed_size_options_t o = {
        .block_bytes = KIB, .blocks_per_chunk = 4, .initial_chunks = SIZE_MAX};
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &o, &f.top), 0);
    void *p[12];
    for (int i = 0; i < 12; i++)
        p[i] = get(&f, KIB, 1 + i % 3);
    assert_int_equal(held(&f), 12);
    for (int i = 0; i < 12; i++)
        if (i != 5) {
            fake_order(&f.memory.streams, 1 + i % 2, 1 + i % 3);
            put(&f, p[i], KIB, 1 + i % 2); /* work of two streams may still use a chunk */
        }
    assert_int_equal(kmm_resource_trim(f.top, 9 * KIB), 0);
    assert_int_equal(held(&f), 8);
    assert_int_equal(kmm_resource_trim(f.top, 0), 0);
    assert_int_equal(held(&f), 4); /* of the block that is live */
    assert_int_equal(kmm_resource_deallocate(f.top, p[0], KIB, NULL), KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_deallocate(f.top, p[4], KIB, NULL), KMM_E_ADDRESS);
    for (int i = 0; i < 12; i++)
        if (i != 5)
            p[i] = get(&f, KIB, 3);
    assert_int_equal(held(&f), 12);
    for (int i = 0; i < 12; i++)
        put(&f, p[i], KIB, 3);
    assert_int_equal(kmm_resource_trim(f.top, 0), 0);
    assert_int_equal(held(&f), 0);
    finish(&f);
}

/* A chunk whose work cannot be awaited stays, and can be used as before. */
static void a_chunk_that_cannot_be_awaited_stays(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB);
    const kmm_fixed_size_options_t o = {.block_bytes = KIB, .blocks_per_chunk = 4};
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &o, &f.top), 0);
    put(&f, get(&f, KIB, 1), KIB, 1);
    f.memory.streams.fail_records = 1;
    assert_int_equal(kmm_resource_trim(f.top, 0), KMM_E_DEVICE);
    assert_int_equal(held(&f), 4);
    void *p[4];
    for (int i = 0; i < 4; i++)
        p[i] = get(&f, KIB, i);
    assert_int_equal(held(&f), 4);
    for (int i = 0; i < 4; i++)
        put(&f, p[i], KIB, i);
    assert_int_equal(kmm_resource_trim(f.top, 0), 0);
    assert_int_equal(held(&f), 0);
    finish(&f);
}

/* Where streams mean nothing, too, what a pool is given back at the last moment is found. */
static void what_stands_on_a_full_pool_gives_back(void **state)
{
    (void)state;
    kmm_resource_t *host, *pool, *fixed;
    void *p;
    assert_int_equal(kmm_host_resource_create(&host), 0);
    const kmm_pool_options_t limits = {.initial_bytes = MIB, .maximum_bytes = MIB};
    assert_int_equal(kmm_pool_resource_create(host, &limits, &pool), 0);
    const kmm_fixed_size_options_t o = {.block_bytes = 64 * KIB, .blocks_per_chunk = 12};
    assert_int_equal(kmm_fixed_size_resource_create(pool, &o, &fixed), 0);
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_deallocate(pool, p, MIB, NULL), 0);
    assert_int_equal(kmm_resource_destroy(fixed), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(host), 0);
}

static void others_get_what_is_not_used(void **state)
{
    (void)state;
    fixture_t f;
    kmm_resource_t *pool, *fixed, *bins;
    void *p;
    begin(&f, MIB);
    const kmm_fixed_size_options_t o = {.block_bytes = 64 * KIB, .blocks_per_chunk = 12};
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &o, &f.top), 0);
    assert_int_equal(kmm_pool_resource_create(f.source, NULL, &pool), 0);
    put(&f, get(&f, KIB, 1), KIB, 1);
    assert_int_equal(held(&f), 768);
    assert_int_equal(kmm_resource_allocate(pool, 700 * KIB, 0, fake_stream(2), &p),
                     0); /* from upstream, which has 256 KiB left */
    assert_null(fake_memory_begin(&f.memory, p, 700 * KIB, 2));
    assert_null(fake_memory_end(&f.memory, p, 700 * KIB));
    assert_int_equal(kmm_resource_deallocate(pool, p, 700 * KIB, fake_stream(2)), 0);
    p = get(&f, KIB, 1); /* and the other way round */
    put(&f, p, KIB, 1);
    assert_int_equal(kmm_fixed_size_resource_create(f.source, &o, &fixed),
                     0); /* a third one, at its creation */
    assert_int_equal(kmm_resource_destroy(fixed), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    finish(&f);

    begin(&f, MIB); /* bins stand on the pool that runs out */
    assert_int_equal(
        kmm_pool_resource_create(
            f.source, &(kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB}, &f.top),
        0);
    assert_int_equal(kmm_binning_resource_create(f.top, &bins), 0);
    assert_int_equal(kmm_binning_add(bins, 4 * KIB, NULL), 0);
    assert_int_equal(kmm_resource_allocate(bins, 4 * KIB, 0, fake_stream(1), &p), 0);
    assert_null(fake_memory_begin(&f.memory, p, 4 * KIB, 1));
    assert_null(fake_memory_end(&f.memory, p, 4 * KIB));
    assert_int_equal(kmm_resource_deallocate(bins, p, 4 * KIB, fake_stream(1)), 0);
    assert_int_equal(kmm_resource_allocate(bins, MIB, 0, fake_stream(2), &p), 0);
    assert_null(fake_memory_begin(&f.memory, p, MIB, 2));
    assert_null(fake_memory_end(&f.memory, p, MIB));
    assert_int_equal(kmm_resource_deallocate(bins, p, MIB, fake_stream(2)), 0);
    assert_int_equal(kmm_resource_destroy(bins), 0);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_blocks_hold_to_the_model),
        cmocka_unit_test(arenas_hold_to_the_model),
        cmocka_unit_test(arenas_of_threads_hold_to_the_model),
        cmocka_unit_test(what_arenas_do_not_use_is_available),
        cmocka_unit_test(bins_hold_to_the_model),
        cmocka_unit_test(bins_give_memory_in_order_only),
        cmocka_unit_test(stacks_hold_to_the_model),
        cmocka_unit_test(requests_that_blocks_cannot_meet),
        cmocka_unit_test(blocks_of_one_stream_need_no_events),
        cmocka_unit_test(chunks_without_live_blocks_go_back),
        cmocka_unit_test(a_chunk_that_cannot_be_awaited_stays),
        cmocka_unit_test(what_stands_on_a_full_pool_gives_back),
        cmocka_unit_test(others_get_what_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
