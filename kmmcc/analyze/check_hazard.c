/* SPDX-License-Identifier: Apache-2.0 */
/* Finds launches that cannot be split into chunks, or not over several devices, because of what
 * their kernels do. */
#include "analyze/check_hazard.h"

#include <clang-c/Index.h>
#include <stdbool.h>

#include "analyze/check_argument.h"
#include "analyze/check_overlap.h"
#include "analyze/hazard.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "kmm/launch.h"
#include "pragma/expression.h"
#include "pragma/form.h"
#include "pragma/parser.h"

static void hazard(unit_t *u, const directive_t *d, CXCursor where, const char *message)
{
    bool named = d->name_after > d->name_at;
    unit_error(u, named ? d->name_at : d->name_begin, named ? d->name_after : d->name_end, "%s",
               message);
    check_note(u, where, "it does so here");
}

static bool reduces(const directive_t *d)
{
    bool found = false;
    for (int k = 0; k < d->item_count; k++)
        found |= d->item[k].mode == KMM_REDUCE;
    return found;
}

/* The function would read the index of the block in the chunk. */
static void check_elsewhere(unit_t *u, directive_t *d, const char *name, const hazards_t *h)
{
    static const char remedy[] =
        "define it where this file sees it, or say -fno-kmm-index-elsewhere if no such function "
        "reads blockIdx or gridDim";
    if (reduces(d)) {
        hazard(u, d, h->elsewhere,
               arena_printf("kernel '%s' calls '%s', which another file defines and which may read "
                            "blockIdx there, so it cannot be "
                            "split, and reductions here split it; %s",
                            name, h->elsewhere_name, remedy));
        return;
    }
    d->home = arena_printf("%s is defined in another file", h->elsewhere_name);
    diag_at(SEVERITY_WARNING, u->source, d->name_begin, d->name_end,
            "kernel '%s' calls '%s', which another file defines and which may read blockIdx there, "
            "so the launch is one chunk; %s [-Wkmm-elsewhere]",
            name, h->elsewhere_name, remedy);
    check_note(u, h->elsewhere, "it does so here");
}

/* Chunks of different devices have each device's own variable. */
static void check_symbol(unit_t *u, directive_t *d, const char *name, const hazards_t *h)
{
    if (reduces(d)) {
        hazard(u, d, h->symbol,
               arena_printf("kernel '%s' changes the variable '%s' of its device, so it cannot be "
                            "split, and reductions here split it; "
                            "launch it without the pragma",
                            name, h->symbol_name));
        return;
    }
    d->home = arena_printf("the kernel changes %s", h->symbol_name);
    if (d->chunk_count == 0)
        return;
    diag_at(SEVERITY_WARNING, u->source, d->chunk_begin, d->chunk_end,
            "kernel '%s' changes the variable '%s' of its device, so the launch is one chunk "
            "[-Wkmm-symbol]",
            name, h->symbol_name);
    check_note(u, h->symbol, "it does so here");
}

/* The threads along x of `k<<<grid, block>>>`, when both are numbers. */
static bool threads_of(unit_t *u, directive_t *d, long long *threads)
{
    form_t factor[2];
    parser_t p = {.s = u->source,
                  .lexer = lexer_at(u->source, d->template_end, d->open),
                  .d = d,
                  .last_end = d->template_end,
                  .failed = true};
    if (d->form != LAUNCH_CHEVRON || !d->open || d->template_end >= d->open)
        return false;
    parser_advance(&p);
    if (!parser_at(&p, "<<<"))
        return false;
    for (int k = 0; k < 2; k++) {
        parser_advance(&p);
        expr_t *e = parse_operand(&p);
        if (!e || !(parser_at(&p, ",") || (k == 1 && parser_at(&p, ">>>"))))
            return false;
        factor[k] = form_of(u->source, e);
    }
    form_t product = form_multiply(factor[0], factor[1]);
    *threads = product.value;
    return product.known;
}

static bool moves_with(const directive_t *d, int axis)
{
    for (int k = 0; k < d->item_count; k++)
        for (int i = 0; i < d->item[k].section_count; i++)
            if (!form_is(d->item[k].section[i].lower_form.coef[axis], 0))
                return true;
    return false;
}

void check_stride(unit_t *u, directive_t *d)
{
    long long threads;
    hazards_t h = d->is_kernel && d->target_count == 1 && d->chunk_count
                      ? hazards_of(d->target[0].kernel)
                      : (hazards_t){.stride = clang_getNullCursor()};
    const axis_t *axis = &d->axis[0];
    if (clang_Cursor_isNull(h.stride) || d->axis_count == 0 || axis->source != KMM_GLOBAL_X ||
        !axis->length || !moves_with(d, 0) || d->home || !threads_of(u, d, &threads))
        return;
    form_t length = form_of(u->source, axis->length);
    form_t chunk = form_of(u->source, d->chunk[0]);
    if (check_cut_along(u, d, 0) == CUT_NEVER || (length.known && length.value <= threads) ||
        (chunk.known && chunk.value >= threads))
        return;
    const char *message = arena_printf(
        "kernel '%s' loops with the stride of a grid of %lld threads, so each chunk "
        "reaches elements of the whole range '%s'",
        d->callee_name, threads, unit_words(u, axis->length->begin, axis->length->end));
    const char *remedy = "leave out the chunk, launch enough blocks, or say [:]";
    if (length.known && chunk.known)
        unit_error(u, d->chunk_begin, d->chunk_end, "%s; %s", message, remedy);
    else
        diag_at(SEVERITY_WARNING, u->source, d->chunk_begin, d->chunk_end,
                "%s where that is longer, and several chunks are an error; %s [-Wkmm-stride]",
                message, remedy);
    check_note(u, h.stride, "it does so here");
}

void check_hazards(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->target_count && d->is_kernel; k++) {
        const char *name = cursor_name(d->target[k].kernel);
        hazards_t h = hazards_of(d->target[k].kernel);
        if (!clang_Cursor_isNull(h.wait))
            hazard(u, d, h.wait,
                   arena_printf("kernel '%s' waits for what other blocks store, which may be of "
                                "other chunks, so it cannot be split; "
                                "launch it without the pragma",
                                name));
        if (!clang_Cursor_isNull(h.launch))
            hazard(u, d, h.launch,
                   arena_printf("kernel '%s' launches kernels itself, so it cannot be split; "
                                "launch it without the pragma",
                                name));
        if (!clang_Cursor_isNull(h.texture))
            hazard(u, d, h.texture,
                   arena_printf("kernel '%s' calls '%s': textures and surfaces belong to one "
                                "device, so it cannot be split; "
                                "launch it without the pragma",
                                name, h.texture_name));
        if (hazard_calls_elsewhere(u, &h))
            check_elsewhere(u, d, name, &h);
        if (!clang_Cursor_isNull(h.symbol))
            check_symbol(u, d, name, &h);
        if (clang_Cursor_isNull(h.symbol) && u->target != TARGET_HOST)
            hazard_shared_symbols(u, d->target[k].kernel, &d->shared_symbols);
    }
}
