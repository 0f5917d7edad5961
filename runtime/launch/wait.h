/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for all work on one array, or on a part of it; or for that of a launch. */
#ifndef KMM__LAUNCH_WAIT_H
#define KMM__LAUNCH_WAIT_H

#include "launch/submission.h"
#include "memory/array.h"

/* Waits until all tasks that use the array are done. Returns 0 or an error of one of them. The
 * caller holds the lock, which is released meanwhile. A map that a launch with nowait has left
 * stays; kmm_wait_array ends it. */
int kmm__array_await(kmm_runtime_t *rt, kmm__array_t *a);
/* The same for bytes [begin, end); it may wait for readers of others, too. */
int kmm__bytes_await(kmm_runtime_t *rt, kmm__array_t *a, int64_t begin, int64_t end);
/* Not locked: waits until all tasks that were submitted are done, and what else uses the launch's
 * arrays. Returns 0 or an error of such work. */
int kmm__submission_await(const kmm__submission_t *s);

#endif
