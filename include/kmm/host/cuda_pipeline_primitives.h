/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuda_pipeline.h is missing on the CPU target"
