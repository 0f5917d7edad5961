/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuDNN is missing on the CPU target"
