/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: graphics interoperation is missing on the CPU target"
