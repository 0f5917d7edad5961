/* SPDX-License-Identifier: Apache-2.0 */
/* A source file in memory, and places in it. */
#include "base/source.h"

#include <errno.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/text.h"

static void find_lines(source_t *s)
{
    unsigned count = 1;
    for (size_t k = 0; k < s->length; k++)
        count += s->text[k] == '\n';
    size_t *lines = arena_alloc(count * sizeof(*lines));
    unsigned line = 1;
    for (size_t k = 0; k < s->length; k++)
        if (s->text[k] == '\n')
            lines[line++] = k + 1;
    s->lines = lines;
    s->line_count = count;
}

source_t *source_from(const char *path, const char *text, size_t length)
{
    source_t *s = arena_alloc(sizeof(*s));
    s->path = path;
    s->text = arena_copy(text, length);
    s->length = length;
    find_lines(s);
    return s;
}

source_t *source_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    text_t text = {0};
    char part[65536];
    size_t got;
    text_add(&text, "", 0);
    while ((got = fread(part, 1, sizeof(part), file)) > 0)
        text_add(&text, part, got);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed) {
        errno = failed;
        return NULL;
    }
    return source_from(path, text.data, text.length);
}

void source_place(const source_t *s, size_t offset, unsigned *line, unsigned *column)
{
    unsigned low = 0, high = s->line_count; /* lines[low] <= offset < lines[high] */
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (s->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    *line = low + 1;
    if (column)
        *column = (unsigned)(offset - s->lines[low]) + 1;
}

unsigned source_line(const source_t *s, size_t offset)
{
    unsigned line;
    source_place(s, offset, &line, NULL);
    return line;
}

char *source_line_marker(const source_t *s, unsigned line)
{
    return arena_printf("#line %u %s", line, text_quoted(s->path));
}
