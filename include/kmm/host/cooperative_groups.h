/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cooperative_groups.h is not supported on the CPU target; use __syncthreads and the _sync warp operations, or compile with nvcc"
