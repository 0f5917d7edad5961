/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of an object: a map from its elements to the task that wrote each last and those that
 * have read it since. All functions are called with the runtime's lock.
 */
#ifndef KMM__TASK_USERS_H
#define KMM__TASK_USERS_H

#include "task/task.h"

/* The tasks that have read a box since it was written: u->reader_count of them. */
kmm__task_t *const *kmm__users_readers(const kmm__users_t *u);
/* The box has been written: `written` takes the place of its users. */
void kmm__users_replace(kmm__users_t *u, const kmm__users_t *written);

/* Notes that t reads what its access says. */
void kmm__reads_push(kmm__reads_t *r, kmm__task_t *t, uint32_t access);
/* Enters the noted reads into the map, but for those of `writer`, which is about to write. */
void kmm__reads_enter(kmm__object_t *o, const kmm__task_t *writer);

/* An access's region as boxes of the map of users; see kmm__shape_map_boxes. */
int kmm__object_boxes(kmm__object_t *o, const kmm__access_t *a, kmm__box_t out[2 * KMM__DIMS]);

/* Makes the map. 0 or KMM_E_MEMORY. */
int kmm__object_init(kmm__object_t *o, const kmm__layout_t *flat);
/* No task uses it any more. */
void kmm__object_deinit(kmm__object_t *o);

#endif
