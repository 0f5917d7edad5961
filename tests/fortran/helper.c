// SPDX-License-Identifier: Apache-2.0
// What the test in Fortran launches of C: a plain function with a struct of its own, and a kernel
// for the CPU, as kmmcc makes them of CUDA source.
#include <kmm.h>

typedef struct scale_args {
    double *x;
    double factor;
} scale_args_t;

void scale_chunk(const kmm_chunk_t *chunk, void *block)
{
    const scale_args_t *args = block;
    for (int64_t i = chunk->begin[0]; i < chunk->end[0]; i++)
        args->x[i - 1] *= args->factor; // Fortran's indices begin at 1
}

static void add_run(const kmm_host_blocks_t *b, void **args)
{
    float *x = *(float **)args[0];
    float by = *(float *)args[1];
    int32_t n = *(int32_t *)args[2];
    for (uint64_t k = b->first; k < b->last; k++)
        for (uint32_t t = 0; t < b->block[0]; t++) {
            int64_t i = (int64_t)(b->offset[0] + k) * b->block[0] + t;
            if (i < n)
                x[i] += by;
        }
}

static const uint32_t add_params[] = {sizeof(float *), sizeof(float), sizeof(int32_t)};

const kmm_kernel_t *add_kernel(void)
{
    static const kmm_kernel_t kernel = {.version = KMM_LAUNCH_VERSION,
                                        .kind = KMM_KIND_HOST,
                                        .name = "add",
                                        .run = add_run,
                                        .param_count = 3,
                                        .param_bytes = add_params};
    return &kernel;
}
