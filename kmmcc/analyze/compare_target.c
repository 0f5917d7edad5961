/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers of a launch, and the items that belong to each. */
#include "analyze/compare_target.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "clang/cursor.h"

const char *compare_key(comparison_t *c, const accessed_t *t, int64_t *shift)
{
    const char *key = sample_pointer(&c->sample, t->argument, shift);
    CXType type;
    if (!key || t->member < 0)
        return key;
    const char *name = type_member_at(clang_getCursorType(t->argument), t->member, &type);
    return name ? arena_printf("%s.%s", key, name) : NULL;
}

bool compare_is_of(comparison_t *c, const accessed_t *t, const item_t *item, int64_t *shift)
{
    const char *key = sample_pointer(&c->sample, item->base->cursor, shift);
    return key && t->key && !strcmp(key, t->key);
}

void compare_add(comparison_t *c, int param, int member)
{
    for (int k = 0; k < c->count; k++)
        if (c->target[k].param == param && c->target[k].member == member)
            return;
    if (c->count == MAX_TARGETS || param < 0 || param >= c->d->argument_count)
        return;
    accessed_t *t = &c->target[c->count++];
    *t = (accessed_t){.param = param, .member = member, .argument = c->d->argument[param]};
    int64_t shift;
    bool named = false;
    t->key = compare_key(c, t, &shift);
    for (int k = 0; k < c->d->item_count; k++)
        named |= compare_is_of(c, t, &c->d->item[k], &shift);
    for (int k = 0; k < c->f->unknown_count; k++)
        t->skipped |= c->f->unknown[k].param < 0 ||
                      (c->f->unknown[k].param == t->param && c->f->unknown[k].member == t->member);
    t->skipped |= !named;
    t->is_steady = true;
    for (int k = 0; k < KINDS; k++)
        t->alive[k] = !t->skipped && (k != WIDE || c->wide);
}

accessed_t *compare_target_of(comparison_t *c, const ir_access_t *a)
{
    for (int k = 0; k < c->count; k++)
        if (c->target[k].param == a->param && c->target[k].member == a->member)
            return c->target[k].skipped ? NULL : &c->target[k];
    return NULL;
}

const accessed_t *compare_pointer_of(const comparison_t *c, const ir_access_t *a)
{
    for (int k = 0; k < c->count; k++)
        if (c->target[k].param == a->param && c->target[k].member == a->member)
            return &c->target[k];
    return NULL;
}

bool compare_is_reduced(comparison_t *c, const accessed_t *t)
{
    int64_t base;
    for (int k = 0; k < c->d->item_count; k++)
        if (c->d->item[k].mode == KMM_REDUCE && compare_is_of(c, t, &c->d->item[k], &base))
            return true;
    return false;
}

bool compare_has_other_names(comparison_t *c)
{
    for (int k = 0; k < c->d->item_count; k++) {
        int64_t shift;
        bool found = false;
        const char *key = sample_pointer(&c->sample, c->d->item[k].base->cursor, &shift);
        for (int i = 0; key && i < c->d->argument_count && !found; i++) {
            const char *of = sample_pointer(&c->sample, c->d->argument[i], &shift);
            size_t length = of ? strlen(of) : 0;
            found = of && !strncmp(of, key, length) && (!key[length] || key[length] == '.');
        }
        if (!found)
            return true;
    }
    return false;
}

bool compare_passes_fixed(const directive_t *d, fixed_t *fixed)
{
    bool found = false;
    int64_t value;
    for (int k = 0; k < d->argument_count; k++) {
        CXCursor v = sample_variable(d->argument[k]);
        found |= !clang_Cursor_isNull(v) && fixed_value(fixed, v, &value);
    }
    return found;
}
