/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuFFT is missing on the CPU target"
