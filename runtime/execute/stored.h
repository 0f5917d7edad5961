/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that plain functions store to memory, or find there. A chunk gets addresses of its
 * device. The program's memory holds the addresses that the program knows. */
#ifndef KMM__EXECUTE_STORED_H
#define KMM__EXECUTE_STORED_H

#include "task/task.h"

/* True if t calls a function whose memory may hold pointers, and gets other addresses than those
 * that the program knows. */
static inline bool kmm__stored_wants(const kmm__task_t *t)
{
    return (t->work->followed | t->work->pointed) && !t->work->is_translated;
}
/* Not locked: fails t if memory that it reads holds a pointer into an array that has another
 * address for t. Returns true if there is none. */
bool kmm__stored_check(kmm__task_t *t);
/* Not locked: replaces addresses that t's function has stored by those that the program knows. */
void kmm__stored_name(kmm__task_t *t);

#endif
