/* SPDX-License-Identifier: Apache-2.0 */
/* A source file in memory, and places in it. */
#include "base/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

/* The byte-order mark of UTF-8, with which a file may begin. */
static size_t mark_length(const source_t *s)
{
    return s->length >= 3 && !memcmp(s->text, "\xEF\xBB\xBF", 3) ? 3 : 0;
}

/* `#line 7 "name"` or `# 7 "name"`; false: the line is another. *name is as it is written, without
 * the quotes; NULL: the line says none. */
static bool read_marker(const char *text, unsigned *number, const char **name, size_t *length)
{
    text += strspn(text, " \t");
    if (*text != '#')
        return false;
    text += 1 + strspn(text + 1, " \t");
    if (strncmp(text, "line", 4) == 0)
        text += 4;
    text += strspn(text, " \t");
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    *number = (unsigned)strtoul(text, &end, 10);
    end += strspn(end, " \t");
    if (*end == '"') {
        *name = end + 1;
        *length = 0;
        while (!strchr("\"\n", (*name)[*length]))
            *length += (*name)[*length] == '\\' && (*name)[*length + 1] ? 2 : 1;
    }
    return true;
}

static void find_lines(source_t *s)
{
    unsigned count = 1;
    for (size_t k = 0; k < s->length; k++)
        count += s->text[k] == '\n';
    size_t *lines = arena_alloc(count * sizeof(*lines));
    lines[0] = mark_length(s);
    unsigned line = 1;
    for (size_t k = 0; k < s->length; k++)
        if (s->text[k] == '\n')
            lines[line++] = k + 1;
    s->lines = lines;
    s->line_count = count;
    const char *name;
    size_t length;
    for (unsigned k = 0; k < count && !s->has_markers; k++)
        s->has_markers = read_marker(s->text + lines[k], &line, &name, &length);
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

bool source_begins_line(const source_t *s, size_t offset)
{
    size_t k = offset, line = s->lines[source_line(s, offset) - 1];
    while (k > line && (s->text[k - 1] == ' ' || s->text[k - 1] == '\t'))
        k--;
    return k == line;
}

/* The number of the line, and the name of its file with escapes; NULL: the source's own. */
static const char *shown_line(const source_t *s, unsigned line, unsigned *shown, size_t *length)
{
    const char *name = NULL;
    unsigned number;
    *shown = line;
    for (unsigned k = 1; s->has_markers && k < line; k++)
        if (read_marker(s->text + s->lines[k - 1], &number, &name, length))
            *shown = number + (line - k - 1);
    return name;
}

char *source_line_marker(const source_t *s, unsigned line)
{
    size_t length = 0;
    unsigned shown;
    const char *name = shown_line(s, line, &shown, &length);
    return name ? arena_printf("#line %u \"%.*s\"", shown, (int)length, name)
                : arena_printf("#line %u %s", shown, text_quoted(s->path));
}

const char *source_shown(const source_t *s, unsigned line, unsigned *shown)
{
    size_t length = 0;
    const char *name = shown_line(s, line, shown, &length);
    text_t out = {0};
    if (!name)
        return s->path;
    for (size_t k = 0; k < length; k++) {
        k += name[k] == '\\' && k + 1 < length;
        text_add(&out, name + k, 1);
    }
    return out.data;
}
