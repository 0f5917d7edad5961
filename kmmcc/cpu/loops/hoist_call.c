/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hoists calls of functions that have barriers. The threads store their arguments. The function
 * runs once for all of them (include/kmm/host/kmm_call.h). Each thread's result takes the place of
 * the call.
 */
#include "cpu/loops/hoist_call.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "clang/cursor.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/phase.h"
#include "cpu/tree/call.h"

/* True if the argument names an object, and is no temporary. */
static bool is_object(const node_t *argument)
{
    const node_t *n = tree_bare(argument);
    return n->kind == CXCursor_DeclRefExpr || n->kind == CXCursor_MemberRefExpr ||
           n->kind == CXCursor_ArraySubscriptExpr ||
           (n->kind == CXCursor_UnaryOperator &&
            clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_Deref);
}

static CXType plain_type(CXType type)
{
    return clang_getUnqualifiedType(clang_getCanonicalType(clang_getNonReferenceType(type)));
}

/* True if parameter k refers to a temporary. That would be destroyed at the end of the phase in
 * which the threads store their arguments, before the function runs. */
static bool makes_temporary(const node_t *call, const node_t *argument, int k)
{
    passing_t passing = call_passing(call, argument);
    if (passing == PASSED_BY_VALUE || passing == PASSED_BY_REFERENCE)
        return false;
    if (passing == PASSED_UNKNOWN)
        return !is_object(argument);
    CXType wanted = clang_getCursorType(
        clang_Cursor_getArgument(clang_getCursorReferenced(call->cursor), (unsigned)k));
    const node_t *n = tree_stripped(argument);
    return !is_object(argument) ||
           !clang_equalTypes(plain_type(wanted), plain_type(clang_getCursorType(n->cursor)));
}

/* Stores the temporaries among the arguments in arrays, which live as long as the call. */
static bool store_temporaries(emitter_t *e, node_t *call, int number)
{
    enum { ROOM = 64 };
    node_t *argument[ROOM];
    int count = call_arguments(call, argument, ROOM);
    for (int k = 0; k < count && k < ROOM; k++) {
        if (!makes_temporary(call, argument[k], k))
            continue;
        passing_t passing = call_passing(call, argument[k]);
        CXType wanted = clang_getCursorType(
            clang_Cursor_getArgument(clang_getCursorReferenced(call->cursor), (unsigned)k));
        emitter_name_in_block(argument[k]);
        const char *type =
            passing == PASSED_BY_CONST
                ? clang_text(clang_getTypeSpelling(clang_getNonReferenceType(wanted)))
                : arena_printf("decltype(%s)", edits_copy_node(e, argument[k]));
        if (strchr(type, '[') || strstr(type, "(lambda"))
            return emitter_fail(e, argument[k], "an argument's type has no name");
        text_printf(&e->out, "kmm_host_values<kmm_host_decay<%s>> kmm__a%d_%d;\n", type, number, k);
        phase_add(e, call,
                  arena_printf(
                      "::new (static_cast<void *>(&kmm__a%d_%d[kmm__t])) kmm_host_decay<%s>(%s);",
                      number, k, type, edits_copy_node(e, argument[k])));
        edits_add(e, argument[k]->begin, argument[k]->end,
                  arena_printf("kmm__a%d_%d[kmm__t]", number, k));
    }
    return true;
}

static bool is_lambda(const node_t *n, const void *context)
{
    (void)context;
    return n->kind == CXCursor_LambdaExpr;
}

/* Returns the type of a call as C++: decltype of its text. A lambda has another type in each copy
 * of the text, so a call with a lambda gets its type as clang spells it. */
static const char *call_type(emitter_t *e, const node_t *call, const char *text)
{
    if (!tree_any(call, is_lambda, NULL))
        return arena_printf("decltype(%s)", text);
    CXType type =
        clang_getCanonicalType(clang_getCursorResultType(clang_getCursorReferenced(call->cursor)));
    if (type.kind != CXType_Void && clang_Type_getSizeOf(type) < 0) {
        emitter_fail(
            e, call,
            "a lambda is an argument of what meets at a barrier, and the result's type depends on "
            "a template");
        return NULL;
    }
    return arena_printf("kmm_host_as<%s>", clang_text(clang_getTypeSpelling(type)));
}

bool hoist_call(emitter_t *e, node_t *call)
{
    int number = e->collective_count++;
    if (strchr(arena_copy(e->s->u->source->text + call->begin, call->end - call->begin), '#'))
        return emitter_fail(e, call, "a preprocessor line divides a call");
    phase_open(e);
    e->is_independent = false;
    phase_note_uses(e, call);
    emitter_name_in_block(call);
    if (call->collective == COLLECTIVE_FUNCTION && !store_temporaries(e, call, number))
        return false;
    const char *text = edits_copy_node(e, call), *type = call_type(e, call, text);
    if (!type)
        return false;
    text_printf(&e->out, "kmm_host_call<%s> kmm__c%d;\n", type, number);
    phase_add(
        e, call,
        arena_printf("kmm__c%d.kmm_call(kmm__t, [&]() -> %s { return %s; });", number, type, text));
    phase_close(e);
    text_printf(&e->out, "kmm__c%d.kmm_join(kmm__b);\n", number);
    edits_add(e, call->begin, call->end, arena_printf("kmm__c%d.kmm_get(kmm__t)", number));
    return true;
}
