/* SPDX-License-Identifier: Apache-2.0 */
/* What the user has asked to see of a run: listeners of the trace points (base/trace.h). */
#ifndef KMM__OBSERVE_TRACE_H
#define KMM__OBSERVE_TRACE_H

#include "base/runtime.h"

/* Starts the listeners of the process, if this is its first runtime, and tells them of the
 * runtime's devices. Called before the devices' threads start. Returns 0 or an error with its text.
 */
int kmm__observe_start(kmm_runtime_t *rt);
/* Not locked: the listeners have all that happened so far, and their files are whole. */
void kmm__observe_end(void);

#endif
