/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a launch, and the array addresses among them. The caller holds the runtime's
 * lock. */
#ifndef KMM__LAUNCH_ARGUMENTS_H
#define KMM__LAUNCH_ARGUMENTS_H

#include "launch/submission.h"

enum { KMM__MAX_ARGS_BYTES = 32768 };

/* Copies the arguments of a kernel, or below of a function, into the launch's work. */
int kmm__arguments_pack(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args);
void kmm__arguments_copy(kmm__submission_t *s, const void *args,
                         size_t bytes); /* a function's arguments */

/* Finds the aligned words of the arguments. */
void kmm__arguments_words(kmm__submission_t *s);
/* Records every word of the arguments that means an item or is an address in an array, or refuses
 * the launch. The items must have their arrays. */
int kmm__arguments_find(kmm__submission_t *s);

/* Checks that a clause names every array that the arguments point into, since the runtime moves
 * only data of clauses; and that no argument points beside an array that none points into. */
int kmm__arguments_check(kmm__submission_t *s);

/* True if the function only compares this pointer of its arguments, or computes a distance with it.
 */
bool kmm__argument_is_compared(const kmm__submission_t *s, const kmm__pointer_t *pointer);

#endif
