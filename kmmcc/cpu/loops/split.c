/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the body of a function as loops over the threads of a block. Statements without barriers
 * are gathered into phases, each a loop over the threads; a phase ends at a barrier. Statements
 * around barriers become statements of the block. One with a uniform condition stays as it is; one
 * with a divergent condition is run by the states of the threads (include/kmm/host/kmm_block.h).
 *
 * The body is written three times, since what the first two passes find makes the last one simpler.
 */
#include "cpu/loops/split.h"

#include <string.h>

#include <kmm/host/kmm_flags.h>

#include "clang/cursor.h"
#include "cpu/loops/declarator.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/phase.h"
#include "cpu/loops/statement.h"
#include "cpu/loops/wide.h"
#include "cpu/tree/read.h"
#include "cpu/tree/storage.h"

static void emit_parameters(emitter_t *e)
{
    if (type_has_destructor(clang_getCursorResultType(e->s->function)))
        emitter_fail(e, e->b.root, "its result has a destructor");
    for (int k = 0; k < e->b.variable_count; k++) {
        variable_t *v = &e->b.variable[k];
        if (!v->is_parameter || !*v->name)
            continue;
        v->is_block_level = true;
        if (v->storage != STORAGE_THREAD)
            continue;
        const char *type = declarator_type(e, v);
        if (!declarator_ends_silently(e, v->cursor, e->b.root))
            return;
        if (strstr(type, "...")) {
            emitter_fail(e, e->b.root, "it takes any number of arguments");
            return;
        }
        if (!e->s->is_kernel) {
            text_printf(&e->out, "%skmm_host_as<%s> &%s __attribute__((__unused__)) = %s[0];\n",
                        declarator_is_const(v) ? "const " : "", type, v->name,
                        declarator_values(v));
            continue;
        }
        text_printf(&e->out, "kmm_host_values<%s> %s;\n", type, declarator_values(v));
        phase_open(e);
        text_printf(&e->phase, " ::new (static_cast<void *>(&%s[kmm__t])) kmm_host_as<%s>(%s);",
                    declarator_values(v), type, v->name);
        phase_close(e);
    }
}

static void emit_body(emitter_t *e)
{
    e->out = (text_t){0};
    e->phase_number = e->loop_depth = e->numbers = e->collective_count = 0;
    e->is_divergent = e->is_open = false;
    e->is_masked |= !e->s->is_kernel; /* not all threads may have called it */
    if (e->is_sized)
        text_printf(&e->out, "{ KMM_HOST_SIZED_VALUES(%u, %u, %u)\n", e->s->extent[0],
                    e->s->extent[1], e->s->extent[2]);
    else
        text_printf(&e->out, "{ KMM_HOST_BLOCK_VALUES\n");
    emit_parameters(e);
    statement_emit_children(e, e->b.root);
    text_printf(&e->out, "}\n%s\n", edits_line(e, e->b.root->end - 1));
}

/* Makes each variable that no other phase uses local to its phase. */
static void forget_local(emitter_t *e)
{
    for (int k = 0; k < e->b.variable_count; k++) {
        variable_t *v = &e->b.variable[k];
        bool is_pointed_at = v->is_pointed_at && e->b.root->has_collective;
        if (v->storage == STORAGE_THREAD && v->is_block_level && !v->is_parameter &&
            !v->is_binding && !v->crosses_phases && !v->is_named_by_block && !is_pointed_at)
            v->storage = STORAGE_PHASE;
    }
}

static bool has_each(const emitter_t *e)
{
    for (int k = 0; k < e->b.variable_count; k++) {
        const variable_t *v = &e->b.variable[k];
        if (v->storage == STORAGE_SHARED ||
            (v->storage == STORAGE_THREAD && v->is_block_level && !v->is_binding))
            return true;
    }
    return false;
}

/* Returns the flags that the passes have found (kmm_flags.h). */
static int found_flags(const emitter_t *e)
{
    bool needs_states = e->is_masked || e->collective_count > 0;
    bool is_alone = !needs_states && !e->b.root->has_collective && !e->s->flags && !has_each(e) &&
                    wide_is_possible(e->b.root);
    return (needs_states ? KMM_HOST_STATES : 0) | (is_alone ? KMM_HOST_WIDE : 0);
}

/* Writes the body again, for blocks of the size s->extent. */
static void write_sized(emitter_t *e, int edits)
{
    e->pass = 2;
    e->is_sized = true;
    e->edit_count = edits;
    emit_body(e);
    if (!e->b.reason)
        *e->s->sized = e->out.data;
}

const char *split_body(const split_t *s, int *flags, const char **reason, size_t *reason_at)
{
    emitter_t e = {.s = s};
    int edits = 0;
    if (tree_read(&e.b, s->u, s->function, s->collective_of, s->context)) {
        e.b.is_kernel = s->is_kernel;
        storage_find(&e.b);
        edits_take(&e);
        edits = e.edit_count;
        for (e.pass = 0; e.pass < 3 && !e.b.reason; e.pass++) {
            e.edit_count = edits;
            e.is_masked = e.pass == 2 && e.is_masked;
            emit_body(&e);
            e.last_phase = e.phase_number;
            forget_local(&e);
        }
    }
    *reason = e.b.reason;
    *reason_at = e.b.reason_at;
    if (e.b.reason)
        return NULL;
    *flags = found_flags(&e);
    const char *text = e.out.data;
    if (s->extent && e.gains_by_size && !e.has_static && !e.is_masked && e.b.root->has_collective)
        write_sized(&e, edits);
    if (!s->keeps_edits)
        edits_release(&e);
    return text;
}
