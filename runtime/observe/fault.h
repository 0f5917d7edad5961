/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of faults: SIGSEGV and SIGBUS. */
#ifndef KMM__OBSERVE_FAULT_H
#define KMM__OBSERVE_FAULT_H

#include "base/runtime.h"

/*
 * Installs the handler for a runtime. kmm__fault_unwatch removes it with the last runtime.
 *
 * The message for a fault in a chunk names the launch, the chunk and the nearest array. The message
 * for a fault elsewhere names the array that the address lies in. The process then ends as it would
 * have without kmm.
 *
 * A handler that the program had installed before is called after the message of a fault in a
 * chunk. For a fault elsewhere such a handler is called without a message. A handler that the
 * program installs later replaces this one.
 */
void kmm__fault_watch(kmm_runtime_t *rt);
void kmm__fault_unwatch(kmm_runtime_t *rt);

#endif
