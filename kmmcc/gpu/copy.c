/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the copies of functions. */
#include "gpu/copy.h"

#include <clang-c/Index.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "gpu/change.h"
#include "gpu/partials.h"
#include "gpu/register.h"

/* The line of the program that text put at the place belongs to, and then that of what is behind
 * it. */
static const char *between_lines(const source_t *s, unsigned line, const char *text, size_t place)
{
    return arena_printf("\n%s\n%s\n%s\n", source_line_marker(s, line), text,
                        source_line_marker(s, source_line(s, place)));
}

/* A declaration before the definition has a copy, too: calls may stand between them, and it may
 * have the default arguments. */
static void copy_prototype(unit_t *u, const function_t *f)
{
    CXCursor first = clang_getCanonicalCursor(f->cursor);
    size_t begin, end;
    unit_t *file = unit_holding(u->main, first);
    if (clang_equalCursors(first, f->cursor) || !file || !unit_range(file, first, &begin, &end))
        return;
    const source_t *s = file->source;
    changes_t list = {0};
    if (s->text[end - 1] == '}') /* of a specialization: the template's definition */
        return;
    begin = source_declaration_begin(s, begin);
    change_head(u, s, change_name_offset(file, first), f, &list);
    size_t after = change_find_token(s, end, s->length, ";");
    unit_edit(file, after, after,
              between_lines(s, source_line(s, begin),
                            arena_printf("%s;", change_text(s, begin, end, &list)), after));
    unit_include_before(file, first);
}

void copy_function(unit_t *u, function_t *f, bool shares)
{
    const source_t *s = f->u->source;
    changes_t list = {0};
    size_t begin = source_declaration_begin(s, f->begin), body = change_body_begin(f->u, f->cursor);
    copy_prototype(u, f);
    change_head(u, s, change_name_offset(f->u, f->cursor), f, &list);
    change_add(&list, body, body,
               arena_printf("%s%s%s", partials_locals(f),
                            f->is_kernel && shares ? " kmm_share_blocks(kmm__blocks);" : "",
                            change_locals(u, f)));
    change_body(u, f, &list);
    const char *text = arena_printf("%s%s", change_text(s, begin, f->end, &list),
                                    f->is_kernel ? register_clone(u, f) : "");
    unit_edit(f->u, f->end, f->end,
              arena_printf("\n%s", between_lines(s, source_line(s, begin), text, f->end)));
    unit_include_before(f->u, f->cursor);
}
