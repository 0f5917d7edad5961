/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text in the arena. */
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"

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
    va_list list;
    va_start(list, format);
    const char *added = arena_vprintf(format, list);
    va_end(list);
    text_add(t, added, strlen(added));
}

char *text_quoted(const char *text)
{
    text_t out = {0};
    text_add(&out, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            text_add(&out, "\\", 1);
        text_add(&out, text, 1);
    }
    text_add(&out, "\"", 1);
    return out.data;
}

bool text_is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list))
            return true;
    return false;
}
