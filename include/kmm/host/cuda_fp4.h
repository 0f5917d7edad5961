/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: 4-bit floating point is missing on the CPU target"
