/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuda_fp16.h (half) is not supported on the CPU target; use float, or compile with nvcc"
