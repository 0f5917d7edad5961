/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept descriptions. A launch in native standing that has been made as it stands comes again often,
 * with the same values. Then neither its description nor what its checks would find can differ. So
 * both are kept at its place in the source (kmm_site_t), with the values that the description was
 * made of. The next launch there that has these values is not described. If its kernel, grid, block
 * and arguments are those of the kept launch too, it is made at once.
 *
 * A launch is kept by the values of its description; of its arguments' words, those that may lie in
 * arrays; and memory->index_changes, which tells arrays apart that have one address after the
 * other. The stream and what a graph captures are not looked at: a launch as it stands is made on
 * the stream that it names. No launch is kept that rounds, that is divided, or that has several
 * GPUs to choose from.
 *
 * A kept description belongs to the place, or to the one thread that has taken it for its launch.
 * While it is taken, the launches of other threads are described anew. So nothing here is locked.
 */
#ifndef KMM__LAUNCH_KEEP_H
#define KMM__LAUNCH_KEEP_H

#include "launch/memo.h"

typedef struct kmm__kept kmm__kept_t;

/* Looks for the description that was kept for these values by the current runtime, and arms it.
 * NULL: there is none that native standing could use now. */
kmm_launch_t *kmm__kept_arm(const kmm_runtime_t *rt, kmm_site_t *site, const kmm_value_t *values,
                            uint32_t count);
/* Makes the launch for which this thread has armed such a description, if it is the kept launch:
 * enters the native call, and returns the ordinal of the GPU. -1: it has to be submitted.
 * args[k - first] points to the value of the kernel's parameter k. */
int kmm__kept_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args,
                     uint32_t first);

/* Prepares to keep a launch that is made as it stands. Its arguments are compared if `words` is not
 * NULL; they have not changed since `index_changes`. */
kmm__kept_t *kmm__kept_make(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                            bool has_first, const kmm__words_t *words, uint64_t index_changes);
/* Keeps the description, which is as it was armed. */
void kmm__kept_keep(kmm__kept_t *k, kmm_launch_t *l);
/* Gives one back that kmm__kept_arm has taken. */
void kmm__kept_return(kmm__kept_t *k);

#endif
