/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes `switch` statements with barriers in them. The statements behind a label are a group.
 * First each thread, or the block, finds the group that it begins with. Then the groups run in
 * order.
 */
#include "cpu/loops/switch.h"

#include <string.h>

#include "base/arena.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/hoist.h"
#include "cpu/loops/per_thread.h"
#include "cpu/loops/phase.h"
#include "cpu/loops/statement.h"
#include "cpu/tree/parts.h"
#include "cpu/tree/uniformity.h"

/* Returns the statement behind labels; *labels gets their text, or NULL if there are none. */
static node_t *behind_labels(emitter_t *e, node_t *n, const char **labels)
{
    node_t *inner = n;
    while (inner && (inner->kind == CXCursor_CaseStmt || inner->kind == CXCursor_DefaultStmt))
        inner = inner->last;
    if (!inner || inner->end <= inner->begin) {
        emitter_fail(e, n, "a statement comes from a macro");
        return NULL;
    }
    *labels = inner == n ? NULL : edits_copy(e, n->begin, inner->begin);
    return inner;
}

static bool has_default(const char *labels)
{
    return strstr(labels, "default") != NULL;
}

/* Returns the text that sets `chosen` to the number of the group: `switch (x) { case 1: chosen = 0;
 * break; ... }` */
static const char *chosen_text(emitter_t *e, const node_t *n, const parts_t *p, const char *chosen,
                               int *groups)
{
    text_t out = {0};
    bool any_default = false;
    text_printf(&out, "switch (%s) {\n", edits_copy_node(e, p->condition));
    *groups = 0;
    for (node_t *c = p->first->child; c; c = c->next) {
        const char *labels;
        if (c->kind == CXCursor_DeclStmt) {
            emitter_fail(e, n, "a declaration stands beside the labels of a 'switch'");
            return "";
        }
        if (!behind_labels(e, c, &labels))
            return "";
        if (labels) {
            any_default |= has_default(labels);
            text_printf(&out, "%s %s = %d; break;\n", labels, chosen, (*groups)++);
        }
    }
    text_printf(&out, "%s}\n", any_default ? "" : "default: break;\n");
    return out.data;
}

static void emit_group(emitter_t *e, node_t **c)
{
    const char *labels;
    node_t *first = *c;
    do {
        node_t *inner = behind_labels(e, *c, &labels);
        if (!inner || (labels && *c != first))
            break;
        if (inner->kind == CXCursor_DeclStmt)
            emitter_fail(e, inner, "a declaration stands beside the labels of a 'switch'");
        statement_emit(e, inner);
        *c = (*c)->next;
    } while (*c);
    phase_close(e);
}

/* A switch that is being written. The variable `name` holds the group with which the block, or
 * each thread, begins. Threads whose group has not come yet have the state n->number + 1; those
 * that left the switch have n->number. */
typedef struct plan {
    node_t *n;
    parts_t p;
    const char *name;
    bool is_divergent, is_inside; /* its condition; it is inside a divergent statement */
} plan_t;

static void emit_choosing(emitter_t *e, const plan_t *s)
{
    int groups;
    const char *chosen = s->is_divergent ? arena_printf("%s[kmm__t]", s->name) : s->name,
               *text = chosen_text(e, s->n, &s->p, chosen, &groups);
    phase_close(e);
    if (!s->is_divergent) {
        text_printf(&e->out, "{ int %s = %d;\n%s\n%s", s->name, groups, edits_line(e, s->n->begin),
                    text);
        return;
    }
    text_printf(&e->out, "{ kmm_host_values<int> %s;\n", s->name);
    phase_open(e);
    phase_note_uses(e, s->p.condition);
    phase_add(e, s->n,
              arena_printf("%s = %d; %skmm__b.kmm_state[kmm__t] = %d;", chosen, groups, text,
                           s->n->number + 1));
    phase_change_state(e);
    phase_close(e);
}

static void emit_groups(emitter_t *e, const plan_t *s)
{
    const bool has_states = s->n->is_left_early || s->is_inside;
    int group = 0;
    for (node_t *c = s->p.first->child; c && !e->b.reason; group++) {
        if (s->is_divergent)
            text_printf(&e->out, "kmm__b.kmm_choose(%d, %s, %d);\nif (kmm__b.kmm_active) {\n",
                        s->n->number + 1, s->name, group);
        else
            text_printf(&e->out, "if (%s <= %d%s) {\n", s->name, group,
                        has_states ? " && kmm__b.kmm_active" : "");
        emit_group(e, &c);
        text_printf(&e->out, "}\n");
    }
    text_printf(&e->out, "}\nkmm__end%d: __attribute__((__unused__));\n", s->n->number);
    if (s->is_divergent)
        text_printf(&e->out, "kmm__b.kmm_resume(%d);\n", s->n->number + 1);
    if (s->is_divergent || has_states) { /* threads that left it by a jump have its state */
        text_printf(&e->out, "kmm__b.kmm_resume(%d);\n", s->n->number);
        e->is_masked = true;
    }
}

void switch_emit(emitter_t *e, node_t *n)
{
    plan_t s = {.n = n, .is_inside = e->is_divergent};
    if (!per_thread_can_copy(e, n) || !parts_of(&e->b, n, &s.p) ||
        !hoist(e, s.p.condition, s.p.condition))
        return;
    if (s.p.first->kind != CXCursor_CompoundStmt || s.p.second) {
        emitter_fail(e, n, "a 'switch' has no braces");
        return;
    }
    s.is_divergent = uniformity_of(&e->b, s.p.condition) != UNIFORM;
    n->number = emitter_new_states(e, n);
    s.name = arena_printf("kmm__s%d", n->number);
    emit_choosing(e, &s);
    e->is_divergent |= s.is_divergent || n->is_left_early;
    emit_groups(e, &s);
    e->is_divergent = s.is_inside;
}
