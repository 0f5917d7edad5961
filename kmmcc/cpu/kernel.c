/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites kernels as include/kmm/host/kmm_launch.h shows. A kernel's body moves into a function of
 * a local struct. The function runs a whole block if the body can be split at its barriers.
 * Otherwise it runs one thread, and the threads of a kernel with barriers are fibers.
 */
#include "cpu/kernel.h"

#include <kmm/host/kmm_flags.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "cpu/callee.h"
#include "cpu/index.h"
#include "cpu/loops/emitter.h"
#include "cpu/loops/split.h"
#include "cpu/parameters.h"
#include "cpu/shared.h"
#include "cpu/shared_size.h"
#include "cpu/tree/extent.h"

/* Returns the flags as C++, joined by `|`. */
static const char *flags_text(int flags)
{
#define FLAG(name)                                                                                 \
    {                                                                                              \
        name, #name                                                                                \
    }
    static const struct {
        int flag;
        const char *name;
    } names[] = {FLAG(KMM_HOST_SYNC),    FLAG(KMM_HOST_BLOCK),    FLAG(KMM_HOST_SIZED),
                 FLAG(KMM_HOST_STATES),  FLAG(KMM_HOST_WIDE),     FLAG(KMM_HOST_HELPERS),
                 FLAG(KMM_HOST_GLOBALS), FLAG(KMM_HOST_POINTERS), FLAG(KMM_HOST_GENERIC)};
#undef FLAG
    const char *text = "";
    if (flags & KMM_HOST_BLOCK)
        flags &= ~KMM_HOST_SYNC; /* its barriers are gone */
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (flags & names[k].flag)
            text = arena_printf("%s%s%s", text, *text ? " | " : "", names[k].name);
    return *text ? text : "KMM_HOST_PLAIN";
}

/* Returns the first argument of __launch_bounds__ before a kernel's body; "0" if there is none. */
static const char *bound_text(const unit_t *u, size_t begin, size_t body)
{
    const source_t *s = u->source;
    lexer_t l = lexer_within(s, begin, body);
    token_t t = lex(&l);
    while (t.kind != TOKEN_END && !token_is(s, t, "__launch_bounds__"))
        t = lex(&l);
    token_t open = t.kind == TOKEN_END ? t : lex(&l);
    if (open.kind == TOKEN_END || !token_is(s, open, "("))
        return "0";
    int depth = 1;
    for (t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0 || (depth == 1 && token_is(s, t, ",")))
            return arena_copy(s->text + open.end, t.begin - open.end);
    }
    return "0";
}

/* Returns the functions by which the kernel's struct gives its name, launch bound and shared
 * memory. */
static const char *facts_text(unit_t *u, const kernel_t *k, const program_t *h, size_t body)
{
    return arena_printf(
        "static const char *kmm__name() { return %s; } static unsigned kmm__bound() "
        "{ return %s; } static kmm_size_t kmm__shared() { return %s; } ",
        text_quoted(clang_text(clang_getCursorSpelling(k->cursor))), bound_text(u, k->begin, body),
        shared_bytes_text(k, h));
}

/* A kernel that is being edited. */
typedef struct editing {
    unit_t *u;
    const kernel_t *kernel;
    const program_t *program;
    parameters_t p;
    size_t body, end; /* of its body */
    const char *facts;
    int qualified; /* uses of index variables in classes */
} editing_t;

/* Replaces the kernel's body by a function for a block. If the file launches the kernel with a
 * known block size, it may add a second function for this size. False if the body cannot be
 * split. */
static bool edit_for_blocks(const editing_t *e)
{
    const kernel_t *k = e->kernel;
    const char *reason, *sized = NULL, *second = "";
    size_t at;
    unsigned extent[3];
    int found;
    split_t split = {.u = e->u,
                     .function = k->cursor,
                     .flags = k->flags & KMM_HOST_HELPERS,
                     .is_kernel = true,
                     .collective_of = callee_collective_of,
                     .context = e->program};
    if ((k->flags & KMM_HOST_SYNC) && extent_find(e->program->u, k->cursor, extent)) {
        split.extent = extent;
        split.sized = &sized;
    }
    const char *text = split_body(&split, &found, &reason, &at);
    if (!text) {
        if (e->u->options->verbose && (k->flags & KMM_HOST_SYNC))
            diag_at(SEVERITY_NOTE, e->u->source, at ? at : k->begin, at ? at : k->begin,
                    "the threads of kernel '%s' are fibers, which is slow: %s",
                    clang_text(clang_getCursorSpelling(k->cursor)), reason);
        return false;
    }
    if (sized)
        second = arena_printf(
            "enum { kmm__x = %u, kmm__y = %u, kmm__z = %u }; static KMM_HOST_BODY void "
            "kmm__sized(kmm_host_block &kmm__b%s) %s ",
            extent[0], extent[1], extent[2], e->p.text, sized);
    unit_edit(
        e->u, e->body, e->end,
        arena_printf(
            "{ struct kmm__kernel { %sstatic KMM_HOST_BODY void "
            "kmm__block(kmm_host_block &kmm__b%s) %s %s}; kmm_host_launch<kmm__kernel, %s>(%s); }",
            e->facts, e->p.text, text, second,
            flags_text(k->flags | KMM_HOST_BLOCK | found | (sized ? KMM_HOST_SIZED : 0)),
            e->p.names));
    return true;
}

/* Moves the kernel's body, as it is written, into a function for one thread. */
static void edit_for_threads(const editing_t *e)
{
    index_edit_captures(e->u, e->p.body);
    index_edit_qualified(e->u, e->p.body);
    shared_edit_fibers(e->u, e->body, e->end);
    unit_edit(
        e->u, e->body, e->body,
        arena_printf(
            "{ struct kmm__kernel { %sstatic KMM_HOST_INLINE void kmm__thread(KMM_HOST_INDEX%s) ",
            e->facts, e->p.text));
    unit_edit(e->u, e->end, e->end,
              arena_printf(" }; kmm_host_launch<kmm__kernel, %s>(%s); }",
                           flags_text(e->kernel->flags | (e->qualified ? KMM_HOST_HELPERS : 0)),
                           e->p.names));
}

void kernel_edit(unit_t *u, const kernel_t *k, const program_t *h)
{
    const char *name = clang_text(clang_getCursorSpelling(k->cursor));
    editing_t e = {.u = u, .kernel = k, .program = h};
    if (!parameters_read(u, k, &e.p) || clang_Cursor_isNull(e.p.body) ||
        !unit_range(u, e.p.body, &e.body, &e.end)) {
        diag_at(SEVERITY_ERROR, u->source, k->begin, k->end,
                "kernel '%s' is partly written by a macro; write it out", name);
        return;
    }
    e.facts = facts_text(u, k, h, e.body);
    e.qualified = index_count_qualified(u, e.p.body);
    if (h->hidden && u->options->verbose)
        diag_at(
            SEVERITY_NOTE, u->source, k->begin, k->begin,
            "the threads of kernel '%s' are fibers, which is slow: '%s' may bring it to a barrier "
            "without its name",
            name, h->hidden->name);
    const bool is_plain = !e.qualified && index_count_captures(u, e.p.body) == 0;
    if (!is_plain || h->hidden || u->options->fibers || !edit_for_blocks(&e))
        edit_for_threads(&e);
}
