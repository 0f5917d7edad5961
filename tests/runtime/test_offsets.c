/* SPDX-License-Identifier: Apache-2.0 */
/* Regions that offsets give, as the rows of a matrix in CSR form: what is copied, that the offsets
 * of each launch count, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <kmm.h>

#include "random.h"
#include "with_runtime.h"

enum { ROWS = 4096, CHUNKS = 16, MOST = 1 << 21 };

static const char *const places[] = {"host", "host:2,mem=2M"};

typedef struct sums {
    const int32_t *begins, *values;
    int32_t *to;
} sums_t;

/* Adds up the elements of each row. */
static void run_sums(const kmm_chunk_t *chunk, void *memory)
{
    const sums_t *s = memory;
    for (int64_t r = chunk->begin[0]; r < chunk->end[0]; r++) {
        s->to[r] = 0;
        for (int32_t k = s->begins[r]; k < s->begins[r + 1]; k++)
            s->to[r] += s->values[k];
    }
}

/* Sets the elements of each row to its number. */
static void run_numbers(const kmm_chunk_t *chunk, void *memory)
{
    const sums_t *s = memory;
    for (int64_t r = chunk->begin[0]; r < chunk->end[0]; r++)
        for (int32_t k = s->begins[r]; k < s->begins[r + 1]; k++)
            ((int32_t *)(uintptr_t)s->values)[k] = (int32_t)r;
}

static kmm_launch_t *begin_rows(int64_t chunks)
{
    kmm_launch_t *l = kmm_launch_begin("rows", "offsets.c", 3);
    kmm_launch_axis(l, "r", KMM_RANGE_0, 0, ROWS);
    kmm_launch_chunk(l, KMM_RANGE_0, ROWS / chunks);
    return l;
}

static void add_access(kmm_launch_t *l, kmm_mode_t mode, const char *text, const int32_t *base,
                       int64_t length)
{
    kmm_launch_access(l, mode, text, base, sizeof(*base));
    kmm_launch_index(l, 0, length);
    kmm_launch_coef(l, 0, 1, 0);
}

static int launch_in(int64_t chunks, const sums_t *s, const int32_t *offsets, kmm_type_t type,
                     int64_t count)
{
    kmm_launch_t *l = begin_rows(chunks);
    add_access(l, KMM_READ, "begins[r:2]", s->begins, 2);
    add_access(l, KMM_READ, "values of r", s->values, 1);
    kmm_launch_offsets(l, offsets, type, count);
    add_access(l, KMM_WRITE, "to[r]", s->to, 1);
    return kmm_launch_call(l, run_sums, s, sizeof(*s));
}

static int launch_sums(const sums_t *s, const int32_t *offsets, kmm_type_t type, int64_t count)
{
    return launch_in(CHUNKS, s, offsets, type, count);
}

static int launch_numbers(const sums_t *s, const int32_t *offsets)
{
    kmm_launch_t *l = begin_rows(CHUNKS);
    add_access(l, KMM_READ, "begins[r:2]", s->begins, 2);
    add_access(l, KMM_UPDATE, "values of r", s->values, 1);
    kmm_launch_offsets(l, offsets, KMM_INT32, ROWS + 1);
    return kmm_launch_call(l, run_numbers, s, sizeof(*s));
}

static int32_t *values_of_one(void)
{
    int32_t *values = malloc(MOST * sizeof(*values));
    for (int64_t k = 0; k < MOST; k++)
        values[k] = 1;
    return values;
}

/* Rows of random lengths, MOST elements in all; many rows are empty. */
static void random_rows(rng_t *rng, int32_t offsets[ROWS + 1])
{
    enum { MEAN = MOST / ROWS };
    offsets[0] = 0;
    for (int r = 0; r < ROWS; r++) {
        int64_t left = MOST - offsets[r], length = rng_range(rng, -MEAN, 3 * MEAN);
        length = length < 0 ? 0 : length > left ? left : length;
        offsets[r + 1] = r + 1 == ROWS ? MOST : offsets[r] + (int32_t)length;
    }
}

static uint64_t bytes_in(kmm_runtime_t *rt)
{
    uint64_t bytes = 0;
    for (int k = 0; k < kmm_device_count(rt); k++) {
        kmm_device_info_t info;
        assert_int_equal(kmm_device_get(rt, k, &info), 0);
        bytes += info.bytes_in;
    }
    return bytes;
}

/* An array larger than a device's memory, whose rows change from launch to launch at one address.
 * All rows together are copied about once. */
static void rows_are_copied_once(void **state)
{
    (void)state;
    static int32_t offsets[ROWS + 1], got[ROWS];
    rng_t rng = {.state = rng_seed()};
    int32_t *values = values_of_one();
    for (int p = 0; p < 2; p++) {
        kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = places[p]});
        const sums_t s = {array_of(rt, ROWS + 1, NULL), array_of(rt, MOST, values),
                          array_of(rt, ROWS, NULL)};
        for (int round = 0; round < 4; round++) {
            uint64_t before = bytes_in(rt);
            random_rows(&rng, offsets);
            assert_int_equal(kmm_copy_in(rt, (void *)(uintptr_t)s.begins, offsets, sizeof(offsets)),
                             0);
            assert_int_equal(launch_sums(&s, offsets, KMM_INT32, ROWS + 1), 0);
            assert_int_equal(kmm_copy_out(rt, got, s.to, sizeof(got)), 0);
            for (int r = 0; r < ROWS; r++)
                assert_int_equal(got[r], offsets[r + 1] - offsets[r]);
            assert_true(bytes_in(rt) - before <= MOST * sizeof(*values) * 5 / 4);
        }
        runtime_close(rt);
    }
    free(values);
}

/* Each row gets its number; rows that meet in one element are refused. */
static void rows_are_written(void **state)
{
    (void)state;
    static int32_t offsets[ROWS + 1];
    rng_t rng = {.state = rng_seed()};
    int32_t *values = values_of_one();
    for (int p = 0; p < 2; p++) {
        kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = places[p]});
        random_rows(&rng, offsets);
        const sums_t s = {array_of(rt, ROWS + 1, offsets), array_of(rt, MOST, values), NULL};
        assert_int_equal(launch_numbers(&s, offsets), 0);
        assert_int_equal(kmm_copy_out(rt, values, s.values, MOST * sizeof(*values)), 0);
        for (int r = 0; r < ROWS; r++)
            for (int32_t k = offsets[r]; k < offsets[r + 1]; k++)
                assert_int_equal(values[k], r);
        offsets[ROWS / 2] = 0;
        assert_int_equal(launch_numbers(&s, offsets), KMM_E_OVERLAP);
        runtime_close(rt);
    }
    free(values);
}

/* One chunk, whose region grows from launch to launch: nothing is kept of the launch before. */
static void offsets_of_each_launch_count(void **state)
{
    (void)state;
    enum { ROUNDS = 8 };
    static int32_t offsets[ROWS + 1];
    int32_t *values = values_of_one(), last;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "host:1,mem=16M"});
    const sums_t s = {array_of(rt, ROWS + 1, NULL), array_of(rt, MOST, values),
                      array_of(rt, ROWS, NULL)};
    for (int round = 1; round <= ROUNDS; round++) {
        offsets[ROWS] = MOST / ROUNDS * round;
        assert_int_equal(kmm_copy_in(rt, (void *)(uintptr_t)s.begins, offsets, sizeof(offsets)), 0);
        assert_int_equal(launch_in(1, &s, offsets, KMM_INT32, ROWS + 1), 0);
        assert_int_equal(kmm_copy_out(rt, &last, s.to + ROWS - 1, sizeof(last)), 0);
        assert_int_equal(last, offsets[ROWS]);
    }
    runtime_close(rt);
    free(values);
}

static void expect_refused(kmm_runtime_t *rt, int result, int code, const char *why)
{
    if (result != code || !strstr(kmm_error_text(rt), why))
        fail_msg("%d: %s", result, kmm_error_text(rt));
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    static int32_t offsets[ROWS + 1], mapped[ROWS];
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = places[1]});
    sums_t s = {array_of(rt, ROWS + 1, offsets), array_of(rt, MOST, NULL),
                array_of(rt, ROWS, NULL)};
    expect_refused(rt, launch_sums(&s, offsets, KMM_FLOAT, ROWS + 1), KMM_E_INVALID,
                   "offsets are an array of integers of 32 or 64 bits");
    expect_refused(rt, launch_sums(&s, NULL, KMM_INT32, ROWS + 1), KMM_E_INVALID,
                   "offsets are an array of integers of 32 or 64 bits");
    expect_refused(rt, launch_sums(&s, offsets, KMM_INT32, 0), KMM_E_INVALID,
                   "offsets are an array of integers of 32 or 64 bits");
    expect_refused(rt, launch_sums(&s, s.begins, KMM_INT32, ROWS + 1), KMM_E_INVALID,
                   "its offsets lie in an array, which the host cannot read");
    kmm_launch_t *l = begin_rows(CHUNKS);
    kmm_launch_access(l, KMM_READ, "values", s.values, sizeof(*s.values));
    kmm_launch_offsets(l, offsets, KMM_INT32, ROWS + 1);
    expect_refused(rt, kmm_launch_call(l, run_sums, &s, sizeof(s)), KMM_E_INVALID,
                   "offsets without a section with bounds");

    assert_int_equal(kmm_map(rt, KMM_MAP_TOFROM, offsets, sizeof(offsets)), 0);
    expect_refused(rt, launch_sums(&s, offsets, KMM_INT32, ROWS + 1), KMM_E_INVALID,
                   "its offsets lie in memory that launches may write; map it `to`");
    assert_int_equal(kmm_unmap(rt, offsets), 0);
    assert_int_equal(kmm_map(rt, KMM_MAP_TO, offsets, sizeof(offsets)), 0);
    assert_int_equal(launch_sums(&s, offsets, KMM_INT32, ROWS + 1), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(kmm_unmap(rt, offsets), 0);

    /* the last row ends behind the mapped memory */
    offsets[ROWS] = ROWS + 1;
    s.values = mapped;
    assert_int_equal(kmm_map(rt, KMM_MAP_TO, mapped, sizeof(mapped)), 0);
    expect_refused(rt, launch_sums(&s, offsets, KMM_INT32, ROWS + 1), KMM_E_RANGE,
                   "map all that the launch uses");
    assert_int_equal(kmm_unmap(rt, mapped), 0);
    runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_copied_once),
        cmocka_unit_test(rows_are_written),
        cmocka_unit_test(offsets_of_each_launch_count),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
