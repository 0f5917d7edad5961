/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuSOLVER is missing on the CPU target"
