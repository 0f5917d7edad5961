/* SPDX-License-Identifier: Apache-2.0 */
/* Growing lists of strings in the arena. */
#include "base/list.h"

#include "base/arena.h"

void list_add(list_t *l, const char *item)
{
    l->item = arena_grow(l->item, l->count, &l->capacity, sizeof(*l->item));
    l->item[l->count++] = item;
    l->item = arena_grow(l->item, l->count, &l->capacity, sizeof(*l->item));
    l->item[l->count] = NULL;
}
