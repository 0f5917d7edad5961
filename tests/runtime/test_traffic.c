/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bytes are copied, to the byte, on pretend devices. Every test also looks at the values,
 * since what moves nothing is easily wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "memory/array.h"

/* ---- Kernels. One-dimensional ones have a block of one thread for each `part` elements. ---- */

#define ARG(T, k) (*(T *)args[k])

static _Atomic bool gate_is_open = true;

static void await_gate(void)
{
    struct timespec nap = {0, 20000};
    while (!atomic_load(&gate_is_open))
        nanosleep(&nap, NULL);
}

static uint64_t block_of(const kmm_host_blocks_t *b, uint64_t k)
{
    return k % b->count[0] + b->offset[0];
}

/* x[:] = value, not before the gate is open. */
static void set_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t part = ARG(int64_t, 0);
    await_gate();
    for (uint64_t k = b->first; k < b->last; k++)
        for (int64_t e = 0; e < part; e++)
            ARG(int *, 1)[(int64_t)block_of(b, k) * part + e] = (int)ARG(int64_t, 2);
}

static const int *home; /* where the host sees the first element of what late_run writes */
static _Atomic bool came_home;

/* Looks at memory that is being copied to, which no program may. */
__attribute__((no_sanitize("thread"))) static bool is_home(int value)
{
    return *(const volatile int *)home == value;
}

enum { LATE_PARTS = 64 };

/* x[:] = value; blocks of the second half wait up to five minutes until the host sees what the
 * first one has written. */
static void late_run(const kmm_host_blocks_t *b, void **args)
{
    enum { NAPS = 300000 };
    struct timespec nap = {0, 1000000};
    for (int k = 0; b->offset[0] >= LATE_PARTS / 2 && k < NAPS && !atomic_load(&came_home); k++) {
        if (is_home((int)ARG(int64_t, 2)))
            atomic_store(&came_home, true);
        nanosleep(&nap, NULL);
    }
    set_run(b, args);
}

/* x[:] += value */
static void add_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t part = ARG(int64_t, 0);
    for (uint64_t k = b->first; k < b->last; k++)
        for (int64_t e = 0; e < part; e++)
            ARG(int *, 1)[(int64_t)block_of(b, k) * part + e] += (int)ARG(int64_t, 2);
}

/* y[block] += sum of x in the block */
static void sum_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t part = ARG(int64_t, 0);
    for (uint64_t k = b->first; k < b->last; k++)
        for (int64_t e = 0; e < part; e++)
            ARG(int *, 2)
    [block_of(b, k)] += ARG(const int *, 1)[(int64_t)block_of(b, k) * part + e];
}

/* Reads, and keeps nothing. */
static void look_run(const kmm_host_blocks_t *b, void **args)
{
    (void)b, (void)args;
}

/* out[y][x] = sum of in[y-1:3][x-1:3], what is outside left out */
static void box_point(int64_t w, int64_t h, int *out, const int *in, int64_t x, int64_t y)
{
    int sum = 0;
    for (int64_t v = y - 1; v <= y + 1; v++)
        for (int64_t u = x - 1; u <= x + 1; u++)
            sum += v < 0 || v >= h || u < 0 || u >= w ? 0 : in[v * w + u];
    out[y * w + x] = sum % 1000;
}

static void box_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t w = ARG(int64_t, 0), h = ARG(int64_t, 1);
    for (uint64_t k = b->first; k < b->last; k++) {
        int64_t bx = (int64_t)(k % b->count[0] + b->offset[0]) * b->block[0];
        int64_t by = (int64_t)(k / b->count[0] % b->count[1] + b->offset[1]) * b->block[1];
        for (int64_t y = by; y < by + b->block[1] && y < h; y++)
            for (int64_t x = bx; x < bx + b->block[0] && x < w; x++)
                box_point(w, h, ARG(int *, 2), ARG(const int *, 3), x, y);
    }
}

static const uint32_t words[] = {8, 8, 8, 8};
static const kmm_kernel_t set_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "set", set_run, NULL, 3, words, 0, NULL};
static const kmm_kernel_t late_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "late", late_run, NULL, 3, words, 0, NULL};
static const kmm_kernel_t add_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "add", add_run, NULL, 3, words, 0, NULL};
static const kmm_kernel_t sum_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "sum", sum_run, NULL, 3, words, 0, NULL};
static const kmm_kernel_t look_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "look", look_run, NULL, 3, words, 0, NULL};
static const kmm_kernel_t box_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "box", box_run, NULL, 4, words, 0, NULL};

/* ---- Runtimes and what they have copied ---- */

typedef struct traffic {
    uint64_t in, out, peer;
} traffic_t;

static kmm_runtime_t *make(int devices, uint64_t mem)
{
    char list[64];
    kmm_runtime_t *rt = NULL;
    snprintf(list, sizeof(list), "host:%d,mem=%llu", devices, (unsigned long long)mem);
    if (kmm_create(&rt, &(kmm_config_t){.devices = list, .threads = 2}))
        fail_msg("%s: %s", list, kmm_error_text(NULL));
    kmm_use(rt);
    return rt;
}

static void end(kmm_runtime_t *rt)
{
    int error = kmm_destroy(rt);
    kmm_use(NULL);
    if (error)
        fail_msg("%s", kmm_error_text(NULL));
}

static traffic_t traffic(kmm_runtime_t *rt)
{
    traffic_t t = {0};
    kmm_device_info_t d;
    assert_int_equal(kmm_wait(rt), 0);
    for (int k = 0; k < kmm_device_count(rt); k++) {
        assert_int_equal(kmm_device_get(rt, k, &d), 0);
        t.in += d.bytes_in;
        t.out += d.bytes_out;
        t.peer += d.bytes_peer;
    }
    return t;
}

/* Since the traffic at *since, which becomes now's. */
static void expect(kmm_runtime_t *rt, traffic_t *since, const char *what, uint64_t in, uint64_t out,
                   uint64_t peer)
{
    traffic_t now = traffic(rt),
              d = {now.in - since->in, now.out - since->out, now.peer - since->peer};
    *since = now;
    if (d.in != in || d.out != out || d.peer != peer)
        fail_msg("%s: copied %llu in, %llu out, %llu peer; wanted %llu, %llu, %llu", what,
                 (unsigned long long)d.in, (unsigned long long)d.out, (unsigned long long)d.peer,
                 (unsigned long long)in, (unsigned long long)out, (unsigned long long)peer);
}

static int *array(kmm_runtime_t *rt, int64_t n)
{
    void *p = NULL;
    assert_int_equal(
        kmm_array_create(rt, &(kmm_shape_t){.dims = 1, .extent = {n}, .element_bytes = sizeof(int)},
                         &p),
        0);
    return p;
}

static void check_values(kmm_runtime_t *rt, const int *base, int64_t n, int value)
{
    int *got = malloc((size_t)n * sizeof(int));
    assert_int_equal(kmm_copy_out(rt, got, base, (size_t)n * sizeof(int)), 0);
    for (int64_t k = 0; k < n; k++)
        if (got[k] != value)
            fail_msg("element %lld is %d, not %d", (long long)k, got[k], value);
    free(got);
}

/* ---- Launches ---- */

typedef struct range {
    int64_t first, count; /* parts */
    int64_t part, chunk;  /* elements; parts */
    int device;           /* -1: all of them */
} range_t;

static kmm_launch_t *begin(const range_t *r, const char *name)
{
    kmm_launch_t *l = kmm_launch_begin(name, "test.cu", 1);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, r->first, r->count);
    kmm_launch_chunk(l, KMM_BLOCK_X, r->chunk);
    if (r->device >= 0)
        kmm_launch_device(l, KMM_ON_DEVICE, r->device);
    return l;
}

static void access_parts(kmm_launch_t *l, kmm_mode_t mode, const char *text, const int *base,
                         int64_t part)
{
    kmm_launch_access(l, mode, text, base, sizeof(int));
    kmm_launch_index(l, 0, part);
    kmm_launch_coef(l, 0, part, 0);
}

/* The grid is as large as the range: its parts are counted from the array's `first` part. */
static void submit(kmm_launch_t *l, const kmm_kernel_t *kernel, const range_t *r, void **args)
{
    kmm_geometry_t g = {{(uint32_t)r->count, 1, 1}, {1, 1, 1}, 0, NULL};
    kmm_launch_arm(l);
    if (kmm_launch_kernel(kernel, &g, args))
        fail_msg("%s: %s", kernel->name, kmm_error_text(NULL));
}

static void launch_one(const kmm_kernel_t *kernel, kmm_mode_t mode, const range_t *given, int *x,
                       int64_t value)
{
    range_t r = *given;
    int *from = x + r.first * r.part;
    void *args[] = {&r.part, &from, &value};
    r.first = 0;
    kmm_launch_t *l = begin(&r, kernel->name);
    access_parts(l, mode, "x[part]", from, r.part);
    submit(l, kernel, &r, args);
}

static void set(const range_t *r, int *x, int64_t value)
{
    launch_one(&set_kernel, KMM_WRITE, r, x, value);
}

static void add(const range_t *r, int *x, int64_t value)
{
    launch_one(&add_kernel, KMM_UPDATE, r, x, value);
}

static void look(const range_t *r, int *x)
{
    launch_one(&look_kernel, KMM_READ, r, x, 0);
}

/* y[k] += sum of part k of the range */
static void sum(const range_t *given, int *x, int *y)
{
    range_t r = *given;
    int *from = x + r.first * r.part;
    void *args[] = {&r.part, &from, &y};
    r.first = 0;
    kmm_launch_t *l = begin(&r, "sum");
    access_parts(l, KMM_READ, "x[part]", from, r.part);
    access_parts(l, KMM_UPDATE, "y[part]", y, 1);
    submit(l, &sum_kernel, &r, args);
}

/* ---- Halos ---- */

enum { BLOCK = 4 };

typedef struct grid {
    int devices;
    int64_t w, h;
    int64_t columns, rows; /* of a chunk; multiples of BLOCK */
} grid_t;

static void access_box(kmm_launch_t *l, kmm_mode_t mode, const char *text, const int *base,
                       const grid_t *g, int64_t lower, int64_t length)
{
    kmm_launch_access(l, mode, text, base, sizeof(int));
    kmm_launch_extent(l, g->h);
    kmm_launch_extent(l, g->w);
    kmm_launch_index(l, lower, length);
    kmm_launch_coef(l, 1, 1, 0);
    kmm_launch_index(l, lower, length);
    kmm_launch_coef(l, 0, 1, 0);
}

static void box_step(const grid_t *g, int *out, int *in)
{
    int64_t w = g->w, h = g->h;
    kmm_geometry_t geometry = {
        {(uint32_t)((w + BLOCK - 1) / BLOCK), (uint32_t)((h + BLOCK - 1) / BLOCK), 1},
        {BLOCK, BLOCK, 1},
        0,
        NULL};
    void *args[] = {&w, &h, &out, &in};
    kmm_launch_t *l = kmm_launch_begin("box", "test.cu", 2);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, w);
    kmm_launch_axis(l, "y", KMM_GLOBAL_Y, 0, h);
    kmm_launch_chunk(l, KMM_GLOBAL_X, g->columns);
    kmm_launch_chunk(l, KMM_GLOBAL_Y, g->rows);
    access_box(l, KMM_READ, "in[y-1:3][x-1:3]", in, g, -1, 3);
    access_box(l, KMM_WRITE, "out[y][x]", out, g, 0, 1);
    kmm_launch_arm(l);
    if (kmm_launch_kernel(&box_kernel, &geometry, args))
        fail_msg("%s", kmm_error_text(NULL));
}

/* Which device writes a point: chunks are numbered along x first, and consecutive ones go to one
 * device. */
static int owner(const grid_t *g, int64_t x, int64_t y)
{
    int64_t across = (g->w + g->columns - 1) / g->columns, down = (g->h + g->rows - 1) / g->rows;
    return (int)((y / g->rows * across + x / g->columns) * g->devices / (across * down));
}

static bool reads(const grid_t *g, int d, int64_t x, int64_t y)
{
    for (int64_t v = y - 1; v <= y + 1; v++)
        for (int64_t u = x - 1; u <= x + 1; u++)
            if (v >= 0 && v < g->h && u >= 0 && u < g->w && owner(g, u, v) == d)
                return true;
    return false;
}

/* Elements that devices read, in sum, and of those the ones that they did not write. */
static void count_reads(const grid_t *g, uint64_t *all, uint64_t *foreign)
{
    *all = *foreign = 0;
    for (int d = 0; d < g->devices; d++)
        for (int64_t y = 0; y < g->h; y++)
            for (int64_t x = 0; x < g->w; x++)
                if (reads(g, d, x, y)) {
                    ++*all;
                    *foreign += owner(g, x, y) != d;
                }
}

static void check_halo(const grid_t *g)
{
    enum { STEPS = 5 };
    size_t n = (size_t)(g->w * g->h), bytes = n * sizeof(int);
    uint64_t all, foreign;
    count_reads(g, &all, &foreign);
    kmm_runtime_t *rt = make(g->devices, 16 << 20);
    int *a = malloc(bytes), *b = malloc(bytes), *A = array(rt, (int64_t)n),
        *B = array(rt, (int64_t)n);
    for (size_t k = 0; k < n; k++)
        a[k] = rand() % 100;
    assert_int_equal(kmm_copy_in(rt, A, a, bytes), 0);
    traffic_t t = {0};
    for (int step = 0; step < STEPS; step++) {
        char what[128];
        snprintf(what, sizeof(what),
                 "step %d of %lld x %lld in chunks of %lld x %lld on %d devices", step,
                 (long long)g->w, (long long)g->h, (long long)g->columns, (long long)g->rows,
                 g->devices);
        box_step(g, B, A);
        /* At first all is on the host: each element comes from there once, and from then on from
         * the device that has it. */
        expect(rt, &t, what, step ? 0 : bytes, 0,
               step ? foreign * sizeof(int) : all * sizeof(int) - bytes);
        for (int64_t y = 0; y < g->h; y++)
            for (int64_t x = 0; x < g->w; x++)
                box_point(g->w, g->h, b, a, x, y);
        int *swap = a;
        a = b, b = swap, swap = A, A = B, B = swap;
    }
    assert_int_equal(kmm_copy_out(rt, b, A, bytes), 0);
    expect(rt, &t, "the result", 0, bytes, 0);
    assert_memory_equal(a, b, bytes);
    end(rt);
    free(a);
    free(b);
}

static void halos_move_strips(void **state)
{
    (void)state;
    static const grid_t grids[] = {
        {1, 40, 40, 40, 8},  {2, 40, 40, 40, 20}, {2, 40, 40, 20, 40},
        {2, 37, 61, 40, 12}, {4, 40, 40, 20, 20}, {4, 37, 43, 20, 12},
        {4, 64, 48, 64, 4},  {3, 50, 20, 4, 20},  {4, 8, 16, 8, 4},
    };
    for (size_t k = 0; k < sizeof(grids) / sizeof(*grids); k++)
        check_halo(&grids[k]);
}

/* ---- What is written without being read, and what other devices read ---- */

enum { PART = 1024, PARTS = 20, N = PART * PARTS, BYTES = N * 4, PART_BYTES = PART * 4 };

static void writing_fetches_nothing(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make(2, 16 << 20);
    int *x = array(rt, N);
    traffic_t t = {0};
    kmm_fill(rt, x, 0, BYTES);
    set(&(range_t){0, PARTS, PART, 4, -1}, x, 7);
    expect(rt, &t, "a write", 0, 0, 0);
    check_values(rt, x, N, 7);
    expect(rt, &t, "its result", 0, BYTES, 0);
    set(&(range_t){5, 3, PART, 1, 0}, x, 8); /* cuts across earlier chunks */
    expect(rt, &t, "a write of a part", 0, 0, 0);
    set(&(range_t){0, PARTS, PART, 7, 1}, x, 9);
    expect(rt, &t, "a write over it elsewhere", 0, 0, 0);
    check_values(rt, x, N, 9);
    expect(rt, &t, "the second result", 0, BYTES, 0);
    end(rt);
}

static void reading_elsewhere_moves_that_region(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make(3, 16 << 20);
    int *x = array(rt, N), *y = array(rt, PARTS), got[PARTS];
    traffic_t t = {0};
    kmm_fill(rt, y, 0, sizeof(got));
    set(&(range_t){0, PARTS, PART, PARTS, 0}, x, 1);
    set(&(range_t){0, PARTS, 1, PARTS, 1}, y, 0);
    sum(&(range_t){3, 5, PART, 2, 1}, x, y);
    expect(rt, &t, "a read of 5 parts", 0, 0, 5 * PART_BYTES);
    sum(&(range_t){3, 5, PART, 5, 1}, x, y);
    expect(rt, &t, "the same again", 0, 0, 0);
    sum(&(range_t){6, 4, PART, 4, 1}, x, y);
    expect(rt, &t, "2 parts that are there and 2 that are not", 0, 0, 2 * PART_BYTES);
    check_values(rt, x + 2 * PART, PART, 1);
    expect(rt, &t, "the host reads a part", 0, PART_BYTES, 0);
    add(&(range_t){2, 1, PART, 1, 2}, x, 1);
    expect(rt, &t, "an update of a part elsewhere", 0, 0, PART_BYTES);
    sum(&(range_t){0, 8, PART, 8, 0}, x, y + 8);
    expect(rt, &t, "the part comes back, and y comes over", 0, 0, PART_BYTES + 8 * sizeof(int));
    assert_int_equal(kmm_copy_out(rt, got, y, sizeof(got)), 0);
    for (int k = 0; k < PARTS; k++) {
        int before = k < 4 ? 3 * PART : k < 5 ? 2 * PART : 0;
        assert_int_equal(got[k], k < 8 ? before : k < 16 ? (k == 10 ? 2 * PART : PART) : 0);
    }
    end(rt);
}

/* What both the host and a device have comes from the device. */
static void nearest_source_is_used(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make(2, 16 << 20);
    int *x = array(rt, N), *y = array(rt, PARTS);
    traffic_t t = {0};
    kmm_fill(rt, x, 0, BYTES);
    set(&(range_t){0, PARTS, 1, PARTS, 0}, y, 0);
    sum(&(range_t){0, PARTS, PART, 5, 0}, x, y);
    expect(rt, &t, "the first device reads", BYTES, 0, 0);
    set(&(range_t){0, PARTS, 1, PARTS, 1}, y, 0);
    sum(&(range_t){0, PARTS, PART, 5, 1}, x, y);
    expect(rt, &t, "the second device reads", 0, 0, BYTES);
    check_values(rt, x, N, 0);
    expect(rt, &t, "the host has it", 0, 0, 0);
    end(rt);
}

/* What many devices read is passed on, and does not all come from the one that had it first. */
static void what_all_read_is_passed_on(void **state)
{
    enum { DEVICES = 8 };
    (void)state;
    kmm_runtime_t *rt = make(DEVICES, 16 << 20);
    int *x = array(rt, N);
    traffic_t t = {0};
    set(&(range_t){0, PARTS, PART, PARTS, 5}, x, 3);
    expect(rt, &t, "the sixth device writes", 0, 0, 0);
    for (int k = 0; k < DEVICES; k++) {
        look(&(range_t){0, PARTS, PART, PARTS, (k + 6) % DEVICES}, x);
        expect(rt, &t, "a device reads", 0, 0, k < DEVICES - 1 ? BYTES : 0);
    }
    for (int k = 0; k < DEVICES; k++)
        assert_int_equal(rt->device[k]->counters.bytes_lent,
                         k == 4 ? 0 : BYTES); /* it was the last */
    check_values(rt, x, N, 3);
    end(rt);
}

/* Parts that the host, or another device, wrote since. */
static void newest_parts_come_from_where_they_are(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make(2, 16 << 20);
    int *x = array(rt, N), *y = array(rt, PARTS), part[PART];
    traffic_t t = {0};
    for (int k = 0; k < PART; k++)
        part[k] = 1;
    set(&(range_t){0, PARTS, PART, PARTS, 0}, x, 1);
    set(&(range_t){0, PARTS, 1, PARTS, 0}, y, 0);
    set(&(range_t){4, 6, PART, 6, 1}, x, 1);
    assert_int_equal(kmm_copy_in(rt, x + 8 * PART, part, sizeof(part)), 0);
    expect(rt, &t, "writes", 0, 0, 0);
    sum(&(range_t){0, PARTS, PART, 3, 0}, x, y);
    expect(rt, &t, "a read of all", PART_BYTES, 0, 5 * PART_BYTES);
    check_values(rt, y, PARTS, PART);
    check_values(rt, x, N, 1);
    expect(rt, &t, "the host reads all", 0, BYTES - PART_BYTES + PARTS * sizeof(int), 0);
    end(rt);
}

static void maps_move_what_they_say(void **state)
{
    (void)state;
    static const struct {
        kmm_map_t map;
        bool in, out;
    } cases[] = {
        {KMM_MAP_TO, true, false},
        {KMM_MAP_FROM, false, true},
        {KMM_MAP_TOFROM, true, true},
        {KMM_MAP_ALLOC, false, false},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        kmm_runtime_t *rt = make(1, 16 << 20);
        int *x = calloc(N, sizeof(int)), *y = array(rt, PARTS);
        traffic_t t = {0};
        range_t all = {0, PARTS, PART, 5, 0};
        assert_int_equal(kmm_map(rt, cases[k].map, x, BYTES), 0);
        set(&(range_t){0, PARTS, 1, PARTS, 0}, y, 0);
        if (!cases[k].in)
            set(&all, x, 2);
        else if (cases[k].map == KMM_MAP_TOFROM)
            add(&all, x, 2);
        sum(&all, x, y);
        expect(rt, &t, "launches on mapped memory", cases[k].in ? BYTES : 0, 0, 0);
        assert_int_equal(kmm_unmap(rt, x), 0);
        expect(rt, &t, "the end of the map", 0, cases[k].out ? BYTES : 0, 0);
        for (int j = 0; j < N; j++)
            assert_int_equal(x[j], cases[k].out ? 2 : 0);
        check_values(rt, y, PARTS, cases[k].map == KMM_MAP_TO ? 0 : 2 * PART);
        end(rt);
        free(x);
    }
}

/* Elements of a chunk. ThreadSanitizer is slow at kernels. */
#if defined(__SANITIZE_THREAD__)
enum { LATE = 64 << 10 };
#else
enum { LATE = 256 << 10 };
#endif

/* What the first chunks have written is back while others work, though nothing but the end of the
 * map asks for it. */
static void results_come_back_meanwhile(void **state)
{
    (void)state;
    enum { ALL = LATE_PARTS * LATE };
    for (int by_launch = 0; by_launch < 2; by_launch++) {
        kmm_runtime_t *rt = make(1, 128 << 20);
        int *x = calloc(ALL, sizeof(int));
        range_t chunks = {0, LATE_PARTS, LATE, 1, 0};
        home = x;
        atomic_store(&came_home, false);
        if (!by_launch)
            assert_int_equal(kmm_map(rt, KMM_MAP_TOFROM, x, ALL * sizeof(int)), 0);
        launch_one(&late_kernel, KMM_UPDATE, &chunks, x, 7);
        if (!by_launch)
            assert_int_equal(kmm_unmap(rt, x), 0);
        assert_true(atomic_load(&came_home));
        for (int k = 0; k < ALL; k++)
            assert_true(x[k] == 7);
        end(rt);
        free(x);
    }
}

/* ---- More than a device holds ---- */

enum {
    FRAME = 65536,
    FRAME_ELEMENTS = FRAME / 4,
    DEVICE_FRAMES = 32,
    SPARE = 8 * 4096
}; /* SPARE: for what is small */

/* A device of 32 frames of FRAME bytes. */
static kmm_runtime_t *make_small(void)
{
    return make(1, (uint64_t)DEVICE_FRAMES * FRAME + SPARE);
}

static range_t frames(int64_t first, int64_t count)
{
    return (range_t){first, count, FRAME_ELEMENTS, 1, 0};
}

static int *frame_array(kmm_runtime_t *rt, int64_t count)
{
    return array(rt, count * FRAME_ELEMENTS);
}

static void clean_data_is_never_written_back(void **state)
{
    (void)state;
    enum { COUNT = 2 * DEVICE_FRAMES };
    kmm_runtime_t *rt = make_small();
    int *x = frame_array(rt, COUNT), *y = array(rt, COUNT);
    traffic_t t = {0};
    range_t all = frames(0, COUNT);
    kmm_fill(rt, x, 0, (size_t)COUNT * FRAME);
    add(&(range_t){0, 1, FRAME_ELEMENTS, 1, 0}, x, 1);
    set(&(range_t){0, COUNT, 1, COUNT, 0}, y, 0);
    expect(rt, &t, "one frame is written", FRAME, 0, 0);
    for (int k = 0; k < 3; k++)
        sum(&all, x, y);
    check_values(rt, x + FRAME_ELEMENTS, (COUNT - 1) * FRAME_ELEMENTS, 0);
    check_values(rt, x, FRAME_ELEMENTS, 1);
    /* Of x only that; whether it was evicted or stayed until it was read is the policy's business.
     */
    assert_int_equal(traffic(rt).out - t.out, FRAME);
    end(rt);
}

/* Of a frame only the elements go out that were changed. */
static void only_what_is_newest_is_written_back(void **state)
{
    (void)state;
    enum { COUNT = DEVICE_FRAMES, PIECE = FRAME_ELEMENTS / 8 };
    kmm_runtime_t *rt = make_small();
    int *x = frame_array(rt, COUNT), *z = frame_array(rt, COUNT);
    traffic_t t = {0};
    kmm_fill(rt, x, 0, (size_t)COUNT * FRAME);
    kmm_fill(rt, z, 0, (size_t)COUNT * FRAME);
    for (int k = 0; k < COUNT; k++)
        add(&(range_t){k * 8 + 3, 2, PIECE, 2, 0}, x, 1);
    expect(rt, &t, "a quarter is updated", COUNT * FRAME / 4, 0, 0);
    range_t all = frames(0, COUNT);
    look(&all, z); /* takes all the room there is, and is never changed itself */
    traffic_t now = traffic(rt);
    assert_int_equal(now.in - t.in, COUNT * FRAME);
    assert_in_range(now.out - t.out, (COUNT - 2) * FRAME / 4, COUNT * FRAME / 4);
    for (int k = 0; k < COUNT; k++) {
        check_values(rt, x + k * FRAME_ELEMENTS, 3 * PIECE, 0);
        check_values(rt, x + k * FRAME_ELEMENTS + 3 * PIECE, 2 * PIECE, 1);
        check_values(rt, x + k * FRAME_ELEMENTS + 5 * PIECE, 3 * PIECE, 0);
    }
    now = traffic(rt);
    assert_int_equal(now.out - t.out, COUNT * FRAME / 4);
    end(rt);
}

static void freed_data_is_not_written_back(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make_small();
    traffic_t t = {0};
    range_t most = frames(0, 24);
    for (int k = 0; k < 4; k++) {
        int *x = frame_array(rt, 24);
        set(&most, x, k);
        if (k % 2)
            kmm_wait(rt);
        assert_int_equal(kmm_array_destroy(rt, x), 0);
    }
    expect(rt, &t, "arrays that come and go", 0, 0, 0);
    end(rt);
}

/* Ends, and full overwrites, that are known when there is no room. */
typedef enum fate { FREED, OVERWRITTEN } fate_t;

static void check_fate(fate_t fate)
{
    static const char *const names[] = {"freed", "overwritten"};
    enum { COUNT = 20 };
    kmm_runtime_t *rt = make_small();
    int *x = frame_array(rt, COUNT), *z = frame_array(rt, COUNT);
    range_t all = frames(0, COUNT);
    traffic_t t = {0};
    uint64_t bytes = (uint64_t)COUNT * FRAME;
    char what[64];
    atomic_store(&gate_is_open, false);
    set(&all, x, 1);
    set(&all, z, 2);
    if (fate == FREED)
        assert_int_equal(kmm_array_destroy(rt, x), 0);
    else
        set(&all, x, 3);
    atomic_store(&gate_is_open, true);
    assert_int_equal(kmm_wait(rt), 0);
    check_values(rt, z, COUNT * FRAME_ELEMENTS, 2);
    if (fate != FREED)
        check_values(rt, x, COUNT * FRAME_ELEMENTS, 3);
    snprintf(what, sizeof(what), "an array that is %s", names[fate]);
    expect(rt, &t, what, 0, fate == OVERWRITTEN ? 2 * bytes : bytes, 0);
    end(rt);
}

static void freed_data_is_dead_when_that_is_queued(void **state)
{
    (void)state;
    check_fate(FREED);
}

static void overwritten_data_is_dead_when_that_is_queued(void **state)
{
    (void)state;
    check_fate(OVERWRITTEN);
}

/* x[part] is stored whole, from what is read there, as when two arguments of a kernel are the same
 * array. */
static void add_in_place(const range_t *given, int *x, int64_t value, bool reads_first)
{
    range_t r = *given;
    void *args[] = {&r.part, &x, &value};
    kmm_launch_t *l = begin(&r, "add");
    access_parts(l, reads_first ? KMM_READ : KMM_WRITE, "x[part]", x, r.part);
    access_parts(l, reads_first ? KMM_WRITE : KMM_READ, "x[part]", x, r.part);
    submit(l, &add_kernel, &r, args);
}

/* z is used again before x is, so it is x that has to leave. */
static void check_in_place(int64_t chunk, bool reads_first)
{
    enum { COUNT = 20 };
    kmm_runtime_t *rt = make_small();
    int *x = frame_array(rt, COUNT), *z = frame_array(rt, COUNT);
    range_t all = frames(0, COUNT), chunks = all;
    chunks.chunk = chunk;
    atomic_store(&gate_is_open, false);
    set(&all, x, 1);
    set(&all, z, 2);
    for (int k = 0; k < 3; k++)
        look(&all, z);
    add_in_place(&chunks, x, 2, reads_first);
    atomic_store(&gate_is_open, true);
    check_values(rt, x, COUNT * FRAME_ELEMENTS, 3);
    check_values(rt, z, COUNT * FRAME_ELEMENTS, 2);
    end(rt);
}

static void data_read_by_what_overwrites_it_is_not_dead(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++)
        check_in_place(k % 2 ? 1 : 20, k / 2);
}

/* Each temporary is made, used and freed before the next; all that is queued at once. */
static void temporaries_in_a_row_move_nothing(void **state)
{
    (void)state;
    enum { COUNT = 10, ROUNDS = 12 };
    kmm_runtime_t *rt = make_small();
    int *y = array(rt, COUNT);
    range_t all = frames(0, COUNT);
    traffic_t t = {0};
    set(&(range_t){0, COUNT, 1, COUNT, 0}, y, 0);
    assert_int_equal(kmm_wait(rt), 0);
    atomic_store(&gate_is_open, false);
    for (int k = 0; k < ROUNDS; k++) {
        int *x = frame_array(rt, COUNT);
        set(&all, x, 1);
        sum(&all, x, y);
        assert_int_equal(kmm_array_destroy(rt, x), 0);
    }
    atomic_store(&gate_is_open, true);
    expect(rt, &t, "temporaries", 0, 0, 0);
    check_values(rt, y, COUNT, ROUNDS * FRAME_ELEMENTS);
    end(rt);
}

/* ---- Sweeps over more than a device holds, beside the best that can be done ---- */

enum { SWEEPS = 10, SWEPT = DEVICE_FRAMES * 5 / 4 };

/* Frames that are on their way: what frame.c keeps free for two chunks, and two of those whose data
 * is coming. */
static int reserve(int64_t chunk)
{
    return 4 * chunk < DEVICE_FRAMES / 4 ? (int)(4 * chunk) : DEVICE_FRAMES / 4;
}

typedef enum sweep { CLEAN, DIRTY, MIXED } sweep_t;

static bool dirties(sweep_t kind, int frame)
{
    return kind == DIRTY || (kind == MIXED && frame % 2);
}

typedef struct belady {
    bool resident[SWEPT], dirty[SWEPT];
    int count;
    uint64_t in, out;
} belady_t;

/* Frames are used in order, again and again: the one just left is used farthest from now. */
static int farthest(const belady_t *b, int frame)
{
    for (int k = 1; k < SWEPT; k++) {
        int back = (frame + SWEPT - k) % SWEPT;
        if (b->resident[back])
            return back;
    }
    return -1;
}

static void belady_use(belady_t *b, int frame, bool dirty, int room)
{
    if (!b->resident[frame]) {
        b->in += FRAME;
        while (b->count >= room) {
            int gone = farthest(b, frame);
            b->out += b->dirty[gone] ? FRAME : 0;
            b->resident[gone] = b->dirty[gone] = false;
            b->count--;
        }
        b->resident[frame] = true;
        b->count++;
    }
    b->dirty[frame] |= dirty;
}

static belady_t belady(sweep_t kind, int room)
{
    belady_t b = {0};
    for (int s = 0; s < SWEEPS; s++)
        for (int k = 0; k < SWEPT; k++)
            belady_use(&b, k, dirties(kind, k), room);
    return b;
}

static void sweep(sweep_t kind, int64_t chunk, int *x, int *y)
{
    range_t r = frames(0, SWEPT);
    r.chunk = chunk;
    if (kind == CLEAN)
        sum(&r, x, y);
    else if (kind == DIRTY)
        add(&r, x, 1);
    for (int k = 0; kind == MIXED && k < SWEPT; k++) {
        r = frames(k, 1);
        if (dirties(kind, k))
            add(&r, x, 1);
        else
            sum(&r, x, y + k);
    }
}

static bool try_sweeps(sweep_t kind, int64_t chunk, bool waits)
{
    static const char *const names[] = {"clean", "dirty", "mixed"};
    kmm_runtime_t *rt = make_small();
    int *x = frame_array(rt, SWEPT), *y = array(rt, SWEPT);
    belady_t best = belady(kind, DEVICE_FRAMES - reserve(chunk)),
             ideal = belady(kind, DEVICE_FRAMES);
    kmm_fill(rt, x, 0, (size_t)SWEPT * FRAME);
    kmm_fill(rt, y, 0, SWEPT * sizeof(int));
    for (int s = 0; s < SWEEPS; s++) {
        sweep(kind, chunk, x, y);
        if (waits)
            assert_int_equal(kmm_wait(rt), 0);
    }
    traffic_t t = traffic(rt);
    double ratio = (double)(t.in + t.out) / (double)(best.in + best.out);
    print_message("%s sweeps, %lld frames a chunk,%s a wait after each: %.1f frames in, %.1f out; "
                  "best %.1f, %.1f (without a reserve %.1f, %.1f): "
                  "%.2f times\n",
                  names[kind], (long long)chunk, waits ? "" : " not", (double)t.in / FRAME,
                  (double)t.out / FRAME, (double)best.in / FRAME, (double)best.out / FRAME,
                  (double)ideal.in / FRAME, (double)ideal.out / FRAME, ratio);
    for (int k = 0; k < SWEPT; k++)
        check_values(rt, x + k * FRAME_ELEMENTS, FRAME_ELEMENTS, dirties(kind, k) ? SWEEPS : 0);
    end(rt);
    return ratio <=
           (kind == MIXED ? 1.2 : 1.1); /* the best for mixed ones would mind what is dirty */
}

/* How many frames are evicted early depends on which thread comes first, so a busy machine gets
 * another try. */
static bool check_sweeps(sweep_t kind, int64_t chunk, bool waits)
{
    enum { TRIES = 3 };
    for (int k = 0; k < TRIES; k++)
        if (try_sweeps(kind, chunk, waits))
            return true;
    return false;
}

static void sweeps(void **state)
{
    (void)state;
    bool good = true;
    for (int kind = CLEAN; kind <= MIXED; kind++)
        for (int64_t chunk = 1; chunk <= (kind == MIXED ? 1 : 2); chunk++)
            good &= check_sweeps((sweep_t)kind, chunk, false);
    assert_true(good);
}

static void sweeps_with_waits(void **state)
{
    (void)state;
    bool good = true;
    for (int kind = CLEAN; kind <= MIXED; kind++)
        for (int64_t chunk = 1; chunk <= (kind == MIXED ? 1 : 2); chunk++)
            good &= check_sweeps((sweep_t)kind, chunk, true);
    assert_true(good);
}

/* ---- What is said of waste ---- */

/* One launch in chunks of `part` of `count` rows or columns of a matrix of 1024 x 1024 ints. */
static void look_at(int *x, bool columns, int64_t part)
{
    enum { SIDE = 1024 };
    int64_t unused = 0;
    void *args[] = {&unused, &x, &unused};
    kmm_geometry_t g = {{SIDE, 1, 1}, {1, 1, 1}, 0, NULL};
    kmm_launch_t *l = kmm_launch_begin("look", "look.cu", 7);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, KMM_WHOLE);
    kmm_launch_chunk(l, KMM_BLOCK_X, part);
    kmm_launch_access(l, KMM_READ, "x", x, sizeof(int));
    kmm_launch_extent(l, SIDE);
    kmm_launch_extent(l, SIDE);
    for (int d = 0; d < 2; d++) {
        bool split = d == (columns ? 1 : 0);
        kmm_launch_index(l, 0, split ? 1 : KMM_WHOLE);
        if (split)
            kmm_launch_coef(l, 0, 1, 0);
    }
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&look_kernel, &g, args), 0);
}

static int times(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* Narrow columns lie in all frames of a matrix, rows do not. It is said once. */
static void amplification_is_said(void **state)
{
    (void)state;
    char text[2000];
    FILE *to = tmpfile();
    kmm_runtime_t *rt = make(1, 16 << 20);
    int *x = array(rt, 1024 * 1024);
    kmm_fill(rt, x, 0, 1024 * 1024 * sizeof(int));
    fflush(stderr);
    int saved = dup(2);
    dup2(fileno(to), 2);
    look_at(x, false, 64);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(ftell(to), 0);
    look_at(x, true, 512);
    assert_int_equal(kmm_wait(rt), 0);
    fseek(to, 0, SEEK_END);
    long before = ftell(to);
    look_at(x, true, 8);
    look_at(x, true, 16);
    assert_int_equal(kmm_wait(rt), 0);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    assert_int_equal(before, 0);
    rewind(to);
    text[fread(text, 1, sizeof(text) - 1, to)] = 0;
    assert_int_equal(times(text, "[amplification]"), 1);
    assert_non_null(strstr(text, "look.cu:7: look: chunks 0 to 3 of 128: uses 131072 bytes, but "
                                 "they lie in 4194304 bytes of frames"));
    fclose(to);
    end(rt);
}

/* ---- Arrays of which all is in one place: nobody asks where ---- */

static const kmm__coherence_summary_t *settled(kmm_runtime_t *rt, const int *x)
{
    assert_int_equal(kmm_wait(rt), 0);
    pthread_mutex_lock(&rt->lock);
    const kmm__coherence_summary_t *s = &kmm__array_find(rt, x)->summary;
    pthread_mutex_unlock(&rt->lock);
    return s;
}

static void settled_data_is_asked_for_by_nobody(void **state)
{
    enum { PART = 1024, PARTS = 16, N = PART * PARTS };
    static int ten[PART];
    const uint64_t part = PART * sizeof(int), bytes = PARTS * part;
    const range_t all = {0, PARTS, PART, 1, 0}, some = {4, 2, PART, 1, 0},
                  other = {0, PARTS, PART, 1, 1};
    kmm_runtime_t *rt = make(2, 16 << 20);
    traffic_t t = {0};
    int *x = array(rt, N);
    (void)state;
    set(&some, x, 1);
    assert_null(settled(rt, x)->sole);
    set(&all, x, 3);
    add(&all, x, 4);
    assert_ptr_equal(settled(rt, x)->sole, rt->device[0]);
    expect(rt, &t, "on one device", 0, 0, 0);
    check_values(rt, x, N, 7);
    assert_null(settled(rt, x)->sole);
    expect(rt, &t, "the host reads all", 0, bytes, 0);
    add(&all, x, 3);
    assert_null(settled(rt, x)->sole); /* parts that are written once go back as they are done */
    add(&all, x, -2);
    assert_ptr_equal(settled(rt, x)->sole, rt->device[0]);
    look(&other, x);
    assert_null(settled(rt, x)->sole);
    expect(rt, &t, "another device reads all", 0, 0, bytes);
    look(&other, x);
    look(&other, x);
    assert_int_equal(settled(rt, x)->whole,
                     1u << rt->device[0]->space | 1u << rt->device[1]->space);
    add(&some, x, 1);
    assert_int_equal(settled(rt, x)->whole, 1u << rt->device[0]->space);
    look(&other, x);
    expect(rt, &t, "what was written since", 0, 0, 2 * part);
    add(&some, x, -1);
    for (int k = 0; k < PART; k++)
        ten[k] = 8;
    assert_int_equal(kmm_copy_in(rt, x + 4 * PART, ten, part), 0);
    add(&all, x, 2);
    expect(rt, &t, "what the host wrote", part, 0, 0);
    check_values(rt, x, N, 10);
    end(rt);
}

/* What is known of an array ends when some of it is evicted. */
static void settled_data_is_evicted(void **state)
{
    enum { PART = 1 << 16, PARTS = 16, ARRAYS = 4, ROUNDS = 5 };
    const range_t all = {0, PARTS, PART, 2, 0};
    kmm_runtime_t *rt = make(1, (uint64_t)PARTS * PART * sizeof(int) * 5 / 2);
    int *x[ARRAYS];
    bool was_sole = false;
    (void)state;
    for (int k = 0; k < ARRAYS; k++) {
        x[k] = array(rt, PARTS * PART);
        set(&all, x[k], k);
        set(&all, x[k], k);
        was_sole |= settled(rt, x[k])->sole != NULL;
    }
    for (int round = 0; round < ROUNDS; round++) {
        add(&all, x[0], 1);
        for (int k = 1; k < ARRAYS; k += round % 2 + 1)
            add(&all, x[k], 0);
    }
    assert_true(was_sole);
    for (int k = 0; k < ARRAYS; k++)
        check_values(rt, x[k], PARTS * PART, k ? k : ROUNDS);
    assert_true(traffic(rt).out > PARTS * PART * sizeof(int) * ARRAYS);
    end(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halos_move_strips),
        cmocka_unit_test(writing_fetches_nothing),
        cmocka_unit_test(reading_elsewhere_moves_that_region),
        cmocka_unit_test(nearest_source_is_used),
        cmocka_unit_test(what_all_read_is_passed_on),
        cmocka_unit_test(newest_parts_come_from_where_they_are),
        cmocka_unit_test(maps_move_what_they_say),
        cmocka_unit_test(results_come_back_meanwhile),
        cmocka_unit_test(clean_data_is_never_written_back),
        cmocka_unit_test(only_what_is_newest_is_written_back),
        cmocka_unit_test(freed_data_is_not_written_back),
        cmocka_unit_test(freed_data_is_dead_when_that_is_queued),
        cmocka_unit_test(overwritten_data_is_dead_when_that_is_queued),
        cmocka_unit_test(data_read_by_what_overwrites_it_is_not_dead),
        cmocka_unit_test(temporaries_in_a_row_move_nothing),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(sweeps_with_waits),
        cmocka_unit_test(amplification_is_said),
        cmocka_unit_test(settled_data_is_asked_for_by_nobody),
        cmocka_unit_test(settled_data_is_evicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
