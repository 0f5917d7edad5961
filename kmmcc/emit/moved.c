/* SPDX-License-Identifier: Apache-2.0 */
/* Which item says how far a pointer argument of a plain function moves from chunk to chunk. */
#include "emit/moved.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "clang/cursor.h"
#include "emit/describe.h"
#include "emit/origin.h"
#include "pragma/form.h"

/* True if the argument and the item's base are computed from the same pointer. */
static bool is_related(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument)
{
    CXCursor root = cursor_root(argument);
    if (clang_Cursor_isNull(root) || !clang_equalCursors(root, item->root))
        return false;
    const char *origin = origin_of_argument(u, d, argument), *other = origin_of_base(u, item->base);
    return !origin || !other || !strcmp(origin, other);
}

/* True if the first elements of both items move by the same distance from chunk to chunk. */
static bool moves_alike(const unit_t *u, const directive_t *d, int inner, const item_t *a,
                        const item_t *b)
{
    for (int k = 0; k < d->rebase_count; k++) {
        form_t x, y;
        bool first = describe_step(u, a, d->rebase[k].axis, inner, &x),
             second = describe_step(u, b, d->rebase[k].axis, inner, &y);
        if (d->rebase[k].kind == REBASE_LENGTH &&
            (first != second || (first && strcmp(form_text(x), form_text(y)) != 0)))
            return false;
    }
    return true;
}

/* One whose base it is; else one that is computed from the same pointer, and whose base no argument
 * is; else any that is computed from that. They have to agree. */
const item_t *moved_item(const unit_t *u, const directive_t *d, int number, int inner,
                         const char *text)
{
    CXCursor argument = d->argument[number];
    const item_t *found = NULL;
    bool lonely = false;
    for (int k = 0; k < d->item_count; k++)
        lonely |= origin_is_item(u, d, &d->item[k], argument) ||
                  (is_related(u, d, &d->item[k], argument) && !origin_is_passed(u, d, &d->item[k]));
    for (int k = 0; k < d->item_count; k++) {
        const item_t *item = &d->item[k];
        bool is_it = origin_is_item(u, d, item, argument);
        if (!is_it &&
            (!is_related(u, d, item, argument) || (lonely && origin_is_passed(u, d, item))))
            continue;
        if (found && !moves_alike(u, d, inner, found, item))
            diag_at(SEVERITY_ERROR, u->source, item->begin, item->end,
                    "rebase cannot tell how far argument '%s' moves: '%s' and '%s' move "
                    "differently; pass a pointer of its own for each, and base the item on it, or "
                    "rebase begin and end instead",
                    text, unit_words(u, found->begin, found->end),
                    unit_words(u, item->begin, item->end));
        found = found ? found : item;
    }
    return found;
}
