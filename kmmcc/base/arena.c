/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as the program, and growing text in it. */
#include "kmmcc.h"

#include <stdarg.h>
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

static char *print_list(const char *format, va_list list, size_t *length)
{
    va_list again;
    va_copy(again, list);
    int count = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *result = arena_alloc((size_t)count + 1);
    vsnprintf(result, (size_t)count + 1, format, list);
    *length = (size_t)count;
    return result;
}

char *arena_printf(const char *format, ...)
{
    size_t length;
    va_list list;
    va_start(list, format);
    char *result = print_list(format, list, &length);
    va_end(list);
    return result;
}

void text_add(text_t *t, const char *s, size_t length)
{
    if (t->length + length + 1 > t->capacity) {
        t->capacity = 2 * (t->length + length) + 256;
        char *data = arena_alloc(t->capacity);
        if (t->length)
            memcpy(data, t->data, t->length);
        t->data = data;
    }
    memcpy(t->data + t->length, s, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_printf(text_t *t, const char *format, ...)
{
    size_t length;
    va_list list;
    va_start(list, format);
    const char *added = print_list(format, list, &length);
    va_end(list);
    text_add(t, added, length);
}
