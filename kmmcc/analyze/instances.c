/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that clang makes of the file for the host has each instance of each launch, with the
 * kernel that it runs. Those that libclang shows are complete if they run all of these kernels.
 */
#include "analyze/instances.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/source.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "ir/load.h"

/* ---- Launches of the host's code ---- */

/* Lines and file are those that #line directives give. Options may rename a file, which is then not
 * there. */
static bool is_at(const unit_t *u, const directive_t *d, const ir_launch_t *l)
{
    unsigned first, last;
    if (!l->file)
        return false;
    const char *path = source_shown(u->source, source_line(u->source, d->launch_begin), &first);
    source_shown(u->source, source_line(u->source, d->launch_end), &last);
    if (l->line < (int)first || l->line > (int)last)
        return false;
    return path_is_same(l->file, path) ||
           (access(l->file, F_OK) != 0 && !strcmp(path_base(l->file), path_base(path)));
}

/* True if the instance of the launch is in the function: a constructor has several names. */
static bool is_in(const instance_t *i, const char *function)
{
    enum CXCursorKind kind = clang_getCursorKind(i->function);
    if (kind != CXCursor_Constructor && kind != CXCursor_Destructor)
        return !strcmp(clang_text(clang_Cursor_getMangling(i->function)), function);
    bool found = false;
    CXStringSet *names = clang_Cursor_getCXXManglings(i->function);
    for (unsigned k = 0; names && k < names->Count; k++)
        found |= !strcmp(clang_getCString(names->Strings[k]), function);
    if (names)
        clang_disposeStringSet(names);
    return found;
}

static bool runs(const instance_t *i, const char *host_name)
{
    return !strcmp(clang_text(clang_Cursor_getMangling(i->kernel)), host_name);
}

/* All launches of the host's code. */
typedef struct launched {
    const ir_launch_t *list;
    int count;
} launched_t;

/* True if an instance of the directive is in the function. */
static bool has_in(const directive_t *d, const char *function)
{
    for (int k = 0; k < d->instance_count; k++)
        if (is_in(&d->instance[k], function))
            return true;
    return false;
}

/* True if a directive at the launch's place has an instance in the launch's function. A function
 * that was visited shows all its launches. */
static bool is_visited(const unit_t *u, const ir_launch_t *l)
{
    for (int k = 0; k < u->directive_count; k++)
        if (instance_is_open(u->directives[k]) && is_at(u, u->directives[k], l) &&
            has_in(u->directives[k], l->function))
            return true;
    return false;
}

static bool is_launched_in(const launched_t *all, const instance_t *i)
{
    for (int k = 0; k < all->count; k++)
        if (is_in(i, all->list[k].function))
            return true;
    return false;
}

/* Lambdas have other names in code. But where the kernel is launched no more often in functions of
 * unknown names than in instances with unknown names, no launch of the place is missing. */
static bool is_missing(const unit_t *u, const directive_t *d, const launched_t *all,
                       const ir_launch_t *l)
{
    int launches = 0, instances = 0;
    if (!is_at(u, d, l) || is_visited(u, l))
        return false;
    for (int k = 0; k < all->count; k++)
        launches += !strcmp(all->list[k].kernel, l->kernel) && is_at(u, d, &all->list[k]) &&
                    !is_visited(u, &all->list[k]);
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *e = u->directives[k];
        for (int i = 0; instance_is_open(e) && is_at(u, e, l) && i < e->instance_count; i++)
            instances += runs(&e->instance[i], l->kernel) && !is_launched_in(all, &e->instance[i]);
    }
    return instances < launches;
}

/* ---- Names of functions ---- */

/* Adds code that names the function, whose title has its type and parameters around the name. An
 * explicit instantiation may name what is private. */
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
    const char *code = arena_printf(" template struct kmm_named<decltype(&%s), &%s>;",
                                    plain.data + begin, plain.data + begin);
    if (!out->length)
        text_printf(out, "\ntemplate <class T, T> struct kmm_named {};");
    if (!strstr(out->data, code))
        text_printf(out, "%s", code);
}

/* ---- All launches ---- */

typedef void visit_fn(unit_t *u, directive_t *d, const launched_t *all, void *context);

static bool each(unit_t *main, visit_fn *visit, const launched_t *all, void *context)
{
    bool any = false;
    for (unit_t *u = main; u; u = u->next)
        for (int k = 0; k < u->directive_count; k++) {
            if (!instance_is_open(u->directives[k]))
                continue;
            any = true;
            if (visit)
                visit(u, u->directives[k], all, context);
        }
    return any;
}

static void find_missing(unit_t *u, directive_t *d, const launched_t *all, void *names)
{
    for (int k = 0; k < all->count; k++)
        if (is_missing(u, d, all, &all->list[k]))
            add_name(all->list[k].title, names);
}

static void look_for_missing(unit_t *u, directive_t *d, const launched_t *all, void *missing)
{
    for (int k = 0; k < all->count; k++)
        *(bool *)missing |= is_missing(u, d, all, &all->list[k]);
}

/* True if the function of the instance launches the kernel, but not where the directive stands. */
static bool is_elsewhere(const unit_t *u, const directive_t *d, const launched_t *all,
                         const instance_t *i)
{
    bool here = false, there = false;
    for (int k = 0; k < all->count; k++)
        if (runs(i, all->list[k].kernel) && is_in(i, all->list[k].function)) {
            here |= is_at(u, d, &all->list[k]);
            there = true;
        }
    return there && !here;
}

/* An instance that the host's code does not have is not made: its name stands where no code comes
 * from, as in `decltype`. */
static bool is_made(const unit_t *u, const directive_t *d, const launched_t *all,
                    const instance_t *i)
{
    for (int k = 0; k < all->count; k++)
        if (runs(i, all->list[k].kernel) && is_at(u, d, &all->list[k]))
            return true;
    return false;
}

static void settle(unit_t *u, directive_t *d, const launched_t *all, void *reason)
{
    bool missing = false, elsewhere = false;
    int kept = 0;
    d->instances = INSTANCES_OPEN;
    look_for_missing(u, d, all, &missing);
    for (int k = 0; k < d->instance_count; k++)
        elsewhere |= is_elsewhere(u, d, all, &d->instance[k]);
    d->instances_reason = !all->list  ? *(const char **)reason
                          : missing   ? "it has an instance that cannot be named outside of it"
                          : elsewhere ? "clang says otherwise where it stands"
                                      : NULL;
    if (d->instances_reason)
        return;
    d->instances = INSTANCES_ALL;
    for (int k = 0; k < d->instance_count; k++)
        if (is_made(u, d, all, &d->instance[k]))
            d->instance[kept++] = d->instance[k];
    d->instance_count = kept;
}

const char *instances_find(unit_t *main)
{
    const char *reason = NULL;
    bool missing = false;
    text_t names = {0};
    if (!each(main, NULL, NULL, NULL))
        return NULL;
    launched_t all = {0};
    all.list = ir_launches(main, &all.count, &reason);
    instance_find(main, REACH_PROGRAM);
    each(main, look_for_missing, &all, &missing);
    if (missing)
        instance_find(main, REACH_LIBRARIES);
    each(main, find_missing, &all, &names);
    each(main, settle, &all, &reason);
    if (names.length)
        text_printf(&names, "\n");
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
