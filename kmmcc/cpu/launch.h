/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites launches: `k<<<grid, block>>>(n, x)` becomes `(kmm_host_configure(grid, block), k(n,
 * x))`. Launches are found by their tokens, so that those in macros and templates are found too.
 */
#ifndef KMMCC_CPU_LAUNCH_H
#define KMMCC_CPU_LAUNCH_H

#include "clang/unit.h"
#include "cpu/program/tokens.h"

/* Adds the edits of the launch whose `<<<` is token k. */
void launch_edit(unit_t *u, const tokens_t *list, int k);

#endif
