/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the block's declarations. A variable's storage decides how it is declared. */
#include "cpu/loops/declaration.h"

#include <string.h>

#include "base/arena.h"
#include "clang/cursor.h"
#include "cpu/loops/axis.h"
#include "cpu/loops/axis_check.h"
#include "cpu/loops/declarator.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/hoist.h"
#include "cpu/loops/per_thread.h"
#include "cpu/loops/phase.h"

static const char *initial_value(emitter_t *e, const variable_t *v)
{
    const char *text = declarator_suffix(e, v);
    if (*text != '=')
        return text;
    for (text++; *text == ' ' || *text == '\n' || *text == '\t' || *text == '\r'; text++) {
    }
    return *text == '{' ? text : arena_printf("(%s)", text);
}

/* Declares a variable with one value for each thread. Each thread initializes its own when it
 * reaches the declaration. */
static void declare_each(emitter_t *e, variable_t *v, const node_t *statement)
{
    const char *type = declarator_type(e, v), *qualifier = declarator_is_const(v) ? "const " : "";
    if (strstr(type, "decltype"))
        emitter_name_in_block(v->initializer);
    if (v->is_reference) {
        emitter_fail(e, statement, "a reference is used across a barrier");
        return;
    }
    text_printf(
        &e->out,
        "kmm_host_values<%s> %s; %skmm_host_as<%s> &%s __attribute__((__unused__)) = %s[0];\n",
        type, declarator_values(v), qualifier, type, v->name, declarator_values(v));
    phase_open(e);
    v->phase = e->phase_number;
    if (v->is_array) {
        const char *value = declarator_suffix(e, v);
        phase_add(
            e, statement,
            arena_printf("kmm_host_as<%s> &%s = %s[kmm__t];", type, v->name, declarator_values(v)));
        if (*value)
            text_printf(&e->phase,
                        " { kmm_host_as<%s> kmm__initial %s; memcpy(&%s, &kmm__initial, "
                        "sizeof(kmm__initial)); }",
                        type, value, v->name);
        return;
    }
    phase_add(e, statement,
              arena_printf("%skmm_host_as<%s> &%s __attribute__((__unused__)) = *::new "
                           "(static_cast<void *>(&%s[kmm__t])) kmm_host_as<%s>%s;",
                           qualifier, type, v->name, declarator_values(v), type,
                           initial_value(e, v)));
}

/* Declares what the phases need to recompute the variable: if it has an axis, its value for the
 * block's first thread. */
static void declare_recomputed(emitter_t *e, variable_t *v)
{
    const char *axis = axis_of_variable(e, v);
    if (v->is_generic)
        text_printf(&e->out, "(void)sizeof(kmm_host_as<%s>);\n", declarator_type(e, v));
    if (axis) {
        emitter_name_in_block(v->initializer);
        text_printf(&e->out, "const kmm_host_as<%s> kmm__i%d __attribute__((__unused__)) %s;\n",
                    declarator_type(e, v), v->number, declarator_suffix(e, v));
    }
    if (axis && !axis_known(e, v))
        text_printf(&e->out,
                    "const bool kmm__counts%d __attribute__((__unused__)) = "
                    "kmm_host_counts<%s>::kmm_along(kmm__i%d, %s, kmm__e.%s);\n",
                    v->number, axis_types(e, v), v->number, axis_last_value(e, v), axis);
    if (v->is_named_by_block) /* for its type alone */
        text_printf(&e->out, "%s\n", declarator_text(e, v));
}

static void declare_variable(emitter_t *e, variable_t *v, const node_t *statement)
{
    v->is_block_level = true;
    if (v->storage == STORAGE_UNIFORM) {
        text_printf(&e->out, "%s\n", declarator_text(e, v));
        return;
    }
    if (v->storage == STORAGE_RECOMPUTED) {
        declare_recomputed(e, v);
        return;
    }
    phase_open(e);
    phase_note_uses(e, v->declaration);
    if (v->storage == STORAGE_THREAD)
        declare_each(e, v, statement);
    else
        phase_add(e, statement,
                  arena_printf("%skmm_host_as<%s> %s %s;", declarator_is_const(v) ? "const " : "",
                               declarator_type(e, v), v->name, declarator_suffix(e, v)));
}

bool declaration_is_stored(const node_t *declaration, storage_t storage)
{
    for (const node_t *c = declaration->child; c; c = c->next)
        if (c->kind != CXCursor_VarDecl || !c->variable || c->variable->storage != storage)
            return false;
    return true;
}

/* Writes a declaration as it is in the source, with KMM_HOST_SHARED for `__shared__`. */
static void emit_as_written(emitter_t *e, const node_t *n)
{
    const char *text = edits_copy_node(e, n);
    const char *shared =
        declaration_is_stored(n, STORAGE_SHARED) ? strstr(text, "__shared__") : NULL;
    text_printf(&e->out, "\n%s\n", edits_line(e, n->begin));
    e->has_static |= !shared && strstr(text, "static ");
    if (shared)
        text_printf(&e->out, "%.*sKMM_HOST_SHARED%s\n", (int)(shared - text), text,
                    shared + strlen("__shared__"));
    else
        text_printf(&e->out, "%s\n", text);
}

/* Writes the declaration of structured bindings, whose names stay in its phase. False if `n`
 * declares none. */
static bool emit_bindings(emitter_t *e, const node_t *n)
{
    variable_t *last = NULL;
    for (int k = 0; k < e->b.variable_count; k++) {
        variable_t *v = &e->b.variable[k];
        if (!v->is_binding || v->declaration->parent != n)
            continue;
        if (v->is_pointed_at && e->b.root->has_collective)
            emitter_fail(e, n, "something points to a structured binding");
        v->is_block_level = true;
        last = v;
    }
    if (!last)
        return false;
    per_thread_emit(e, n);
    for (int k = 0; k < e->b.variable_count; k++)
        if (e->b.variable[k].is_binding && e->b.variable[k].declaration == last->declaration)
            e->b.variable[k].phase = e->phase_number;
    return true;
}

/* Makes the compiler check that types have no destructor, where they depend on a template. */
static void refuse_destructors(emitter_t *e, const node_t *n)
{
    for (const node_t *c = n->child; c; c = c->next)
        if (c->variable && c->kind == CXCursor_VarDecl && !c->variable->is_reference &&
            type_is_dependent(clang_getCursorType(c->cursor)))
            text_printf(&e->phase, " (void)sizeof(kmm_host_as<decltype(%s)>);", c->variable->name);
}

/* Writes variables of which one may be in what another one's collective operation gets. */
static void declare_in_turn(emitter_t *e, node_t *n)
{
    for (node_t *c = n->child; c; c = c->next) {
        if (c->kind != CXCursor_VarDecl || !c->variable)
            emitter_fail(e, n, "a declaration is of several kinds");
        else if (hoist(e, c, n))
            declare_variable(e, c->variable, n);
    }
}

void declaration_emit(emitter_t *e, node_t *n)
{
    bool has_variables = false;
    for (node_t *c = n->child; c; c = c->next) {
        if (clang_isDeclaration(c->kind) && !declarator_ends_silently(e, c->cursor, n))
            return;
        has_variables |= c->kind == CXCursor_VarDecl;
        if (c->kind == CXCursor_VarDecl && c->variable)
            c->variable->is_block_level = true;
    }
    if (!per_thread_can_copy(e, n))
        return;
    if (n->has_collective && n->child != n->last) {
        declare_in_turn(e, n);
        return;
    }
    if (!hoist(e, n, n) || emit_bindings(e, n))
        return;
    if (!has_variables || declaration_is_stored(n, STORAGE_SHARED) ||
        declaration_is_stored(n, STORAGE_UNIFORM)) {
        emit_as_written(e, n);
        return;
    }
    if (declaration_is_stored(n, STORAGE_PHASE)) {
        per_thread_emit(e, n);
        refuse_destructors(e, n);
        return;
    }
    for (node_t *c = n->child; c; c = c->next) {
        if (c->kind == CXCursor_VarDecl && c->variable)
            declare_variable(e, c->variable, n);
        else if (c->kind == CXCursor_VarDecl || clang_isDeclaration(c->kind))
            emitter_fail(e, n, "a declaration is of several kinds");
    }
}
