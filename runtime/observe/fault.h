/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a program that uses the address of an array itself. */
#ifndef KMM__OBSERVE_FAULT_H
#define KMM__OBSERVE_FAULT_H

#include "base/runtime.h"

/* Locked. A program that dies at an array's address says so first, if it has no handler of its own.
 */
void kmm__fault_watch(kmm_runtime_t *rt);
void kmm__fault_unwatch(kmm_runtime_t *rt);

#endif
