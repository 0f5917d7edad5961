/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA toolkit's header of this name, which the CPU target lacks. */
#error "kmm: cuSPARSE is missing on the CPU target"
