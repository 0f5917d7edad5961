/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the coherence of a whole array, so that its map need not be asked: which spaces
 * hold everything, and whether one device alone does. All functions are called with the runtime's
 * lock. */
#ifndef KMM__MEMORY_SUMMARY_H
#define KMM__MEMORY_SUMMARY_H

#include "memory/array.h"

/* True for memory mapped `from` or `alloc`, before its map ends: t may not read there what nothing
 * has written. */
bool kmm__array_starts_empty(const kmm__array_t *a, const kmm__task_t *t);
/* t found all of the box in its space. */
void kmm__coherence_summary_note_seen(kmm__array_t *a, const kmm__task_t *t, const kmm__box_t *box);
/* t writes the box, and the map says so. 0 or an error. */
int kmm__coherence_summary_note_written(kmm__array_t *a, kmm__task_t *t, const kmm__box_t *box);
/* True if t writes an array that only its device holds. Notes its ticket; the map stays. */
bool kmm__coherence_summary_writes_sole(kmm__array_t *a, kmm__task_t *t);
/* Puts what is known of a sole writer into the map: before another task reads or changes it. */
int kmm__coherence_summary_end(kmm__array_t *a);
void kmm__coherence_summary_free(kmm__array_t *a);

#endif
