/* SPDX-License-Identifier: Apache-2.0 */
/* Coherence summaries: facts about the coherence of a whole array, so that its map need not be
 * asked. They say which spaces hold everything, and whether only one device does. All functions are
 * called with the runtime's lock. */
#ifndef KMM__MEMORY_SUMMARY_H
#define KMM__MEMORY_SUMMARY_H

#include "memory/array.h"

/* True if reading an element that was never written is an error for t: the array is mapped `from`
 * or `alloc`, and its map has not ended. */
bool kmm__array_starts_empty(const kmm__array_t *a, const kmm__task_t *t);
/* Records that t found the newest value of all of the box in its space. */
void kmm__coherence_summary_note_seen(kmm__array_t *a, const kmm__task_t *t, const kmm__box_t *box);
/* Records that t writes the box, after the map was changed. */
void kmm__coherence_summary_note_written(kmm__array_t *a, kmm__task_t *t, const kmm__box_t *box);
/* True if t is a task of the array's sole writer. Then only the writer's last ticket is changed,
 * and the map stays. */
bool kmm__coherence_summary_writes_sole(kmm__array_t *a, kmm__task_t *t);
/* Ends the sole writer: puts its last ticket into the map. Called before the map is read or changed
 * for another task. */
void kmm__coherence_summary_end(kmm__array_t *a);
void kmm__coherence_summary_free(kmm__array_t *a);
/* True if the space holds the newest value of every element that was ever written. */
bool kmm__coherence_summary_is_there(kmm__array_t *a, uint32_t space);

#endif
