/* SPDX-License-Identifier: Apache-2.0 */
/* Regions that offsets give, as the rows of a matrix in CSR form: what is copied, that the offsets
 * of each launch count, and what is refused. Random launches on fake GPUs against a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <kmm.h>

#include "fake_gpu.h"
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

static int launch_reduction(const sums_t *s, const int32_t *offsets)
{
    kmm_launch_t *l = begin_rows(CHUNKS);
    kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "values of r", s->values);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_offsets(l, offsets, KMM_INT32, ROWS + 1);
    return kmm_launch_call(l, run_sums, s, sizeof(*s));
}

/* Offsets in memory that is mapped, in each way, and that a launch in flight writes. */
static void mapped_offsets_are_read(void **state)
{
    (void)state;
    static int32_t offsets[ROWS + 1], got[ROWS];
    rng_t rng = {.state = rng_seed()};
    int32_t *values = values_of_one();
    for (int p = 0; p < 4; p++) {
        kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = places[p / 2]});
        random_rows(&rng, offsets);
        const sums_t s = {offsets, array_of(rt, MOST, values), array_of(rt, ROWS, NULL)};
        assert_int_equal(kmm_map(rt, p % 2 ? KMM_MAP_TO : KMM_MAP_TOFROM, offsets, sizeof(offsets)),
                         0);
        assert_int_equal(launch_sums(&s, offsets, KMM_INT32, p % 2 ? KMM_WHOLE : ROWS + 1), 0);
        assert_int_equal(kmm_copy_out(rt, got, s.to, sizeof(got)), 0);
        for (int r = 0; r < ROWS; r++)
            assert_int_equal(got[r], offsets[r + 1] - offsets[r]);
        assert_int_equal(kmm_unmap(rt, offsets), 0);
        runtime_close(rt);
    }
    free(values);
}

/* ---- On fake GPUs ---- */

enum { BLOCK = 64, MOST_ROWS = 300, STEPS = 40 };

static int64_t number_at(const void *numbers, int64_t bytes, int64_t k)
{
    return bytes == 8 ? ((const int64_t *)numbers)[k] : ((const int32_t *)numbers)[k];
}

/* to[r] = the sum of the values from offsets[step r] on, before offsets[step r + 1]. Parameters: n,
 * to, offsets, values, step, bytes of an offset. */
static int run_device_sums(const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *blocks = args[0];
    const void *offsets = *(void **)args[3];
    const int32_t *values = *(int32_t **)args[4];
    int64_t n = *(int64_t *)args[1], step = *(int64_t *)args[5], bytes = *(int64_t *)args[6];
    int64_t r = ((int64_t)w->block[0] + blocks->offset_x) * BLOCK + w->first;
    for (uint32_t lane = 0; lane < w->count && r < n; lane++, r++) {
        uint32_t sum = 0;
        for (int64_t k = number_at(offsets, bytes, step * r);
             k < number_at(offsets, bytes, step * r + 1); k++)
            sum += (uint32_t)values[k];
        (*(int32_t **)args[2])[r] = (int32_t)sum;
    }
    return 0;
}

/* to[k] = from[k], of 32 bits. Parameters: n, to, from. */
static int run_device_copy(const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *blocks = args[0];
    int64_t n = *(int64_t *)args[1],
            k = ((int64_t)w->block[0] + blocks->offset_x) * BLOCK + w->first;
    for (uint32_t lane = 0; lane < w->count && k < n; lane++, k++)
        (*(int32_t **)args[2])[k] = (*(int32_t **)args[3])[k];
    return 0;
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), 8, 8, 8, 8, 8, 8};
static fake_kernel_t fake_sums = {.parameters = 7,
                                  .parameter_bytes = sizes,
                                  .run_warp = run_device_sums},
                     fake_copy = {
                         .parameters = 4, .parameter_bytes = sizes, .run_warp = run_device_copy};
static const kmm_kernel_t
    sums_kernel = {KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "sums", NULL, &fake_sums, 7, sizes, 1, NULL},
    copy_kernel = {KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "copy", NULL, &fake_copy, 4, sizes, 1, NULL};

static int launch_blocks(const kmm_kernel_t *kernel, kmm_launch_t *l, int64_t n, void **args)
{
    kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    kmm_launch_arm(l);
    return kmm_launch_kernel(kernel, &g, args);
}

static int launch_copy(int64_t n, int32_t *to, int32_t *from)
{
    kmm_launch_t *l = kmm_launch_begin("copy", "offsets.c", 5);
    kmm_launch_axis(l, "k", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, BLOCK);
    add_access(l, KMM_READ, "from[k]", from, 1);
    add_access(l, KMM_WRITE, "to[k]", to, 1);
    return launch_blocks(&copy_kernel, l, n, (void *[]){NULL, &n, &to, &from});
}

/* Offsets of a random launch. */
typedef struct parts {
    int64_t rows, step, bytes, words; /* `words` of 32 bits are all offsets */
    kmm_type_t type;
    _Alignas(8) int32_t at[4 * MOST_ROWS];
} parts_t;

static void set_number(parts_t *p, int64_t k, int64_t value)
{
    if (p->bytes == 8)
        ((int64_t *)(void *)p->at)[k] = value;
    else
        p->at[k] = (int32_t)value;
}

/* Rows one behind the other, or in any order with a begin and an end each; a third are empty. */
static void random_parts(rng_t *rng, int64_t most, parts_t *p)
{
    static const kmm_type_t types[] = {KMM_INT32, KMM_UINT32, KMM_INT64, KMM_UINT64};
    int64_t t = rng_range(rng, 0, 3), at = 0;
    p->rows = rng_range(rng, 0, 9) ? rng_range(rng, 2, MOST_ROWS) : 1;
    p->step = rng_range(rng, 1, 2);
    p->type = types[t];
    p->bytes = t < 2 ? 4 : 8;
    p->words = (p->step * p->rows + (p->step == 1)) * p->bytes / 4;
    set_number(p, 0, 0);
    for (int64_t r = 0; r < p->rows; r++) {
        int64_t length = rng_range(rng, 0, 2) ? rng_range(rng, 0, most / p->rows) : 0;
        at = p->step == 1 ? at : rng_range(rng, 0, most - length);
        set_number(p, p->step * r, at);
        set_number(p, p->step * r + 1, at + length);
        at += length;
    }
}

static int launch_parts(const parts_t *p, int64_t chunk, int32_t *to, int32_t *offsets,
                        const void *named, int64_t count, int32_t *values)
{
    int64_t rows = p->rows, step = p->step, bytes = p->bytes;
    kmm_launch_t *l = kmm_launch_begin("sums", "offsets.c", 6);
    kmm_launch_axis(l, "r", KMM_GLOBAL_X, 0, rows);
    kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    kmm_launch_access(l, KMM_READ, "offsets", offsets, sizeof(*offsets));
    kmm_launch_access(l, KMM_READ, "values of r", values, sizeof(*values));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, step, 0);
    kmm_launch_offsets(l, named, p->type, count);
    add_access(l, KMM_WRITE, "to[r]", to, 1);
    return launch_blocks(&sums_kernel, l, rows,
                         (void *[]){NULL, &rows, &to, &offsets, &values, &step, &bytes});
}

static void expect_sums(const parts_t *p, const int32_t *values, const int32_t *got)
{
    for (int64_t r = 0; r < p->rows; r++) {
        uint32_t sum = 0;
        for (int64_t k = number_at(p->at, p->bytes, p->step * r);
             k < number_at(p->at, p->bytes, p->step * r + 1); k++)
            sum += (uint32_t)values[k];
        assert_int_equal(got[r], (int32_t)sum);
    }
}

/* The offsets are the host's, or those of an array that the launch before writes: all that it has,
 * or as many as are said. */
static void gpus_get_their_parts(void **state)
{
    enum { VALUES = 1 << 16 };
    (void)state;
    static int32_t values[VALUES], got[MOST_ROWS];
    static parts_t p;
    rng_t rng = {.state = rng_seed()};
    for (int64_t k = 0; k < VALUES; k++)
        values[k] = (int32_t)rng_next(&rng);
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:2", .device_mem = 192 << 10});
    int32_t *device_values = array_of(rt, VALUES, values), *to = array_of(rt, MOST_ROWS, NULL);
    for (int step = 0; step < STEPS; step++) {
        random_parts(&rng, VALUES, &p);
        int32_t *from = array_of(rt, p.words, p.at), *offsets = array_of(rt, p.words, NULL);
        int64_t chunk = rng_range(&rng, 1, p.rows), of_host = rng_range(&rng, 0, 1),
                count = rng_range(&rng, 0, 1) ? p.words * 4 / p.bytes : KMM_WHOLE;
        assert_int_equal(launch_copy(p.words, offsets, from), 0);
        assert_int_equal(
            launch_parts(&p, chunk, to, offsets, of_host ? p.at : offsets, count, device_values),
            0);
        assert_int_equal(kmm_copy_out(rt, got, to, (size_t)p.rows * sizeof(*got)), 0);
        expect_sums(&p, values, got);
        assert_int_equal(kmm_array_destroy(rt, from), 0);
        assert_int_equal(kmm_array_destroy(rt, offsets), 0);
    }
    runtime_close(rt);
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
    expect_refused(rt, launch_sums(&s, s.begins, KMM_INT32, ROWS + 2), KMM_E_RANGE,
                   "values of r: its offsets cannot be read");
    expect_refused(rt, launch_reduction(&s, offsets), KMM_E_INVALID,
                   "a reduction has the same in each chunk");
    kmm_launch_t *l = begin_rows(CHUNKS);
    kmm_launch_access(l, KMM_READ, "values", s.values, sizeof(*s.values));
    kmm_launch_offsets(l, offsets, KMM_INT32, ROWS + 1);
    expect_refused(rt, kmm_launch_call(l, run_sums, &s, sizeof(s)), KMM_E_INVALID,
                   "offsets without a section with bounds");

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
        cmocka_unit_test(rows_are_copied_once),         cmocka_unit_test(rows_are_written),
        cmocka_unit_test(offsets_of_each_launch_count), cmocka_unit_test(mapped_offsets_are_read),
        cmocka_unit_test(gpus_get_their_parts),         cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
