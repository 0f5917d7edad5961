/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuda_bf16.h (bfloat16) is not supported on the CPU target; use float, or compile with nvcc"
