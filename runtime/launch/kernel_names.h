/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels that run on GPUs, for other processes of the same program. */
#ifndef KMM__LAUNCH_KERNEL_NAMES_H
#define KMM__LAUNCH_KERNEL_NAMES_H

#include <kmm/cuda_api.h>

/* What the program has said of its kernels of a kind; NULL: it has none. */
const kmm_cuda_names_t *kmm__kernel_names(kmm_kind_t kind);

#endif
