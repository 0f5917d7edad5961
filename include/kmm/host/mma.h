/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: tensor cores (mma.h) are missing on the CPU target"
