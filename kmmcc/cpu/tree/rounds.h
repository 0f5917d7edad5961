/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a loop runs in blocks of a known size: it is executed, as far as it is made of numbers,
 * its own variable and blockDim.
 */
#ifndef KMMCC_CPU_TREE_ROUNDS_H
#define KMMCC_CPU_TREE_ROUNDS_H

#include "cpu/tree/parts.h"
#include "cpu/tree/tree.h"

/*
 * The rounds of a loop of the block in blocks of that size; 0: that is not known, there is none, or
 * there are more than `most`.
 */
int extent_rounds(const node_t *loop, const parts_t *p, const unsigned extent[3], int most);

#endif
