/* SPDX-License-Identifier: Apache-2.0 */
/* What a test shares with the fake driver: a CUkernel of it is a pointer to one of these. */
#ifndef KMM_FAKE_CUDA_H
#define KMM_FAKE_CUDA_H

#include <stdint.h>

/* Whether all of a range is memory that was allocated rather than mapped; libcuda_memory.c has it. */
_Bool fake_is_allocated(const void *at, unsigned long bytes);

/* Waits until no stream has work, as freeing memory does. */
void fake_settle(void);

typedef struct fake_kernel {
    /* Runs one block; a result that is not 0 is a CUresult that the context is lost with. */
    int (*run)(const uint32_t block[3], const uint32_t grid[3], void **args);
    uint32_t parameters;
    const uint32_t *parameter_bytes;
    int shared_limit; /* the dynamic shared memory that it may have; 0: 48 KiB */
} fake_kernel_t;

#endif
