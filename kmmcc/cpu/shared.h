/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites declarations of shared memory. One that is `extern` becomes a pointer to the block's
 * dynamic shared memory. */
#ifndef KMMCC_CPU_SHARED_H
#define KMMCC_CPU_SHARED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "clang/unit.h"
#include "cpu/program/tokens.h"

/* Edits the shared memory in [begin, end), a kernel whose threads are fibers. */
void shared_edit_fibers(unit_t *u, size_t begin, size_t end);
/* True if token k is `__shared__`. */
bool shared_is_declared(const source_t *s, const tokens_t *list, int k);
/* Edits the declaration whose `__shared__` is token k, if it is `extern` or `static`. */
void shared_edit(unit_t *u, const tokens_t *list, int k);

#endif
