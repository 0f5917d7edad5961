/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: run-time compilation (NVRTC) is missing on the CPU target"
