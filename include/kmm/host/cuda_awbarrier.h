/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuda_awbarrier.h is missing on the CPU target"
