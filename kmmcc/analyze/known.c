/* SPDX-License-Identifier: Apache-2.0 */
/* Decides from a kernel's graph how exactly the accesses of each pointer are known. */
#include "analyze/known.h"

#include <stddef.h>
#include <stdint.h>

#include "analyze/configured.h"
#include "analyze/geometry.h"
#include "analyze/instances.h"
#include "base/arena.h"
#include "clang/instance.h"
#include "ir/load.h"

static known_t *pointer_of(known_t **list, int param, int member)
{
    for (; *list; list = &(*list)->next)
        if ((*list)->param == param && (*list)->member == member)
            return *list;
    *list = arena_alloc(sizeof(**list));
    **list = (known_t){.param = param, .member = member};
    return *list;
}

static void lower(known_t *k, knowledge_t to, const char *reason)
{
    if (k->knowledge >= to)
        return;
    k->knowledge = to;
    k->reason = reason;
}

static void escape(known_t *k, const char *reason)
{
    lower(k, KNOWN_NOT, reason);
    k->escapes = true;
}

known_t *known_of(const ir_function_t *f, const footprint_t *x)
{
    known_t *list = NULL;
    for (const box_t *b = x->box; b; b = b->next) {
        known_t *k = pointer_of(&list, b->access->param, b->access->member);
        k->noted |= b->fits != NULL;
        k->stores |= b->access->kind != IR_READ;
        k->steps |= !b->dense && b->stepped;
        k->assumes |= b->assumed_count > 0;
        k->in_block |= b->in_block;
        if (b->reason)
            lower(k, KNOWN_NOT, b->reason);
        else if (b->rest.incomplete)
            lower(k, KNOWN_WIDER, "a condition on data decides");
        else if (!b->dense && !b->stepped)
            lower(k, KNOWN_WIDER, "its elements are not neighbours");
        else if (!b->exact)
            lower(k, KNOWN_WIDER,
                  b->uses_block ? "a condition picks threads of a block"
                                : "a condition picks iterations of a loop");
    }
    for (int k = 0; k < f->unknown_count; k++)
        if (f->unknown[k].param >= 0)
            escape(pointer_of(&list, f->unknown[k].param, f->unknown[k].member),
                   f->unknown[k].reason);
    for (int k = 0; k < f->unknown_count; k++)
        for (known_t *p = list; p && f->unknown[k].param < 0; p = p->next)
            escape(p, f->unknown[k].reason);
    return list;
}

/* Why there is no graph of the kernel, where there are graphs of others. */
static const char *unseen(const directive_t *d)
{
    if (d->instances == INSTANCES_OPEN && d->instances_reason)
        return arena_printf("the launch is in a template: %s", d->instances_reason);
    if (clang_getCursorKind(d->target[0].instance) == CXCursor_FunctionTemplate)
        return "the launch is in a template, whose arguments decide which code the kernel has";
    if (clang_Cursor_isNull(d->target[0].definition))
        return "the kernel's code is not in this file";
    return "clang makes no code of the kernel for this file";
}

static bool is_exact(const known_t *k)
{
    while (k && k->knowledge == KNOWN_EXACTLY)
        k = k->next;
    return !k;
}

known_t *known_better(known_t *any, known_t *counted)
{
    if (is_exact(any) || !is_exact(counted))
        return any;
    for (known_t *k = counted; k; k = k->next)
        k->in_blocks = true;
    return counted;
}

static known_t *known_of_one(const unit_t *u, const directive_t *d, const char **reason)
{
    int64_t block[3];
    const char *text[3];
    const ir_function_t *f = ir_function_of(u->main, d->target[0].instance);
    if (!f) {
        if (ir_functions(u->main, reason))
            *reason = unseen(d);
        return NULL;
    }
    geometry_block(u, d, block);
    known_t *list = known_of(f, affine_of(f, block));
    if (!is_exact(list) && configured_blocks(u, d, f, block, text))
        list = known_better(list, known_of(f, affine_of(f, block)));
    for (int k = 0; k < f->unknown_count && !list; k++)
        if (f->unknown[k].param < 0)
            *reason = f->unknown[k].reason;
    return list;
}

/* Adds what is known of one instance to what is known of others. */
static void join(known_t **all, const known_t *one, const char *title)
{
    for (; one; one = one->next) {
        known_t *k = pointer_of(all, one->param, one->member);
        if (one->reason)
            lower(k, one->knowledge, arena_printf("%s, in %s", one->reason, title));
        k->noted |= one->noted;
        k->stores |= one->stores;
        k->escapes |= one->escapes;
        k->steps |= one->steps;
        k->assumes |= one->assumes;
        k->in_block |= one->in_block;
        k->in_blocks |= one->in_blocks;
    }
}

static known_t *known_of_instances(const unit_t *u, const directive_t *d, const char **reason)
{
    known_t *all = NULL;
    for (int k = 0; k < d->instance_count; k++) {
        directive_t one = *d;
        if (!instance_enter((unit_t *)u, &one, k)) {
            *reason = "of a parameter pack, only one at the end of a launch is known";
            return NULL;
        }
        const known_t *list = known_of_one(u, &one, reason);
        instance_leave((unit_t *)u, &one);
        if (*reason) {
            *reason = arena_printf("%s, in %s", *reason, d->instance[k].title);
            return NULL;
        }
        join(&all, list, d->instance[k].title);
    }
    return all;
}

known_t *known_of_launch(const unit_t *u, const directive_t *d, const char **reason)
{
    *reason = NULL;
    if (d->is_kernel && !d->pattern && instances_are_known(d))
        return known_of_instances(u, d, reason);
    if (d->is_kernel && instances_are_none(d))
        *reason = "no instance of the template around the launch is made in this file";
    else if (!d->is_kernel || d->target_count != 1)
        *reason = d->is_kernel ? "the launch may run several kernels" : "it is no kernel";
    return *reason ? NULL : known_of_one(u, d, reason);
}

static const char *exact_text(const known_t *k)
{
    const char *how = k->steps ? "exact, with gaps between elements" : "exact";
    if (!k->noted && !k->assumes)
        return how;
    const char *sizes = k->in_block  ? "sizes are neither negative nor larger than blocks"
                        : k->assumes ? "sizes are not negative"
                                     : "";
    return arena_printf("%s, while %s%s%s", how, sizes, k->noted && k->assumes ? " and " : "",
                        k->noted ? "indices fit into 32 bits" : "");
}

const char *known_text(const known_t *k)
{
    switch (k->knowledge) {
    case KNOWN_EXACTLY: return exact_text(k);
    case KNOWN_WIDER: return arena_printf("over-approximated: %s", k->reason);
    default: return arena_printf("unknown: %s", k->reason);
    }
}
