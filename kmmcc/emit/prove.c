/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs that chunks of plain functions give what one call gives. What is not proven is said. The
 * module of ir/ proves it from the function's code; here the clauses become what chunks pass for
 * each parameter.
 */
#include "emit/prove.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/check_argument.h"
#include "analyze/geometry.h"
#include "analyze/reduced.h"
#include "base/arena.h"
#include "base/diag.h"
#include "clang/cursor.h"
#include "emit/describe.h"
#include "emit/origin.h"
#include "ir/load.h"
#include "pragma/form.h"

_Static_assert((int)KMM_MAX_AXES <= (int)IR_AXES, "each axis has a number in proofs");

/* The item's pointer moves by its coefficients of the axes. One that is no constant is not known.
 */
static void add_moved(const unit_t *u, const directive_t *d, const item_t *item, int number,
                      ir_role_t *role)
{
    const CXType function = clang_getCanonicalType(clang_getCursorType(d->target[0].instance)),
                 to = clang_getPointeeType(clang_getArgType(function, (unsigned)number));
    const long long bytes = to.kind == CXType_Void ? 1 : clang_Type_getSizeOf(to);
    int inner = 0;
    for (CXType e = clang_getCanonicalType(to); type_is_array(e); inner++)
        e = type_pointee(e);
    for (int k = 0; k < d->rebase_count; k++) {
        const int axis = d->rebase[k].axis;
        form_t step;
        if (d->rebase[k].kind != REBASE_LENGTH)
            continue;
        const bool known = describe_step(u, item, axis, inner, &step) && step.known;
        if (known && step.value == 0)
            continue;
        role->kind = IR_MOVED;
        role->distance[axis] = known && bytes > 0 ? step.value * bytes : 0;
        role->moves |= 1ULL << axis;
    }
}

/* True if the argument leads to the array of the item. */
static bool is_of(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument)
{
    const char *origin = origin_of_argument(u, d, argument), *base = origin_of_base(u, item->base);
    return origin_is_item(u, d, item, argument) ||
           (!origin_is_passed(u, d, item) && origin && base && !strcmp(origin, base));
}

/* 1 + the number of the first argument that is this one, too; 0: there is none. */
static int same_as(const unit_t *u, const directive_t *d, int number)
{
    const char *text = origin_text(u, d, d->argument[number]);
    for (int k = 0; k < number && text && origin_is_pure(d->argument[number]); k++) {
        const char *other = origin_text(u, d, d->argument[k]);
        if (other && !strcmp(text, other))
            return k + 1;
    }
    return 0;
}

/* What the elements of a reduction are. */
static void add_element(const item_t *item, ir_role_t *role)
{
    static const int bytes[] = {
        [KMM_INT8] = 1,   [KMM_INT16] = 2,  [KMM_INT32] = 4,  [KMM_INT64] = 8, [KMM_UINT8] = 1,
        [KMM_UINT16] = 2, [KMM_UINT32] = 4, [KMM_UINT64] = 8, [KMM_FLOAT] = 4, [KMM_DOUBLE] = 8};
    const kmm_type_t type = item->reduced.type;
    role->is_pair = item->op == KMM_OP_ARGMIN || item->op == KMM_OP_ARGMAX;
    role->is_unsigned = type >= KMM_UINT8 && type <= KMM_UINT64;
    role->is_real = type == KMM_FLOAT || type == KMM_DOUBLE;
    role->element_bytes = role->is_pair || type > KMM_DOUBLE ? 0 : bytes[type];
    role->value_at = item->reduced.value_at;
    role->has_unsigned_index =
        item->reduced.index >= KMM_UINT8 && item->reduced.index <= KMM_UINT64;
}

static ir_role_t *roles_of(const unit_t *u, const directive_t *d, const item_t *const *moved)
{
    const size_t bytes = ((size_t)d->argument_count + 1) * sizeof(ir_role_t);
    ir_role_t *role = arena_alloc(bytes);
    memset(role, 0, bytes);
    for (int k = 0; k < d->argument_count; k++) {
        role[k].same_as = same_as(u, d, k);
        if (moved[k])
            add_moved(u, d, moved[k], k, &role[k]);
        for (int i = 0; i < d->item_count; i++) {
            const item_t *item = &d->item[i];
            if (item->mode != KMM_REDUCE || !is_of(u, d, item, d->argument[k]))
                continue;
            role[k].is_reduced = 1;
            role[k].combine = reduced_combine_of(item->op);
            role[k].is_logical = item->op == KMM_OP_LAND || item->op == KMM_OP_LOR;
            add_element(item, &role[k]);
        }
    }
    for (int k = 0; k < d->rebase_count; k++) {
        const rebase_t *r = &d->rebase[k];
        role[r->parameter].axis = r->axis;
        role[r->parameter].kind = r->kind == REBASE_BEGIN ? IR_BEGIN
                                  : r->kind == REBASE_END ? IR_END
                                                          : IR_LENGTH;
        const expr_t *lower = d->axis[r->axis].lower;
        const form_t from = lower ? form_of(u->source, lower) : form_number(0);
        role[r->parameter].from_zero = from.known && from.value >= 0;
    }
    return role;
}

/* The axes along which there are several chunks, as bits. */
static uint64_t split_axes(const unit_t *u, const directive_t *d)
{
    uint64_t axes = 0;
    for (int k = 0; k < d->rebase_count; k++)
        if (geometry_splits(u, d, d->rebase[k].axis))
            axes |= 1ULL << d->rebase[k].axis;
    return axes;
}

static const char compares[] = "KMM_CHECK=result compares the results when the program runs";

static void warn(const unit_t *u, const directive_t *d, const ir_gap_t *gap)
{
    const char *line = gap->line ? arena_printf(", in line %d", gap->line) : "";
    diag_at(SEVERITY_WARNING, u->source, d->rebase_begin, d->rebase_end,
            "it is not proven that chunks of '%s' give what one call gives, since it %s%s; %s "
            "[-Wkmm-unproven]",
            d->callee_name, gap->reason, line, compares);
    if (gap->line)
        check_note_at(u, gap->file, gap->line, gap->column, "the proof ends here");
}

/* True for a static function of this file that has no code, since nothing that runs calls it. */
static bool is_unused(const directive_t *d, const ir_gap_t *gap)
{
    return strstr(gap->reason, "has no code") && !clang_Cursor_isNull(d->definition) &&
           !clang_Cursor_isNull(cursor_body(d->definition)) &&
           clang_Cursor_getStorageClass(d->definition) == CX_SC_Static;
}

void prove_call(unit_t *u, const directive_t *d, const item_t *const *moved)
{
    static const char *said; /* the file of which it is said that nothing is proven */
    const uint64_t axes = split_axes(u, d);
    const char *reason = NULL;
    if (!axes || !d->is_compared || d->is_doubted ||
        (!d->is_guessed && !diag_shows("kmm-unproven")))
        return;
    const ir_gap_t *gap = ir_prove(u->main, d->target[0].instance, roles_of(u, d, moved),
                                   d->argument_count, axes, &reason);
    if (d->is_guessed) {
        const bool proven = !gap && !reason && d->target_count == 1 && d->instance_count <= 1;
        for (int k = 0; k < d->item_count && proven; k++)
            diag_retract_in(u->source, d->item[k].begin, d->item[k].end, "[-Wkmm-reduce]");
        return;
    }
    if (gap && !is_unused(d, gap))
        warn(u, d, gap);
    if (!reason || said == u->main->path)
        return;
    diag_at(SEVERITY_WARNING, u->source, d->rebase_begin, d->rebase_end,
            "it is not proven for any function of this file that its chunks give what one call "
            "gives: %s; %s [-Wkmm-unproven]",
            reason, compares);
    said = u->main->path;
}
