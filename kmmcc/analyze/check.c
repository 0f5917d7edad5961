/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a directive makes sense: its axes, its sections, and what it says about each argument of
 * the launch. */
#include "analyze/check.h"

#include <clang-c/Index.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/hazard.h"
#include "analyze/reduce.h"
#include "analyze/uses.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/expression.h"
#include "pragma/form.h"
#include "pragma/parse.h"
#include "pragma/parser.h"

static void error_at(const unit_t *u, size_t begin, size_t end, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void error_at(const unit_t *u, size_t begin, size_t end, const char *format, ...)
{
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    diag_at(SEVERITY_ERROR, u->source, begin, end, "%s", message);
}

static const char *words(const unit_t *u, size_t begin, size_t end)
{
    return source_words(u->source, begin, end);
}

/* Behind the last error or warning: what to add to the pragma. */
static void suggest_clause(const unit_t *u, const directive_t *d, const char *why,
                           const char *clause)
{
    size_t at = d->pragma.content_end;
    diag_at(SEVERITY_NOTE, u->source, at, at, "%s", why);
    diag_fix(at, at, arena_printf(" %s", clause));
}

/* ---- Axes ---- */

static void set_source(unit_t *u, directive_t *d, int number)
{
    axis_t *axis = &d->axis[number];
    if (number >= KMM_MAX_SPLIT && (!axis->source_given || !d->is_kernel)) {
        error_at(u, axis->begin, axis->end,
                 d->is_kernel
                     ? "axis '%s' is the fourth: say what it runs over, as in %s: block.x"
                     : "axis '%s' is one too many: a function's range has at most 3 dimensions%.0s",
                 axis->name, axis->name);
        return;
    }
    if (!d->is_kernel && axis->source_given)
        error_at(u, axis->begin, axis->end,
                 "axis '%s' names a part of a grid, but the launch is the call of a function; "
                 "leave out the source",
                 axis->name);
    if (!d->is_kernel)
        axis->source = KMM_RANGE_0 + number;
    else if (!axis->source_given)
        axis->source = KMM_GLOBAL_X + number;
    if (!d->is_kernel && !axis->length)
        error_at(u, axis->begin, axis->end,
                 "axis '%s' needs its range, because a function's call does not have one: %s = 0:n",
                 axis->name, axis->name);
}

/* A block axis beside a global one is a second name for the same split. */
static void check_split(unit_t *u, directive_t *d, int number)
{
    static const char *const names[] = {"global.x", "global.y", "global.z", "block.x", "block.y",
                                        "block.z",  "0",        "1",        "2"};
    axis_t *axis = &d->axis[number];
    axis->splits = true;
    for (int k = 0; k < d->axis_count; k++) {
        axis_t *other = &d->axis[k];
        if (k != number && d->is_kernel && axis->source >= KMM_BLOCK_X &&
            other->source + 3 == axis->source)
            axis->splits = false;
        if (k < number && other->source == axis->source)
            error_at(u, axis->begin, axis->end,
                     "axes '%s' and '%s' both split %s; one axis splits a dimension, and only "
                     "block.%c beside global.%c may name it again",
                     other->name, axis->name, names[axis->source], "xyz"[axis->source % 3],
                     "xyz"[axis->source % 3]);
    }
}

static void check_axes(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->axis_count; k++)
        set_source(u, d, k);
    int splits = 0;
    for (int k = 0; k < d->axis_count; k++) {
        check_split(u, d, k);
        splits += d->axis[k].splits;
    }
    if (d->chunk_count > splits)
        error_at(u, d->chunk[splits]->begin, d->chunk_end,
                 "chunk has %d entr%s, but %d ax%s can be split; there is one entry for each axis",
                 d->chunk_count, d->chunk_count == 1 ? "y" : "ies", splits,
                 splits == 1 ? "is" : "es");
}

/* ---- Scalars ---- */

static bool is_integer(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return (kind >= CXType_Bool && kind <= CXType_Int128) || kind == CXType_Enum;
}

static bool is_dependent(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_Invalid || kind == CXType_Dependent || kind == CXType_Unexposed ||
           kind == CXType_Auto;
}

/* ---- Side effects ---- */

typedef struct effects {
    bool found;
    int depth;
} effects_t;

static bool function_has_effects(CXCursor f, int depth);

/* Whether the operand is a plain variable of the function in which it is changed. */
static bool is_own_variable(CXCursor operand)
{
    if (clang_getCursorKind(operand) != CXCursor_DeclRefExpr)
        return false;
    CXCursor variable = clang_getCursorReferenced(operand);
    enum CXCursorKind kind = clang_getCursorKind(variable);
    bool local =
        kind == CXCursor_ParmDecl ||
        (kind == CXCursor_VarDecl && clang_Cursor_getStorageClass(variable) == CX_SC_None &&
         clang_getCursorKind(clang_getCursorSemanticParent(variable)) == CXCursor_FunctionDecl);
    return local &&
           clang_getCanonicalType(clang_getCursorType(variable)).kind != CXType_LValueReference;
}

static enum CXChildVisitResult first_child(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = c;
    return CXChildVisit_Break;
}

static bool changes_something(CXCursor c, int depth)
{
    CXCursor operand = clang_getNullCursor();
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool changes = kind == CXCursor_CompoundAssignOperator;
    if (kind == CXCursor_BinaryOperator)
        changes = clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign;
    if (kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
        changes = op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
    }
    clang_visitChildren(c, first_child, &operand);
    return changes && !(depth > 0 && is_own_variable(operand));
}

static enum CXChildVisitResult find_effects(CXCursor c, CXCursor parent, CXClientData data)
{
    effects_t *e = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    e->found |= kind == CXCursor_CXXNewExpr || kind == CXCursor_CXXDeleteExpr ||
                kind == CXCursor_CXXThrowExpr || kind == CXCursor_LambdaExpr ||
                kind == CXCursor_StmtExpr || kind == CXCursor_GCCAsmStmt;
    e->found |= changes_something(c, e->depth);
    if (kind == CXCursor_CallExpr)
        e->found |= function_has_effects(clang_getCursorReferenced(c), e->depth + 1);
    return e->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool has_effects(CXCursor c, int depth)
{
    effects_t e = {false, depth};
    find_effects(c, c, &e);
    if (!e.found)
        clang_visitChildren(c, find_effects, &e);
    return e.found;
}

static enum CXChildVisitResult find_body(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_CompoundStmt)
        return CXChildVisit_Continue;
    *(CXCursor *)data = c;
    return CXChildVisit_Break;
}

/* A function has none if it is known to have none, or if its body is seen and changes nothing but
 * its own variables. */
static bool function_has_effects(CXCursor f, int depth)
{
    static const char *const known[] = {"min", "max", "abs", "labs", "llabs"};
    enum { DEEPEST = 8 };
    CXCursor body = clang_getNullCursor();
    if (clang_Cursor_isNull(f) || depth > DEEPEST)
        return true;
    const char *name = clang_text(clang_getCursorSpelling(f));
    for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
        if (!strcmp(name, known[k]))
            return false;
    if (clang_CXXMethod_isConst(f))
        return false;
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    CXCursor definition = clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template);
    if (clang_Cursor_isNull(definition))
        return true;
    clang_visitChildren(definition, find_body, &body);
    return clang_Cursor_isNull(body) || has_effects(body, depth);
}

/* A call may be repeated when its function can change nothing. What looks like one may be the use
 * of a macro. */
static bool is_pure(CXCursor call)
{
    return !clang_Cursor_isNull(call) && !has_effects(call, 0);
}

/* A variable before the pragma in place of the call; where a declaration may stand, and the pragma
 * is a line of its own. */
static void suggest_variable(const unit_t *u, const directive_t *d, const expr_t *call)
{
    size_t line = d->pragma.begin, text = 0;
    const char *type = clang_text(clang_getTypeSpelling(call->type)),
               *name = words(u, call->left->begin, call->left->end);
    if (clang_getCursorKind(d->parent) != CXCursor_CompoundStmt || d->pragma.is_operator ||
        call->left->kind != EXPR_NAME || strchr(name, ':') || strchr(name, '<') ||
        !is_integer(call->type))
        return;
    while (line > 0 && u->source->text[line - 1] != '\n')
        line--;
    while (line + text < d->pragma.begin && strchr(" \t", u->source->text[line + text]))
        text++;
    if (line + text < d->pragma.begin)
        return;
    diag_fix(call->begin, call->end, arena_printf("%s_value", name));
    diag_fix(line, line,
             arena_printf("%.*sconst %s %s_value = %s;\n", (int)text, u->source->text + line, type,
                          name, words(u, call->begin, call->end)));
}

static bool check_calls(unit_t *u, const directive_t *d, const expr_t *e)
{
    for (; e; e = e->next) {
        if (e->kind == EXPR_CALL && !is_pure(e->cursor)) {
            error_at(u, e->begin, e->end,
                     "the call of '%s' may have side effects, and a clause has none; compute the "
                     "value before the pragma",
                     words(u, e->left->begin, e->left->end));
            suggest_variable(u, d, e);
            return false;
        }
        if (!check_calls(u, d, e->left) || !check_calls(u, d, e->right) ||
            !check_calls(u, d, e->other))
            return false;
    }
    return true;
}

static bool check_numbers(unit_t *u, const expr_t *e)
{
    for (; e; e = e->next) {
        if (e->kind == EXPR_NUMBER && !e->integral) {
            error_at(u, e->begin, e->end, "'%s' is no integer", words(u, e->begin, e->end));
            return false;
        }
        if (e->kind == EXPR_CALL || e->kind == EXPR_OPAQUE || e->kind == EXPR_CAST)
            continue;
        if (!check_numbers(u, e->left) || !check_numbers(u, e->right) ||
            !check_numbers(u, e->other))
            return false;
    }
    return true;
}

static CXType probe_type(const directive_t *d, const expr_t *e)
{
    for (int k = 0; k < d->probe_count; k++)
        if (d->probe[k].expr == e)
            return d->probe[k].type;
    return (CXType){.kind = CXType_Invalid};
}

static bool check_scalar(unit_t *u, const directive_t *d, const expr_t *e)
{
    if (!e)
        return true;
    CXType type = probe_type(d, e);
    if (!is_integer(type) && !is_dependent(type)) {
        error_at(u, e->begin, e->end, "'%s' must be an integer, but it is '%s'",
                 words(u, e->begin, e->end), clang_text(clang_getTypeSpelling(type)));
        return false;
    }
    return check_calls(u, d, e) && check_numbers(u, e);
}

static void check_scalars(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->axis_count; k++) {
        check_scalar(u, d, d->axis[k].lower);
        check_scalar(u, d, d->axis[k].length);
    }
    for (int k = 0; k < d->chunk_count; k++)
        check_scalar(u, d, d->chunk[k]);
    for (int k = 0; k < d->shape_count; k++)
        for (int i = 0; i < d->shape[k].dims; i++)
            check_scalar(u, d, d->shape[k].extent[i]);
    check_scalar(u, d, d->ordinal);
    check_scalar(u, d, d->priority);
    if (d->condition)
        check_calls(u, d, d->condition);
}

/* ---- Affine sections ---- */

static int axis_of(const directive_t *d, const expr_t *e)
{
    for (int k = 0; e->kind == EXPR_NAME && k < d->axis_count; k++)
        if (!strcmp(e->op, d->axis[k].name))
            return k;
    return -1;
}

static bool has_axis(const directive_t *d, const expr_t *e)
{
    for (; e; e = e->next)
        if (axis_of(d, e) >= 0 || has_axis(d, e->left) || has_axis(d, e->right) ||
            has_axis(d, e->other))
            return true;
    return false;
}

static affine_t affine_number(long long value)
{
    affine_t a = {.constant = form_number(value)};
    for (int k = 0; k < KMM_MAX_AXES; k++)
        a.coef[k] = form_number(0);
    return a;
}

static affine_t affine_combine(affine_t a, affine_t b, form_t (*combine)(form_t, form_t))
{
    a.constant = combine(a.constant, b.constant);
    for (int k = 0; k < KMM_MAX_AXES; k++)
        a.coef[k] = combine(a.coef[k], b.coef[k]);
    return a;
}

static affine_t affine_scale(affine_t a, form_t factor)
{
    a.constant = form_multiply(a.constant, factor);
    for (int k = 0; k < KMM_MAX_AXES; k++)
        a.coef[k] = form_multiply(a.coef[k], factor);
    return a;
}

/* NULL, or the part of the expression that is not affine. */
static const expr_t *affine(const unit_t *u, const directive_t *d, const expr_t *e, affine_t *out);

static const expr_t *affine_product(const unit_t *u, const directive_t *d, const expr_t *e,
                                    affine_t *out)
{
    bool left = has_axis(d, e->left);
    if (left && has_axis(d, e->right))
        return e;
    const expr_t *wrong = affine(u, d, left ? e->left : e->right, out);
    *out = affine_scale(*out, form_of(u->source, left ? e->right : e->left));
    return wrong;
}

static const expr_t *affine_sum(const unit_t *u, const directive_t *d, const expr_t *e,
                                affine_t *out)
{
    affine_t right;
    const expr_t *wrong = affine(u, d, e->left, out);
    if (!wrong)
        wrong = affine(u, d, e->right, &right);
    if (!wrong)
        *out = affine_combine(*out, right, e->op[0] == '+' ? form_add : form_subtract);
    return wrong;
}

static const expr_t *affine(const unit_t *u, const directive_t *d, const expr_t *e, affine_t *out)
{
    int axis = axis_of(d, e);
    *out = affine_number(0);
    if (axis >= 0) {
        out->coef[axis] = form_number(1);
        return NULL;
    }
    if (!has_axis(d, e)) {
        out->constant = form_of(u->source, e);
        return NULL;
    }
    if (e->kind == EXPR_CAST && is_integer(e->type))
        return affine(u, d, e->left, out);
    if (e->kind == EXPR_UNARY && (e->op[0] == '-' || e->op[0] == '+')) {
        const expr_t *wrong = affine(u, d, e->left, out);
        *out = affine_scale(*out, form_number(e->op[0] == '-' ? -1 : 1));
        return wrong;
    }
    if (e->kind == EXPR_BINARY && !strcmp(e->op, "*"))
        return affine_product(u, d, e, out);
    bool sum = e->kind == EXPR_BINARY && (!strcmp(e->op, "+") || !strcmp(e->op, "-"));
    return sum ? affine_sum(u, d, e, out) : e;
}

static void check_affine(unit_t *u, directive_t *d, const item_t *item, const expr_t *e,
                         affine_t *out)
{
    const expr_t *wrong = check_scalar(u, d, e) ? affine(u, d, e, out) : NULL;
    if (wrong)
        error_at(u, wrong->begin, wrong->end,
                 "'%s' is not affine in the axes: an index is a sum of axes, each times a value "
                 "that is the same for the whole launch; "
                 "name a section that contains it, as %s[:] does",
                 words(u, wrong->begin, wrong->end), words(u, item->base->begin, item->base->end));
}

static void check_section(unit_t *u, directive_t *d, const item_t *item, section_t *section)
{
    section->lower_form = section->length_form = affine_number(0);
    if (!section->lower)
        return;
    check_affine(u, d, item, section->lower, &section->lower_form);
    if (section->length)
        check_affine(u, d, item, section->length, &section->length_form);
    else
        section->length_form = affine_number(1);
}

/* ---- Items ---- */

static CXType pointee(CXType type)
{
    type = clang_getCanonicalType(type);
    CXType element = clang_getArrayElementType(type);
    if (element.kind != CXType_Invalid)
        return clang_getCanonicalType(element);
    return clang_getCanonicalType(clang_getPointeeType(type));
}

static bool is_array(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_ConstantArray || kind == CXType_VariableArray ||
           kind == CXType_IncompleteArray || kind == CXType_DependentSizedArray;
}

/* Another clause for an item that is alone in its own. */
static void suggest_word(const item_t *item, const char *word)
{
    if (item->word.end)
        diag_fix(item->word.begin, item->word.end, word);
}

/* The address that a program holds of an array is mapped on no device, so a kernel cannot use one
 * that it finds in an array. */
static void check_stored_pointers(unit_t *u, const directive_t *d, const item_t *item,
                                  CXType element)
{
    if (d->is_kernel && uses_holds_pointers(element))
        diag_at(SEVERITY_WARNING, u->source, item->base->begin, item->base->end,
                "the elements of '%s' hold pointers, and one to managed memory means nothing to a "
                "kernel that finds it in an array; pass the arrays "
                "as arguments, or in a struct by value [-Wkmm-pointers]",
                words(u, item->base->begin, item->base->end));
}

static void no_memory(unit_t *u, size_t begin, size_t end, const char *text, CXType type)
{
    error_at(u, begin, end,
             "'%s' is no pointer or array, but '%s'; a variable's memory is (&%s)[0:1]", text,
             clang_text(clang_getTypeSpelling(type)), text);
}

static bool check_base(unit_t *u, const directive_t *d, item_t *item)
{
    const expr_t *e = item->base;
    const char *text = words(u, e->begin, e->end);
    CXType type = clang_getCanonicalType(e->type);
    if (type.kind == CXType_LValueReference)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    if (!check_calls(u, d, e))
        return false;
    if (is_dependent(type))
        return true;
    if (type.kind != CXType_Pointer && !is_array(type)) {
        no_memory(u, e->begin, e->end, text, e->type);
        return false;
    }
    CXType element = pointee(type);
    for (; is_array(element); element = pointee(element))
        item->inner_dims++;
    if (element.kind == CXType_Void && item->section_count) {
        error_at(u, e->begin, e->end,
                 "'%s' points to void, whose elements have no size; cast it, as in ((char *)%s)",
                 text, text);
        return false;
    }
    if (item->mode != KMM_READ && clang_isConstQualifiedType(element)) {
        error_at(u, e->begin, e->end,
                 "'%s' points to const elements, which a launch can only read; say read(%s)", text,
                 words(u, item->begin, item->end));
        suggest_word(item, "read");
        return false;
    }
    check_stored_pointers(u, d, item, element);
    return true;
}

static void find_shape(unit_t *u, directive_t *d, item_t *item)
{
    for (int k = 0; k < d->shape_count; k++) {
        if (!strcmp(words(u, d->shape[k].name.begin, d->shape[k].name.end),
                    words(u, item->base->begin, item->base->end))) {
            item->shape = &d->shape[k];
            d->shape[k].used = true;
        }
    }
}

/* The only axis in an index, when it begins at 0 and its range is given; NULL otherwise. */
static const axis_t *axis_within(const directive_t *d, const expr_t *e)
{
    const axis_t *found = NULL;
    for (int k = 0; k < d->axis_count; k++) {
        directive_t one = {.axis_count = 1};
        one.axis[0] = d->axis[k];
        if (!has_axis(&one, e))
            continue;
        if (found)
            return NULL;
        found = &d->axis[k];
    }
    return found && found->length && found->lower->kind == EXPR_NUMBER && found->lower->value == 0
               ? found
               : NULL;
}

/* The dimensions of a flat pointer, when each index moves with an axis: their ranges. */
static void suggest_shape(const unit_t *u, const directive_t *d, const item_t *item,
                          const char *base)
{
    text_t shape = {0};
    text_printf(&shape, "shape(%s", base);
    for (int k = 0; k < item->section_count; k++) {
        const axis_t *axis = item->section[k].lower ? axis_within(d, item->section[k].lower) : NULL;
        if (!axis)
            return;
        text_printf(&shape, "[%s]", words(u, axis->length->begin, axis->length->end));
    }
    text_add(&shape, ")", 1);
    suggest_clause(u, d, "if its dimensions are the ranges of the axes", shape.data);
}

static void check_rank(unit_t *u, const directive_t *d, item_t *item)
{
    const char *base = words(u, item->base->begin, item->base->end);
    int dims = item->shape ? item->shape->dims : item->inner_dims + 1;
    if (!item->section_count || item->section_count == dims ||
        (is_dependent(item->base->type) && !item->shape))
        return;
    if (!item->shape && !item->inner_dims) {
        error_at(
            u, item->begin, item->end,
            "'%s' has %d sections, but '%s' is a flat pointer; give it dimensions with shape(%s%s)",
            words(u, item->begin, item->end), item->section_count, base, base,
            item->section_count == 2   ? "[height][width]"
            : item->section_count == 3 ? "[depth][height][width]"
                                       : "[...][...][...][...]");
        suggest_shape(u, d, item, base);
        return;
    }
    error_at(u, item->begin, item->end, "'%s' has %d section%s, but '%s' has %d dimension%s",
             words(u, item->begin, item->end), item->section_count,
             item->section_count == 1 ? "" : "s", base, dims, dims == 1 ? "" : "s");
    text_t rest = {0};
    for (int k = item->section_count; k < dims; k++)
        text_add(&rest, "[:]", 3);
    if (rest.length)
        diag_fix(item->end, item->end, rest.data);
    else
        diag_fix(item->section[dims].begin, item->end, "");
}

static void check_reduce(unit_t *u, item_t *item)
{
    CXType element = pointee(item->base->type);
    while (is_array(element))
        element = pointee(element);
    if (is_dependent(element)) {
        error_at(
            u, item->begin, item->end,
            "the type of a reduction's elements depends on a template, which is not yet supported");
        return;
    }
    reduce_check(u, item, item->base->type);
}

/* Whether a launch has several chunks along an axis: what is not known when compiling is known when
 * it runs. */
typedef enum cut { CUT_NEVER, CUT_MAYBE, CUT_ALWAYS } cut_t;

static cut_t cut_along(const unit_t *u, const directive_t *d, int number)
{
    enum { LARGEST_BLOCK = 1024 }; /* to which a chunk may be rounded up */
    int entry = 0;
    const axis_t *axis = &d->axis[number];
    for (int k = 0; k < number; k++)
        entry += d->axis[k].splits;
    if (!axis->splits || entry >= d->chunk_count || d->home)
        return CUT_NEVER;
    if (!axis->length)
        return CUT_MAYBE;
    form_t length = form_of(u->source, axis->length), chunk = form_of(u->source, d->chunk[entry]);
    if (!strcmp(form_text(length), form_text(chunk)) || (length.known && length.value <= 1))
        return CUT_NEVER;
    if (!length.known || !chunk.known)
        return CUT_MAYBE;
    bool rounded = d->is_kernel && axis->source <= KMM_GLOBAL_Z;
    long long least = chunk.value < 1 ? 1 : chunk.value,
              most = rounded ? least + LARGEST_BLOCK - 1 : least;
    return most < length.value ? CUT_ALWAYS : least >= length.value ? CUT_NEVER : CUT_MAYBE;
}

static bool depends_on(const directive_t *d, const item_t *item, int number)
{
    for (int k = 0; k < item->section_count; k++)
        for (int i = 0; i < d->axis_count; i++)
            if (d->axis[i].source % 3 == d->axis[number].source % 3 &&
                (!form_is(item->section[k].lower_form.coef[i], 0) ||
                 !form_is(item->section[k].length_form.coef[i], 0)))
                return true;
    return false;
}

/* Chunks write the same elements: an error if there are several chunks in any case. */
static void overlap(unit_t *u, const item_t *item, cut_t cut, const char *message)
{
    if (cut == CUT_ALWAYS)
        error_at(u, item->begin, item->end, "%s", message);
    else
        diag_at(SEVERITY_WARNING, u->source, item->begin, item->end,
                "%s; with more than one chunk the launch fails [-Wkmm-overlap]", message);
}

/* A section that is longer than it moves from one index to the next reaches into the next chunk's.
 */
static bool check_borders(unit_t *u, const directive_t *d, const item_t *item, int number,
                          cut_t cut)
{
    const section_t *section = &item->section[0];
    form_t step = section->lower ? section->lower_form.coef[number] : form_number(0),
           length = section->length_form.constant;
    bool alone = item->section_count == 1 && step.known && length.known;
    for (int k = 0; k < d->axis_count; k++)
        alone &= form_is(section->length_form.coef[k], 0) &&
                 (k == number || form_is(section->lower_form.coef[k], 0));
    long long stride = step.value < 0 ? -step.value : step.value;
    if (!alone || stride == 0 || length.value <= stride)
        return false;
    overlap(u, item, cut,
            arena_printf("neighbouring chunks would both write %lld elements at their border: '%s' "
                         "moves by %lld for each '%s', but is %lld long",
                         length.value - stride, words(u, item->begin, item->end), stride,
                         d->axis[number].name, length.value));
    diag_fix(section->length->begin, section->length->end, arena_printf("%lld", stride));
    return true;
}

static void check_overlap(unit_t *u, directive_t *d, const item_t *item)
{
    int which = -1;
    cut_t most = CUT_NEVER;
    for (int k = 0; k < d->axis_count; k++) {
        cut_t cut = cut_along(u, d, k);
        if (cut == CUT_NEVER)
            continue;
        if (check_borders(u, d, item, k, cut) || depends_on(d, item, k))
            return;
        which = cut >= most ? k : which;
        most = cut >= most ? cut : most;
    }
    if (which < 0)
        return;
    overlap(u, item, most,
            arena_printf("all chunks would write the same elements '%s': axis '%s' is split but "
                         "does not occur in it; "
                         "use it as an index, or say reduce(op: %s) if the kernel accumulates",
                         words(u, item->begin, item->end), d->axis[which].name,
                         words(u, item->begin, item->end)));
    if (!item->word.end)
        return;
    diag_at(SEVERITY_NOTE, u->source, item->word.begin, item->word.end,
            "if the kernel adds to them");
    diag_fix(item->word.begin, item->begin, "reduce(+: ");
}

static void check_item(unit_t *u, directive_t *d, item_t *item)
{
    int errors = diag_error_count();
    item->root = cursor_root(item->base->cursor);
    if (!check_base(u, d, item))
        return;
    find_shape(u, d, item);
    check_rank(u, d, item);
    for (int k = 0; k < item->section_count; k++)
        check_section(u, d, item, &item->section[k]);
    if (item->mode == KMM_REDUCE)
        check_reduce(u, item);
    if ((item->mode == KMM_WRITE || item->mode == KMM_UPDATE) && errors == diag_error_count())
        check_overlap(u, d, item);
}

static void check_items(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->item_count; k++)
        check_item(u, d, &d->item[k]);
    for (int k = 0; k < d->shape_count; k++)
        if (!d->shape[k].used)
            error_at(u, d->shape[k].begin, d->shape[k].end,
                     "no item is based on '%s'; shape names the base of an item of read, write, "
                     "update or reduce",
                     words(u, d->shape[k].name.begin, d->shape[k].name.end));
}

/* ---- Arguments ---- */

typedef struct parameters {
    CXCursor at[256];
    int count;
} parameters_t;

static enum CXChildVisitResult add_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    parameters_t *p = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl && p->count < 256)
        p->at[p->count++] = c;
    return CXChildVisit_Continue;
}

static parameters_t *parameters_of(CXCursor f)
{
    parameters_t *p = arena_alloc(sizeof(*p));
    clang_visitChildren(f, add_parameter, p);
    return p;
}

static bool is_covered(const directive_t *d, CXCursor root)
{
    for (int k = 0; k < d->item_count; k++)
        if (!clang_Cursor_isNull(root) &&
            clang_equalCursors(clang_getCanonicalCursor(root),
                               clang_getCanonicalCursor(d->item[k].root)))
            return true;
    return false;
}

/* An argument as the base of an item. */
static const char *item_base(const char *argument)
{
    for (const char *c = argument; *c; c++)
        if (!strchr("_.", *c) && !(*c >= '0' && *c <= '9') &&
            !((*c | 32) >= 'a' && (*c | 32) <= 'z'))
            return arena_printf("(%s)", argument);
    return argument;
}

/* What a launch with one axis most often does to an argument, and what is right of most others. */
static void suggest_access(const unit_t *u, const directive_t *d, const char *argument)
{
    if (d->axis_count == 1)
        suggest_clause(u, d, "if each index changes its own element",
                       arena_printf("update(%s[%s])", item_base(argument), d->axis[0].name));
}

/* Adds the access that is assumed for a pointer to const. */
static void add_whole(unit_t *u, directive_t *d, int number, const char *name)
{
    size_t begin, end;
    if (!unit_range(u, d->argument[number], &begin, &end))
        return;
    item_t *item = directive_add_item(d);
    if (!item)
        return;
    expr_t *base = arena_alloc(sizeof(*base));
    *base = (expr_t){.kind = EXPR_OPAQUE,
                     .begin = begin,
                     .end = end,
                     .cursor = d->argument[number],
                     .type = clang_getCursorType(d->argument[number])};
    *item = (item_t){.begin = begin,
                     .end = end,
                     .mode = KMM_READ,
                     .base = base,
                     .root = cursor_root(d->argument[number])};
    diag_at(SEVERITY_WARNING, u->source, begin, end,
            "no clause says what is read of '%s', so each chunk reads the whole array; add "
            "read(%s[...]) [-Wkmm-whole]",
            words(u, begin, end), name);
    if (!d->declared_in)
        suggest_clause(u, d, "if it is meant",
                       arena_printf("read(%s)", item_base(words(u, begin, end))));
}

/* Whether the code of the kernel or function shows that it stores nothing to what the parameter
 * points to. */
static bool is_only_read(const directive_t *d, CXCursor parameter)
{
    uses_t uses;
    CXCursor f = clang_Cursor_isNull(d->definition) && !clang_Cursor_isNull(d->callee)
                     ? clang_getCursorDefinition(d->callee)
                     : d->definition;
    return uses_find(f, parameter, &uses) && clang_Cursor_isNull(uses.stored) &&
           clang_Cursor_isNull(uses.updated) && clang_Cursor_isNull(uses.escaped);
}

/* `parameter` is null where only the type is known. */
static void check_argument(unit_t *u, directive_t *d, int number, CXType declared,
                           CXCursor parameter)
{
    size_t begin, end;
    CXType type = clang_getCanonicalType(declared);
    if (type.kind != CXType_Pointer || number >= d->argument_count ||
        !unit_range(u, d->argument[number], &begin, &end))
        return;
    CXType element = clang_getCanonicalType(clang_getPointeeType(type));
    enum CXTypeKind kind = element.kind;
    const char *name = clang_Cursor_isNull(parameter)
                           ? ""
                           : clang_text(clang_getCursorSpelling(parameter)),
               *text = words(u, begin, end);
    CXCursor root = cursor_root(d->argument[number]);
    const char *base = clang_Cursor_isNull(root) ? "" : clang_text(clang_getCursorSpelling(root));
    if (!*base)
        base = text;
    if (is_covered(d, root) || kind == CXType_FunctionProto || kind == CXType_FunctionNoProto)
        return;
    if (!strcmp(text, "NULL") || !strcmp(text, "nullptr") || !strcmp(text, "0"))
        return;
    if (clang_isConstQualifiedType(element) || is_only_read(d, parameter)) {
        add_whole(u, d, number, base);
        return;
    }
    error_at(u, begin, end,
             "no clause says what '%s' does with '%s', its parameter '%s' (%s); add read(%s[...]), "
             "write(%s[...]) or update(%s[...])",
             d->callee_name, text, *name ? name : arena_printf("#%d", number + 1),
             clang_text(clang_getTypeSpelling(declared)), base, base, base);
    suggest_access(u, d, text);
}

static void check_arguments(unit_t *u, directive_t *d)
{
    CXCursor f = clang_Cursor_isNull(d->definition) ? d->callee : d->definition;
    if (clang_Cursor_isNull(f)) { /* one of several kernels, whose parameters have the same types,
                                     or libkmm looks */
        int count =
            d->callee_type.kind == CXType_FunctionProto ? clang_getNumArgTypes(d->callee_type) : 0;
        for (int k = 0; k < count; k++)
            check_argument(u, d, k, clang_getArgType(d->callee_type, (unsigned)k),
                           clang_getNullCursor());
        return;
    }
    parameters_t *p = parameters_of(f);
    for (int k = 0; k < p->count; k++)
        check_argument(u, d, k, clang_getCursorType(p->at[k]), p->at[k]);
}

/* ---- What the code does, against what the clauses say ---- */

static void note_at(const unit_t *u, CXCursor where, const char *text)
{
    size_t begin, end;
    if (unit_range(u, where, &begin, &end))
        diag_at(SEVERITY_NOTE, u->source, begin, end, "%s", text);
}

static void check_use(unit_t *u, const directive_t *d, const item_t *item, const uses_t *uses,
                      unsigned modes)
{
    const char *text = words(u, item->begin, item->end), *name = d->callee_name;
    bool stores = !clang_Cursor_isNull(uses->stored), updates = !clang_Cursor_isNull(uses->updated);
    if (modes == 1u << KMM_READ && (stores || updates)) {
        error_at(u, item->begin, item->end,
                 "'%s' is only read here, but '%s' stores to it; say %s(%s)", text, name,
                 updates ? "update" : "write", text);
        suggest_word(item, updates ? "update" : "write");
        note_at(u, updates ? uses->updated : uses->stored, "it is stored to here");
    } else if (modes == 1u << KMM_WRITE && updates) {
        diag_at(SEVERITY_WARNING, u->source, item->begin, item->end,
                "'%s' is only written here, so its old values are not brought, but '%s' depends on "
                "them; say update(%s) [-Wkmm-update]",
                text, name, text);
        suggest_word(item, "update");
        note_at(u, uses->updated, "the old value is used here");
    } else if (modes == 1u << KMM_REDUCE && !clang_Cursor_isNull(uses->result)) {
        error_at(u, item->begin, item->end,
                 "'%s' uses what an atomic operation on '%s' returns, but each chunk has a copy of "
                 "its own; launch it without the pragma, or say "
                 "update(%s) and leave it one chunk",
                 name, text, text);
        note_at(u, uses->result, "it is used here");
    }
}

/* One parameter against the items whose base begins with `root`. */
static void check_parameter_use(unit_t *u, const directive_t *d, CXCursor f, CXCursor root,
                                CXCursor parameter)
{
    uses_t uses;
    unsigned modes = 0;
    const item_t *first = NULL;
    for (int k = 0; k < d->item_count && !clang_Cursor_isNull(root); k++) {
        if (!clang_equalCursors(clang_getCanonicalCursor(root),
                                clang_getCanonicalCursor(d->item[k].root)))
            continue;
        modes |= 1u << d->item[k].mode;
        first = first ? first : &d->item[k];
    }
    bool matters = modes == 1u << KMM_READ || modes == 1u << KMM_WRITE || modes == 1u << KMM_REDUCE;
    if (matters && clang_getCanonicalType(clang_getCursorType(parameter)).kind == CXType_Pointer &&
        uses_find(f, parameter, &uses))
        check_use(u, d, first, &uses, modes);
}

static void check_uses(unit_t *u, const directive_t *d)
{
    CXCursor f = clang_Cursor_isNull(d->definition) && !clang_Cursor_isNull(d->callee)
                     ? clang_getCursorDefinition(d->callee)
                     : d->definition;
    if (clang_Cursor_isNull(f))
        return;
    const parameters_t *p = parameters_of(f);
    for (int k = 0; k < p->count && k < d->argument_count; k++)
        check_parameter_use(u, d, f, cursor_root(d->argument[k]), p->at[k]);
}

/* ---- What chunks cannot do ---- */

static void hazard(unit_t *u, const directive_t *d, CXCursor where, const char *message)
{
    bool named = d->name_after > d->name_at;
    error_at(u, named ? d->name_at : d->name_begin, named ? d->name_after : d->name_end, "%s",
             message);
    note_at(u, where, "it does so here");
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
    note_at(u, h->elsewhere, "it does so here");
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
    note_at(u, h->symbol, "it does so here");
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

/* A chunk of such a kernel reaches elements of the whole range, when that is longer than the grid.
 */
static void check_stride(unit_t *u, directive_t *d)
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
    if (cut_along(u, d, 0) == CUT_NEVER || (length.known && length.value <= threads) ||
        (chunk.known && chunk.value >= threads))
        return;
    const char *message =
        arena_printf("kernel '%s' loops with the stride of a grid of %lld threads, so each chunk "
                     "reaches elements of the whole range '%s'",
                     d->callee_name, threads, words(u, axis->length->begin, axis->length->end));
    const char *remedy = "leave out the chunk, launch enough blocks, or say [:]";
    if (length.known && chunk.known)
        error_at(u, d->chunk_begin, d->chunk_end, "%s; %s", message, remedy);
    else
        diag_at(SEVERITY_WARNING, u->source, d->chunk_begin, d->chunk_end,
                "%s where that is longer, and several chunks are an error; %s [-Wkmm-stride]",
                message, remedy);
    note_at(u, h.stride, "it does so here");
}

static void check_hazards(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->target_count && d->is_kernel; k++) {
        const char *name = clang_text(clang_getCursorSpelling(d->target[k].kernel));
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

/* ---- declare kernel ---- */

/* Its names are those of the parameters of d->function, in which it is checked. */
static void check_declaration(unit_t *u, directive_t *d)
{
    int errors = diag_error_count();
    CXCursor definition = clang_getCursorDefinition(d->callee);
    const parameters_t *p = parameters_of(d->function);
    d->is_kernel = true;
    d->callee_name = clang_text(clang_getCursorSpelling(d->callee));
    check_axes(u, d);
    check_scalars(u, d);
    check_items(u, d);
    if (!clang_Cursor_isNull(definition)) {
        const parameters_t *defined = parameters_of(definition);
        for (int k = 0; k < p->count && k < defined->count; k++)
            check_parameter_use(u, d, definition, p->at[k], defined->at[k]);
    }
    d->failed = diag_error_count() > errors;
}

/* ---- rebase ---- */

static int find_parameter(unit_t *u, const rebase_t *r, const parameters_t *p)
{
    const char *names[256], *text = token_text(u->source, r->name);
    for (int k = 0; k < p->count; k++) {
        names[k] = clang_text(clang_getCursorSpelling(p->at[k]));
        if (r->by_number ? atoi(text) == k + 1 : !strcmp(names[k], text))
            return k;
    }
    const char *near = r->by_number ? NULL : nearest_name(text, names, p->count);
    if (r->by_number)
        error_at(u, r->begin, r->end, "the function has %d parameters, so there is no #%s",
                 p->count, text);
    else if (near && *near)
        error_at(u, r->name.begin, r->name.end,
                 "the function has no parameter '%s'; did you mean '%s'?", text, near),
            diag_fix(r->name.begin, r->name.end, near);
    else
        error_at(u, r->name.begin, r->name.end,
                 "the function has no parameter '%s'; name an unnamed one by its number, as in "
                 "rebase(#1: i)",
                 text);
    return -1;
}

static void check_rebase_item(unit_t *u, directive_t *d, rebase_t *r, const parameters_t *p)
{
    r->parameter = find_parameter(u, r, p);
    if (r->parameter < 0)
        return;
    CXType type = clang_getCursorType(p->at[r->parameter]);
    if (!is_integer(type))
        error_at(u, r->begin, r->end,
                 "rebase passes a length or a bound, but parameter '%s' is '%s'",
                 clang_text(clang_getCursorSpelling(p->at[r->parameter])),
                 clang_text(clang_getTypeSpelling(type)));
    for (rebase_t *other = d->rebase; other < r; other++)
        if (other->parameter == r->parameter)
            error_at(u, r->begin, r->end, "the parameter is rebased twice");
}

static void check_rebase(unit_t *u, directive_t *d)
{
    if (d->is_kernel) {
        if (d->rebase_count)
            error_at(u, d->rebase_begin, d->rebase_end,
                     "rebase is for calls of functions; a kernel's chunks are blocks of its grid");
        return;
    }
    parameters_t *p = parameters_of(d->callee);
    for (int k = 0; k < d->rebase_count; k++)
        check_rebase_item(u, d, &d->rebase[k], p);
    for (int k = 0; k < d->axis_count; k++) {
        bool found = false;
        for (int i = 0; i < d->rebase_count; i++)
            found |= d->rebase[i].axis == k;
        if (!found)
            error_at(u, d->axis[k].begin, d->axis[k].end,
                     "nothing says how '%s' is told its part of axis '%s'; add rebase(n: %s), n "
                     "being the parameter with the length",
                     clang_text(clang_getCursorSpelling(d->callee)), d->axis[k].name,
                     d->axis[k].name);
    }
}

/* ---- data and task ---- */

typedef struct leave {
    unit_t *u;
    int loops;
    const char *message;
} leave_t;

/* Whether control leaves the block other than by its end. */
static enum CXChildVisitResult find_leave(CXCursor c, CXCursor parent, CXClientData data)
{
    leave_t inner = *(leave_t *)data;
    size_t begin, end;
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_LambdaExpr)
        return CXChildVisit_Continue;
    bool loop = kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt ||
                kind == CXCursor_CXXForRangeStmt;
    if (loop)
        inner.loops |= 3;
    if (kind == CXCursor_SwitchStmt)
        inner.loops |= 1;
    bool leaves = kind == CXCursor_ReturnStmt || kind == CXCursor_GotoStmt ||
                  kind == CXCursor_IndirectGotoStmt ||
                  (kind == CXCursor_BreakStmt && !(inner.loops & 1)) ||
                  (kind == CXCursor_ContinueStmt && !(inner.loops & 2));
    if (leaves && unit_range(inner.u, c, &begin, &end))
        error_at(inner.u, begin, end, "%s", inner.message);
    clang_visitChildren(c, find_leave, &inner);
    return CXChildVisit_Continue;
}

/* Whether a pointer without a section says enough: where the runtime knows the whole array. */
static bool may_be_bare(const directive_t *d)
{
    return d->kind == DIRECTIVE_WAIT || d->kind == DIRECTIVE_UPDATE;
}

static void check_map(unit_t *u, directive_t *d, map_item_t *item)
{
    CXType type = clang_getCanonicalType(item->base->type);
    const char *text = words(u, item->base->begin, item->base->end);
    check_scalar(u, d, item->lower);
    check_scalar(u, d, item->length);
    if (!check_calls(u, d, item->base) || is_dependent(type))
        return;
    if (type.kind == CXType_Pointer && !item->length && !may_be_bare(d))
        error_at(u, item->begin, item->end, "'%s' is a pointer, so a map needs its length: %s[0:n]",
                 text, text);
    else if (type.kind == CXType_Pointer && pointee(type).kind == CXType_Void && item->length)
        error_at(u, item->begin, item->end,
                 "'%s' points to void, whose elements have no size; cast it, as in ((char *)%s)",
                 text, text);
    else if (type.kind != CXType_Pointer && !is_array(type))
        no_memory(u, item->begin, item->end, text, item->base->type);
}

static void check_data(unit_t *u, directive_t *d)
{
    leave_t leave = {
        u, 0,
        "this would leave the block of 'data' before its arrays are back; leave it at its end"};
    for (int k = 0; k < d->map_count; k++)
        check_map(u, d, &d->map[k]);
    if (d->kind == DIRECTIVE_DATA)
        clang_visitChildren(d->statement, find_leave, &leave);
}

/* ---- task ---- */

/* Inside the task a pointer of the same name stands for the array, so the base must be a name. */
static void check_task_item(unit_t *u, const item_t *item)
{
    if (item->base->kind != EXPR_NAME || strstr(item->base->op, "::"))
        error_at(u, item->base->begin, item->base->end,
                 "inside a task an array goes by its own name, but '%s' is no name of a variable; "
                 "declare a pointer before the pragma",
                 words(u, item->base->begin, item->base->end));
}

static void check_nested(unit_t *u, const directive_t *d)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *inner = u->directives[k];
        if (inner->bound && inner->pragma.begin >= d->statement_begin &&
            inner->pragma.end <= d->statement_end)
            error_at(u, inner->name_begin, inner->name_end,
                     "'%s' stands inside a task, where arrays are plain memory of a device; put it "
                     "before or behind the task",
                     words(u, inner->name_begin, inner->name_end));
    }
}

static void check_task(unit_t *u, directive_t *d)
{
    leave_t leave = {u, 0, "this would leave the task before it has ended; leave it at its end"};
    check_scalars(u, d);
    check_items(u, d);
    for (int k = 0; k < d->item_count; k++)
        check_task_item(u, &d->item[k]);
    check_nested(u, d);
    find_leave(d->statement, d->statement, &leave);
}

static void check_directive(unit_t *u, directive_t *d)
{
    const directive_t *declared = directive_declared(d);
    if (d->kind == DIRECTIVE_TASK)
        check_task(u, d);
    else if (d->kind != DIRECTIVE_PARALLEL)
        check_data(u, d);
    if (d->kind != DIRECTIVE_PARALLEL || clang_Cursor_isNull(d->launch) ||
        (declared && (declared->failed || declared->broken)))
        return;
    check_hazards(u, d);
    check_axes(u, d);
    check_scalars(u, d);
    check_items(u, d);
    check_stride(u, d);
    check_arguments(u, d);
    check_uses(u, d);
    check_rebase(u, d);
}

/* What a declaration has wrong is said once, and not at the launches again. */
void check_directives(unit_t *u)
{
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++)
            if (file->directives[k]->kind == DIRECTIVE_DECLARE && file->directives[k]->bound &&
                !file->directives[k]->broken)
                check_declaration(file, file->directives[k]);
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            directive_t *d = file->directives[k];
            if (d->kind != DIRECTIVE_DECLARE && d->bound && !d->broken)
                check_directive(file, d);
        }
}
