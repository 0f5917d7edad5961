/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of libkmm's kernels for GPUs: one file that has all it needs, so that its functions
 * are inlined. Clang compiles it for GPUs. The fake CUDA driver compiles it for the host, and runs
 * a block thread by thread, one step after the other.
 */
#include <kmm/launch.h>

#define RUN(n) 1
#ifdef __NVPTX__
#define ALIGNED(at) ((char *)__builtin_assume_aligned(at, KMM__CODE_ALIGNMENT))
/* Functions that no kernel calls are left out. */
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#else
#define ALIGNED(at) (at)
#endif
#include "launch/device_code.h"
#include "launch/fold.c"
#include "launch/narrow.c"
#ifdef __NVPTX__
#pragma clang attribute pop
#endif

/* Bytes of a number in wide form. Code for one type has no more than it needs. */
#ifdef __NVPTX__
enum {
    CODE = KMM__CODE_OF,
    VALUE_BYTES =
        CODE == KMM_COMPLEX_DOUBLE ? 16
        : CODE == KMM_INT64 || CODE == KMM_UINT64 || CODE == KMM_DOUBLE || CODE == KMM_COMPLEX_FLOAT
            ? 8
            : 4
};
#else
enum { VALUE_BYTES = 16 };
#endif

/* Values at the leaves and nodes of a tree: a number in wide form; or of a pair the number of the
 * partial that has it. */
typedef union value {
    _Alignas(VALUE_BYTES) char wide[VALUE_BYTES];
    uint32_t partial;
} value_t;

enum {
    LEVELS = 14, /* of a tree of 2^13 partials, which is more than there are */
    LOG2_THREADS = 8
};
_Static_assert(1 << LOG2_THREADS == KMM__FOLD_THREADS, "shifts divide by powers of 2");

static char *partial_at(const kmm__folding_t *f, uint64_t element, uint64_t partial)
{
    return ALIGNED((char *)(uintptr_t)f->partials + (int64_t)partial * f->partial_bytes +
                   element * f->element.bytes);
}

static char *target_at(const kmm__folding_t *f, uint64_t element)
{
    return ALIGNED((char *)(uintptr_t)f->target + element * f->element.bytes);
}

static bool is_truth(const kmm__folding_t *f)
{
    return f->op == KMM_OP_LAND || f->op == KMM_OP_LOR;
}

/* ---- Filling ---- */

static void fill_thread(const kmm__folding_t *f, uint64_t k)
{
    if (k >= f->elements * f->count)
        return;
    const uint64_t element = k % f->elements;
    char *at = partial_at(f, element, k / f->elements);
    if (is_truth(f))
        __builtin_memcpy(at, target_at(f, element), f->element.bytes);
    else
        kmm__fold_identity(f->op, &f->element, at);
}

/* ---- Folding ----
 *
 * The tree is that of reduce.c: pairs of neighbours, then pairs of pairs. Each element has `slots`
 * threads. First each thread folds a run of partials, whose length is a power of 2. Then the
 * threads fold what they have, in steps, through memory that they share. */

static value_t leaf(const kmm__folding_t *f, uint64_t element, uint32_t partial)
{
    value_t v;
    if (f->element.is_pair)
        v.partial = partial;
    else
        kmm__widen(&f->element, v.wide, partial_at(f, element, partial), 1);
    return v;
}

/* The leaf, in whose place an identity stays where they are refilled. */
static value_t taken(const kmm__folding_t *f, uint64_t element, uint32_t partial)
{
    const value_t v = leaf(f, element, partial);
    if (f->refills)
        kmm__fold_identity(f->op, &f->element, partial_at(f, element, partial));
    return v;
}

static value_t node(const kmm__folding_t *f, uint64_t element, value_t a, value_t b)
{
    if (!f->element.is_pair)
        kmm__fold(f->op, &f->element, a.wide, b.wide, 1);
    else if (pair_wins(f->op, &f->element, partial_at(f, element, b.partial),
                       partial_at(f, element, a.partial), false))
        a = b;
    return a;
}

static uint32_t run_length(const kmm__folding_t *f)
{
    uint32_t length = 1;
    while (length * f->slots < f->count)
        length *= 2;
    return length;
}

/* A thread's place in its block: its element, and which of the element's threads it is.
 * Neighbouring threads have neighbouring elements. */
typedef struct place {
    uint64_t element;
    uint32_t slot, lanes; /* lanes: elements of the block */
} place_t;

static place_t place_of(const kmm__folding_t *f, uint32_t block, uint32_t thread)
{
    const uint32_t shift = LOG2_THREADS - (uint32_t)__builtin_ctz(f->slots), lanes = 1u << shift;
    return (place_t){(uint64_t)block * lanes + (thread & (lanes - 1)), thread >> shift, lanes};
}

/* The first step: folds the thread's run. A block that is folded at level k of the tree waits in
 * open[k] for its neighbour. */
static void fold_run(const kmm__folding_t *f, uint32_t block, uint32_t thread, value_t *shared)
{
    const place_t p = place_of(f, block, thread);
    const uint32_t length = run_length(f), begin = p.slot * length;
    const uint32_t rest = begin < f->count ? f->count - begin : 0,
                   n = rest < length ? rest : length;
    value_t open[LEVELS], v;
    if (p.element >= f->elements || n == 0)
        return;
    if (n == 1) { /* without `open`, which is not in registers */
        shared[thread] = taken(f, p.element, begin);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t level = 0;
        v = taken(f, p.element, begin + k);
        for (; k >> level & 1; level++)
            v = node(f, p.element, open[level], v);
        open[level] = v;
    }
    uint32_t level = 0;
    while (!(n >> level & 1))
        level++;
    v = open[level];
    while (n >> ++level)
        if (n >> level & 1)
            v = node(f, p.element, open[level], v);
    shared[thread] = v;
}

/* The same where a run is one partial. */
static void take_one(const kmm__folding_t *f, uint32_t block, uint32_t thread, value_t *shared)
{
    const place_t p = place_of(f, block, thread);
    if (p.element < f->elements && p.slot < f->count)
        shared[thread] = taken(f, p.element, p.slot);
}

/* The steps between, with stride 1, 2, 4, ... below `slots`. `length`: of a run. */
static void fold_neighbours(const kmm__folding_t *f, uint32_t length, uint32_t block,
                            uint32_t thread, uint32_t stride, value_t *shared)
{
    const place_t p = place_of(f, block, thread);
    const bool has = p.element < f->elements && p.slot % (2 * stride) == 0 &&
                     (p.slot + stride) * length < f->count;
    if (has)
        shared[thread] = node(f, p.element, shared[thread], shared[thread + stride * p.lanes]);
}

/* The last step: folds the result into the target. */
static void fold_target(const kmm__folding_t *f, uint32_t block, uint32_t thread,
                        const value_t *shared)
{
    const place_t p = place_of(f, block, thread);
    if (p.element >= f->elements || p.slot != 0)
        return;
    char *target = target_at(f, p.element);
    if (f->element.is_pair) {
        const char *winner = partial_at(f, p.element, shared[thread].partial);
        if (pair_wins(f->op, &f->element, winner, target, true))
            __builtin_memcpy(target, winner, f->element.bytes);
        return;
    }
    value_t v;
    kmm__widen(&f->element, v.wide, target, 1);
    kmm__fold(f->op, &f->element, v.wide, shared[thread].wide, 1);
    kmm__narrow(&f->element, target, v.wide, 1);
}

static void truth_thread(const kmm__folding_t *f, uint64_t k)
{
    if (k < f->elements)
        kmm__fold_truth(f->op, &f->element, partial_at(f, k, 0), f->partial_bytes, f->count,
                        target_at(f, k));
}

#ifdef __NVPTX__

#define KERNEL __attribute__((nvptx_kernel)) void
#define THREAD ((uint32_t)__nvvm_read_ptx_sreg_tid_x())
#define BLOCK ((uint32_t)__nvvm_read_ptx_sreg_ctaid_x())
#define EACH_IN_GRID ((uint64_t)BLOCK * KMM__FOLD_THREADS + THREAD)

__attribute__((address_space(3))) static value_t shared_values[KMM__FOLD_THREADS];

/* Code for one type of element each is small, so that drivers compile it fast. KMM__CODE_OF is that
 * type, or KMM__CODE_OF_PAIRS. KMM__CODE_ALIGNMENT divides the addresses of such elements. */
static kmm__folding_t of_type(kmm__folding_t f)
{
    f.element.is_pair = KMM__CODE_OF == KMM__CODE_OF_PAIRS;
    if (!f.element.is_pair) {
        f.element.type = (kmm_type_t)KMM__CODE_OF;
        f.element.bytes = (uint32_t)kmm__type_bytes((kmm_type_t)KMM__CODE_OF);
    }
    return f;
}

KERNEL kmm_fill(kmm__folding_t argument)
{
    const kmm__folding_t f = of_type(argument);
    fill_thread(&f, EACH_IN_GRID);
}

KERNEL kmm_fold(kmm__folding_t argument)
{
    const kmm__folding_t f = of_type(argument);
    value_t *shared = (value_t *)shared_values;
    fold_run(&f, BLOCK, THREAD, shared);
    for (uint32_t stride = 1; stride < f.slots; stride *= 2) {
        __nvvm_bar_sync(0);
        fold_neighbours(&f, run_length(&f), BLOCK, THREAD, stride, shared);
    }
    fold_target(&f, BLOCK, THREAD, shared);
}

KERNEL kmm_add(kmm__folding_t argument)
{
    kmm__folding_t f = of_type(argument);
    value_t *shared = (value_t *)shared_values;
    f.op = KMM_OP_ADD;
    take_one(&f, BLOCK, THREAD, shared);
    for (uint32_t stride = 1; stride < f.slots; stride *= 2) {
        __nvvm_bar_sync(0);
        fold_neighbours(&f, 1, BLOCK, THREAD, stride, shared);
    }
    fold_target(&f, BLOCK, THREAD, shared);
}

KERNEL kmm_truth(kmm__folding_t argument)
{
    const kmm__folding_t f = of_type(argument);
    truth_thread(&f, EACH_IN_GRID);
}

#else

void kmm__device_code_run(kmm__device_kernel_t kernel, const kmm__folding_t *f, uint32_t block)
{
    const bool folds = kernel == KMM__FOLD || kernel == KMM__ADD;
    const uint32_t length = kernel == KMM__FOLD ? run_length(f) : 1;
    value_t shared[KMM__FOLD_THREADS];
    for (uint32_t t = 0; t < KMM__FOLD_THREADS; t++) {
        if (kernel == KMM__FILL)
            fill_thread(f, (uint64_t)block * KMM__FOLD_THREADS + t);
        else if (kernel == KMM__TRUTH)
            truth_thread(f, (uint64_t)block * KMM__FOLD_THREADS + t);
        else if (kernel == KMM__ADD)
            take_one(f, block, t, shared);
        else
            fold_run(f, block, t, shared);
    }
    for (uint32_t stride = 1; folds && stride < f->slots; stride *= 2)
        for (uint32_t t = 0; t < KMM__FOLD_THREADS; t++)
            fold_neighbours(f, length, block, t, stride, shared);
    for (uint32_t t = 0; folds && t < KMM__FOLD_THREADS; t++)
        fold_target(f, block, t, shared);
}

#endif
