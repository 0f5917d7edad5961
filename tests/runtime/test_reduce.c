/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions through launches: the right values, the same bits whatever the devices and their
 * memory. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "random.h"
#include "reduce_reference.h"
#include "with_runtime.h"

/* ---- A kernel: block b takes elements [b * per, b * per + per) of the data, and folds element i
 * into target[i % length], in order. ---- */

typedef struct spec {
    kmm_op_t op;
    kmm__element_t element;
    int64_t n, per, length;
} spec_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void accumulate(const spec_t *s, char *at, const char *value)
{
    char a[64], b[64];
    kmm__widen(&s->element, a, at, 1);
    kmm__widen(&s->element, b, value, 1);
    reference_fold(s->op, &s->element, a, b);
    kmm__narrow(&s->element, at, a, 1);
}

static void run_block(const spec_t *s, int64_t block, char *target, const char *data)
{
    size_t bytes = s->element.bytes;
    for (int64_t i = block * s->per; i < s->n && i < (block + 1) * s->per; i++)
        accumulate(s, target + (size_t)(i % s->length) * bytes, data + (size_t)i * bytes);
}

static void fold_run(const kmm_host_blocks_t *b, void **args)
{
    for (uint64_t k = b->first; k < b->last; k++) {
        pthread_mutex_lock(&lock); /* in place of atomics */
        run_block(*(spec_t **)args[0], (int64_t)k + b->offset[0], *(char **)args[1],
                  *(char **)args[2]);
        pthread_mutex_unlock(&lock);
    }
}

static const uint32_t three_words[] = {8, 8, 8};
static const kmm_kernel_t fold_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "fold", fold_run, NULL, 3, three_words, 0, NULL};

/* ---- Helpers ---- */

static const char *const configurations[] = {
    "host",         "host:1,mem=8M", "host:1,mem=256K", "host:2,mem=256K", "host:3,mem=384K",
    "host:4,mem=8M"};
enum { CONFIGURATIONS = sizeof(configurations) / sizeof(*configurations) };

static kmm_runtime_t *make(const char *devices, uint32_t threads)
{
    return runtime_open(&(kmm_config_t){.devices = devices, .threads = threads});
}

static void end(kmm_runtime_t *rt)
{
    int error = kmm_destroy(rt);
    kmm_use(NULL);
    if (error)
        fail_msg("%s", kmm_error_text(NULL));
}

static void *filled(kmm_runtime_t *rt, const void *from, size_t bytes)
{
    void *p = NULL;
    assert_int_equal(
        kmm_array_create(
            rt, &(kmm_shape_t){.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1}, &p),
        0);
    assert_int_equal(kmm_copy_in(rt, p, from, bytes), 0);
    return p;
}

static uint32_t blocks_of(const spec_t *s)
{
    return (uint32_t)((s->n + s->per - 1) / s->per);
}

static kmm_launch_t *describe_data(const spec_t *s, int64_t chunk, const void *data)
{
    kmm_launch_t *l = kmm_launch_begin("fold", "test.cu", 1);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, KMM_WHOLE);
    if (chunk)
        kmm_launch_chunk(l, KMM_BLOCK_X, chunk);
    kmm_launch_access(l, KMM_READ, "data[b*per:per]", data, s->element.bytes);
    kmm_launch_index(l, 0, s->per);
    kmm_launch_coef(l, 0, s->per, 0);
    return l;
}

static void describe_target(kmm_launch_t *l, const spec_t *s, const char *text, void *base,
                            int64_t lower, int64_t length)
{
    kmm_launch_reduce(l, s->op, s->element.type, text, base);
    if (s->element.is_pair)
        kmm_launch_pair(l, s->element.bytes, s->element.value_at, s->element.index,
                        s->element.index_at);
    kmm_launch_index(l, lower, length);
}

static int launch(kmm_launch_t *l, const spec_t *s, void *target, void *data)
{
    kmm_geometry_t geometry = {{blocks_of(s), 1, 1}, {1, 1, 1}, 0, NULL};
    void *args[] = {&s, &target, &data};
    kmm_launch_arm(l);
    return kmm_launch_kernel(&fold_kernel, &geometry, args);
}

/* Runs the launch on a configuration: target receives the result. */
static void run(const char *devices, uint32_t threads, const spec_t *s, int64_t chunk,
                bool condition, char *target, const char *data)
{
    kmm_runtime_t *rt = make(devices, threads);
    size_t bytes = (size_t)s->length * s->element.bytes;
    void *T = filled(rt, target, bytes), *D = filled(rt, data, (size_t)s->n * s->element.bytes);
    kmm_launch_t *l = describe_data(s, chunk, D);
    describe_target(l, s, "target[:]", T, 0, s->length);
    kmm_launch_if(l, condition);
    int error = launch(l, s, T, D);
    if (!error)
        error = kmm_copy_out(rt, target, T, bytes);
    if (error)
        fail_msg("%s: %s", devices, kmm_error_text(rt));
    end(rt);
}

/* ---- What it should be ---- */

static void identities(const spec_t *s, char *out)
{
    for (int64_t k = 0; k < s->length; k++)
        kmm__fold_identity(s->op, &s->element, out + k * s->element.bytes);
}

/* The sum of chunks [first, first + count) in wide form: of the largest power of two of them, and
 * of the rest. */
static void tree(const spec_t *s, int64_t chunk, int64_t first, int64_t count, const char *data,
                 char *wide)
{
    size_t wide_bytes = kmm__wide_bytes(&s->element);
    if (count == 1) {
        char *own = malloc((size_t)s->length * s->element.bytes);
        identities(s, own);
        for (int64_t b = first * chunk; b < (first + 1) * chunk; b++)
            run_block(s, b, own, data);
        kmm__widen(&s->element, wide, own, (size_t)s->length);
        free(own);
        return;
    }
    int64_t half = 1;
    while (2 * half < count)
        half *= 2;
    char *right = malloc((size_t)s->length * wide_bytes);
    tree(s, chunk, first, half, data, wide);
    tree(s, chunk, first + half, count - half, data, right);
    for (int64_t k = 0; k < s->length; k++)
        reference_fold(s->op, &s->element, wide + (size_t)k * wide_bytes,
                       right + (size_t)k * wide_bytes);
    free(right);
}

static void expect(const spec_t *s, int64_t chunk, char *target, const char *data)
{
    int64_t chunks = (blocks_of(s) + chunk - 1) / chunk;
    size_t wide_bytes = kmm__wide_bytes(&s->element);
    bool logical = s->op == KMM_OP_LAND || s->op == KMM_OP_LOR;
    if (chunks == 1 && !logical) {
        for (int64_t b = 0; b < blocks_of(s); b++)
            run_block(s, b, target, data);
        return;
    }
    char *wide = malloc((size_t)s->length * wide_bytes), a[64];
    tree(s, chunk, 0, chunks, data, wide);
    for (int64_t k = 0; k < s->length; k++) {
        kmm__widen(&s->element, a, target + k * s->element.bytes, 1);
        reference_fold_target(s->op, &s->element, a, wide + (size_t)k * wide_bytes);
        kmm__narrow(&s->element, target + k * s->element.bytes, a, 1);
    }
    free(wide);
}

/* ---- Data ---- */

static void random_number(rng_t *r, kmm_type_t t, char *out)
{
    double d[2] = {(double)rng_range(r, -1000, 1000) / 700,
                   (double)rng_range(r, -1000, 1000) / 700};
    float f[2] = {(float)d[0], (float)d[1]};
    uint16_t h = t == KMM_HALF ? kmm__float_to_half(f[0]) : kmm__float_to_bfloat16(f[0]);
    uint64_t v = (uint64_t)rng_range(r, -4, 4);
    const void *from = t == KMM_HALF || t == KMM_BFLOAT16         ? (const void *)&h
                       : t == KMM_FLOAT || t == KMM_COMPLEX_FLOAT ? (const void *)f
                       : kmm__type_is_floating(t)                 ? (const void *)d
                                                                  : &v;
    memcpy(out, from, kmm__type_bytes(t));
}

static char *random_data(rng_t *r, const kmm__element_t *e, int64_t n)
{
    char *data = calloc((size_t)n, e->bytes);
    for (int64_t k = 0; k < n; k++) {
        random_number(r, e->type, data + k * e->bytes + e->value_at);
        if (e->is_pair)
            memcpy(data + k * e->bytes + e->index_at, &k, kmm__type_bytes(e->index));
    }
    return data;
}

/* Whether the order of the blocks shows in the result: floats round. Chunks of floats are not
 * joined, so that chunks of one block fix the order. */
static bool is_ordered(const spec_t *s)
{
    return kmm__type_is_floating(s->element.type);
}

/* || gives one of the true values that are stored, or the target's own. */
static bool is_by_truth(const spec_t *s)
{
    return s->op == KMM_OP_LOR;
}

static bool is_true(const spec_t *s, const char *at)
{
    bool is_set = false;
    for (uint32_t k = 0; k < s->element.bytes; k++)
        is_set |= at[k] != 0;
    return is_set;
}

static bool is_same(const spec_t *s, const char *got, const char *want)
{
    if (!is_by_truth(s))
        return !memcmp(got, want, (size_t)s->length * s->element.bytes);
    for (int64_t k = 0; k < s->length; k++)
        if (is_true(s, got + k * s->element.bytes) != is_true(s, want + k * s->element.bytes))
            return false;
    return true;
}

/* Result and data of a spec on all configurations, from one start. */
static void check(rng_t *r, const spec_t *s, int64_t chunk)
{
    size_t bytes = (size_t)s->length * s->element.bytes;
    char *data = random_data(r, &s->element, s->n), *start = random_data(r, &s->element, s->length);
    char *want = malloc(bytes), *got = malloc(bytes);
    memcpy(want, start, bytes);
    expect(s, chunk, want, data);
    for (int c = 0; c < CONFIGURATIONS; c++) {
        memcpy(got, start, bytes);
        run(configurations[c], (uint32_t)(c % 3 + 1), s, chunk, true, got, data);
        if (!is_same(s, got, want))
            fail_msg("%s: op %d type %d%s, %lld elements in chunks of %lld * %lld: wrong",
                     configurations[c], s->op, s->element.type, s->element.is_pair ? " pair" : "",
                     (long long)s->n, (long long)chunk, (long long)s->per);
    }
    free(data);
    free(start);
    free(want);
    free(got);
}

/* ---- Tests ---- */

static const kmm__element_t pair = {KMM_FLOAT, 8, true, KMM_INT32, 0, 4},
                            wide_pair = {KMM_INT16, 24, true, KMM_INT64, 16, 0};

/* PART: one in so many operators and types, by chance. SHARING: elements, whose chunks of 3 are
 * more than the 4096 private copies. ThreadSanitizer is slow at kernels, which are alike for all.
 */
#if defined(__SANITIZE_THREAD__)
enum { PART = 4, SHARING = 15000 };
#else
enum { PART = 1, SHARING = 30000 };
#endif

static void reduces_every_operator_and_type(void **state)
{
    (void)state;
    rng_t r = {rng_seed()};
    for (int op = 0; op < OPS; op++) {
        for (int t = 0; t < TYPES + 2; t++) {
            spec_t s = {.op = (kmm_op_t)op,
                        .element = {.type = (kmm_type_t)t,
                                    .bytes = (uint32_t)kmm__type_bytes((kmm_type_t)t)}};
            if (t >= TYPES)
                s.element = t == TYPES ? pair : wide_pair;
            if (!kmm__fold_allows(s.op, &s.element) || rng_range(&r, 1, PART) != 1)
                continue;
            s.length = rng_range(&r, 1, 300);
            s.n = rng_range(&r, 1, 12000);
            s.per = rng_range(&r, s.n / 1000 + 1,
                              400); /* so few chunks share no copy: see shares_copies */
            check(&r, &s, is_ordered(&s) ? 1 : rng_range(&r, 1, 10));
        }
    }
}

static void keeps_its_bits(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 2, 3, 5, 8, 13, 31, 64, 100};
    rng_t r = {rng_seed()};
    for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
        spec_t s = {.op = KMM_OP_ADD,
                    .element = {.type = k % 2 ? KMM_FLOAT : KMM_HALF, .bytes = k % 2 ? 4 : 2}};
        s.length = 17;
        s.per = 50;
        s.n = counts[k] * s.per - 3;
        check(&r, &s, 1);
    }
}

/* More chunks than private copies: some share one. The order is fixed all the same. */
static void shares_copies(void **state)
{
    (void)state;
    rng_t r = {rng_seed()};
    for (int real = 0; real < 2; real++) {
        spec_t s = {.op = KMM_OP_ADD, .n = SHARING, .per = 3, .length = 5};
        s.element = (kmm__element_t){.type = real ? KMM_FLOAT : KMM_INT32, .bytes = 4};
        char *data = random_data(&r, &s.element, s.n), first[20], got[20], plain[20] = {0};
        for (int64_t b = 0; b < blocks_of(&s); b++)
            run_block(&s, b, plain, data);
        for (int c = 0; c < CONFIGURATIONS; c++) {
            memset(got, 0, sizeof(got));
            run(configurations[c], (uint32_t)(4 - c % 4), &s, 1, true, got, data);
            if (c == 0)
                memcpy(first, got, sizeof(got));
            assert_memory_equal(got, first, sizeof(got));
        }
        if (!real)
            assert_memory_equal(first, plain, sizeof(plain));
        free(data);
    }
}

/* ---- A target that is larger than what it is reduced from ---- */

#if defined(__SANITIZE_THREAD__)
enum { LARGE = 200000 };
#else
enum { LARGE = 600000 };
#endif

static void spread_run(const kmm_host_blocks_t *b, void **args)
{
    for (uint64_t k = b->first; k < b->last; k++)
        for (int64_t i = 0; i < LARGE; i++) {
            int64_t block = (int64_t)k + b->offset[0];
            (*(float **)args[0])[i] += (float)(block + 1) / (float)(i % 97 + 1);
        }
}

static const kmm_kernel_t spread_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "spread", spread_run, NULL, 1, three_words, 0, NULL};

static void folds_large_targets_in_pieces(void **state)
{
    (void)state;
    static const char *const devices[] = {"host", "host:1,mem=12M", "host:3,mem=16M"};
    float *first = malloc(LARGE * sizeof(float)), *got = malloc(LARGE * sizeof(float));
    for (int c = 0; c < 3; c++) {
        kmm_runtime_t *rt = make(devices[c], 2);
        memset(got, 0, LARGE * sizeof(float));
        float *T = filled(rt, got, LARGE * sizeof(float));
        kmm_geometry_t geometry = {{33, 1, 1}, {1, 1, 1}, 0, NULL};
        void *args[] = {&T};
        kmm_launch_t *l = kmm_launch_begin("spread", "test.cu", 2);
        kmm_launch_chunk(l, KMM_BLOCK_X, 1);
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_FLOAT, "T", T);
        kmm_launch_arm(l);
        assert_int_equal(kmm_launch_kernel(&spread_kernel, &geometry, args), 0);
        if (kmm_copy_out(rt, got, T, LARGE * sizeof(float)))
            fail_msg("%s: %s", devices[c], kmm_error_text(rt));
        end(rt);
        for (int k = 0; k < LARGE; k++)
            assert_true(fabsf(got[k] - 561.0f / (float)(k % 97 + 1)) < 0.001f);
        if (c == 0)
            memcpy(first, got, LARGE * sizeof(float));
        assert_memory_equal(first, got, LARGE * sizeof(float));
    }
    free(first);
    free(got);
}

/* ---- && and || ---- */

/* Block b clears or sets element b of the target, unless b is divisible by 3, and then touches
 * nothing. */
static void mark_run(const kmm_host_blocks_t *b, void **args)
{
    for (uint64_t k = b->first; k < b->last; k++) {
        int64_t block = (int64_t)k + b->offset[0];
        if (block % 3)
            (*(int **)args[0])[block] = *(int *)args[1];
    }
}

static const uint32_t mark_words[] = {8, 4};
static const kmm_kernel_t mark_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "mark", mark_run, NULL, 2, mark_words, 0, NULL};

static void truth_is_the_same_in_one_chunk_and_in_many(void **state)
{
    (void)state;
    enum { N = 60 };
    static const int64_t chunks[] = {1, 7, 59, 60, 100};
    for (int is_or = 0; is_or < 2; is_or++) {
        for (size_t c = 0; c < sizeof(chunks) / sizeof(*chunks); c++) {
            kmm_runtime_t *rt = make("host:2,mem=1M", 2);
            int start[N], got[N], stored = is_or ? 7 : 0;
            for (int k = 0; k < N; k++)
                start[k] = k % 4 ? 5 + k : 0;
            int *T = filled(rt, start, sizeof(start));
            kmm_geometry_t geometry = {{N, 1, 1}, {1, 1, 1}, 0, NULL};
            void *args[] = {&T, &stored};
            kmm_launch_t *l = kmm_launch_begin("mark", "test.cu", 3);
            kmm_launch_chunk(l, KMM_BLOCK_X, chunks[c]);
            kmm_launch_reduce(l, is_or ? KMM_OP_LOR : KMM_OP_LAND, KMM_INT32, "T", T);
            kmm_launch_arm(l);
            assert_int_equal(kmm_launch_kernel(&mark_kernel, &geometry, args), 0);
            assert_int_equal(kmm_copy_out(rt, got, T, sizeof(got)), 0);
            for (int k = 0; k < N; k++)
                assert_int_equal(got[k], k % 3 ? stored : start[k]);
            end(rt);
        }
    }
}

/* ---- Elements that nothing is added to ---- */

static void untouched_elements_keep_their_bits(void **state)
{
    (void)state;
    static const kmm_op_t ops[] = {KMM_OP_ADD, KMM_OP_MUL, KMM_OP_MIN, KMM_OP_MAX};
    kmm_runtime_t *rt = make("host:2,mem=1M", 2);
    for (int k = 0; k < 4; k++) {
        for (int t = KMM_FLOAT; t < TYPES; t++) {
            spec_t s = {.op = ops[k],
                        .n = 40,
                        .per = 1,
                        .length = 1,
                        .element = {.type = (kmm_type_t)t,
                                    .bytes = (uint32_t)kmm__type_bytes((kmm_type_t)t)}};
            if (!kmm__fold_allows(s.op, &s.element))
                continue;
            char *data = calloc(40, s.element.bytes), start[16 * 8] = {0}, got[16 * 8];
            size_t bytes = 8 * s.element.bytes;
            float odd[4] = {-0.0f, INFINITY, -INFINITY, -1};
            for (size_t i = 0; i < 8; i++)
                if (s.element.type == KMM_HALF || s.element.type == KMM_BFLOAT16)
                    memcpy(start + i * 2, (uint16_t[]){(uint16_t)(i % 2 ? 0x8000 : 0xfc00)}, 2);
                else
                    for (size_t b = 0; b < s.element.bytes;
                         b += t == KMM_DOUBLE || t == KMM_COMPLEX_DOUBLE ? 8 : 4)
                        memcpy(start + i * s.element.bytes + b,
                               t == KMM_DOUBLE || t == KMM_COMPLEX_DOUBLE
                                   ? (void *)&(double){odd[(i + b) % 4]}
                                   : (void *)&odd[(i + b) % 4],
                               t == KMM_DOUBLE || t == KMM_COMPLEX_DOUBLE ? 8 : 4);
            void *T = filled(rt, start, bytes), *D = filled(rt, data, 40 * s.element.bytes);
            kmm_launch_t *l = describe_data(&s, 9, D);
            describe_target(l, &s, "T[0:8]", T, 0, 8); /* the kernel touches T[0] only */
            assert_int_equal(launch(l, &s, T, D), 0);
            assert_int_equal(kmm_copy_out(rt, got, T, bytes), 0);
            assert_memory_equal(got + s.element.bytes, start + s.element.bytes,
                                bytes - s.element.bytes);
            free(data);
        }
    }
    end(rt);
}

/* ---- Chunks that are not given ---- */

static void leaves_depend_on_the_launch_alone(void **state)
{
    (void)state;
    rng_t r = {rng_seed()};
    spec_t s = {.op = KMM_OP_ADD,
                .n = 20000,
                .per = 10,
                .length = 3,
                .element = {.type = KMM_FLOAT, .bytes = 4}};
    char *data = random_data(&r, &s.element, s.n);
    float first[3], got[3];
    /* In one block at a time the kernel's own order is fixed: 16 chunks of 1 block, or a chunk for
     * each. */
    s.per = s.n / 16;
    for (int given = 0; given < 2; given++)
        for (int c = 0; c < CONFIGURATIONS; c++)
            for (int condition = 0; condition < 2; condition++) {
                memset(got, 0, sizeof(got));
                run(configurations[c], 2, &s, given, condition, (char *)got, data);
                if (c == 0 && condition == 0 && given == 0)
                    memcpy(first, got, sizeof(got));
                assert_memory_equal(first, got, sizeof(got));
            }
    free(data);
}

/* ---- Several items ---- */

/* Block b adds data[b] to sums[0], and makes sums[1] the largest. */
static void two_run(const kmm_host_blocks_t *b, void **args)
{
    int *sums = *(int **)args[0], *data = *(int **)args[1], *most = *(int **)args[2];
    for (uint64_t k = b->first; k < b->last; k++) {
        int v = data[k + b->offset[0]];
        pthread_mutex_lock(&lock);
        sums[0] += v;
        *most = v > *most ? v : *most;
        pthread_mutex_unlock(&lock);
    }
}

static const kmm_kernel_t two_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "two", two_run, NULL, 3, three_words, 0, NULL};

static int two(int *sums, int *data, int *most,
               void (*describe)(kmm_launch_t *l, int *sums, int *most))
{
    kmm_geometry_t geometry = {{100, 1, 1}, {1, 1, 1}, 0, NULL};
    void *args[] = {&sums, &data, &most};
    kmm_launch_t *l = kmm_launch_begin("two", "test.cu", 4);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, KMM_WHOLE);
    kmm_launch_chunk(l, KMM_BLOCK_X, 7);
    kmm_launch_access(l, KMM_READ, "data[b]", data, sizeof(int));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    describe(l, sums, most);
    kmm_launch_arm(l);
    return kmm_launch_kernel(&two_kernel, &geometry, args);
}

static void item(kmm_launch_t *l, kmm_op_t op, const char *text, int *base, int64_t at)
{
    kmm_launch_reduce(l, op, KMM_INT32, text, base);
    kmm_launch_index(l, at, 1);
}

static void through_one_pointer(kmm_launch_t *l, int *sums, int *most)
{
    (void)most;
    item(l, KMM_OP_ADD, "sums[0]", sums, 0);
    item(l, KMM_OP_MAX, "sums[1]", sums, 1);
}

static void through_two_pointers(kmm_launch_t *l, int *sums, int *most)
{
    item(l, KMM_OP_ADD, "sums[0]", sums, 0);
    item(l, KMM_OP_MAX, "most[0]", most, 0);
}

static void twice(kmm_launch_t *l, int *sums, int *most)
{
    (void)most;
    item(l, KMM_OP_ADD, "sums[0]", sums, 0);
    item(l, KMM_OP_MAX, "(sums - 1)[1]", sums - 1, 1);
}

static void otherwise_too(kmm_launch_t *l, int *sums, int *most)
{
    through_one_pointer(l, sums, most);
    kmm_launch_access(l, KMM_READ, "sums[9]", sums, sizeof(int));
    kmm_launch_index(l, 9, 1);
}

static void unclear(kmm_launch_t *l, int *sums, int *most)
{
    (void)most;
    item(l, KMM_OP_ADD, "(sums - 1)[1]", sums - 1, 1);
}

static void several_items_share_an_array(void **state)
{
    (void)state;
    int all[300] = {0}, got[300], sum = 5, most = -3;
    for (int k = 0; k < 100; k++) {
        all[100 + k] = (k * 37) % 101;
        sum += all[100 + k];
        most = all[100 + k] > most ? all[100 + k] : most;
    }
    kmm_runtime_t *rt = make("host:2,mem=1M", 2);
    for (int one = 0; one < 2; one++) {
        all[10] = 5, all[11] = -3, all[12] = 77;
        int *A = filled(rt, all, sizeof(all)); /* data and results in one array */
        assert_int_equal(two(A + 10, A + 100, A + 11, through_two_pointers), 0);
        assert_int_equal(kmm_copy_out(rt, got, A, sizeof(got)), 0);
        assert_int_equal(got[10], sum);
        assert_int_equal(got[11], most);
        assert_int_equal(got[12], 77);
        int *D = filled(rt, all + 100, 400), *S = filled(rt, all + 10, 8);
        assert_int_equal(two(S, D, S + 1, through_one_pointer), 0);
        assert_int_equal(kmm_copy_out(rt, got, S, 8), 0);
        assert_int_equal(got[0], sum);
        assert_int_equal(got[1], most);
    }
    int *A = filled(rt, all, sizeof(all));
    assert_int_equal(two(A + 10, A + 100, A + 11, twice), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(rt), "reduced twice"));
    assert_int_equal(two(A + 10, A + 100, A + 11, otherwise_too), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(rt), "also in another access clause"));
    assert_int_equal(two(A + 10, A + 100, A + 11, unclear), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(rt), "may or may not be what is reduced"));
    end(rt);
}

static void refuses_mistakes(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host", 2);
    rng_t r = {1};
    spec_t s = {.op = KMM_OP_ARGMIN, .element = pair, .n = 10, .per = 1, .length = 1};
    char *data = random_data(&r, &pair, 10);
    void *T = filled(rt, data, 8), *D = filled(rt, data, 80);
    kmm_launch_t *l = describe_data(&s, 1, D);
    kmm_launch_reduce(l, KMM_OP_ARGMIN, KMM_FLOAT, "T[0]", T);
    assert_int_equal(launch(l, &s, T, D), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(rt),
                           "test.cu:1: fold: argument T[0]: argmin and argmax work on structs"));
    l = describe_data(&s, 1, D);
    kmm_launch_reduce(l, KMM_OP_ARGMIN, KMM_FLOAT, "T[0]", T);
    kmm_launch_pair(l, 8, 0, KMM_INT16, 4);
    assert_int_equal(launch(l, &s, T, D), KMM_E_INVALID);
    l = describe_data(&s, 1, D);
    kmm_launch_reduce(l, KMM_OP_BAND, KMM_FLOAT, "T[0]", T);
    assert_int_equal(launch(l, &s, T, D), KMM_E_INVALID);
    l = describe_data(&s, 1, D);
    kmm_launch_reduce(l, KMM_OP_MIN, KMM_COMPLEX_FLOAT, "T[0]", T);
    assert_int_equal(launch(l, &s, T, D), KMM_E_INVALID);
    l = describe_data(&s, 1, D);
    kmm_launch_access(l, KMM_UPDATE, "T[0]", T, 8);
    kmm_launch_pair(l, 8, 0, KMM_INT32, 4); /* of no reduction */
    assert_int_equal(launch(l, &s, T, D), KMM_E_INVALID);
    end(rt);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduces_every_operator_and_type),
        cmocka_unit_test(keeps_its_bits),
        cmocka_unit_test(shares_copies),
        cmocka_unit_test(folds_large_targets_in_pieces),
        cmocka_unit_test(truth_is_the_same_in_one_chunk_and_in_many),
        cmocka_unit_test(untouched_elements_keep_their_bits),
        cmocka_unit_test(leaves_depend_on_the_launch_alone),
        cmocka_unit_test(several_items_share_an_array),
        cmocka_unit_test(refuses_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
