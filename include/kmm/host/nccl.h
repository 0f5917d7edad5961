/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: NCCL is missing on the CPU target"
