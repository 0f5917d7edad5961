/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a launch, and the addresses in arrays that are among them. All are called with
 * the runtime's lock. */
#ifndef KMM__LAUNCH_ARGUMENTS_H
#define KMM__LAUNCH_ARGUMENTS_H

#include "launch/submission.h"

enum { KMM__MAX_ARGS_BYTES = 32768 };

/* Copies the arguments into the work. */
int kmm__arguments_pack(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args);
void kmm__arguments_copy(kmm__submission_t *s, const void *args, size_t bytes); /* of a function */

/* Once items have their arrays: notes every aligned word of the arguments that is an address in an
 * array, or the base of an item. */
void kmm__arguments_find(kmm__submission_t *s);

/* Every pointer into an array must be in a clause: the runtime has to bring what is behind it. */
int kmm__arguments_check(kmm__submission_t *s);

#endif
