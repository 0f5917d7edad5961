/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of rounds of a loop in blocks of a known size. kmmcc executes the loop if it is made
 * of numbers, its own variable and blockDim.
 */
#ifndef KMMCC_CPU_TREE_ROUNDS_H
#define KMMCC_CPU_TREE_ROUNDS_H

#include "cpu/tree/parts.h"
#include "cpu/tree/tree.h"

/*
 * Returns the number of rounds of the loop in blocks of the size `extent`. Returns 0 if it is not
 * known or exceeds `most`.
 */
int extent_rounds(const node_t *loop, const parts_t *p, const unsigned extent[3], int most);

#endif
