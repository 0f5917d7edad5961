/* SPDX-License-Identifier: Apache-2.0 */
/* What the statements of a task do with the names of its arrays. */
#ifndef KMMCC_ANALYZE_TASK_NAME_H
#define KMMCC_ANALYZE_TASK_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* A place where an array is meant, and not the address of its first element, as in `sizeof a`. */
typedef struct array_place {
    int item;          /* index of the first item with that base */
    size_t begin, end; /* of the name in the source */
    bool is_hidden;    /* a macro's body writes the name; the place is then that of the macro */
} array_place_t;

typedef struct task_names {
    /* The task runs on the CPU: it says so, or its statements load or store elements. Then each
     * array is at its own address. */
    bool on_cpu;
    bool says_device; /* it has a clause `device` */
    array_place_t *place;
    int count, capacity;
} task_names_t;

/* True if the item's base is an array, and not a pointer. */
bool task_name_is_array(const item_t *item);
/* True if the source can declare a reference or a pointer to the array: its type has a name. */
bool task_name_has_type(const unit_t *u, const item_t *item);
/* Returns the index of the first item with the same base as item `number`. */
int task_name_first(const unit_t *u, const directive_t *d, int number);
/* Returns what the statements do. */
task_names_t task_names(const unit_t *u, const directive_t *d);
/* Reports statements that change a pointer that an item names, and names that cannot be the array.
 */
void check_task_names(const unit_t *u, const directive_t *d);

#endif
