/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the body of a function as loops over the threads of a block. */
#ifndef KMMCC_CPU_LOOPS_SPLIT_H
#define KMMCC_CPU_LOOPS_SPLIT_H

#include <stddef.h>

#include "cpu/loops/emitter.h"

/*
 * Returns the body for a block as text, braces included, with the unit's edits applied. *flags gets
 * KMM_HOST_STATES and KMM_HOST_WIDE if they are true of it. Returns NULL if the body cannot be
 * split: *reason says why, and *reason_at is an offset in the source, or 0.
 */
const char *split_body(const split_t *s, int *flags, const char **reason, size_t *reason_at);

#endif
