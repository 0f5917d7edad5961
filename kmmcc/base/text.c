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
        if (*text == '\n') {
            text_add(&out, "\\n", 2);
            continue;
        }
        if (*text == '"' || *text == '\\')
            text_add(&out, "\\", 1);
        text_add(&out, text, 1);
    }
    text_add(&out, "\"", 1);
    return out.data;
}

size_t text_utf8(const char *s, const char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (s == end)
        return 0;
    unsigned char lead = (unsigned char)*s;
    size_t bytes = lead < 0x80    ? 1
                   : lead >= 0xF8 ? 0
                   : lead >= 0xF0 ? 4
                   : lead >= 0xE0 ? 3
                   : lead >= 0xC2 ? 2
                                  : 0;
    if ((size_t)(end - s) < bytes)
        return 0;
    *code = bytes > 1 ? lead & (0xFFu >> (bytes + 1)) : lead;
    for (size_t k = 1; k < bytes; k++) {
        if (((unsigned char)s[k] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)s[k] & 0x3F);
    }
    bool surrogate = *code >= 0xD800 && *code < 0xE000;
    return bytes && *code >= least[bytes] && *code <= 0x10FFFF && !surrogate ? bytes : 0;
}

bool text_is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list))
            return true;
    return false;
}
