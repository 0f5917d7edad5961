/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm's own kernels (launch/device_code.h) against the arithmetic on the host, bit for bit: on
 * the fake CUDA driver, or on a GPU where the real one is found (tests/device). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/device.h"
#include "launch/device_code.h"
#include "random.h"

enum { BYTES = 32 << 20, ROOM = 1 << 20, WIDEST = 64, TYPES = KMM_COMPLEX_DOUBLE + 1 };

static kmm__backend_t *backend;
static kmm__gpu_t *gpu;
static kmm__stream_t *stream;
static kmm__addr_t memory; /* BYTES of device memory; the target lies in the last ROOM of them */
static kmm_kernel_t kernels[KMM__CODES][KMM__DEVICE_KERNELS];

#define FAIL(...) (printf("FAIL: " __VA_ARGS__), printf("\n"), exit(1))

static void must(int error, const char *what)
{
    if (error)
        FAIL("%s: %s", what, backend ? backend->error_text(backend) : "no backend");
}

static void load_all(void)
{
    static const char *const names[] = KMM__DEVICE_KERNEL_NAMES;
    static const uint32_t bytes = sizeof(kmm__folding_t);
    for (int c = 0; c < KMM__CODES; c++) {
        void *handles[KMM__DEVICE_KERNELS];
        must(backend->code_load(gpu, kmm__device_code_ptx[c], names, KMM__DEVICE_KERNELS, handles),
             "code_load");
        for (int k = 0; k < KMM__DEVICE_KERNELS; k++)
            kernels[c][k] = (kmm_kernel_t){.version = KMM_LAUNCH_VERSION,
                                           .kind = KMM_KIND_CUDA,
                                           .name = names[k],
                                           .handle = handles[k],
                                           .param_count = 1,
                                           .param_bytes = &bytes};
    }
}

static void open_device(void)
{
    const char *reason;
    kmm__frame_handle_t frame;
    must(kmm__cuda_backend_create(&backend, &reason), "create");
    must(backend->open(backend, 0, &gpu), "open");
    must(backend->stream_create(gpu, &stream), "stream_create");
    must(backend->window_reserve(gpu, BYTES, &memory), "window_reserve");
    must(backend->frame_create(gpu, BYTES, &frame), "frame_create");
    must(backend->frame_map(gpu, memory, frame, BYTES), "frame_map");
    load_all();
}

static void copy(kmm__addr_t to, const void *from, void *back, size_t bytes)
{
    kmm__copy_t c = {.width = (int64_t)bytes, .rows = 1};
    c.dst_gpu = back ? NULL : gpu;
    c.src_gpu = back ? gpu : NULL;
    c.dst = back ? (kmm__addr_t)(uintptr_t)back : to;
    c.src = back ? to : (kmm__addr_t)(uintptr_t)from;
    must(backend->copy(stream, &c), "copy");
    must(kmm__stream_drain(backend, stream), "the stream");
}

static void run(kmm__device_kernel_t kernel, kmm__folding_t *f)
{
    void *args[] = {f};
    const int code = f->element.is_pair ? KMM__CODE_OF_PAIRS : (int)f->element.type;
    kmm__run_t r = {.kernel = &kernels[code][kernel],
                    .geometry = {.block = {KMM__FOLD_THREADS, 1, 1}},
                    .count = {(uint32_t)kmm__fold_blocks(kernel, f), 1, 1},
                    .args = args};
    must(backend->launch(stream, &r), "launch");
    must(kmm__stream_drain(backend, stream), "a kernel");
}

/* ---- The expected results ---- */

typedef struct wide {
    _Alignas(16) char bytes[WIDEST];
} wide_t;

/* Folds `count` partials from `first` on: the first power of 2 below count, and the rest. */
static wide_t tree(const kmm__folding_t *f, const char *first, uint32_t count)
{
    wide_t a, b;
    uint32_t half = 1;
    if (count == 1) {
        kmm__widen(&f->element, a.bytes, first, 1);
        return a;
    }
    while (half * 2 < count)
        half *= 2;
    a = tree(f, first, half);
    b = tree(f, first + half * f->partial_bytes, count - half);
    kmm__fold(f->op, &f->element, a.bytes, b.bytes, 1);
    return a;
}

static void expect(const kmm__folding_t *f, const char *partials, char *target)
{
    const size_t bytes = f->element.bytes;
    for (uint64_t k = 0; k < f->elements; k++) {
        char *to = target + k * bytes;
        if (f->op == KMM_OP_LAND || f->op == KMM_OP_LOR) {
            kmm__fold_truth(f->op, &f->element, partials + k * bytes, f->partial_bytes, f->count,
                            to);
            continue;
        }
        wide_t sum = tree(f, partials + k * bytes, f->count), old;
        kmm__widen(&f->element, old.bytes, to, 1);
        kmm__fold_target(f->op, &f->element, old.bytes, sum.bytes, 1);
        kmm__narrow(&f->element, to, old.bytes, 1);
    }
}

/* ---- Random foldings ---- */

static const kmm__element_t pairs[] = {
    {KMM_FLOAT, 8, true, KMM_INT32, 0, 4},    {KMM_DOUBLE, 16, true, KMM_INT64, 0, 8},
    {KMM_INT32, 8, true, KMM_UINT32, 4, 0},   {KMM_INT8, 16, true, KMM_UINT64, 0, 8},
    {KMM_HALF, 8, true, KMM_INT32, 0, 4},     {KMM_UINT64, 24, true, KMM_INT64, 8, 16},
    {KMM_BFLOAT16, 8, true, KMM_INT32, 4, 0}, {KMM_INT64, 12, true, KMM_INT32, 0, 8},
};

/* Random bits, of which many are NaNs, infinities, zeros of both signs or denormals; or numbers
 * near 1, whose sums are rounded. */
static void random_element(rng_t *r, const kmm__element_t *e, char *at, bool wild)
{
    static const float special[] = {0.0f,   -0.0f,   1,        -1,     __builtin_inff(),
                                    1e-40f, -3e-45f, 3e38f,    -3e38f, -__builtin_inff(),
                                    1e-30f, -1e-38f, 65504.0f, 6e-8f,  __builtin_nanf("")};
    for (uint32_t i = 0; i < e->bytes; i++)
        at[i] = (char)rng_next(r);
    if (wild && rng_next(r) % 2)
        return;
    for (size_t part = 0; part < 2; part++) {
        const bool is_special = wild || rng_next(r) % 16 == 0;
        const float f = is_special ? special[rng_next(r) % 15]
                                   : (float)(int64_t)(rng_next(r) % 200000 - 100000) / 65537;
        const double d = is_special ? (double)f : (double)f * 1.000000001;
        char *to = at + e->value_at;
        if (e->type == KMM_FLOAT && part == 0)
            memcpy(to, &f, sizeof(f));
        else if (e->type == KMM_DOUBLE && part == 0)
            memcpy(to, &d, sizeof(d));
        else if (e->type == KMM_COMPLEX_FLOAT)
            memcpy(to + part * sizeof(f), &f, sizeof(f));
        else if (e->type == KMM_COMPLEX_DOUBLE)
            memcpy(to + part * sizeof(d), &d, sizeof(d));
        else if (e->type == KMM_HALF)
            memcpy(to, &(uint16_t){kmm__float_to_half(f)}, 2);
        else if (e->type == KMM_BFLOAT16)
            memcpy(to, &(uint16_t){kmm__float_to_bfloat16(f)}, 2);
        else if (part == 0 && rng_next(r) % 3 == 0)
            memset(at, 0, e->bytes);
    }
}

static void check_one(rng_t *r, kmm_op_t op, const kmm__element_t *e)
{
    static char partials[BYTES - ROOM], got[BYTES - ROOM], target[ROOM], want[ROOM];
    const bool wild = rng_next(r) % 2;
    kmm__folding_t f;
    memset(&f, 0, sizeof(f));
    f.op = op;
    f.element = *e;
    f.count = (uint32_t)(rng_next(r) % 4 ? rng_range(r, 1, 40) : rng_range(r, 1, 4096));
    f.elements = (uint64_t)(rng_next(r) % 4 ? rng_range(r, 1, 9) : rng_range(r, 1, 3000));
    while (f.count * f.elements > 20000)
        f.count = (f.count + 1) / 2;
    f.partial_bytes = (int64_t)(f.elements * e->bytes + 255) / 256 * 256;
    f.slots = rng_next(r) % 2 ? kmm__fold_slots(&f) : 1u << rng_next(r) % 9;
    f.partials = memory;
    f.target = memory + BYTES - ROOM;
    const size_t bytes = (size_t)f.partial_bytes * f.count, length = f.elements * e->bytes;
    const bool is_truth = op == KMM_OP_LAND || op == KMM_OP_LOR;
    f.refills = !is_truth && !e->is_pair && rng_next(r) % 2;
    for (uint64_t k = 0; k < f.elements; k++)
        random_element(r, e, target + k * e->bytes, wild);
    copy(f.target, target, NULL, length);
    run(KMM__FILL, &f);
    copy(memory, NULL, got, bytes);
    for (uint32_t p = 0; p < f.count; p++)
        for (uint64_t k = 0; k < f.elements; k++) {
            char identity[WIDEST];
            char *at = partials + p * f.partial_bytes + k * e->bytes;
            kmm__fold_identity(op, e, identity);
            if (memcmp(got + (at - partials), is_truth ? target + k * e->bytes : identity,
                       e->bytes))
                FAIL("op %d type %d: partial %u is filled wrongly", op, e->type, p);
            if (is_truth && rng_next(r) % 2)
                memcpy(at, target + k * e->bytes, e->bytes);
            else
                random_element(r, e, at, wild);
        }
    copy(memory, partials, NULL, bytes);
    memcpy(want, target, length);
    expect(&f, partials, want);
    run(is_truth || rng_next(r) % 4 ? kmm__fold_kernel(&f) : KMM__FOLD, &f);
    copy(f.target, NULL, target, length);
    for (uint64_t k = 0; k < length; k++)
        if (target[k] != want[k])
            FAIL("op %d type %d%s: element %llu of %llu, %u partials, %u slots: wrong", op, e->type,
                 e->is_pair ? " pair" : "", (unsigned long long)(k / e->bytes),
                 (unsigned long long)f.elements, f.count, f.slots);
    copy(memory, NULL, got, bytes);
    for (uint32_t p = 0; p < f.count && f.refills; p++)
        for (uint64_t k = 0; k < f.elements; k++) {
            char identity[WIDEST];
            kmm__fold_identity(op, e, identity);
            if (memcmp(got + p * f.partial_bytes + k * e->bytes, identity, e->bytes))
                FAIL("op %d type %d: partial %u is refilled wrongly", op, e->type, p);
        }
}

int main(void)
{
    const char *rounds = getenv("KMM_TEST_ROUNDS");
    rng_t r = {rng_seed()};
    if (!kmm__device_code_ptx[0]) {
        printf("the build has no Clang for NVIDIA GPUs\n");
        return 0;
    }
    open_device();
    for (int round = rounds ? atoi(rounds) : 4; round > 0; round--)
        for (int op = 0; op <= KMM_OP_ARGMAX; op++) {
            for (int t = 0; t < TYPES; t++) {
                const kmm__element_t e = {.type = (kmm_type_t)t,
                                          .bytes = (uint32_t)kmm__type_bytes((kmm_type_t)t)};
                if (kmm__fold_allows((kmm_op_t)op, &e))
                    check_one(&r, (kmm_op_t)op, &e);
            }
            for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); p++)
                if (kmm__fold_allows((kmm_op_t)op, &pairs[p]))
                    check_one(&r, (kmm_op_t)op, &pairs[p]);
        }
    printf("folds have the host's bits\n");
    return 0;
}
