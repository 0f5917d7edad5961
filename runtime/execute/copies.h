/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the copies of a task where its stream does not. */
#ifndef KMM__EXECUTE_COPIES_H
#define KMM__EXECUTE_COPIES_H

#include "memory/transfer.h"

/* Not locked: copies to the host are announced when they are over, because work on the host may
 * wait for them. */
void kmm__copies_announce(kmm__task_t *t, const kmm__moves_t *moves);

/* Locked, unlocks meanwhile: for a task that could not be enqueued whole. No kernel of it waits for
 * its copies, so the task itself does before it gives its frames back. */
void kmm__copies_drain(kmm__task_t *t);

#endif
