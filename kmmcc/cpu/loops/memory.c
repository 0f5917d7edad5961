/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the threads of a block use: the variable that an address is in, accesses that may
 * alias, and atomic operations on shared memory.
 */
#include "cpu/loops/memory.h"

#include <string.h>

#include "base/arena.h"
#include "cpu/loops/edits.h"
#include "cpu/tree/call.h"

/* The variable whose memory the address is in; NULL if that is not seen. */
const variable_t *memory_variable(const node_t *n)
{
    n = tree_stripped(n);
    while (n && n->child) {
        enum CXBinaryOperatorKind kind = tree_operator(n);
        bool goes_on = n->kind == CXCursor_ArraySubscriptExpr || kind == CXBinaryOperator_Add ||
                       kind == CXBinaryOperator_Sub ||
                       (n->kind == CXCursor_UnaryOperator &&
                        clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_AddrOf) ||
                       (n->kind == CXCursor_MemberRefExpr &&
                        clang_getCursorType(n->child->cursor).kind != CXType_Pointer);
        if (!goes_on)
            return NULL;
        n = tree_stripped(n->child);
    }
    return n && n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
}

bool memory_is_shared_atomic(const node_t *n)
{
    static const char *const names[] = {"atomicAdd", "atomicSub",  "atomicMin",
                                        "atomicMax", "atomicAnd",  "atomicOr",
                                        "atomicXor", "atomicExch", NULL};
    node_t *argument[2];
    if (n->kind != CXCursor_CallExpr || !text_is_one_of(call_name(n), names) ||
        call_arguments(n, argument, 2) != 2)
        return false;
    const variable_t *v = memory_variable(argument[0]);
    return v && v->storage == STORAGE_SHARED && v->is_array;
}

/* One thread of the CPU runs all threads of a block, so atomics of shared memory become plain
 * operations. */
void memory_edit_atomics(emitter_t *e, const node_t *n)
{
    for (node_t *c = n->child; c; c = c->next)
        memory_edit_atomics(e, c);
    const char *name = memory_is_shared_atomic(n) ? call_name(n) : NULL;
    if (name && !strncmp(e->s->u->source->text + n->begin, name, strlen(name)))
        edits_add(e, n->begin, n->begin + strlen(name), arena_printf("kmm_host_alone::%s", name));
}

/* An element, member or target of a pointer or reference, unless it is shared memory. */
bool memory_may_alias(const node_t *n)
{
    bool is_access = n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_MemberRefExpr ||
                     (n->kind == CXCursor_UnaryOperator &&
                      clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_Deref) ||
                     (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->is_reference);
    if (!is_access || (n->kind == CXCursor_MemberRefExpr && n->child &&
                       tree_stripped(n->child)->kind == CXCursor_DeclRefExpr &&
                       !tree_stripped(n->child)->variable))
        return false;
    const variable_t *v = memory_variable(n);
    return !v || (v->storage != STORAGE_SHARED &&
                  (v->is_reference ||
                   clang_getCanonicalType(clang_getCursorType(v->cursor)).kind == CXType_Pointer));
}
