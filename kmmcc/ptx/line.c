/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the source lines of PTX instructions by the directives `.file` and `.loc`. */
#include "ptx/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef struct place {
    unsigned file, line, column;
} place_t;

/* A place, and the one that its function was inlined into; `into.file` 0: none. */
typedef struct location {
    place_t at, into;
} location_t;

typedef struct file {
    unsigned number;
    const char *name;
    bool is_system;
} file_t;

struct lines {
    file_t *files;
    int file_count, file_capacity;
    location_t *locations; /* in the function so far; the last one is current */
    int location_count, location_capacity;
};

static bool is_system(const char *path)
{
    return strstr(path, "/targets/") || strstr(path, "/include/kmm/");
}

static void add_file(lines_t *l, const char *directive)
{
    char *end;
    unsigned number = (unsigned)strtoul(directive, &end, 10);
    const char *open = strchr(end, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    if (!close)
        return;
    const char *path = arena_copy(open + 1, (size_t)(close - open - 1));
    const char *slash = strrchr(path, '/');
    l->files = arena_grow(l->files, l->file_count, &l->file_capacity, sizeof(*l->files));
    l->files[l->file_count++] = (file_t){number, slash ? slash + 1 : path, is_system(path)};
}

lines_t *lines_read(const char *ptx)
{
    lines_t *l = arena_alloc(sizeof(*l));
    for (const char *at = strstr(ptx, ".file"); at; at = strstr(at + 1, ".file"))
        add_file(l, at + strlen(".file"));
    return l;
}

void lines_follow(lines_t *l, const char *directive)
{
    location_t new = {0};
    if (sscanf(directive, ".loc %u %u %u", &new.at.file, &new.at.line, &new.at.column) != 3)
        return;
    const char *inlined = strstr(directive, "inlined_at");
    if (inlined && sscanf(inlined, "inlined_at %u %u %u", &new.into.file, &new.into.line,
                          &new.into.column) != 3)
        new.into.file = 0;
    if (!new.at.line) /* of no line: that of the instruction before */
        return;
    l->locations =
        arena_grow(l->locations, l->location_count, &l->location_capacity, sizeof(*l->locations));
    l->locations[l->location_count++] = new;
}

static const file_t *file_of(const lines_t *l, unsigned number)
{
    for (int k = 0; k < l->file_count; k++)
        if (l->files[k].number == number)
            return &l->files[k];
    return NULL;
}

/* What the place was inlined into, as the last `.loc` of it said. */
static place_t outer_of(const lines_t *l, place_t at)
{
    for (int k = l->location_count; k-- > 0;)
        if (!memcmp(&l->locations[k].at, &at, sizeof(at)))
            return l->locations[k].into;
    return (place_t){0};
}

const char *lines_text(const lines_t *l)
{
    enum { DEPTH = 64 };
    if (!l->location_count)
        return "?";
    location_t last = l->locations[l->location_count - 1];
    place_t at = last.at, outer = last.into;
    for (int depth = 0; depth < DEPTH && outer.file; depth++) {
        const file_t *f = file_of(l, at.file);
        if (f && !f->is_system)
            break;
        at = outer;
        outer = outer_of(l, at);
    }
    const file_t *f = file_of(l, at.file);
    return f ? arena_printf("%s:%u", f->name, at.line) : "?";
}
