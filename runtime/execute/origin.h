/* SPDX-License-Identifier: Apache-2.0 */
/* The places where elements of a launch's items begin, for chunks that work on copies. */
#ifndef KMM__EXECUTE_ORIGIN_H
#define KMM__EXECUTE_ORIGIN_H

#include "task/task.h"

/* The begin of the elements of a launch's item. The array exists as long as tasks of the launch do.
 */
typedef struct kmm__origin {
    const kmm__array_t *array; /* NULL: the item has no elements */
    int64_t offset, element; /* bytes: from the array's base to the first element; of one element */
} kmm__origin_t;

#endif
