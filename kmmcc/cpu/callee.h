/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites device functions that have barriers as functions for a thread block. */
#ifndef KMMCC_CPU_CALLEE_H
#define KMMCC_CPU_CALLEE_H

#include "cpu/program/program.h"
#include "cpu/tree/tree.h"

/* Returns how the threads of a block execute a call of `name`. `context` is the program_t. */
collective_t callee_collective_of(const void *context, const char *name);
/* Adds the functions with barriers that cannot be split to h->fibers. A function that calls one of
 * these cannot be split either. */
void callees_find_fibers(program_t *h);
/* Adds the edits of the functions with barriers that can be split. */
void callees_edit(const program_t *h);

#endif
