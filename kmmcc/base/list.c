/* SPDX-License-Identifier: Apache-2.0 */
/* Growing lists of strings in the arena. */
#include "base/list.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"

void list_add(list_t *l, const char *item)
{
    if (l->count + 1 >= l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 16;
        const char **grown = arena_alloc((size_t)l->capacity * sizeof(*grown));
        if (l->count)
            memcpy(grown, l->item, (size_t)l->count * sizeof(*grown));
        l->item = grown;
    }
    l->item[l->count++] = item;
    l->item[l->count] = NULL;
}
