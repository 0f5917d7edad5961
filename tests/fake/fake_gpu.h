/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tests and the fake drivers: the form of a kernel, and counts of what a program still
 * holds. */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <stdint.h>

/* Threads of a block that run in step: [first, first + count) of its threads, counted along x
 * first. */
typedef struct fake_warp {
    const uint32_t *block, *grid,
        *size; /* the block's place, and how many threads it has, of three dimensions each */
    uint32_t first, count;
    uint32_t
        lanes; /* of the device's warps, 32 or 64; the last one of a block may have fewer threads */
} fake_warp_t;

/* A CUkernel, and the host function of a HIP kernel, is a pointer to one of these. */
typedef struct fake_kernel {
    /* Runs one block; a result that is not 0 is the driver's error that the device is lost with. */
    int (*run)(const uint32_t block[3], const uint32_t grid[3], void **args);
    uint32_t parameters;
    const uint32_t *parameter_bytes;
    int shared_limit; /* the dynamic shared memory that it may have; 0: 48 KiB */
    int (*run_warp)(const fake_warp_t *w,
                    void **args); /* where not NULL, in place of `run`: runs one warp */
} fake_kernel_t;

/* One of a compiled program, which asks for its block's size: `run` and `run_warp` of its `kernel`
 * are NULL. Runs all blocks. */
typedef struct fake_program_kernel {
    fake_kernel_t kernel;
    int (*run)(const struct fake_program_kernel *k, const uint32_t grid[3], const uint32_t block[3],
               unsigned shared, void **args);
    const void *context;
    const char *name; /* mangled */
} fake_program_kernel_t;

/* What a library of kernels exports as fake_kernel_named, for KMM_FAKE_KERNELS: the kernel of that
 * mangled name, or NULL. */
typedef fake_program_kernel_t *fake_kernel_named_function_t(const char *name);

/* What has been made and not given back, and what was refused. Each fake driver exports it as
 * fake_counts. */
typedef struct fake_counts {
    unsigned long windows, frames, mappings, registrations, allocations, streams, events, contexts;
    unsigned long launches;   /* kernels that were enqueued */
    unsigned long flushes;    /* streams that were waited for, when kernels' output is printed */
    unsigned long faults;     /* how often KMM_FAKE_FAIL struck */
    unsigned long most_bytes; /* of memory to be mapped that a device has had in use, since the
                                 driver was started last */
    unsigned long
        most_links; /* how many devices have copied from or to the host at once since then */
} fake_counts_t;
typedef void fake_counts_function_t(fake_counts_t *out);

#endif
