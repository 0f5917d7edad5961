/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of all of an array, so that its coherence map need not be asked. Functions are
 * called with the lock. */
#ifndef KMM__MEMORY_SETTLED_H
#define KMM__MEMORY_SETTLED_H

#include "memory/array.h"

/* Whether reading what nobody has written is an error: memory that is mapped `from` or `alloc`. */
bool kmm__array_starts_empty(const kmm__array_t *a);
void kmm__coherence_summary_note_seen(kmm__array_t *a, const kmm__task_t *t, const kmm__box_t *box);
int kmm__coherence_summary_note_stored(kmm__array_t *a, kmm__task_t *t, const kmm__box_t *box);
bool kmm__coherence_summary_writes_sole(kmm__array_t *a, kmm__task_t *t);
int kmm__coherence_summary_end(kmm__array_t *a);
void kmm__coherence_summary_free(kmm__array_t *a);

#endif
