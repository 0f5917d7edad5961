/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as the program, and arrays that grow in it. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20, ALIGNMENT = 16 };

static char *block;
static size_t block_left;

void *arena_alloc(size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > block_left) {
        block_left = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = calloc(1, block_left);
        if (!block) {
            fputs("kmmcc: out of memory\n", stderr);
            exit(1);
        }
    }
    char *result = block;
    block += bytes;
    block_left -= bytes;
    return result;
}

char *arena_copy(const char *text, size_t length)
{
    char *copy = arena_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_vprintf(const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int count = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *result = arena_alloc((size_t)count + 1);
    vsnprintf(result, (size_t)count + 1, format, list);
    return result;
}

char *arena_printf(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *result = arena_vprintf(format, list);
    va_end(list);
    return result;
}

void *arena_grow(void *items, int count, int *capacity, size_t size)
{
    enum { FIRST_CAPACITY = 16 };
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    void *grown = arena_alloc((size_t)*capacity * size);
    if (count)
        memcpy(grown, items, (size_t)count * size);
    return grown;
}
