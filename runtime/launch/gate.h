/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KMM_CHECK=result: while one thread's launch is compared, what other threads would submit waits.
 * Otherwise the launch's runs would begin with other values, and the arrays that are put back would
 * lose what was stored meanwhile. Without that check nothing here has an effect.
 *
 * A thread that is inside a chunk or a task does not wait, because the comparison may wait for it.
 * Chunks of the compared launch may wait for another thread, which waits here: a thread that waits
 * for long while the process does nothing passes the closed gate, and the launch is not compared.
 */
#ifndef KMM__LAUNCH_GATE_H
#define KMM__LAUNCH_GATE_H

#include <stdbool.h>

#include <kmm/launch.h>

/* Not locked: called before and after work is submitted. A thread that is within the gate does not
 * enter again, and kmm__gate_leave has no effect on a thread that is not within. */
void kmm__gate_enter(const kmm_runtime_t *rt);
void kmm__gate_leave(void);
/* Not locked: leaves the gate, and waits until no other thread is within it. Others then wait until
 * it is opened. */
/* False: threads within it seem to wait for this one. The gate is open then. */
bool kmm__gate_close(const kmm_runtime_t *rt);
void kmm__gate_open(void);
bool kmm__gate_was_passed(void);     /* since it was closed last */
bool kmm__gate_is_closed_here(void); /* by this thread */

#endif
