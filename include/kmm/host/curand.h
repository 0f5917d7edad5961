/* SPDX-License-Identifier: Apache-2.0 */
#error "kmm: cuRAND's library for the host is missing on the CPU target"
