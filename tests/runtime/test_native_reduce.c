/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions in native standing on the fake CUDA driver: random launches have the same bits as in
 * managed standing, and native standing does not end. Each standing is a process of its own. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "counts.h"
#include "launch/device_code.h"
#include "launch/native_chunks.h"
#include "launch/natively.h"
#include "launch/state.h"
#include "random.h"

enum { KIND = KMM_KIND_CUDA, STREAMS = 5, RESULT = 1 << 20, WIDEST = 64 };

/* What both processes compute. */
static char *result;
static size_t result_bytes;

/* ---- The driver ---- */

typedef void *handle_t;
static int (*context_retain)(handle_t *, int), (*context_push)(handle_t),
    (*context_pop)(handle_t *);
static int (*stream_create)(handle_t *, unsigned), (*stream_synchronize)(handle_t);
static int (*capture_begin)(handle_t, int), (*capture_end)(handle_t, handle_t *);
static int (*graph_launch)(handle_t, handle_t), (*graph_destroy)(handle_t);
static handle_t streams[STREAMS]; /* the first one is the default stream */

static void driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    handle_t context;
    assert_non_null(library);
    if (kmm_cuda_native_enter(KIND)) /* starts the driver */
        kmm_cuda_native_leave();
    *(void **)&context_retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&context_push = dlsym(library, "cuCtxPushCurrent_v2");
    *(void **)&context_pop = dlsym(library, "cuCtxPopCurrent_v2");
    *(void **)&stream_create = dlsym(library, "cuStreamCreate");
    *(void **)&stream_synchronize = dlsym(library, "cuStreamSynchronize");
    *(void **)&capture_begin = dlsym(library, "cuStreamBeginCapture_v2");
    *(void **)&capture_end = dlsym(library, "cuStreamEndCapture");
    *(void **)&graph_launch = dlsym(library, "cuGraphLaunch");
    *(void **)&graph_destroy = dlsym(library, "cuGraphDestroy");
    assert_int_equal(context_retain(&context, 0), 0);
    assert_int_equal(context_push(context), 0);
    for (int k = 1; k < STREAMS; k++)
        assert_int_equal(stream_create(&streams[k], 1), 0);
}

/* ---- Arrays ---- */

static char *make(size_t bytes)
{
    void *p = NULL;
    if (kmm_cuda_native_enter(KIND)) {
        int fits = kmm_cuda_native_malloc(&p, bytes);
        kmm_cuda_native_leave();
        if (fits)
            return p;
    }
    return kmm_cuda_malloc(&p, bytes) ? NULL : p;
}

static void drop(char *p)
{
    if (kmm_cuda_native_enter(KIND)) {
        assert_true(kmm_cuda_native_free(p));
        kmm_cuda_native_leave();
        return;
    }
    assert_int_equal(kmm_cuda_free(p), 0);
}

static void write_array(char *to, const char *from, size_t bytes)
{
    if (kmm_cuda_native_enter(KIND)) {
        memcpy(to, from, bytes);
        kmm_cuda_native_leave();
        return;
    }
    assert_int_equal(kmm_copy_in(kmm_default(), to, from, bytes), 0);
}

static void read_array(char *to, const char *from, size_t bytes)
{
    if (kmm_cuda_native_enter(KIND)) {
        for (int k = 1; k < STREAMS; k++)
            stream_synchronize(streams[k]);
        memcpy(to, from, bytes);
        kmm_cuda_native_leave();
        return;
    }
    assert_int_equal(kmm_copy_out(kmm_default(), to, from, bytes), 0);
}

/* ---- A kernel: block b takes elements [b * per, b * per + per) of the data, and folds element i
 * into target[i % length], in order; by `second` from element `split` on. These lie in an array of
 * their own if is_apart is set. Blocks are numbered x fastest. The kernel moves its pointers to its
 * block's chunk if `moves` is set. ---- */

typedef struct spec {
    kmm_op_t op, second;
    kmm__element_t element;
    int64_t blocks, per, length, split, chunk;
    uint32_t high, high_chunk; /* blocks in the grid's y direction */
    bool is_apart, moves;
} spec_t;

static void run_block(const spec_t *s, int64_t block, char *target, char *rest, const char *data)
{
    const size_t bytes = s->element.bytes;
    for (int64_t i = block * s->per; i < (block + 1) * s->per; i++) {
        const int64_t at = i % s->length;
        char *to = s->is_apart && at >= s->split ? rest + (size_t)(at - s->split) * bytes
                                                 : target + (size_t)at * bytes;
        _Alignas(16) char a[WIDEST], b[WIDEST];
        kmm__widen(&s->element, a, to, 1);
        kmm__widen(&s->element, b, data + (size_t)i * bytes, 1);
        kmm__fold(at < s->split ? s->op : s->second, &s->element, a, b, 1);
        kmm__narrow(&s->element, to, a, 1);
    }
}

static int64_t block_of(const uint32_t block[3], const kmm_blocks_t *blocks)
{
    return (int64_t)(block[1] + blocks->offset_y) * blocks->grid_x + block[0] + blocks->offset_x;
}

static int run(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    run_block(args[1], block_of(block, args[0]), *(char **)args[2], *(char **)args[3],
              *(char **)args[4]);
    return 0;
}

/* As kmm_chunk_of of kmm/clone.h. */
static uint32_t chunk_along(const kmm_partials_head_t *h, const uint32_t block[3], int k)
{
    return (uint32_t)(2 * (uint64_t)(block[k] + h->offset[k]) * h->inverse[k] >> 32) >> h->shift[k];
}

typedef struct partials {
    kmm_partials_head_t head;
    uint64_t stride[2];
} partials_t;

static int run_moving(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    const partials_t *p = args[0];
    const uint64_t chunk = (uint64_t)chunk_along(&p->head, block, 1) * p->head.chunks_x +
                           chunk_along(&p->head, block, 0);
    char *target = *(char **)args[2] + chunk * p->stride[0],
         *rest = *(char **)args[3] + chunk * p->stride[1];
    (void)grid;
    run_block(args[1], block_of(block, args[0]), target, rest, *(char **)args[4]);
    return 0;
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), sizeof(spec_t), 8, 8, 8},
                      moving_sizes[] = {sizeof(partials_t), sizeof(spec_t), 8, 8, 8};
static fake_kernel_t fake = {run, 5, sizes, 0, NULL},
                     fake_moving = {run_moving, 5, moving_sizes, 0, NULL};
static const kmm_kernel_t kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "reduce", NULL, &fake, 5, sizes, 1, NULL};
static const kmm_kernel_t moving = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA,       "reduce", NULL, &fake_moving, 5,
    moving_sizes,       1 | 1 << 2 | 1 << 3, NULL};

static void describe_target(kmm_launch_t *l, kmm_op_t op, const spec_t *s, char *target,
                            int64_t lower, int64_t length)
{
    const kmm__element_t *e = &s->element;
    kmm_launch_reduce(l, op, e->type, lower ? "target[split:]" : "target[0:split]", target);
    if (e->is_pair)
        kmm_launch_pair(l, e->bytes, e->value_at, e->index, e->index_at);
    kmm_launch_index(l, lower, length);
}

/* Launches the kernel or its original on a stream. Returns a result of kmm_launch_kernel; a native
 * launch has been made. */
static int launch_kernel(const kmm_kernel_t *k, handle_t stream, const spec_t *s, char *target,
                         char *rest, char *data)
{
    const uint32_t high = s->high ? s->high : 1;
    const int64_t wide = s->blocks / high;
    kmm_geometry_t g = {{(uint32_t)wide, high, 1}, {1, 1, 1}, 0, stream};
    spec_t own;
    memset(&own, 0, sizeof(own));
    own = *s;
    void *args[] = {NULL, &own, &target, &rest, &data};
    kmm_launch_t *l = kmm_launch_begin("reduce", "native_reduce.c", 1);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, wide);
    kmm_launch_axis(l, "c", KMM_BLOCK_Y, 0, high);
    kmm_launch_chunk(l, KMM_BLOCK_X, s->chunk);
    if (s->high)
        kmm_launch_chunk(l, KMM_BLOCK_Y, s->high_chunk);
    kmm_launch_access(l, KMM_READ, "data[(c*wide+b)*per:per]", data, s->element.bytes);
    kmm_launch_index(l, 0, s->per);
    kmm_launch_coef(l, 0, s->per, 0);
    kmm_launch_coef(l, 1, s->per * wide, 0);
    describe_target(l, s->op, s, target, 0, s->split);
    if (s->split < s->length)
        describe_target(l, s->second, s, s->is_apart ? rest : target, s->is_apart ? 0 : s->split,
                        s->length - s->split);
    kmm_launch_arm(l);
    int how = kmm_launch_kernel(k, &g, k->is_clone ? args : args + 1);
    if (how == KMM__LAUNCH_NATIVELY) {
        stream_synchronize(stream);
        for (int64_t b = 0; b < s->blocks; b++)
            run_block(s, b, target, rest, data);
    }
    int error = how == KMM__LAUNCH_IN_CHUNKS ? kmm__native_chunks_enqueue(0) : 0;
    if (how > 0)
        kmm_cuda_native_leave();
    return error ? error : how;
}

static int launch_on(handle_t stream, const spec_t *s, char *target, char *rest, char *data)
{
    return launch_kernel(s->moves ? &moving : &kernel, stream, s, target, rest, data);
}

static bool is_exact(const spec_t *s)
{
    return s->element.type <= KMM_UINT64 && !s->element.is_pair && s->op < KMM_OP_LAND &&
           (s->split == s->length || s->second < KMM_OP_LAND);
}

/* Without kernels of libkmm's own, reductions take over. */
static bool has_kernels(void)
{
    return kmm__device_code_ptx[0] != NULL;
}

/* ---- Random launches ---- */

static const kmm__element_t pairs[] = {
    {KMM_FLOAT, 8, true, KMM_INT32, 0, 4},  {KMM_DOUBLE, 16, true, KMM_INT64, 0, 8},
    {KMM_INT32, 8, true, KMM_UINT32, 4, 0}, {KMM_HALF, 8, true, KMM_INT32, 0, 4},
    {KMM_INT64, 12, true, KMM_INT32, 0, 8}, {KMM_UINT16, 8, true, KMM_INT32, 2, 4},
};
enum { TYPES = KMM_COMPLEX_DOUBLE + 1, PAIRS = sizeof(pairs) / sizeof(*pairs) };

/* Random bits, so that NaNs, infinities and denormals are among them, or small numbers. */
static void fill_at_random(rng_t *r, const kmm__element_t *e, char *out, int64_t n)
{
    const uint64_t wild = rng_next(r) % 3;
    for (int64_t k = 0; k < n; k++) {
        char *at = out + k * e->bytes;
        const float small = (float)(int64_t)(rng_next(r) % 2000 - 1000) / 64;
        const double twice[2] = {(double)small, 1};
        for (uint32_t i = 0; i < e->bytes; i++)
            at[i] = (char)rng_next(r);
        if (wild == 0 || (wild == 1 && rng_next(r) % 8 == 0))
            continue;
        if (e->type == KMM_FLOAT || e->type == KMM_COMPLEX_FLOAT)
            memcpy(at + e->value_at, &small, sizeof(small));
        else if (e->type == KMM_DOUBLE || e->type == KMM_COMPLEX_DOUBLE)
            memcpy(at + e->value_at, twice, kmm__type_bytes(KMM_DOUBLE));
        else if (e->type == KMM_HALF)
            memcpy(at + e->value_at, &(uint16_t){kmm__float_to_half(small)}, 2);
        else if (e->type == KMM_BFLOAT16)
            memcpy(at + e->value_at, &(uint16_t){kmm__float_to_bfloat16(small)}, 2);
        else if (rng_next(r) % 2)
            memset(at, 0, e->bytes);
    }
}

static spec_t random_spec(rng_t *r)
{
    spec_t s;
    memset(&s, 0, sizeof(s));
    do {
        const uint64_t t = rng_next(r) % (TYPES + 4);
        s.element = t < TYPES ? (kmm__element_t){.type = (kmm_type_t)t,
                                                 .bytes = (uint32_t)kmm__type_bytes((kmm_type_t)t)}
                              : pairs[rng_next(r) % PAIRS];
        s.op = (kmm_op_t)(rng_next(r) % (KMM_OP_ARGMAX + 1));
        s.second = rng_next(r) % 2 ? s.op : (kmm_op_t)(rng_next(r) % (KMM_OP_ARGMAX + 1));
    } while (!kmm__fold_allows(s.op, &s.element) || !kmm__fold_allows(s.second, &s.element));
    s.blocks = rng_range(r, 1, rng_next(r) % 8 ? 40 : 600);
    s.per = rng_range(r, 1, 20);
    s.chunk = rng_next(r) % 3 ? rng_range(r, 1, s.blocks) : 1;
    s.length = rng_next(r) % 3 ? rng_range(r, 1, 5) : rng_range(r, 1, 900);
    s.split = s.length > 1 && rng_next(r) % 3 == 0 ? rng_range(r, 1, s.length - 1) : s.length;
    s.is_apart = s.split < s.length && rng_next(r) % 2;
    s.moves = rng_next(r) % 2;
    if (rng_next(r) % 4 == 0) {
        s.high = (uint32_t)rng_range(r, 1, 6);
        s.high_chunk = (uint32_t)rng_range(r, 1, s.high);
        s.blocks *= s.high;
        s.chunk = s.chunk > s.blocks / s.high ? s.blocks / s.high : s.chunk;
    }
    if (rng_next(r) % 20 == 0) { /* more chunks than there are partials */
        s.high = 0;
        s.blocks = rng_range(r, 4097, 4500);
        s.per = s.chunk = 1;
        s.length = s.split = rng_range(r, 1, 5);
        s.is_apart = false;
    }
    return s;
}

static void note_result(const char *target, size_t bytes)
{
    assert_true(result_bytes + bytes <= RESULT);
    read_array(result + result_bytes, target, bytes);
    result_bytes += bytes;
}

static uint64_t seed;

/* Launches several reductions, each some times, on streams that take turns. */
static void part_random(bool native)
{
    rng_t r = {seed};
    driver_open();
    for (int k = 0; k < 12; k++) {
        const spec_t s = random_spec(&r);
        const size_t bytes = s.element.bytes;
        const int64_t n = s.blocks * s.per, before = rng_range(&r, 0, 9);
        char *from = malloc((size_t)(n + s.length + before) * bytes),
             *data = make((size_t)n * bytes), *target = make((size_t)(s.length + before) * bytes),
             *rest = s.is_apart ? make((size_t)(s.length - s.split) * bytes) : NULL;
        fill_at_random(&r, &s.element, from, n);
        write_array(data, from, (size_t)n * bytes);
        fill_at_random(&r, &s.element, from, s.length + before);
        write_array(target, from, (size_t)(s.length + before) * bytes);
        if (s.is_apart)
            write_array(rest, from, (size_t)(s.length - s.split) * bytes);
        free(from);
        for (int64_t turns = rng_range(&r, 1, 4); turns > 0; turns--) {
            handle_t stream = streams[rng_next(&r) % STREAMS];
            int how =
                launch_on(native ? stream : NULL, &s, target + (size_t)before * bytes, rest, data);
            if (how < 0)
                fail_msg("%s", kmm_error_text(NULL));
            const uint32_t high = s.high ? s.high : 1;
            const bool is_divided =
                !is_exact(&s) && (s.chunk < s.blocks / high || (s.high && s.high_chunk < s.high));
            if (has_kernels())
                assert_int_equal(how, !native      ? 0
                                      : is_divided ? KMM__LAUNCH_IN_CHUNKS
                                                   : KMM__LAUNCH_NATIVELY);
            if (native) /* as the wrappers order launches on several streams */
                stream_synchronize(stream);
        }
        note_result(target, (size_t)(s.length + before) * bytes);
        if (s.is_apart)
            note_result(rest, (size_t)(s.length - s.split) * bytes);
    }
    if (has_kernels())
        assert_int_equal(kmm_cuda_native(KIND), native);
}

/* ---- Special cases ---- */

static const spec_t dot = {.op = KMM_OP_ADD,
                           .second = KMM_OP_ADD,
                           .element = {.type = KMM_FLOAT, .bytes = 4},
                           .blocks = 64,
                           .per = 8,
                           .length = 1,
                           .split = 1,
                           .chunk = 16};
enum { DOT = 64 * 8 };

static void make_dot(char **data, char **target)
{
    float x[DOT], sum = 0.25f;
    for (int k = 0; k < DOT; k++)
        x[k] = 1.0f / (float)(k + 3);
    *data = make(sizeof(x));
    *target = make(sizeof(sum));
    write_array(*data, (char *)x, sizeof(x));
    write_array(*target, (char *)&sum, sizeof(sum));
}

/* A launch that comes again allocates nothing, and has one kernel more than it has chunks; or one
 * kernel for all chunks, if the clone moves its pointers. In managed standing it is folded on the
 * device, too. */
static void steady(bool native, bool moves)
{
    const int chunk_launches = moves && native ? 1 : 4;
    spec_t s = dot;
    char *data, *target;
    s.moves = moves;
    driver_open();
    make_dot(&data, &target);
    launch_on(NULL, &s, target, NULL, data);
    assert_int_equal(kmm_wait(kmm_default()), 0);
    fake_counts_t before = fake_counts_now();
    for (int k = 0; k < 50; k++)
        assert_true(launch_on(NULL, &s, target, NULL, data) >= 0);
    assert_int_equal(kmm_wait(kmm_default()), 0);
    fake_counts_t after = fake_counts_now();
    if (!native) /* identities are written by a kernel, too */
        assert_int_equal(after.launches - before.launches, 50 * (chunk_launches + 2));
    if (native) {
        assert_int_equal(after.launches - before.launches, 50 * (chunk_launches + 1));
        assert_int_equal(after.frames, before.frames);
        assert_int_equal(after.mappings, before.mappings);
        assert_int_equal(after.windows, before.windows);
        assert_int_equal(after.events, before.events);
        assert_int_equal(after.streams, before.streams);
    }
    note_result(target, 4);
    assert_int_equal(kmm_cuda_native(KIND), native);
}

static void part_steady(bool native)
{
    steady(native, false);
}

static void part_moving(bool native)
{
    steady(native, true);
}

/* A pointer that led nowhere leads to an array that no clause names. */
static void led_nowhere(bool native, const spec_t *s, char *target, char *data)
{
    enum { FAR = 2 << 20 };
    char *other = make(2 * FAR), *none = other + FAR;
    drop(other);
    for (int k = 0; k < 4; k++)
        assert_true(launch_on(NULL, s, target, none, data) >= 0);
    other = make(2 * FAR);
    assert_true(!native || other + FAR == none);
    assert_true(launch_on(NULL, s, target, other + FAR, data) < 0);
}

/* One place in the source launches again and again, with arrays that change: what is remembered of
 * a launch is used for no other. One with a pointer to an array that no clause names is refused. */
static void again(bool native, bool moves)
{
    enum { ROUNDS = 48 };
    const kmm_runtime_t *rt = kmm_default();
    spec_t s = dot;
    char *data[2], *target[2];
    s.moves = moves;
    driver_open();
    for (int k = 0; k < 2; k++)
        make_dot(&data[k], &target[k]);
    write_array(data[1], (const char *)&(float){3}, sizeof(float));
    for (int k = 0; k < ROUNDS; k++) {
        s.element.type = k < ROUNDS / 2 ? KMM_FLOAT : KMM_INT32;
        s.chunk = k % 24 < 12 ? 16 : 8;
        int how = launch_on(NULL, &s, target[k / 3 % 2], NULL, data[k / 6 % 2]);
        assert_int_equal(how, !native                       ? 0
                              : s.element.type == KMM_FLOAT ? KMM__LAUNCH_IN_CHUNKS
                                                            : KMM__LAUNCH_NATIVELY);
        if (k % 3 == 2)
            assert_true(
                launch_on(NULL, &s, target[k / 3 % 2], data[1 - k / 6 % 2], data[k / 6 % 2]) < 0);
        if (k % 16 == 15)
            make_dot(&data[k / 16 % 2], &target[k / 32 % 2]); /* what was remembered is over */
    }
    if (native)
        assert_true(rt->launches->memos_used > ROUNDS / 4);
    for (int k = 0; k < 2; k++)
        note_result(target[k], 4);
    led_nowhere(native, &s, target[0], data[0]);
}

static void part_again(bool native)
{
    again(native, false);
}

static void part_again_moving(bool native)
{
    again(native, true);
}

/* Launches that reduce into one element after the other use the same identities. */
static void part_elements(bool native)
{
    enum { ELEMENTS = 300 };
    static float zero[ELEMENTS];
    char *data, *target;
    driver_open();
    make_dot(&data, &target);
    target = make(sizeof(zero));
    write_array(target, (char *)zero, sizeof(zero));
    launch_on(NULL, &dot, target, NULL, data);
    fake_counts_t before = fake_counts_now();
    for (int k = 1; k < ELEMENTS; k++)
        assert_true(launch_on(NULL, &dot, target + k * 4, NULL, data) >= 0);
    if (native)
        assert_int_equal(fake_counts_now().launches - before.launches, (ELEMENTS - 1) * (4 + 1));
    note_result(target, sizeof(zero));
    for (int k = 1; k < ELEMENTS; k++)
        assert_memory_equal(result, result + k * 4, 4);
}

/* A graph that has captured a launch is launched between others of its kind. */
static void part_graph(bool native)
{
    char *data, *target;
    handle_t graph, s;
    driver_open();
    s = streams[1];
    make_dot(&data, &target);
    if (native) {
        assert_int_equal(launch_on(s, &dot, target, NULL, data), KMM__LAUNCH_IN_CHUNKS);
        kmm_cuda_native_bind("cudaStreamBeginCapture");
        assert_int_equal(capture_begin(s, 0), 0);
        assert_int_equal(launch_on(s, &dot, target, NULL, data), KMM__LAUNCH_IN_CHUNKS);
        assert_int_equal(capture_end(s, &graph), 0);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(graph_launch(graph, s), 0);
            assert_int_equal(launch_on(s, &dot, target, NULL, data), KMM__LAUNCH_IN_CHUNKS);
        }
        graph_destroy(graph);
    }
    for (int k = 0; k < 5 && !native; k++)
        assert_int_equal(launch_on(NULL, &dot, target, NULL, data), 0);
    note_result(target, 4);
}

static int run_whole(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    run_block(args[0], (int64_t)block[0], *(char **)args[1], *(char **)args[2], *(char **)args[3]);
    return 0;
}

/* A kernel without a clone cannot be told which of its blocks to run: it runs as one chunk, also if
 * it reduces floating-point numbers. */
static void part_whole(bool native)
{
    static fake_kernel_t whole = {run_whole, 4, sizes + 1, 0, NULL};
    static const kmm_kernel_t k = {
        KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "reduce", NULL, &whole, 4, sizes + 1, 0, NULL};
    char *data, *target;
    driver_open();
    make_dot(&data, &target);
    int how = launch_kernel(&k, NULL, &dot, target, NULL, data);
    assert_int_equal(how, native ? KMM__LAUNCH_NATIVELY : 0);
    note_result(target, 4);
    float got, want = 0.25f;
    memcpy(&got, result, sizeof(got));
    for (int i = 0; i < DOT; i++)
        want += 1.0f / (float)(i + 3);
    assert_true(got == want);
}

/* A chunk that the driver refuses is an error, and the next launch is right. */
static void part_refused(bool native)
{
    char *data, *target;
    if (native)
        setenv("KMM_FAKE_FAIL", "launch:5", 1);
    driver_open();
    make_dot(&data, &target);
    if (native) {
        float got;
        assert_true(launch_on(streams[1], &dot, target, NULL, data) < 0);
        assert_non_null(strstr(kmm_error_text(NULL), "native_reduce.c:1: reduce: "));
        read_array((char *)&got, target, sizeof(got));
        assert_true(got == 0.25f);
        unsetenv("KMM_FAKE_FAIL");
    }
    for (int k = 0; k < 2; k++)
        assert_true(launch_on(native ? streams[1] : NULL, &dot, target, NULL, data) >= 0);
    note_result(target, 4);
}

/* Where there is no memory for partials, the launch ends native standing. */
static void part_full(bool native)
{
    enum { LENGTH = 100000 };
    spec_t s = dot;
    char *data, *target, *most;
    float *zero = calloc(LENGTH, sizeof(*zero));
    s.length = s.split = LENGTH;
    s.per = 2000;
    driver_open();
    data = make((size_t)(s.per * s.blocks) * 4);
    target = make(LENGTH * 4);
    most = make((size_t)(16 << 20) - (size_t)(s.per * s.blocks) * 4 - LENGTH * 4 - (1 << 20));
    assert_non_null(most);
    assert_int_equal(kmm_cuda_native(KIND), native);
    for (int64_t k = 0; k < s.per * s.blocks; k += LENGTH) {
        for (int i = 0; i < LENGTH; i++)
            zero[i] = 1.0f / (float)(i + 1);
        int64_t n = s.per * s.blocks - k < LENGTH ? s.per * s.blocks - k : LENGTH;
        write_array(data + k * 4, (char *)zero, (size_t)n * 4);
    }
    memset(zero, 0, LENGTH * sizeof(*zero));
    write_array(target, (char *)zero, LENGTH * 4);
    free(zero);
    assert_int_equal(launch_on(NULL, &s, target, NULL, data), 0);
    assert_false(kmm_cuda_native(KIND));
    note_result(target, LENGTH * 4);
}

enum { THREADS = STREAMS - 1, TURNS = 100 };

typedef struct worker {
    handle_t stream;
    char *data, *target;
} worker_t;

static void *work(void *arg)
{
    const worker_t *w = arg;
    for (int k = 0; k < TURNS; k++)
        if (launch_on(w->stream, &dot, w->target, NULL, w->data) < 0)
            return arg;
    return NULL;
}

/* Threads reduce, each on a stream of its own, while an array that does not fit ends native
 * standing. */
static void part_threads(bool native)
{
    worker_t w[THREADS];
    pthread_t thread[THREADS];
    rng_t r = {seed};
    driver_open();
    for (int k = 0; k < THREADS; k++) {
        w[k].stream = native ? streams[k + 1] : NULL;
        make_dot(&w[k].data, &w[k].target);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_create(&thread[k], NULL, work, &w[k]);
    usleep((useconds_t)rng_range(&r, 0, 10000));
    assert_non_null(make(20 << 20));
    for (int k = 0; k < THREADS; k++) {
        void *failed;
        pthread_join(thread[k], &failed);
        assert_null(failed);
    }
    for (int k = 0; k < THREADS; k++)
        note_result(w[k].target, 4);
}

/* ---- Comparing ---- */

static void child(void (*part)(bool native), bool native)
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        setenv("KMM_NATIVE", native ? "1" : "0", 1);
        part(native);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void compare(void (*part)(bool native))
{
    static char *both[2];
    for (int k = 0; k < 2; k++) {
        if (!both[k])
            both[k] = mmap(NULL, RESULT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        memset(both[k], 0, RESULT);
        result = both[k];
        child(part, k == 0);
    }
    for (size_t k = 0; k < RESULT; k++)
        if (both[0][k] != both[1][k])
            fail_msg("seed %llu: byte %zu of the results differs", (unsigned long long)seed, k);
}

/* Making and ending a process takes ThreadSanitizer a long time. */
#ifdef __SANITIZE_THREAD__
enum { RANDOM = 2, THREADED = 2 };
#else
enum { RANDOM = 20, THREADED = 5 };
#endif

static void test_random(void **state)
{
    (void)state;
    const uint64_t first = rng_seed();
    for (int k = 0; k < RANDOM; k++) {
        seed = first + (uint64_t)k;
        compare(part_random);
    }
}

static void test_threads(void **state)
{
    (void)state;
    for (int k = 0; k < THREADED && has_kernels(); k++) {
        seed = rng_seed() + (uint64_t)k;
        compare(part_threads);
    }
}

#define TEST(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        if (!has_kernels())                                                                        \
            skip();                                                                                \
        compare(part_##name);                                                                      \
    }
TEST(steady)
TEST(moving)
TEST(again)
TEST(again_moving)
TEST(elements)
TEST(graph)
TEST(whole)
TEST(refused)
TEST(full)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),       cmocka_unit_test(test_steady),
        cmocka_unit_test(test_moving),       cmocka_unit_test(test_elements),
        cmocka_unit_test(test_graph),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_whole),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_full),         cmocka_unit_test(test_again),
        cmocka_unit_test(test_again_moving),
    };
    setenv("KMM_DEVICES", "cuda:1", 1);
    setenv("KMM_FAKE_MEM", "16777216", 1);
    setenv("KMM_ON_ERROR", "continue", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
