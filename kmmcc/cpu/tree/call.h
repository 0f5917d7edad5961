/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in a function's body: their names and arguments, how arguments are passed, and which calls
 * are collective. */
#ifndef KMMCC_CPU_TREE_CALL_H
#define KMMCC_CPU_TREE_CALL_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "cpu/tree/tree.h"

/* How a function takes an argument. PASSED_UNKNOWN: clang does not tell. */
typedef enum passing {
    PASSED_BY_VALUE,
    PASSED_BY_CONST,
    PASSED_BY_REFERENCE,
    PASSED_UNKNOWN
} passing_t;

/* True for references to lvalues and rvalues. */
bool is_reference_type(CXType type);
/* Returns the name of the called function or member function; "" if it has none. */
const char *call_name(const node_t *call);
/* Stores the first `room` arguments that the call has in the source. Returns how many there are. */
int call_arguments(const node_t *call, node_t **argument, int room);
/* Returns how the function takes the argument. */
passing_t call_passing(const node_t *call, const node_t *argument);
/* True for __syncthreads and __syncwarp. */
bool call_is_barrier(const node_t *call);
/* Sets `called`, `collective`, `collective_name` and `has_collective` in the tree `n`. */
void call_find_collectives(const body_tree_t *b, node_t *n, collective_of_t collective_of,
                           const void *context);
/* True if each name in the body's text that may be a collective call belongs to one in the tree.
 * Otherwise the body cannot be split. */
bool call_are_all_found(body_tree_t *b, collective_of_t collective_of, const void *context);

#endif
