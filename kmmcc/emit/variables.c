/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the table of the variables that a plain function reads by their names. */
#include "emit/variables.h"

#include "analyze/by_name.h"
#include "base/arena.h"
#include "base/text.h"

const char *variables_table(unit_t *u, const directive_t *d, const char *name, int *count)
{
    const names_t names = by_name_find(u, d);
    text_t out = {0};
    *count = names.count;
    for (int k = 0; k < names.count; k++) {
        const named_t *n = &names.at[k];
        const char *at =
            arena_printf(u->lang == LANG_C ? "&%s" : "__builtin_addressof(%s)", n->expression);
        text_printf(&out, "%s\n    {%s, %s, %lld, %u}", k ? "," : "", text_quoted(n->shown), at,
                    n->bytes, n->kind);
    }
    /* In C++ a reference's address may be known when the program runs only. */
    return names.count ? arena_printf("%sconst kmm_variable_t %s[] = {%s};\n",
                                      u->lang == LANG_C ? "static " : "", name, out.data)
                       : NULL;
}
