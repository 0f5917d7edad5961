/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA toolkit's header of this name, which the CPU target lacks. */
#error "kmm: tensor cores (mma.h) are missing on the CPU target"
