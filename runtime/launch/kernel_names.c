/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels: what the wrappers of the CUDA and HIP runtimes say of them. */
#include "launch/kernel_names.h"

#include "base/api.h"
#include "base/code.h"

enum { KINDS = KMM_KIND_HIP + 1 };

static const kmm_cuda_names_t *names_of[KINDS]; /* written before main */

KMM__API void kmm_cuda_name_kernels(int kind, const kmm_cuda_names_t *names)
{
    if (kind > 0 && kind < KINDS && kmm__code_is_program(names))
        names_of[kind] = names;
}

const kmm_cuda_names_t *kmm__kernel_names(kmm_kind_t kind)
{
    return names_of[kind];
}
