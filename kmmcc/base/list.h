/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of strings in the arena. */
#ifndef KMMCC_BASE_LIST_H
#define KMMCC_BASE_LIST_H

typedef struct list {
    const char **item; /* item[count] is NULL; item itself is NULL until something is added */
    int count, capacity;
} list_t;
void list_add(list_t *l, const char *item);

#endif
