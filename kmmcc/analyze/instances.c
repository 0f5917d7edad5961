/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that clang makes of the file for the host has each instance of each launch, with the
 * kernel that it runs. Those that libclang shows are complete if they run all of these kernels.
 */
#include "analyze/instances.h"

#include <string.h>

#include "base/path.h"
#include "base/source.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "ir/load.h"

/* ---- Launches of the host's code ---- */

static bool is_at(const unit_t *u, const directive_t *d, const ir_launch_t *l)
{
    unsigned first = source_line(u->source, d->launch_begin),
             last = source_line(u->source, d->launch_end);
    return l->file && l->line >= (int)first && l->line <= (int)last &&
           !strcmp(path_base(l->file), path_base(u->source->path));
}

/* How many launches of the stub the list has in different functions. */
static int count_launches(const unit_t *u, const directive_t *d, const ir_launch_t *list, int count,
                          const char *stub)
{
    int found = 0;
    for (int k = 0; k < count; k++) {
        bool again = !is_at(u, d, &list[k]) || strcmp(list[k].stub, stub) != 0;
        for (int i = 0; i < k && !again; i++)
            again = is_at(u, d, &list[i]) && !strcmp(list[i].stub, stub) &&
                    !strcmp(list[i].function, list[k].function);
        found += !again;
    }
    return found;
}

static int count_instances(const directive_t *d, const char *stub)
{
    int found = 0;
    for (int k = 0; k < d->instance_count; k++)
        found += !strcmp(clang_text(clang_Cursor_getMangling(d->instance[k].kernel)), stub);
    return found;
}

/* True if an instance of the directive is in the function. */
static bool is_in(const directive_t *d, const char *function)
{
    for (int k = 0; k < d->instance_count; k++)
        if (!strcmp(clang_text(clang_Cursor_getMangling(d->instance[k].function)), function))
            return true;
    return false;
}

/* A function that was visited shows all its launches, so what is found of one launch of the line
 * tells of the others. Constructors and lambdas have other names in code; but where a launch is
 * found as often as the kernel is launched there, none is missing. */
static bool is_missing(const unit_t *u, const directive_t *d, const ir_launch_t *list, int count,
                       const ir_launch_t *l)
{
    if (!is_at(u, d, l))
        return false;
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *e = u->directives[k];
        if (instance_is_open(e) && is_at(u, e, l) &&
            (is_in(e, l->function) ||
             count_instances(e, l->stub) >= count_launches(u, e, list, count, l->stub)))
            return false;
    }
    return true;
}

/* ---- Names of functions ---- */

/* Adds code that names the function, whose title has its type and parameters around the name. */
static void add_name(const char *title, text_t *out)
{
    static const char anonymous[] = "(anonymous namespace)::";
    text_t plain = {0};
    int depth = 0;
    for (; *title; title++)
        if (!strncmp(title, anonymous, sizeof(anonymous) - 1))
            title += sizeof(anonymous) - 2;
        else
            text_add(&plain, title, 1);
    size_t begin = 0, end = plain.length;
    for (size_t k = 0; k < plain.length; k++) {
        char c = plain.data[k];
        if (c == '(' && !depth)
            end = k;
        depth += (c == '<') + (c == '(') - (c == '>') - (c == ')');
        if (c == ' ' && !depth && k < end)
            begin = k + 1;
    }
    if (begin >= end || strpbrk(plain.data, "{}$") || strstr(plain.data, "operator"))
        return;
    plain.data[end] = 0;
    if (!out->length)
        text_printf(out, "\n__attribute__((unused)) static void kmm_named() {");
    if (!strstr(out->data, plain.data + begin))
        text_printf(out, " (void)&%s;", plain.data + begin);
}

/* ---- All launches ---- */

typedef void visit_fn(unit_t *u, directive_t *d, const ir_launch_t *list, int count, void *context);

static bool each(unit_t *main, visit_fn *visit, const ir_launch_t *list, int count, void *context)
{
    bool any = false;
    for (unit_t *u = main; u; u = u->next)
        for (int k = 0; k < u->directive_count; k++) {
            if (!instance_is_open(u->directives[k]))
                continue;
            any = true;
            if (visit)
                visit(u, u->directives[k], list, count, context);
        }
    return any;
}

static void find_missing(unit_t *u, directive_t *d, const ir_launch_t *list, int count, void *names)
{
    for (int k = 0; k < count; k++)
        if (is_missing(u, d, list, count, &list[k]))
            add_name(list[k].title, names);
}

static void look_for_missing(unit_t *u, directive_t *d, const ir_launch_t *list, int count,
                             void *missing)
{
    for (int k = 0; k < count; k++)
        *(bool *)missing |= is_missing(u, d, list, count, &list[k]);
}

/* An instance that the host's code does not have is not made: its name stands where no code comes
 * from, as in `decltype`. */
static void drop_unmade(const unit_t *u, directive_t *d, const ir_launch_t *list, int count)
{
    int kept = 0;
    for (int k = 0; k < d->instance_count; k++)
        if (count_launches(u, d, list, count,
                           clang_text(clang_Cursor_getMangling(d->instance[k].kernel))))
            d->instance[kept++] = d->instance[k];
    d->instance_count = kept;
}

static void settle(unit_t *u, directive_t *d, const ir_launch_t *list, int count, void *reason)
{
    bool missing = false;
    d->instances = INSTANCES_OPEN;
    look_for_missing(u, d, list, count, &missing);
    d->instances_reason = !list                    ? *(const char **)reason
                          : u->source->has_markers ? "#line hides which instances it has"
                          : missing ? "it has an instance that cannot be named outside of it"
                                    : NULL;
    if (d->instances_reason)
        return;
    d->instances = INSTANCES_ALL;
    drop_unmade(u, d, list, count);
}

const char *instances_find(unit_t *main)
{
    const char *reason = NULL;
    int count = 0;
    bool missing = false;
    text_t names = {0};
    if (!each(main, NULL, NULL, 0, NULL))
        return NULL;
    const ir_launch_t *list = ir_launches(main, &count, &reason);
    instance_find(main, REACH_PROGRAM);
    each(main, look_for_missing, list, count, &missing);
    if (missing)
        instance_find(main, REACH_LIBRARIES);
    each(main, find_missing, list, count, &names);
    each(main, settle, list, count, &reason);
    if (names.length)
        text_printf(&names, " }\n");
    return names.data;
}

bool instances_are_known(const directive_t *d)
{
    return d->instances == INSTANCES_ALL && d->instance_count > 0;
}

bool instances_are_none(const directive_t *d)
{
    return d->instances == INSTANCES_ALL && d->instance_count == 0;
}

/* ---- All instances together ---- */

static void join(CXCursor *a, CXCursor b)
{
    if (clang_Cursor_isNull(*a))
        *a = b;
}

bool instances_use(const directive_t *d, CXCursor called, int number, uses_t *out)
{
    uses_t one;
    if (!instances_are_known(d))
        return uses_find(called, number, out);
    for (int k = 0; k < d->instance_count; k++) {
        if (!uses_find(d->instance[k].kernel, number, k ? &one : out))
            return false;
        if (!k)
            continue;
        join(&out->stored, one.stored);
        join(&out->updated, one.updated);
        join(&out->assigned, one.assigned);
        join(&out->changed, one.changed);
        join(&out->escaped, one.escaped);
        join(&out->strayed, one.strayed);
        join(&out->result, one.result);
        join(&out->kept, one.kept);
        join(&out->number, one.number);
        out->accessed |= one.accessed;
    }
    return true;
}

CXType instances_parameter(const directive_t *d, int number, CXType declared)
{
    for (int k = 0; k < d->instance_count && instances_are_known(d); k++) {
        CXType type =
            clang_getArgType(clang_getCursorType(d->instance[k].kernel), (unsigned)number);
        if (clang_getCanonicalType(type).kind == CXType_Pointer)
            return type;
    }
    return declared;
}
