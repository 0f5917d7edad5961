/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches in native standing whose results depend on chunks, as those that reduce floating-point
 * numbers do. Their bits must not depend on what fits. So they are divided as in managed standing:
 * each chunk works on its partial, and the partials are folded in the same order.
 *
 * All is enqueued on the program's stream: a kernel that fills partials with identities, the
 * chunks, a kernel that folds. The chunks are one launch if the clone finds the partial of each
 * block by itself (kmm_partials_head_t of kmm/launch.h), and else launches one after the other. The
 * fold leaves identities behind, so that the next launch of the kind needs no fill.
 */
#ifndef KMM__LAUNCH_NATIVE_CHUNKS_H
#define KMM__LAUNCH_NATIVE_CHUNKS_H

#include "launch/submission.h"

/* How such a launch is made. Launches with the same description share it: their checks found it
 * once (launch/memo.h). */
typedef struct kmm__native_chunks kmm__native_chunks_t;

/* Locked. Returns how to make the launch, whose checks are done and whose reductions are planned
 * (kmm__reduce_plan_natively), with one reference. NULL: the device cannot do it. */
kmm__native_chunks_t *kmm__native_chunks_make(const kmm__submission_t *s);
void kmm__native_chunks_ref(kmm__native_chunks_t *chunks);
/* Not locked: gives a reference back. NULL is allowed. */
void kmm__native_chunks_unref(kmm__native_chunks_t *chunks);

/* Keeps a launch for this thread, until kmm__native_chunks_enqueue, with a reference of its own.
 * Until then args and what they point to stay as they are. */
void kmm__native_chunks_keep(kmm__native_chunks_t *chunks, const kmm_geometry_t *geometry,
                             void **args);
/* Not locked, between kmm__native_chunks_keep and the next call of this thread: gets memory for the
 * partials. False: there is none, and nothing is kept any more. */
bool kmm__native_chunks_reserve(void);
/* Not locked: enqueues the launch that this thread keeps. If `error` is not 0, it only forgets it,
 * and returns `error`. Returns 0 or an error with its text. */
int kmm__native_chunks_enqueue(int error);

#endif
