/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what --explain says of the launches and tasks of a file: axes, chunks, the elements and
 * bytes of each argument, and how well the kernel's accesses are known. */
#include "emit/explain.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/source.h"
#include "clang/cursor.h"
#include "emit/explain_ahead.h"
#include "emit/explain_part.h"
#include "emit/explain_region.h"
#include "emit/explained.h"
#include "emit/suggestion.h"
#include "ir/load.h"
#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/form.h"

/* ---- Axes and chunks ---- */

static const char *form_words(form_t f)
{
    return explain_plain(form_text(f));
}

/* The number by which a chunk's size divides the axis's length, as n / 10 does; 0: it does not. */
static int divisor(const char *size, const char *length)
{
    size_t words = strlen(length);
    long long number = 0;
    if (strncmp(size, length, words) != 0 || strncmp(size + words, " / ", 3) != 0)
        return 0;
    for (size += words + 3; *size >= '0' && *size <= '9' && number < 1000; size++)
        number = 10 * number + *size - '0';
    return *size ? 0 : (int)number;
}

/* In how many chunks the axis is cut; 0: that is known when it runs. */
static int chunks_of(const explanation_t *x, int number)
{
    enum { MOST = 1000000 };
    const axis_t *axis = &x->d->axis[number];
    const expr_t *chunk = explain_chunk(x->d, number);
    if (x->d->home || (axis->splits && !chunk && x->d->chunk_count))
        return 1;
    bool blocks = axis->source >= KMM_BLOCK_X && axis->source <= KMM_BLOCK_Z;
    if (!chunk || !axis->length || blocks)
        return 0;
    form_t size = form_of(x->u->source, chunk), length = form_of(x->u->source, axis->length);
    if (size.known && length.known && size.value > 0 && length.value / size.value < MOST)
        return length.value <= 0 ? 1 : (int)((length.value + size.value - 1) / size.value);
    const char *size_text = form_words(size), *length_text = form_words(length);
    return !strcmp(size_text, length_text) ? 1 : divisor(size_text, length_text);
}

static void add_axes(const explanation_t *x, explained_t *out)
{
    static const char *const sources[] = {"global.x",
                                          "global.y",
                                          "global.z",
                                          "block.x",
                                          "block.y",
                                          "block.z",
                                          "the range's first dimension",
                                          "the range's second dimension",
                                          "the range's third dimension"};
    enum { DIMENSIONS = 3 };
    out->axis_count = x->d->axis_count;
    for (int k = 0; k < x->d->axis_count; k++) {
        const axis_t *axis = &x->d->axis[k];
        explained_axis_t *a = &out->axis[k];
        *a = (explained_axis_t){.name = axis->name,
                                .source = sources[axis->source],
                                .splits = axis->splits,
                                .dimension = axis->source % DIMENSIONS,
                                .chunks = chunks_of(x, k)};
        if (!axis->length)
            continue;
        form_t lower = form_of(x->u->source, axis->lower),
               length = form_of(x->u->source, axis->length);
        a->lower = form_words(lower);
        a->beyond = form_words(form_add(lower, length));
    }
    for (int k = 0; k < out->axis_count; k++)
        for (int i = 0; i < out->axis_count && !out->axis[k].splits; i++)
            if (out->axis[i].splits && out->axis[i].dimension == out->axis[k].dimension)
                out->axis[k].chunks = out->axis[i].chunks;
}

static void add_chunks(const explanation_t *x, explained_t *out)
{
    const directive_t *d = x->d;
    for (int k = 0; k < d->axis_count; k++) {
        const expr_t *chunk = explain_chunk(d, k);
        if (chunk)
            out->chunk[out->chunk_count++] = (explained_chunk_t){
                k, explain_words(x, chunk->begin, chunk->end),
                d->axis[k].source >= KMM_BLOCK_X && d->axis[k].source <= KMM_BLOCK_Z};
    }
    out->one_chunk = d->home ? d->home : d->axis_count ? NULL : "no axis is named";
    if (d->condition)
        out->condition = explain_words(x, d->condition->begin, d->condition->end);
}

/* ---- Items ---- */

static void add_sections(const explanation_t *x, const item_t *item, explained_item_t *out)
{
    out->section_count = item->section_count;
    for (int k = 0; k < item->section_count; k++) {
        const section_t *from = &item->section[k];
        explained_section_t *s = &out->section[k];
        if (from->lower)
            s->lower = explain_words(x, from->lower->begin, from->lower->end);
        if (from->length)
            s->length = explain_words(x, from->length->begin, from->length->end);
        explain_bounds(x, from, &s->first, &s->last);
    }
}

static void add_items(const explanation_t *x, explained_t *out)
{
    static const char *const ops[] = {"+", "*",  "min", "max",    "&",     "|",
                                      "^", "&&", "||",  "argmin", "argmax"};
    const directive_t *d = x->d;
    out->item = arena_alloc(((size_t)d->item_count + 1) * sizeof(*out->item));
    out->item_count = d->item_count;
    for (int k = 0; k < d->item_count; k++) {
        const item_t *from = &d->item[k];
        explained_item_t *item = &out->item[k];
        *item = (explained_item_t){.mode = from->mode,
                                   .op = from->mode == KMM_REDUCE ? ops[from->op] : NULL,
                                   .text = explain_words(x, from->begin, from->end),
                                   .base = explain_words(x, from->base->begin, from->base->end),
                                   .is_inferred = from->inferred,
                                   .elements = explain_elements(x, from),
                                   .bytes = explain_bytes(x, from),
                                   .element_bytes = explain_element_bytes(from)};
        add_sections(x, from, item);
        explain_parts(x, from, item);
    }
}

static void add_conditions(const explanation_t *x, explained_t *out)
{
    const directive_t *d = x->d;
    out->fits = arena_alloc(((size_t)d->fits_count + 1) * sizeof(*out->fits));
    out->fits_count = d->fits_count;
    for (int k = 0; k < d->fits_count; k++)
        out->fits[k] = (explained_fits_t){explain_words(x, d->fits[k].begin, d->fits[k].end),
                                          fits_types[d->fits[k].type].name, d->fits[k].in_grid};
}

/* ---- The whole ---- */

/* Says once why no launch of the file was compared with its kernel. */
static const char *why_uncompared(const unit_t *u)
{
    static bool said;
    const char *reason = "";
    if (said || u->main->options->no_compare || ir_functions(u->main, &reason))
        return NULL;
    said = true;
    return reason;
}

static const char *name_of(CXCursor cursor)
{
    char *name = clang_Cursor_isNull(cursor) ? "" : clang_text(clang_getCursorSpelling(cursor));
    return *name ? name : NULL;
}

static explained_t *explain(const unit_t *u, const directive_t *d)
{
    explanation_t x = {u, d};
    explained_t *out = arena_alloc(sizeof(*out));
    *out = (explained_t){.kind = d->kind == DIRECTIVE_TASK ? EXPLAINED_TASK
                                 : d->is_kernel            ? EXPLAINED_KERNEL
                                                           : EXPLAINED_CALL,
                         .path = u->source->path,
                         .main_path = u->main->source->path,
                         .function = name_of(d->function),
                         .is_inferred = d->inferred,
                         .is_declared = d->declared_in != NULL,
                         .is_nowait = d->nowait};
    source_place(u->source, d->pragma.begin, &out->line, &out->column);
    if (d->kind == DIRECTIVE_PARALLEL) {
        out->callee = d->callee_name;
        explain_ahead(u, d, out);
        add_axes(&x, out);
        add_chunks(&x, out);
    }
    add_items(&x, out);
    add_conditions(&x, out);
    if (d->is_kernel)
        suggestion_add_known(u, d, out);
    return out;
}

void explain_directives(const unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *d = u->directives[k];
        bool launch = d->kind == DIRECTIVE_PARALLEL && !clang_Cursor_isNull(d->launch);
        if (!d->bound || d->broken || (!launch && d->kind != DIRECTIVE_TASK))
            continue;
        explained_t *x = explain(u, d);
        if (launch && d->is_kernel)
            x->uncompared = why_uncompared(u);
        explained_add(x);
    }
}
