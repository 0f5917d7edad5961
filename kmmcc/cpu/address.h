/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of kernels: `(void *)k` notes the kernel's parameters, for launches by its address. */
#ifndef KMMCC_CPU_ADDRESS_H
#define KMMCC_CPU_ADDRESS_H

#include <clang-c/Index.h>

enum CXChildVisitResult address_edit(CXCursor c, CXCursor parent, CXClientData data);

#endif
