/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the device that have barriers, as functions for a block. */
#ifndef KMMCC_CPU_CALLEE_H
#define KMMCC_CPU_CALLEE_H

#include "cpu/program/program.h"
#include "cpu/tree/tree.h"

/* What a call of the name is to the threads of a block. */
collective_t callee_collective_of(const void *context, const char *name);
/* Finds those that cannot be split, which makes those that call them fibers too. */
void callees_find_fibers(program_t *h);
/* Edits all others. */
void callees_edit(const program_t *h);

#endif
