/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for copies of a task that no stream of the task waits for. */
#ifndef KMM__EXECUTE_COPIES_H
#define KMM__EXECUTE_COPIES_H

#include "memory/transfer.h"

/* Not locked: makes the end of each copy to the host mark its ticket done. Work on the host may
 * wait for it. */
void kmm__copies_announce(kmm__task_t *t, const kmm__moves_t *moves);

/* Locked, unlocks meanwhile: makes t wait for its copies before it counts as done. For a task that
 * could not be enqueued whole: no kernel of it waits for its copies, which still use its frames. */
void kmm__copies_drain(kmm__task_t *t);

#endif
