/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with barriers, as loops over the threads of a block. */
#ifndef KMMCC_CPU_LOOPS_SPLIT_H
#define KMMCC_CPU_LOOPS_SPLIT_H

#include <stddef.h>

#include "cpu/loops/emitter.h"

/*
 * The text of a body for the block, braces included, whose edits it takes from the unit; *flags:
 * what else kmm_launch.h must know. NULL: it cannot be split, for *reason.
 */
const char *split_body(const split_t *s, int *flags, const char **reason, size_t *reason_at);

#endif
