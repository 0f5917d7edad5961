/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkmm's own kernels for GPUs. They fill the partials of a reduction with identities, and fold
 * them, with the bits that launch/fold.h defines, since they are compiled from the same files.
 *
 * The build compiles device_code.c to PTX code if it finds a Clang that can. Else there is none,
 * and reductions are filled and folded on the host.
 */
#ifndef KMM__LAUNCH_DEVICE_CODE_H
#define KMM__LAUNCH_DEVICE_CODE_H

#include "launch/fold.h"

enum {
    KMM__FOLD_THREADS = 256, /* of a block */
    KMM__FOLD_SPREAD = 65536 /* threads that are enough for a GPU */
};

/* The only argument of each kernel: a run of elements that the target has once and each partial has
 * once. Elements and their numbers lie at addresses that their sizes divide. */
typedef struct kmm__folding {
    uint64_t partials, target; /* addresses of the first element: of partial 0, of the target */
    int64_t partial_bytes;     /* from one partial to the next */
    uint64_t elements;
    uint32_t count; /* number of partials */
    uint32_t slots; /* threads that share the partials of one element; a power of 2 */
    kmm_op_t op;
    kmm__element_t element;
    bool refills; /* kmm_fold leaves identities in the partials; not for pairs */
} kmm__folding_t;

/* kmm_fill     writes identities into all partials; for && and || copies of the target
 * kmm_fold     folds the partials, and the result into the target
 * kmm_add      the same for + where each partial of an element has a thread: little code, since a
 *              short kernel takes as long as its code takes to arrive
 * kmm_truth    the same for && and || */
typedef enum kmm__device_kernel {
    KMM__FILL,
    KMM__FOLD,
    KMM__ADD,
    KMM__TRUTH,
    KMM__DEVICE_KERNELS
} kmm__device_kernel_t;
#define KMM__DEVICE_KERNEL_NAMES {"kmm_fill", "kmm_fold", "kmm_add", "kmm_truth"}

/* The kernels as PTX code, for elements of each kmm_type_t, and for pairs of a value and an index;
 * NULL: the build has none. */
enum { KMM__CODE_OF_PAIRS = KMM_COMPLEX_DOUBLE + 1, KMM__CODES };
extern const char *const kmm__device_code_ptx[KMM__CODES];

/* Runs one block of a kernel on the host. Defined where device_code.c is compiled for the host. */
void kmm__device_code_run(kmm__device_kernel_t kernel, const kmm__folding_t *f, uint32_t block);

/* Returns the kernel that folds. `slots` is set. */
static inline kmm__device_kernel_t kmm__fold_kernel(const kmm__folding_t *f)
{
    return f->op == KMM_OP_LAND || f->op == KMM_OP_LOR   ? KMM__TRUTH
           : f->op == KMM_OP_ADD && f->count <= f->slots ? KMM__ADD
                                                         : KMM__FOLD;
}

/* Returns the number of blocks for a kernel. `slots` is set, by kmm__fold_slots. */
static inline uint64_t kmm__fold_blocks(kmm__device_kernel_t kernel, const kmm__folding_t *f)
{
    const uint64_t threads = f->elements * (kernel == KMM__FILL    ? f->count
                                            : kernel == KMM__TRUTH ? 1
                                                                   : f->slots);
    return (threads + KMM__FOLD_THREADS - 1) / KMM__FOLD_THREADS;
}

/* Returns how many threads share the partials of one element: few elements have many each. The
 * result of a fold does not depend on it. */
static inline uint32_t kmm__fold_slots(const kmm__folding_t *f)
{
    uint32_t slots = 1;
    while (slots < KMM__FOLD_THREADS && slots < f->count &&
           2 * slots * f->elements <= KMM__FOLD_SPREAD)
        slots *= 2;
    return slots;
}

#endif
