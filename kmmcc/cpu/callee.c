/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the device that have barriers. Before its own body, which fibers run, such a
 * function gets one for a block (include/kmm/host/kmm_call.h):
 *
 *     int total(int *s, int v)
 *     {
 *         typedef int kmm__type; typedef decltype(s) kmm__type0; typedef decltype(v) kmm__type1;
 *         struct kmm__function {
 *             static void kmm__block(kmm_host_block &kmm__b, kmm_host_kept<kmm__type> &kmm__result,
 *                                   kmm_host_kept<kmm__type0> &kmm__v0,
 *                                   kmm_host_kept<kmm__type1> &kmm__v1) { ... }
 *         };
 *         if (kmm_host_bringing)
 *             return kmm_host_bring<kmm__function, kmm__type, kmm__type0, kmm__type1>::kmm_call(
 *                 s, v);
 *         { ... }
 *     }
 */
#include "cpu/callee.h"

#include <string.h>

#include <kmm/host/kmm_flags.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "cpu/index.h"
#include "cpu/loops/emitter.h"
#include "cpu/loops/split.h"
#include "cpu/program/callgraph.h"
#include "cpu/program/collectives.h"

collective_t callee_collective_of(const void *context, const char *name)
{
    const program_t *h = context;
    if (!list_has(&h->barriers, name))
        return COLLECTIVE_NONE;
    if (collectives_builtin(name) != BUILTIN_NONE)
        return COLLECTIVE_BUILTIN;
    if (list_has(&h->fibers, name))
        return COLLECTIVE_FIBERS;
    return callgraph_has_callee(h, name) ? COLLECTIVE_FUNCTION : COLLECTIVE_LIBRARY;
}

typedef struct signature {
    CXCursor function;
    text_t types, parameters, list, names;
    const char *reason;
    CXCursor body;
    int count;
} signature_t;

static bool is_pack(CXCursor parameter)
{
    return strstr(clang_text(clang_getTypeSpelling(clang_getCursorType(parameter))), "...") != NULL;
}

/* Adds a parameter. Its number is that of its variable in the body tree, where unnamed parameters
 * count as well. */
static enum CXChildVisitResult add_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    signature_t *s = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        s->body = c;
    if (clang_getCursorKind(c) != CXCursor_ParmDecl)
        return CXChildVisit_Continue;
    const char *name = clang_text(clang_getCursorSpelling(c));
    int k = s->count++;
    if (is_pack(c))
        s->reason = "it has any number of parameters";
    if (!*name)
        return CXChildVisit_Continue;
    text_printf(&s->types, " typedef decltype(%s) kmm__type%d;", name, k);
    text_printf(&s->parameters,
                ", kmm_host_kept<kmm__type%d> &kmm__v%d __attribute__((__unused__))", k, k);
    text_printf(&s->list, ", kmm__type%d", k);
    text_printf(&s->names, "%s%s", s->names.length ? ", " : "", name);
    return CXChildVisit_Continue;
}

static const char *unfit(const signature_t *s)
{
    const char *result = clang_text(clang_getTypeSpelling(clang_getCursorResultType(s->function)));
    enum CXCursorKind kind = clang_getTemplateCursorKind(s->function) == CXCursor_NoDeclFound
                                 ? clang_getCursorKind(s->function)
                                 : clang_getTemplateCursorKind(s->function);
    if (s->reason)
        return s->reason;
    if (kind == CXCursor_CXXMethod && !clang_CXXMethod_isStatic(s->function))
        return "it calls a member function that meets at a barrier";
    if (clang_Cursor_isVariadic(s->function))
        return "it has any number of parameters";
    if (!strncmp(result, "auto", 4) || !strncmp(result, "decltype", 8))
        return "its result has no type of its own";
    return NULL;
}

bool callee_edit(const split_t *s, bool dry, const char **reason, size_t *reason_at)
{
    signature_t f = {.function = s->function, .body = clang_getNullCursor()};
    size_t begin, end;
    text_add(&f.types, "", 0);
    text_add(&f.parameters, "", 0);
    text_add(&f.list, "", 0);
    text_add(&f.names, "", 0);
    clang_visitChildren(s->function, add_parameter, &f);
    *reason_at = 0;
    *reason = unfit(&f);
    if (*reason)
        return false;
    if (clang_Cursor_isNull(f.body) || !unit_range(s->u, f.body, &begin, &end)) {
        *reason = "its body comes from a macro";
        return false;
    }
    int flags;
    const char *text = split_body(s, &flags, reason, reason_at);
    if (!text || dry)
        return text != NULL;
    const char *result = clang_text(clang_getTypeSpelling(clang_getCursorResultType(s->function)));
    unit_edit(
        s->u, begin, begin,
        arena_printf("{ typedef kmm_host_as<%s> kmm__type;%s struct kmm__function { static "
                     "void kmm__block(kmm_host_block &kmm__b, "
                     "kmm_host_kept<kmm__type> &kmm__result __attribute__((__unused__))%s) %s }; "
                     "if (kmm_host_bringing) "
                     "return kmm_host_bring<kmm__function, kmm__type%s>::kmm_call(%s);\n%s\n",
                     result, f.types.data, f.parameters.data, text, f.list.data, f.names.data,
                     source_line_marker(s->u->source, source_line(s->u->source, begin))));
    unit_edit(s->u, end, end, " }");
    return true;
}

static split_t split_of_callee(const program_t *h, const callee_t *c)
{
    return (split_t){.u = c->u,
                     .function = c->cursor,
                     .flags = definition_uses(c->definition, &h->indexed) ? KMM_HOST_HELPERS : 0,
                     .keeps_edits = true,
                     .collective_of = callee_collective_of,
                     .context = h};
}

/* Repeats until nothing is added: a function cannot be split if it calls one that cannot. */
void callees_find_fibers(program_t *h)
{
    const char *reason;
    size_t at;
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->callee_count; k++) {
            const callee_t *c = &h->callees[k];
            if (!list_has(&h->barriers, c->definition->name) ||
                list_has(&h->fibers, c->definition->name))
                continue;
            split_t split = split_of_callee(h, c);
            const bool captures = c->u && index_count_captures(c->u, c->cursor) > 0;
            if (c->u && !captures && callee_edit(&split, true, &reason, &at))
                continue;
            if (c->u && !captures && h->u->options->verbose)
                diag_at(SEVERITY_NOTE, c->u->source, at ? at : c->begin, at ? at : c->begin,
                        "function '%s' is not split: %s", c->definition->name, reason);
            list_add(&h->fibers, c->definition->name);
            grown = true;
        }
    }
}

void callees_edit(const program_t *h)
{
    const char *reason;
    size_t at;
    for (int k = 0; k < h->callee_count; k++) {
        const callee_t *c = &h->callees[k];
        split_t split = split_of_callee(h, c);
        if (list_has(&h->barriers, c->definition->name) &&
            !list_has(&h->fibers, c->definition->name))
            callee_edit(&split, false, &reason, &at);
    }
}
