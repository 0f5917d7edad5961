/* SPDX-License-Identifier: Apache-2.0 */
/* Writes polynomials as expressions of clauses. Clauses compute in 64 bits, so a value that the
 * kernel has in fewer bits is cast to its type. */
#include "analyze/region_text.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "clang/cursor.h"

typedef struct writer {
    infer_t *f;
    const footprint_t *x;
} writer_t;

static const char *operand(writer_t *w, int node, bool is_unsigned);

/* ---- Parameters ---- */

static bool is_unsigned_type(CXType type)
{
    return type.kind >= CXType_Bool && type.kind <= CXType_UInt128;
}

/* A parameter, or a member of one, as a number of the node's bits. */
static const char *parameter(writer_t *w, const ir_node_t *n, bool is_unsigned)
{
    int number = (int)n->value;
    CXType function = clang_getCursorType(w->f->instance);
    if (number >= w->f->n->count || number >= clang_getNumArgTypes(function))
        return NULL;
    const char *name = w->f->n->name[number];
    CXType type = clang_getCanonicalType(clang_getArgType(function, (unsigned)number));
    if (n->a >= 0) {
        const char *member = type_member_at(type, n->a, &type);
        if (!member)
            return NULL;
        name = arena_printf("%s.%s", name, member);
    }
    if (!*name || type.kind < CXType_Bool || type.kind > CXType_Int128 ||
        clang_Type_getSizeOf(type) * 8 != (n->bits == 1 ? 8 : n->bits))
        return NULL;
    if (is_unsigned_type(type) == is_unsigned)
        return name;
    if (n->bits == 32)
        return arena_printf("(%s)(%s)", is_unsigned ? "unsigned" : "int", name);
    return is_unsigned && n->bits == 64 ? arena_printf("(%s < 0 ? 4294967295 : %s)", name, name)
                                        : name;
}

/* ---- Expressions of parameters ---- */

static const char *operator_of(ir_op_t op)
{
    switch (op) {
    case IR_ADD: return "+";
    case IR_SUB: return "-";
    case IR_MUL: return "*";
    case IR_UDIV:
    case IR_SDIV: return "/";
    case IR_UREM:
    case IR_SREM: return "%";
    case IR_SHL: return "<<";
    case IR_LSHR:
    case IR_ASHR: return ">>";
    case IR_EQ: return "==";
    case IR_NE: return "!=";
    case IR_ULT:
    case IR_SLT: return "<";
    case IR_ULE:
    case IR_SLE: return "<=";
    default: return NULL;
    }
}

static bool of_unsigned(ir_op_t op)
{
    return op == IR_UDIV || op == IR_UREM || op == IR_LSHR || op == IR_ULT || op == IR_ULE;
}

static const char *binary(writer_t *w, const ir_node_t *n, bool is_unsigned)
{
    const char *op = operator_of(n->op);
    const ir_node_t *by = &w->x->f->node[n->b];
    bool divides = n->op >= IR_UDIV && n->op <= IR_SREM,
         shifts = n->op >= IR_SHL && n->op <= IR_ASHR, inner = of_unsigned(n->op),
         compares = n->op >= IR_EQ && n->op <= IR_SLE;
    if (!op || ((divides || shifts) && (by->op != IR_CONST || by->value <= (divides ? 1 : 0))))
        return NULL;
    const char *a = operand(w, n->a, inner), *b = operand(w, n->b, inner && !shifts);
    if (!a || !b)
        return NULL;
    const char *text = arena_printf("(%s %s %s)", a, op, b);
    if (compares || is_unsigned == inner || (inner && !is_unsigned))
        return text;
    return n->bits == 32   ? arena_printf("(unsigned)%s", text)
           : n->bits == 64 ? arena_printf("(%s < 0 ? 4294967295 : %s)", text, text)
                           : NULL;
}

static const char *conversion(writer_t *w, const ir_node_t *n, bool is_unsigned)
{
    const char *text = operand(w, n->a, n->op == IR_ZEXT);
    if (!text || n->op == IR_ZEXT || (n->op == IR_SEXT && !is_unsigned))
        return text;
    if (n->op == IR_TRUNC)
        return n->bits == 32 ? arena_printf("(%s)(%s)", is_unsigned ? "unsigned" : "int", text)
                             : NULL;
    return n->bits == 64 ? arena_printf("(%s < 0 ? 4294967295 : %s)", text, text) : NULL;
}

static const char *operand(writer_t *w, int node, bool is_unsigned)
{
    const ir_node_t *n = &w->x->f->node[node];
    switch (n->op) {
    case IR_CONST:
        return n->value < 0 ? is_unsigned ? NULL : arena_printf("(%lld)", (long long)n->value)
                            : arena_printf("%lld", (long long)n->value);
    case IR_PARAM: return parameter(w, n, is_unsigned);
    case IR_ZEXT:
    case IR_SEXT:
    case IR_TRUNC: return conversion(w, n, is_unsigned);
    case IR_SELECT: {
        const char *a = operand(w, n->a, false), *b = operand(w, n->b, is_unsigned),
                   *c = operand(w, n->c, is_unsigned);
        return a && b && c ? arena_printf("(%s ? %s : %s)", a, b, c) : NULL;
    }
    default: return n->b >= 0 ? binary(w, n, is_unsigned) : NULL;
    }
}

/* ---- Polynomials ---- */

static const char *factor(writer_t *w, const atom_t *a)
{
    switch (a->kind) {
    case ATOM_GLOBAL:
    case ATOM_STRIDE: w->f->used[a->number % 3] = true; return w->f->axis[a->number % 3];
    case ATOM_BLOCK: w->f->uses_block[a->number] = true; return w->f->block_axis[a->number];
    case ATOM_VALUE: return operand(w, a->number, a->is_unsigned);
    default: return NULL;
    }
}

static const char *product(writer_t *w, const poly_term_t *t)
{
    int64_t coef = t->coef < 0 ? -t->coef : t->coef;
    text_t out = {0};
    if (coef != 1 || !t->factors)
        text_printf(&out, "%lld", (long long)coef);
    for (int k = 0; k < t->factors; k++) {
        const char *text = factor(w, &w->x->atom[t->factor[k]]);
        if (!text)
            return NULL;
        text_printf(&out, "%s%s", out.length ? " * " : "", text);
    }
    return out.data;
}

const char *region_text(infer_t *f, const footprint_t *x, poly_t p)
{
    writer_t w = {f, x};
    text_t out = {0};
    if (p.fails)
        return NULL;
    for (int k = 0; k < p.count; k++) {
        const char *text = product(&w, &p.term[k]);
        if (!text)
            return NULL;
        bool minus = p.term[k].coef < 0;
        text_printf(&out, "%s%s", out.length ? minus ? " - " : " + " : minus ? "-" : "", text);
    }
    return p.count ? out.data : "0";
}
