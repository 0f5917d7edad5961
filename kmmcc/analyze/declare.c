/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes launches by declarations. A declaration says what a kernel accesses in the names of its
 * parameters. That is added to the pragmas of its launches in the words of each launch, so later
 * stages see only complete launches.
 */
#include "analyze/declare.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/combine.h"
#include "analyze/complete.h"
#include "analyze/configured.h"
#include "analyze/declaration.h"
#include "analyze/geometry.h"
#include "analyze/infer.h"
#include "analyze/instances.h"
#include "analyze/member.h"
#include "analyze/translate.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "clang/pragmas.h"
#include "ir/load.h"
#include "pragma/directive.h"
#include "pragma/includes.h"

static bool leaves_to_declaration(const directive_t *d)
{
    return d->item_count == 0;
}

/* Items can name pointers in a struct as members of a variable, of which the kernel gets a copy.
 * Returns why they cannot; NULL: they can. */
static const char *unnamed_struct(const directive_t *d, CXType type, int number, const char *text)
{
    CXType is = type;
    if (number < d->argument_count)
        is = clang_getCanonicalType(clang_getCursorType(d->argument[number]));
    if (!clang_equalTypes(clang_getUnqualifiedType(is), clang_getUnqualifiedType(type)))
        return "what is passed is converted to a struct with the pointer";
    if (!clang_isPODType(type))
        return "its struct has constructors, base classes or members that are not public";
    if (!type_holds_pointers(type))
        return "its struct has no pointer that clauses can name";
    return translate_is_path(text) ? NULL : "its struct is passed without a name";
}

/* Sets `wanted` for the pointers, and structs with pointers, of which the pragma says nothing, and
 * the reason for those of which no item could. False if there are none. */
static bool find_unsaid(const unit_t *u, directive_t *d, const declaration_t *n, bool *wanted)
{
    bool any = false;
    for (int k = 0; k < n->count; k++) {
        completion_t c = {.u = (unit_t *)u, .d = d, .n = n};
        const char *text = translate_argument_text(&c, k);
        CXType type = type_of_parameter(n->kernel, k, n->parameter[k]);
        if (d->pattern) /* the types of the instance */
            type = clang_getArgType(clang_getCursorType(d->target[0].instance), (unsigned)k);
        type = clang_getCanonicalType(instances_parameter(d, k, type));
        if (type.kind != CXType_Pointer && type.kind != CXType_Record)
            continue;
        if (!text)
            d->uninferred[k] = "what is passed is not written at this launch";
        else if (type.kind == CXType_Record)
            d->uninferred[k] = unnamed_struct(d, type, k, text);
        wanted[k] = !d->uninferred[k] && !complete_is_null(text) &&
                    !complete_covers(d, translate_argument(d, k));
        any |= wanted[k];
    }
    return any;
}

/* True if the kernel's code uses gridDim, or is not seen. */
static bool mentions_grid(unit_t *main, CXCursor definition)
{
    size_t begin, end;
    const unit_t *u = unit_holding(main, definition);
    return !u || !unit_range(u, definition, &begin, &end) ||
           translate_has_name(source_words(u->source, begin, end), "gridDim");
}

static range_t range_of(unit_t *u, const directive_t *d, CXCursor definition)
{
    /* A loop with the grid's stride may reach what the launch's own items say. */
    range_t range =
        d->item_count && mentions_grid(u->main, definition) ? RANGE_GIVEN : RANGE_INFERRED;
    for (int k = 0; k < d->axis_count; k++)
        if (d->axis[k].length)
            range = RANGE_GIVEN;
    return range;
}

/* True if nothing is inferred of a parameter that something accesses. */
static bool lacks(const directive_t *d, const bool *wanted)
{
    for (int k = 0; k < MAX_PARAMETERS; k++)
        if (wanted[k] && d->uninferred[k] && strcmp(d->uninferred[k], "it is not accessed") != 0)
            return true;
    return false;
}

/* What is inferred of all parameters where blocks have the size that the kernel counts on, with
 * that as a condition of the launch; NULL: nothing. */
static completed_t *infer_counted(unit_t *u, directive_t *d, const bool *wanted, range_t range,
                                  const char *const *before)
{
    enum { FITS_UNSIGNED = 1 }; /* in fits_types */
    int64_t block[3];
    const char *text[3], *after[MAX_PARAMETERS];
    const ir_function_t *f = ir_function_of(u->main, d->target[0].instance);
    geometry_block(u, d, block);
    if (!f || !configured_blocks(u, d, f, block, text))
        return NULL;
    memcpy(after, d->uninferred, sizeof(after));
    memcpy(d->uninferred, before, sizeof(after));
    declaration_t *n =
        infer_kernel(u->main, d->target[0].instance, wanted, range, block, d->uninferred);
    completed_t *x = n && !lacks(d, wanted) ? complete_find(u, d, n) : NULL;
    for (int k = 0; k < 3 && x; k++) {
        const char *apart = arena_printf("(int)%s - %lld", text[k], (long long)block[k]);
        if (text[k] && x->fits_count + 2 > MAX_FITS)
            x = NULL;
        for (int sign = 0; sign < 2 && x && text[k]; sign++)
            x->fits[x->fits_count++] = (completed_fits_t){
                FITS_UNSIGNED, false, sign ? arena_printf("-(%s)", apart) : apart};
    }
    if (!x)
        memcpy(d->uninferred, after, sizeof(after));
    return x;
}

/* What is inferred of the one function that the launch runs; NULL: nothing. */
static completed_t *infer_one(unit_t *u, directive_t *d, const bool *wanted)
{
    int64_t block[3];
    CXCursor definition = instance_code(d->target[0].instance);
    geometry_block(u, d, block);
    const char *before[MAX_PARAMETERS];
    memcpy(before, d->uninferred, sizeof(before));
    range_t range = range_of(u, d, definition);
    declaration_t *n =
        infer_kernel(u->main, d->target[0].instance, wanted, range, block, d->uninferred);
    completed_t *x = n ? complete_find(u, d, n) : NULL;
    completed_t *counted =
        x && !lacks(d, wanted) ? NULL : infer_counted(u, d, wanted, range, before);
    return counted ? counted : x;
}

/* Takes the parameters from `wanted` of which something accesses memory and nothing is inferred in
 * the instance. True if there are some. */
static bool drop_uninferred(const directive_t *d, const completed_t *x, const instance_t *instance,
                            bool *wanted)
{
    static const char unused[] = "it is not accessed";
    bool dropped = false;
    for (int k = 0; k < MAX_PARAMETERS; k++) {
        bool found = !wanted[k] || (d->uninferred[k] && !strcmp(d->uninferred[k], unused));
        for (int i = 0; i < x->item_count && !found; i++)
            found = x->item[i].parameter == k;
        dropped |= !found;
        wanted[k] &= found;
        if (!found && d->uninferred[k])
            d->uninferred[k] = arena_printf("%s, in %s", d->uninferred[k], instance->title);
    }
    return dropped;
}

/* Takes the parameters from `wanted` whose items name members that the launch cannot name, in some
 * instance. True if there are some. */
static bool drop_unnamed(const unit_t *u, const directive_t *d, const completed_t *x, bool *wanted)
{
    bool dropped = false;
    for (int k = 0; k < x->item_count; k++) {
        int parameter = x->item[k].parameter;
        const char *member = member_unnamed(u, d, x->item[k].text);
        if (!member || parameter < 0 || !wanted[parameter])
            continue;
        wanted[parameter] = false;
        dropped = true;
        d->uninferred[parameter] =
            arena_printf("it depends on '%s', which is no public member in each instance", member);
    }
    return dropped;
}

static completed_t *infer_named(unit_t *u, directive_t *d, bool *wanted)
{
    completed_t *x;
    do
        x = infer_one(u, d, wanted);
    while (x && drop_unnamed(u, d, x, wanted));
    return x;
}

/* Of a launch in a template, each instance is looked at. Where one does not tell of a parameter,
 * nothing is inferred of that parameter, and the others are inferred again. */
static completed_t *infer_instances(unit_t *u, directive_t *d, bool *wanted)
{
    completed_t **list = arena_alloc((size_t)d->instance_count * sizeof(*list));
    for (int k = 0; k < d->instance_count; k++) {
        if (!instance_enter(u, d, k))
            return NULL;
        list[k] = infer_one(u, d, wanted);
        instance_leave(u, d);
        if (!list[k])
            return NULL;
        if (drop_uninferred(d, list[k], &d->instance[k], wanted) ||
            drop_unnamed(u, d, list[k], wanted))
            k = -1;
    }
    completed_t *x = combine_instances(u, d, list);
    for (int k = 0; k < MAX_PARAMETERS && !x; k++)
        if (wanted[k])
            d->uninferred[k] = d->instances_differ;
    return x;
}

static void infer_launch(unit_t *u, directive_t *d)
{
    bool wanted[MAX_PARAMETERS] = {false};
    CXCursor kernel = instances_are_known(d) ? d->instance[0].kernel
                      : d->target_count == 1 ? d->target[0].instance
                                             : clang_getNullCursor();
    CXCursor definition = clang_Cursor_isNull(kernel) ? kernel : instance_code(kernel);
    if (clang_Cursor_isNull(definition) || d->form != LAUNCH_CHEVRON)
        return;
    d->uninferred = arena_alloc(MAX_PARAMETERS * sizeof(*d->uninferred));
    bool entered = instances_are_known(d) && instance_enter(u, d, 0);
    bool any = find_unsaid(u, d, declaration_of_kernel(u, NULL, definition), wanted);
    if (entered)
        instance_leave(u, d);
    if (!any)
        return;
    completed_t *x =
        instances_are_known(d) ? infer_instances(u, d, wanted) : infer_named(u, d, wanted);
    if (x)
        complete_write(u, d, x);
}

static void complete_launch(unit_t *u, directive_t *d, declaration_t *list)
{
    declaration_t *n = NULL;
    for (int k = 0; k < d->target_count && !n; k++)
        n = declaration_find(list, d->target[k].kernel);
    if (!n)
        return infer_launch(u, d);
    if (d->target_count > 1) {
        if (leaves_to_declaration(d))
            unit_error(u, d->name_begin, d->name_end,
                       arena_printf("this launch may run one of %d kernels, so what is declared of "
                                    "them is not used; say here what it accesses",
                                    d->target_count));
        d->failed = leaves_to_declaration(d);
        return;
    }
    d->failed = !complete_add(u, d, n);
    d->declared_in = n->u;
    d->declared_order = n->d->order;
}

static void apply_insertions(unit_t *u, const includes_t *includes)
{
    text_t out = {0};
    size_t from = 0;
    include_file_t *file = NULL;
    for (int k = 0; k < includes->count; k++)
        if (includes->file[k]->source == u->source)
            file = includes->file[k];
    for (const insertion_t *i = u->insertions; i; i = i->next) {
        text_add(&out, u->source->text + from, i->at - from);
        if (file)
            includes_move(file, out.length, strlen(i->text));
        text_add(&out, i->text, strlen(i->text));
        from = i->at;
    }
    text_add(&out, u->source->text + from, u->source->length - from);
    source_t *changed = source_from(u->source->path, out.data, out.length);
    changed->completed = true;
    u->source = changed;
    if (file)
        file->source = u->source;
}

/* The items that were added stand behind those of the user. */
static void keep_added(const directive_t *old, directive_t *d)
{
    int first = d->item_count - old->added_count;
    for (int k = first < 0 ? 0 : first; k < d->item_count; k++) {
        d->item[k].of_one = true;
        d->item[k].inferred = !old->declared_in;
        d->item[k].parameter = first < 0 ? -1 : old->added[k - first];
    }
}

/* The directives of the new text; what is known of the old ones stays known. */
static void parse_again(unit_t *u)
{
    directive_t **old = u->directives;
    int count = u->directive_count, messages = diag_count();
    u->directives = NULL;
    u->directive_count = 0;
    pragmas_parse(u);
    if (u->directive_count == count)          /* else the completed text of one cannot be read */
        diag_retract(messages, diag_count()); /* they are known */
    u->mistakes = NULL;
    for (int k = 0; k < count && k < u->directive_count; k++) {
        directive_t *d = u->directives[k];
        keep_added(old[k], d);
        u->directives[k]->check_head = old[k]->check_head;
        u->directives[k]->declared_in = old[k]->declared_in;
        u->directives[k]->declared_order = old[k]->declared_order;
        u->directives[k]->uninferred = old[k]->uninferred;
        u->directives[k]->unsayable = old[k]->unsayable;
        u->directives[k]->instances_differ = old[k]->instances_differ;
        u->directives[k]->broken = old[k]->failed;
    }
}

bool declare_complete(unit_t *u, int first)
{
    declaration_t *list = declaration_bind_all(u);
    bool any = list;
    if (list)
        diag_retract(first, diag_count()); /* what is said so far is said again */
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            directive_t *d = file->directives[k];
            if (d->bound && !d->broken && d->kind == DIRECTIVE_PARALLEL && d->is_kernel &&
                !clang_Cursor_isNull(d->launch))
                complete_launch(file, d, list);
        }
    for (unit_t *file = u; file; file = file->next)
        any |= file->insertions != NULL;
    if (any && !list)
        diag_retract(first, diag_count());
    for (unit_t *file = u; any && file; file = file->next) {
        if (file->insertions)
            apply_insertions(file, u->includes);
        file->insertions = NULL;
        parse_again(file);
    }
    return any;
}
