/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: NPP is missing on the CPU target"
