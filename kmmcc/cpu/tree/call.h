/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in a body: their names, arguments and how these are passed; and which are collective. */
#ifndef KMMCC_CPU_TREE_CALL_H
#define KMMCC_CPU_TREE_CALL_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "cpu/tree/tree.h"

/* How a function takes an argument; PASSED_UNKNOWN: that is not known. */
typedef enum passing {
    PASSED_BY_VALUE,
    PASSED_BY_CONST,
    PASSED_BY_REFERENCE,
    PASSED_UNKNOWN
} passing_t;

bool is_reference_type(CXType type);
/* The name of the function, of a member too; "" where there is none. */
const char *call_name(const node_t *call);
/* The arguments that are written; how many there are, which may be more than `room`. */
int call_arguments(const node_t *call, node_t **argument, int room);
passing_t call_passing(const node_t *call, const node_t *argument);
/* __syncthreads or __syncwarp. */
bool call_is_barrier(const node_t *call);
/* Sets what the calls in `n` are. */
void call_find_collectives(const body_tree_t *b, node_t *n, collective_of_t collective_of,
                           const void *context);
/* Whether each word that may be a collective call is one in the tree; if not, the body cannot be
 * split. */
bool call_are_all_found(body_tree_t *b, collective_of_t collective_of, const void *context);

#endif
