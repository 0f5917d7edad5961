/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics for a program that dereferences the address of an array itself. */
#ifndef KMM__OBSERVE_FAULT_H
#define KMM__OBSERVE_FAULT_H

#include "base/runtime.h"

/* Installs or removes the fault handler, unless the program has a handler of its own. If the
 * program dies at an address of an array, the handler first prints which array it is. The caller
 * holds the lock. */
void kmm__fault_watch(kmm_runtime_t *rt);
void kmm__fault_unwatch(kmm_runtime_t *rt);

#endif
