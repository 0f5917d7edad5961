/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that threads release which do not run a chunk of the launch, as threads that a chunk
 * starts. Chunks may have used it, and the next one that gets the memory shares nothing with them.
 * The chunks of each launch learn of it here, before they look at their next access.
 */
#ifndef KMM__EXECUTE_EXACT_RELEASED_H
#define KMM__EXECUTE_EXACT_RELEASED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kmm__work kmm__work_t;
typedef struct kmm__released kmm__released_t; /* of a launch, until its work ends */

/* Locked. */
kmm__released_t *kmm__released_make(kmm__work_t *w);
/* Tells all launches, but for that of `own`, that a block is released. Any locks may be held. */
void kmm__released_note(const kmm__released_t *own, uintptr_t begin, uintptr_t end);
/* False: there is no further block. One thread at a time asks for those of a launch. */
bool kmm__released_next(kmm__released_t *r, uintptr_t *begin, uintptr_t *end);

#endif
