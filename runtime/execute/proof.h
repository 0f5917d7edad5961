/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the graph of a kernel proves that a chunk stays within its clauses. */
#ifndef KMM__EXECUTE_PROOF_H
#define KMM__EXECUTE_PROOF_H

#include <stdbool.h>

#include "task/task.h"

/* Not locked: true if each access that the chunk can make is one that its clauses allow, and it
 * stores all that `write` items name. False: that is not so, or is not known. */
bool kmm__proof_holds(const kmm__task_t *t);

#endif
