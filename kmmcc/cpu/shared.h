/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory: declarations of it, of which `extern` ones are the block's dynamic memory. */
#ifndef KMMCC_CPU_SHARED_H
#define KMMCC_CPU_SHARED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "clang/unit.h"
#include "cpu/program/tokens.h"

void shared_edit_fibers(unit_t *u, size_t begin, size_t end);
bool shared_is_declared(const source_t *s, const tokens_t *list, int k);
void shared_edit(unit_t *u, const tokens_t *list, int k);

#endif
