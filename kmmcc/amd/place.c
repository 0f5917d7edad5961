/* SPDX-License-Identifier: Apache-2.0 */
/* Finds source lines in metadata: "!12 = !DILocation(line: 5, column: 3, scope: !7)". */
#include "amd/place.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"

struct places {
    const char **node; /* by number; NULL: there is none */
    unsigned long count;
};

static unsigned long number_of(const char *line, const char **behind)
{
    char *end;
    unsigned long number = strtoul(line + 1, &end, 10);
    *behind = end;
    return number;
}

places_t *places_read(const char *ir)
{
    places_t *p = arena_alloc(sizeof(*p));
    const char *behind;
    for (int pass = 0; pass < 2; pass++) {
        for (const char *at = strstr(ir, "\n!"); at; at = strstr(at + 1, "\n!")) {
            unsigned long number = number_of(at + 1, &behind);
            if (strncmp(behind, " = ", 3))
                continue;
            if (pass == 0 && number >= p->count)
                p->count = number + 1;
            if (pass == 1)
                p->node[number] = behind + 3;
        }
        if (pass == 0)
            p->node = arena_alloc((p->count + 1) * sizeof(*p->node));
    }
    return p;
}

/* What is behind the word in the node, such as "line: "; NULL: it has none. */
static const char *field(const char *node, const char *word)
{
    const char *end = node + strcspn(node, "\n"), *found = strstr(node, word);
    return found && found < end ? found + strlen(word) : NULL;
}

static const char *node_of(const places_t *p, const char *node, const char *word)
{
    const char *found = node ? field(node, word) : NULL, *behind;
    if (!found || *found != '!')
        return NULL;
    unsigned long number = number_of(found, &behind);
    return number < p->count ? p->node[number] : NULL;
}

/* The file of a location. */
static const char *file_of(const places_t *p, const char *location)
{
    const char *file = node_of(p, node_of(p, location, "scope: "), " file: ");
    const char *name = file ? field(file, "filename: \"") : NULL;
    return name ? arena_copy(name, strcspn(name, "\"")) : NULL;
}

static bool is_system(const char *path)
{
    static const char *const parts[] = {"/include/hip/", "/include/kmm/", "/lib/clang/",
                                        "/include/c++/"};
    for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
        if (strstr(path, parts[k]))
            return true;
    return false;
}

const char *places_text(const places_t *p, unsigned long location)
{
    enum { DEPTH = 64 };
    const char *node = location < p->count ? p->node[location] : NULL;
    const char *text = "?";
    for (int depth = 0; depth < DEPTH && node; depth++) {
        const char *file = file_of(p, node), *line = field(node, "line: ");
        if (file && line && strtoul(line, NULL, 10))
            text = arena_printf("%s:%lu", path_base(file), strtoul(line, NULL, 10));
        if (file && line && strtoul(line, NULL, 10) && !is_system(file))
            break;
        node = node_of(p, node, "inlinedAt: ");
    }
    return text;
}
