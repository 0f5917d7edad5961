/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: NVML is missing on the CPU target"
