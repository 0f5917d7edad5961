/* SPDX-License-Identifier: Apache-2.0 */
/* Included first when kmmcc parses: every function may be called by kernels, as it may on a CPU. Those that
 * clang itself declares cannot change, so their header and their name are left out. */
#include <new>
#pragma clang force_cuda_host_device begin
#define __syncthreads kmm_host_syncthreads
