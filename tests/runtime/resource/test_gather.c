/* SPDX-License-Identifier: Apache-2.0 */
/* The pool on memory that can be mapped elsewhere: made-up frames, places and streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake_memory.h"
#include "random_program.h"
#include "resource/pool_check.h"

static const size_t KIB = 1024, MIB = 1024 * 1024, FRAME = 64 * 1024;

typedef struct fixture {
    fake_memory_t memory;
    kmm_resource_t *source, *pool;
} fixture_t;

static void begin_frames(fixture_t *f, size_t memory, size_t frame, kmm_pool_options_t options)
{
    fake_memory_init_frames(&f->memory, memory, frame);
    f->source = fake_memory_resource(&f->memory, &f->memory.streams.order);
    assert_int_equal(kmm_pool_resource_create(f->source, &options, &f->pool), 0);
}

static void begin(fixture_t *f, size_t memory, kmm_pool_options_t options)
{
    begin_frames(f, memory, FRAME, options);
    fake_complete_all(&f->memory.streams);
}

static void check(fixture_t *f)
{
    assert_true(kmm__pool_is_valid(f->pool));
    if (f->memory.wrong)
        fail_msg("%s", f->memory.wrong);
}

static void finish(fixture_t *f)
{
    check(f);
    assert_int_equal(kmm_resource_destroy(f->pool), 0);
    assert_int_equal(kmm_resource_destroy(f->source), 0);
    assert_null(f->memory.wrong);
    assert_int_equal(f->memory.held_bytes, 0);
    for (size_t i = 0; i < f->memory.place_count; i++)
        assert_false(f->memory.places[i].reserved);
    assert_int_equal(f->memory.streams.events, 0);
    fake_memory_deinit(&f->memory);
}

static void *get(fixture_t *f, size_t bytes, int stream)
{
    void *p;
    assert_int_equal(kmm_resource_allocate(f->pool, bytes, 0, fake_stream(stream), &p), 0);
    const char *wrong = fake_memory_begin(&f->memory, p, bytes, stream);
    if (wrong)
        fail_msg("%s", wrong);
    check(f);
    return p;
}

static void put(fixture_t *f, void *p, size_t bytes, int stream)
{
    assert_null(fake_memory_end(&f->memory, p, bytes));
    assert_int_equal(kmm_resource_deallocate(f->pool, p, bytes, fake_stream(stream)), 0);
    check(f);
}

static kmm_resource_usage_t usage(fixture_t *f)
{
    kmm_resource_usage_t u;
    assert_int_equal(kmm_resource_usage(f->pool, &u), 0);
    return u;
}

/* Fills 16 frames with blocks of one, then frees those at odd places. */
static void make_holes(fixture_t *f, void *p[16], int stream)
{
    for (int i = 0; i < 16; i++)
        p[i] = get(f, FRAME, stream);
    for (int i = 1; i < 16; i += 2)
        put(f, p[i], FRAME, stream);
}

static void end_holes(fixture_t *f, void *p[16], int stream)
{
    for (int i = 0; i < 16; i += 2)
        put(f, p[i], FRAME, stream);
}

static void a_large_block_is_made_of_the_frames_of_holes(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16];
    begin(&f, 2 * MIB, (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB});
    make_holes(&f, p, 1);
    void *large = get(&f, 8 * FRAME, 1);
    assert_int_equal(f.memory.gathers, 1);
    assert_int_equal(usage(&f).held_bytes, MIB);
    assert_int_equal(usage(&f).extent_bytes, MIB);
    assert_int_equal(usage(&f).waits, 0);
    assert_int_equal(f.memory.forgets, 0); /* nobody has to wait for the work before */
    end_holes(&f, p, 1);
    put(&f, large, 8 * FRAME, 1);
    large = get(&f, 15 * FRAME + 1, 1);
    put(&f, large, 15 * FRAME + 1, 1);
    assert_int_equal(kmm_resource_trim(f.pool, 0), 0);
    assert_int_equal(usage(&f).held_bytes, 0);
    assert_int_equal(usage(&f).regions, 0);
    assert_int_equal(f.memory.held_bytes, 0);
    finish(&f);
}

static void frames_that_are_missing_are_new(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16];
    begin(&f, 2 * MIB, (kmm_pool_options_t){.initial_bytes = MIB, .growth_bytes = FRAME});
    make_holes(&f, p, 1);
    void *large = get(&f, 12 * FRAME, 1);
    assert_int_equal(usage(&f).held_bytes, 20 * FRAME);
    assert_int_equal(f.memory.held_bytes, 20 * FRAME);
    assert_int_equal(f.memory.allocations, 1);
    put(&f, large, 12 * FRAME, 1);
    large = get(&f, 20 * FRAME, 1); /* less than half is free: a region of new memory */
    assert_int_equal(f.memory.gathers, 2);
    put(&f, large, 20 * FRAME, 1);
    end_holes(&f, p, 1);
    finish(&f);
}

/* A pool that grows for a large request uses all of the frames it gets. */
static void no_part_of_a_frame_is_left_unused(void **state)
{
    (void)state;
    fixture_t f;
    begin_frames(&f, 64 * MIB, 2 * MIB, (kmm_pool_options_t){0});
    void *p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = get(&f, (size_t)(5 + 4 * i) * MIB, 1);
        assert_int_equal(usage(&f).held_bytes % (2 * MIB), 0);
    }
    for (int i = 0; i < 4; i++)
        put(&f, p[i], (size_t)(5 + 4 * i) * MIB, 1);
    finish(&f);
}

static void few_frames_are_not_worth_it(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16];
    begin(&f, 4 * MIB, (kmm_pool_options_t){.initial_bytes = MIB, .growth_bytes = FRAME});
    make_holes(&f, p, 1);
    void *large = get(&f, 17 * FRAME, 1);
    assert_int_equal(f.memory.gathers, 0);
    put(&f, large, 17 * FRAME, 1);
    end_holes(&f, p, 1);
    finish(&f);
}

/* A hole is a frame and two halves: no frame of it is used twice, and the halves serve small
 * requests. */
static void parts_of_frames_stay_where_they_are(void **state)
{
    (void)state;
    fixture_t f;
    const size_t step = 2 * FRAME;
    begin(
        &f, 2 * MIB,
        (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB, .cache_bytes = SIZE_MAX});
    void *half = get(&f, FRAME / 2, 1), *p[7], *small[14];
    for (int i = 0; i < 7; i++)
        p[i] = get(&f, step, 1);
    for (int i = 0; i < 7; i += 2)
        put(&f, p[i], step, 1);
    void *large = get(&f, 4 * FRAME, 1);
    assert_int_equal(f.memory.gathers, 1);
    for (int i = 0; i < 8; i++)
        small[i] = get(&f, FRAME / 2, 1);
    assert_int_equal(usage(&f).held_bytes, MIB);
    for (int i = 0; i < 8; i++)
        put(&f, small[i], FRAME / 2, 1);
    for (int i = 1; i < 7; i += 2)
        put(&f, p[i], step, 1);
    put(&f, large, 4 * FRAME, 1);
    put(&f, half, FRAME / 2, 1);
    finish(&f);
}

static void frames_of_another_stream_are_gathered_last_and_waited_for(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16];
    begin(&f, 2 * MIB,
          (kmm_pool_options_t){
              .initial_bytes = MIB, .maximum_bytes = 24 * FRAME, .growth_bytes = 8 * FRAME});
    make_holes(&f, p, 1);
    void *a = get(&f, 2 * FRAME, 2);
    assert_int_equal(usage(&f).waits, 0);
    assert_int_equal(usage(&f).held_bytes, 24 * FRAME); /* new memory before waiting */
    void *b = get(&f, 8 * FRAME, 2);
    assert_int_equal(usage(&f).waits,
                     1); /* waiting before the extent is more than 9/8 of the peak */
    assert_int_equal(f.memory.gathers, 1);
    assert_int_equal(usage(&f).held_bytes, 24 * FRAME);
    assert_int_equal(usage(&f).extent_bytes, 18 * FRAME);
    put(&f, a, 2 * FRAME, 2);
    put(&f, b, 8 * FRAME, 2);
    a = get(&f, 16 * FRAME, 3);
    put(&f, a, 16 * FRAME, 3);
    end_holes(&f, p, 1);
    finish(&f);
}

static void waiting_first_gathers_before_more_is_taken(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16];
    begin(&f, 2 * MIB, (kmm_pool_options_t){.initial_bytes = MIB, .reuse = KMM_REUSE_WAIT_FIRST});
    make_holes(&f, p, 1);
    void *a = get(&f, 8 * FRAME, 2);
    assert_int_equal(usage(&f).waits, 1);
    assert_int_equal(usage(&f).held_bytes, MIB);
    put(&f, a, 8 * FRAME, 2);
    end_holes(&f, p, 1);
    finish(&f);
}

static void every_free_frame_is_given_back(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16];
    begin(&f, 2 * MIB, (kmm_pool_options_t){.initial_bytes = MIB});
    make_holes(&f, p, 1);
    void *large = get(&f, 8 * FRAME, 1);
    assert_int_equal(kmm_resource_trim(f.pool, 10 * FRAME), 0); /* nothing is free */
    assert_int_equal(usage(&f).held_bytes, MIB);
    put(&f, large, 8 * FRAME, 1);
    assert_int_equal(kmm_resource_trim(f.pool, 10 * FRAME), 0);
    assert_int_equal(usage(&f).held_bytes, 10 * FRAME);
    assert_int_equal(f.memory.held_bytes, 10 * FRAME);
    for (int i = 2; i < 16; i += 2)
        put(&f, p[i], FRAME, 1);
    assert_int_equal(kmm_resource_trim(f.pool, 0), 0); /* one block is left of its region */
    assert_int_equal(usage(&f).held_bytes, FRAME);
    assert_int_equal(usage(&f).extent_bytes, FRAME);
    assert_int_equal(f.memory.held_bytes, FRAME);
    put(&f, p[0], FRAME, 1);
    finish(&f);
}

static void memory_goes_to_another_pool_by_frames(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16], *q;
    begin(&f, MIB, (kmm_pool_options_t){.initial_bytes = MIB});
    make_holes(&f, p, 1);
    kmm_resource_t *other;
    assert_int_equal(kmm_pool_resource_create(f.source, NULL, &other), 0);
    assert_int_equal(kmm_resource_allocate(other, 8 * FRAME, 0, fake_stream(2), &q), 0);
    assert_int_equal(usage(&f).held_bytes, 8 * FRAME);
    assert_int_equal(kmm_resource_deallocate(other, q, 8 * FRAME, fake_stream(2)), 0);
    assert_int_equal(kmm_resource_destroy(other), 0);
    end_holes(&f, p, 1);
    finish(&f);
}

static void a_failing_driver_changes_nothing(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16], *none;
    begin(&f, MIB, (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB});
    make_holes(&f, p, 1);
    f.memory.fail_gathers = 1000;
    f.memory.fail_allocations = 1000; /* what is given back while it looks cannot be had again */
    assert_int_equal(kmm_resource_allocate(f.pool, 8 * FRAME, 0, fake_stream(1), &none),
                     KMM_E_MEMORY);
    check(&f);
    assert_int_equal(usage(&f).live_count, 8);
    f.memory.fail_gathers = f.memory.fail_allocations = 0;
    void *large = get(&f, 8 * FRAME, 1);
    put(&f, large, 8 * FRAME, 1);
    f.memory.streams.fail_records = 1000; /* another stream cannot wait, so it gets nothing */
    assert_int_equal(kmm_resource_allocate(f.pool, 8 * FRAME, 0, fake_stream(2), &none),
                     KMM_E_MEMORY);
    check(&f);
    f.memory.streams.fail_records = 0;
    large = get(&f, 8 * FRAME, 2);
    put(&f, large, 8 * FRAME, 2);
    end_holes(&f, p, 1);
    finish(&f);
}

/* Old addresses do not pile up: once they have more frames than there are, those that are done with
 * go. */
static void old_addresses_are_forgotten(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 2 * MIB, (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB});
    uint64_t seed = 1;
    void *live[8] = {NULL};
    size_t bytes[8];
    for (int i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int k = (int)(seed >> 40) % 8;
        if (live[k])
            put(&f, live[k], bytes[k], 1);
        bytes[k] = FRAME * (1 + (seed >> 50) % 2) + (seed >> 33) % (FRAME / 8);
        live[k] = NULL;
        if (usage(&f).live_bytes + bytes[k] + 2 * FRAME < MIB * 3 / 4)
            live[k] = get(&f, bytes[k], 1);
        fake_complete_all(&f.memory.streams);
    }
    assert_true(f.memory.gathers > 20);
    int mappings = 0;
    for (size_t i = 0; i < f.memory.place_count; i++)
        mappings += f.memory.places[i].frame >= 0;
    assert_in_range(mappings, 16, 48);
    for (int k = 0; k < 8; k++)
        if (live[k])
            put(&f, live[k], bytes[k], 1);
    finish(&f);
}

/* Sizes as a network's layers have them, lifetimes at random: the extent stays near the peak. */
static void little_is_lost_to_fragmentation(void **state)
{
    (void)state;
    fixture_t f;
    begin_frames(&f, 32 * MIB, 8 * KIB, (kmm_pool_options_t){0});
    enum { LIVE = 64 };
    void *live[LIVE] = {NULL};
    size_t bytes[LIVE], now = 0, peak = 0;
    uint64_t seed = 7;
    for (int i = 0; i < 4000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int k = (int)(seed >> 40) % LIVE;
        if (live[k])
            put(&f, live[k], bytes[k], 1);
        now -= live[k] ? bytes[k] : 0;
        bytes[k] = (seed >> 33) % ((seed >> 60) % 4 ? 32 * KIB : 400 * KIB) + 1;
        live[k] = get(&f, bytes[k], 1);
        now += bytes[k];
        peak = now > peak ? now : peak;
    }
    const kmm_resource_usage_t u = usage(&f);
    assert_true(f.memory.gathers > 0);
    assert_in_range(u.extent_bytes, peak, peak + peak * 15 / 100);
    assert_in_range(f.memory.most_held_bytes, peak, peak + peak * 15 / 100);
    for (int k = 0; k < LIVE; k++)
        if (live[k])
            put(&f, live[k], bytes[k], 1);
    finish(&f);
}

/* Large sizes, new each time: the extent may be an eighth more than the peak, for which hardly
 * anything is moved. */
static void new_sizes_hardly_move_frames(void **state)
{
    (void)state;
    fixture_t f;
    enum { LIVE = 2048, CALLS = 3000, CAP = 16 };
    begin_frames(&f, 64 * MIB, 4 * KIB, (kmm_pool_options_t){.initial_bytes = 20 * MIB});
    void *live[LIVE];
    size_t bytes[LIVE], count = 0, now = 0, peak = 0;
    uint64_t seed = 2026;
    for (int i = 0; i < CALLS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const size_t size = (seed >> 33) % (64 * KIB) + 1;
        if (count < LIVE && now + size <= CAP * MIB && (seed >> 20) % 100 < 73) {
            live[count] = get(&f, size, 1);
            bytes[count++] = size;
            now += size;
            peak = now > peak ? now : peak;
        } else {
            const size_t k = (seed >> 40) % count;
            put(&f, live[k], bytes[k], 1);
            now -= bytes[k];
            live[k] = live[--count];
            bytes[k] = bytes[count];
        }
    }
    assert_in_range(usage(&f).extent_bytes, peak, peak + peak * 15 / 100);
    assert_in_range(f.memory.gathers, 0, CALLS / 100);
    while (count-- > 0)
        put(&f, live[count], bytes[count], 1);
    finish(&f);
}

static void frames_for_the_next_requests_are_gathered_too(void **state)
{
    (void)state;
    fixture_t f;
    void *p[64], *large[8];
    begin_frames(
        &f, 2 * MIB, 16 * KIB,
        (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB, .cache_bytes = SIZE_MAX});
    for (int i = 0; i < 64; i++)
        p[i] = get(&f, 16 * KIB, 1);
    for (int i = 1; i < 64; i += 2)
        put(&f, p[i], 16 * KIB, 1);
    for (int i = 0; i < 8; i++)
        large[i] = get(&f, 64 * KIB, 1);
    assert_int_equal(f.memory.gathers, 1);
    assert_int_equal(usage(&f).extent_bytes, MIB);
    for (int i = 0; i < 8; i++)
        put(&f, large[i], 64 * KIB, 1);
    for (int i = 0; i < 64; i += 2)
        put(&f, p[i], 16 * KIB, 1);
    finish(&f);
}

/* The peak of before does not count for what is gathered after memory has gone back. */
static void a_trim_ends_the_peak(void **state)
{
    (void)state;
    fixture_t f;
    void *p[16];
    begin(&f, 8 * MIB, (kmm_pool_options_t){0});
    void *most = get(&f, 4 * MIB, 1);
    put(&f, most, 4 * MIB, 1);
    fake_complete_all(&f.memory.streams);
    assert_int_equal(kmm_resource_trim(f.pool, 0), 0);
    make_holes(&f, p, 1);
    void *large = get(&f, 8 * FRAME, 1);
    assert_int_equal(f.memory.gathers, 1);
    put(&f, large, 8 * FRAME, 1);
    end_holes(&f, p, 1);
    finish(&f);
}

static void random_options(uint64_t seed, size_t frame, kmm_pool_options_t options)
{
    fixture_t f;
    begin_frames(&f, 3 * MIB, frame, options);
    const random_program_t program = {f.pool,   &f.memory,         seed, 20000, 256 * KIB,
                                      16 * KIB, kmm__pool_is_valid};
    const char *wrong = random_program(&program);
    if (wrong)
        fail_msg("%s", wrong);
    assert_true(f.memory.gathers > 0);
    assert_int_equal(kmm_resource_trim(f.pool, 0), 0);
    assert_int_equal(f.memory.held_bytes, 0);
    finish(&f);
}

static void random_programs_hold_to_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        random_options(seed * 7919, 4 * KIB, (kmm_pool_options_t){0});
        random_options(seed * 104729, 16 * KIB,
                       (kmm_pool_options_t){.initial_bytes = 2 * MIB, .maximum_bytes = 2 * MIB});
        random_options(
            seed * 31, 4 * KIB,
            (kmm_pool_options_t){.cache_bytes = SIZE_MAX, .reuse = KMM_REUSE_WAIT_FIRST});
        random_options(seed * 17, 8 * KIB,
                       (kmm_pool_options_t){.cache_bytes = 256 * KIB, .growth_bytes = 64 * KIB});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_block_is_made_of_the_frames_of_holes),
        cmocka_unit_test(frames_that_are_missing_are_new),
        cmocka_unit_test(no_part_of_a_frame_is_left_unused),
        cmocka_unit_test(few_frames_are_not_worth_it),
        cmocka_unit_test(parts_of_frames_stay_where_they_are),
        cmocka_unit_test(frames_of_another_stream_are_gathered_last_and_waited_for),
        cmocka_unit_test(waiting_first_gathers_before_more_is_taken),
        cmocka_unit_test(every_free_frame_is_given_back),
        cmocka_unit_test(memory_goes_to_another_pool_by_frames),
        cmocka_unit_test(a_failing_driver_changes_nothing),
        cmocka_unit_test(old_addresses_are_forgotten),
        cmocka_unit_test(little_is_lost_to_fragmentation),
        cmocka_unit_test(new_sizes_hardly_move_frames),
        cmocka_unit_test(frames_for_the_next_requests_are_gathered_too),
        cmocka_unit_test(a_trim_ends_the_peak),
        cmocka_unit_test(random_programs_hold_to_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
