/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: `k<<<grid, block>>>(n, x)` becomes `(kmm_host_configure(grid, block), k(n, x))`. They
 * are found by their tokens, which works in macros and templates alike.
 */
#ifndef KMMCC_CPU_LAUNCH_H
#define KMMCC_CPU_LAUNCH_H

#include "clang/unit.h"
#include "cpu/program/tokens.h"

/* The launch whose `<<<` is token k. */
void launch_edit(unit_t *u, const tokens_t *list, int k);

#endif
