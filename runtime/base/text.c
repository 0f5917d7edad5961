/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are written piece by piece into memory of a fixed size. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

void kmm__text_say(kmm__text_t *text, const char *format, ...)
{
    const size_t room = text->size - text->length;
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text->out + text->length, room, format, list);
    va_end(list);
    if (n > 0)
        text->length += (size_t)n < room ? (size_t)n : room - 1;
}
