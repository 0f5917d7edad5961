/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that the command line defines. */
#include "pragma/definition.h"

#include <string.h>

#include "base/arena.h"

const source_t *definition_of_flag(const options_t *o, int flag)
{
    const char *text = o->parse_flags[flag];
    if (strncmp(text, "-D", 2) != 0)
        return NULL;
    const bool is_next = !text[2];
    text = !is_next ? text + 2 : flag + 1 < o->parse_flag_count ? o->parse_flags[flag + 1] : "";
    size_t name = strcspn(text, "=");
    const char *line =
        arena_printf("#define %.*s %s\n", (int)name, text, text[name] ? text + name + 1 : "1");
    return source_from("", line, strlen(line));
}
