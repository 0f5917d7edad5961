/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of kernels. A cast `(void *)k` becomes `(void *)kmm_host_kernel(k)`, which records the
 * kernel's parameters for launches by address. */
#ifndef KMMCC_CPU_ADDRESS_H
#define KMMCC_CPU_ADDRESS_H

#include <clang-c/Index.h>

/* Visitor: adds the edits of a cast of a kernel's address. `data` is the main unit. */
enum CXChildVisitResult address_edit(CXCursor c, CXCursor parent, CXClientData data);

#endif
