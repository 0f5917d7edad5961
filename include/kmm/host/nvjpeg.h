/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: nvJPEG is missing on the CPU target"
