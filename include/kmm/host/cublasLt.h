/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuBLAS is missing on the CPU target"
