/* SPDX-License-Identifier: Apache-2.0 */
/* The users of an object: a map from its elements to the task that wrote each last, and the tasks
 * that have read it since. All functions are called with the runtime's lock. */
#ifndef KMM__TASK_USERS_H
#define KMM__TASK_USERS_H

#include "task/task.h"

/* The u->reader_count tasks that have read a box since it was written. */
static inline kmm__task_t *const *kmm__users_readers(const kmm__users_t *u)
{
    return u->reader_capacity ? u->readers.many : u->readers.few;
}
void kmm__users_drop(void *ctx, void *value); /* drops a value's references */
/* Replaces a box's users by `written`, after a write. */
static inline void kmm__users_replace(kmm__users_t *u, const kmm__users_t *written)
{
    kmm__task_ref(written->writer);
    kmm__users_drop(NULL, u);
    *u = *written;
}

/* Adds access number `access` of t, a read, to the list. */
void kmm__reads_push(kmm__reads_t *r, kmm__task_t *t, uint32_t access);
/* Moves the reads in the object's list to its map, but for those of `writer`, which is about to
 * write. Reads of tasks that are done are dropped. */
void kmm__reads_enter(kmm__object_t *o, const kmm__task_t *writer);

/* Operations of maps of users. */
extern const kmm__map_ops_t kmm__users_ops;

/* Translates an access's region to boxes of the object's map of users; see kmm__shape_map_boxes. */
static inline int kmm__object_boxes(kmm__object_t *o, const kmm__access_t *a,
                                    kmm__box_t out[2 * KMM__DIMS])
{
    return kmm__access_boxes(a, &o->users, &kmm__users_ops, NULL, out);
}

/* Notes that all of the object was written last in that space. No task has used it. */
void kmm__object_home(kmm__object_t *o, uint32_t space);
/* Makes the object's map. */
void kmm__object_init(kmm__object_t *o, const kmm__layout_t *flat);
/* Frees what the object owns. No unfinished task uses it. */
void kmm__object_deinit(kmm__object_t *o);

#endif
