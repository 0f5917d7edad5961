/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuSPARSE is missing on the CPU target"
