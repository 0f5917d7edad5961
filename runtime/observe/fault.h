/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of faults: SIGSEGV and SIGBUS. */
#ifndef KMM__OBSERVE_FAULT_H
#define KMM__OBSERVE_FAULT_H

#include "base/runtime.h"

/* Installs the handler, or, with the last runtime, takes it back. It says which launch and chunk
 * has faulted, and which array is near; of a fault elsewhere, which array it is in. Then the
 * process ends as it would have: a handler that the program had installed before is called, and is
 * the only one that is where it comes later. Of faults outside of chunks a program with a handler
 * of its own is told nothing. */
void kmm__fault_watch(kmm_runtime_t *rt);
void kmm__fault_unwatch(kmm_runtime_t *rt);

#endif
