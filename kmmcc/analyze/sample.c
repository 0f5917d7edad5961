/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions of a launch. Constants have their value. Other variables, members and calls
 * are atoms, named by their text; an atom has one number in a trial. */
#include "analyze/sample.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/token.h"
#include "clang/cursor.h"

enum { DEEPEST = 40, SPECIAL = 3 };

/*
 * Trial 0 gives each atom a number of its own, trial 1 the same to all, and trial 2 multiples of
 * all usual blocks and vectors. Each later pair of trials gives 0 and 1 to one atom, and trial 0's
 * numbers to the others.
 */
static int64_t number_of(const sample_t *s, int atom)
{
    if (s->trial == 1)
        return s->size;
    if (s->trial == 2)
        return (s->size / s->multiple + atom) * s->multiple;
    if (s->trial >= SPECIAL && (s->trial - SPECIAL) / 2 == atom)
        return (s->trial - SPECIAL) % 2;
    return s->size + 7 * atom;
}

int64_t sample_bind(sample_t *s, const char *name, int64_t value)
{
    for (int k = 0; k < s->atom_count; k++)
        if (!strcmp(s->atom[k].name, name))
            return s->atom[k].value;
    s->atom = arena_grow(s->atom, s->atom_count, &s->atom_capacity, sizeof(*s->atom));
    s->atom[s->atom_count++] = (struct atom){name, value};
    return value;
}

/* The variables of a launch that have been named. Two may be written alike: of namespaces, or of
 * scopes within each other. */
static struct {
    const directive_t *of;
    struct variable {
        struct variable *next;
        CXSourceLocation place; /* instances of a template have variables of their own there */
        const char *written, *name;
    } *first;
} named;

const char *sample_name(const sample_t *s, CXCursor v)
{
    const char *written = cursor_name(v);
    const CXSourceLocation place = clang_getCursorLocation(clang_getCanonicalCursor(v));
    int alike = 1;
    if (named.of != s->d)
        named.first = NULL;
    named.of = s->d;
    for (const struct variable *k = named.first; k; k = k->next) {
        if (clang_equalLocations(k->place, place))
            return k->name;
        alike += !strcmp(k->written, written);
    }
    struct variable *new = arena_alloc(sizeof(*new));
    *new = (struct variable){named.first, place, written,
                             alike == 1 ? written : arena_printf("%s (%d)", written, alike)};
    named.first = new;
    return new->name;
}

/* Marks the variable as used. The last bit stands for all that have none of their own. */
static void use(sample_t *s, const char *name)
{
    int k = 0;
    while (k < s->name_count && strcmp(s->name[k], name) != 0)
        k++;
    if (s->following)
        return;
    if (k == s->name_count) {
        s->name = arena_grow(s->name, s->name_count, &s->name_capacity, sizeof(*s->name));
        s->name[s->name_count++] = name;
    }
    s->used |= 1ULL << (k < 63 ? k : 63);
}

void sample_follow(sample_t *s, const char *path, int64_t value)
{
    s->followed =
        arena_grow(s->followed, s->followed_count, &s->followed_capacity, sizeof(*s->followed));
    s->followed[s->followed_count++] = (struct atom){path, value};
}

static bool is_followed(const sample_t *s, const char *path, int64_t *out)
{
    for (int k = 0; k < s->followed_count; k++)
        if (!strcmp(s->followed[k].name, path)) {
            *out = s->followed[k].value;
            return true;
        }
    return false;
}

bool sample_is_needless(const sample_t *s, uint64_t names)
{
    int atom = (s->trial - SPECIAL) / 2, k = 0;
    if (s->trial < SPECIAL)
        return false;
    if (atom >= s->atom_count)
        return true;
    while (k < s->name_count && strcmp(s->name[k], s->atom[atom].name) != 0)
        k++;
    return k < 63 && k < s->name_count && (names >> k & 1);
}

int64_t sample_atom(sample_t *s, const char *name)
{
    int64_t value;
    use(s, name);
    if (is_followed(s, name, &value))
        return value;
    return sample_bind(s, name, number_of(s, s->atom_count));
}

static const char *text_of(const sample_t *s, CXCursor c)
{
    size_t begin, end;
    const unit_t *holder = unit_holding(s->u->main, c);
    return holder && unit_range(holder, c, &begin, &end) ? unit_words(holder, begin, end) : NULL;
}

static bool constant(CXCursor c, int64_t *out)
{
    if (!type_is_integer(clang_getCursorType(c)) || type_is_dependent(clang_getCursorType(c)))
        return false;
    CXEvalResult result = clang_Cursor_Evaluate(c);
    bool found = result && clang_EvalResult_getKind(result) == CXEval_Int;
    if (found)
        *out = clang_EvalResult_isUnsignedInt(result)
                   ? (int64_t)clang_EvalResult_getAsUnsigned(result)
                   : clang_EvalResult_getAsLongLong(result);
    if (result)
        clang_EvalResult_dispose(result);
    return found;
}

/* ---- Operators ---- */

static bool divide(int64_t a, int64_t b, bool rest, int64_t *out)
{
    if (b == 0 || b == -1)
        return b == -1 && ((*out = rest ? 0 : -a), true);
    *out = rest ? a % b : a / b;
    return true;
}

/* <=, >=, ==, !=: `op` is the first character. */
static bool compare(char op, int64_t a, int64_t b, int64_t *out)
{
    *out = op == '<' ? a <= b : op == '>' ? a >= b : op == '=' ? a == b : a != b;
    return op == '<' || op == '>' || op == '=' || op == '!';
}

/* &&, ||, <<, >>. */
static bool apply_double(const char *op, int64_t a, int64_t b, int64_t *out)
{
    if (op[1] != *op)
        return false;
    switch (*op) {
    case '&': *out = a && b; return true;
    case '|': *out = a || b; return true;
    case '<': *out = (int64_t)((uint64_t)a << (b & 63)); break;
    case '>': *out = a >> (b & 63); break;
    default: return false;
    }
    return b >= 0 && b <= 62;
}

static bool apply(const char *op, int64_t a, int64_t b, int64_t *out)
{
    if (op[1])
        return !op[2] && (op[1] == '=' ? compare(*op, a, b, out) : apply_double(op, a, b, out));
    switch (*op) {
    case '<': *out = a < b; return true;
    case '>': *out = a > b; return true;
    case '+': return !__builtin_add_overflow(a, b, out);
    case '-': return !__builtin_sub_overflow(a, b, out);
    case '*': return !__builtin_mul_overflow(a, b, out);
    case '/':
    case '%': return divide(a, b, *op == '%', out);
    case '&': *out = a & b; return true;
    case '|': *out = a | b; return true;
    case '^': *out = a ^ b; return true;
    default: return false;
    }
}

static bool apply_one(const char *op, int64_t a, int64_t *out)
{
    *out = *op == '-' ? -a : *op == '!' ? !a : *op == '~' ? ~a : a;
    return strchr("+-!~", *op) && !op[1];
}

/* ---- Cursors ---- */

static bool is_wrapper(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr ||
           kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
           kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CXXConstCastExpr ||
           kind == CXCursor_CXXFunctionalCastExpr;
}

static CXCursor unwrapped(CXCursor c)
{
    while (is_wrapper(c)) {
        CXCursor inner = cursor_last_child(c);
        if (clang_Cursor_isNull(inner) || !clang_isExpression(clang_getCursorKind(inner)))
            break;
        c = inner;
    }
    return c;
}

/* The number as one of the type. */
static int64_t as_type(CXType type, int64_t value)
{
    type = clang_getCanonicalType(type);
    long long unused = 64 - 8 * clang_Type_getSizeOf(type);
    if (type.kind == CXType_Bool)
        return value != 0;
    if (type.kind < CXType_Bool || type.kind > CXType_Int128 || unused <= 0 || unused >= 64)
        return value;
    uint64_t bits = (uint64_t)value << unused;
    return type.kind < CXType_Char_S ? (int64_t)(bits >> unused) : (int64_t)bits >> unused;
}

static bool is_same_type(CXType a, CXType b)
{
    return clang_equalTypes(clang_getUnqualifiedType(clang_getCanonicalType(a)),
                            clang_getUnqualifiedType(clang_getCanonicalType(b)));
}

/* Converts the value of what is in casts and conversions as these do. */
static int64_t wrapped(CXCursor c, int64_t value)
{
    CXCursor inner = is_wrapper(c) ? cursor_last_child(c) : clang_getNullCursor();
    if (clang_Cursor_isNull(inner) || !clang_isExpression(clang_getCursorKind(inner)))
        return value;
    CXType type = clang_getCursorType(c);
    value = wrapped(inner, value);
    return is_same_type(type, clang_getCursorType(inner)) ? value : as_type(type, value);
}

CXCursor sample_variable(CXCursor c)
{
    c = unwrapped(c);
    CXCursor v = clang_getCursorReferenced(c);
    enum CXCursorKind kind = clang_getCursorKind(v);
    bool is = clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
              (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl);
    return is ? v : clang_getNullCursor();
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *skip_spaces(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* `text` begins behind the variable's name, or a member of it. */
static bool is_assignment(const char *text)
{
    text = skip_spaces(text);
    if (*text == '.') {
        text = skip_spaces(text + 1);
        while (is_word(*text))
            text++;
        text = skip_spaces(text);
    }
    if (!strncmp(text, "++", 2) || !strncmp(text, "--", 2) || *text == '[')
        return true;
    size_t operator = strspn(text, "+-*/%&|^<>");
    return operator <= 2 && text[operator] == '=' && text[operator + 1] != '=' &&
           !(operator == 1 && (*text == '<' || *text == '>'));
}

/* True if a place in the function assigns the variable, or takes its address. */
static bool is_changed(const sample_t *s, CXCursor v)
{
    const char *name = cursor_name(v), *text = text_of(s, s->d->function);
    size_t length = strlen(name), begin, end, defined, after;
    const unit_t *holder = unit_holding(s->u->main, s->d->function);
    if (!text || !length || !holder || !unit_range(holder, s->d->function, &begin, &end))
        return false;
    if (!unit_range(holder, v, &defined, &after))
        after = begin;
    text = arena_copy(holder->source->text + begin, end - begin);
    for (const char *p = text; (p = strstr(p, name)); p += length) {
        if ((p > text && is_word(p[-1])) || is_word(p[length]))
            continue;
        const char *before = p;
        while (before > text && (before[-1] == ' ' || before[-1] == '('))
            before--;
        bool steps =
            before - text >= 2 && (!strncmp(before - 2, "++", 2) || !strncmp(before - 2, "--", 2));
        bool address = before - text >= 2 && before[-1] == '&' && before[-2] != '&';
        bool definition = begin + (size_t)(p - text) < after;
        if (!definition && (steps || address || is_assignment(p + length)))
            return true;
    }
    return false;
}

CXCursor sample_definition(const sample_t *s, CXCursor variable)
{
    CXCursor initial = clang_getCursorKind(variable) == CXCursor_VarDecl
                           ? clang_Cursor_getVarDeclInitializer(variable)
                           : clang_getNullCursor();
    return clang_Cursor_isNull(initial) || is_changed(s, variable) ? clang_getNullCursor()
                                                                   : initial;
}

static bool of_variable(sample_t *s, CXCursor v, int64_t *out)
{
    if (s->fixed && fixed_value(s->fixed, v, out))
        return true;
    const char *name = sample_name(s, v);
    use(s, name);
    for (int k = 0; k < s->atom_count; k++)
        if (!strcmp(s->atom[k].name, name)) {
            *out = s->atom[k].value;
            return true;
        }
    if (is_followed(s, name, out))
        return true;
    CXCursor initial = s->follows ? sample_definition(s, v) : clang_getNullCursor();
    s->following++;
    bool follows = !clang_Cursor_isNull(initial) && sample_cursor(s, initial, out);
    s->following--;
    if (follows) {
        sample_follow(s, name, *out);
        return true;
    }
    bool narrow = clang_Type_getSizeOf(clang_getCanonicalType(clang_getCursorType(v))) == 1;
    int64_t number = number_of(s, s->atom_count);
    *out = sample_bind(s, name, narrow ? number % 100 : number);
    return true;
}

static bool is_unsigned(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind > CXType_Bool && kind < CXType_Char_S;
}

static bool computed(sample_t *s, CXCursor c, int64_t *out)
{
    cursors_t list = cursor_children(c);
    int64_t a, b;
    switch (clang_getCursorKind(c)) {
    case CXCursor_BinaryOperator:
        return list.count == 2 && sample_cursor(s, list.at[0], &a) &&
               sample_cursor(s, list.at[1], &b) &&
               apply(clang_text(
                         clang_getBinaryOperatorKindSpelling(clang_getCursorBinaryOperatorKind(c))),
                     a, b, out);
    case CXCursor_UnaryOperator:
        return list.count == 1 && sample_cursor(s, list.at[0], &a) &&
               apply_one(clang_text(clang_getUnaryOperatorKindSpelling(
                             clang_getCursorUnaryOperatorKind(c))),
                         a, out);
    case CXCursor_ConditionalOperator:
        return list.count == 3 && sample_cursor(s, list.at[0], &a) &&
               sample_cursor(s, list.at[a ? 1 : 2], out);
    default: return false;
    }
}

/* Numbers without a sign wrap around. */
static bool of_operator(sample_t *s, CXCursor c, int64_t *out)
{
    bool found = computed(s, c, out);
    if (found && is_unsigned(clang_getCursorType(c)))
        *out = as_type(clang_getCursorType(c), *out);
    return found;
}

bool sample_cursor(sample_t *s, CXCursor c, int64_t *out)
{
    if (clang_Cursor_isNull(c) || s->depth > DEEPEST)
        return false;
    if (constant(c, out))
        return true;
    if (!type_is_integer(clang_getCursorType(c)))
        return false;
    s->depth++;
    CXCursor inner = unwrapped(c), v = sample_variable(c);
    bool found = type_is_integer(clang_getCursorType(inner)) &&
                 (constant(inner, out) ||
                  (clang_Cursor_isNull(v) ? of_operator(s, inner, out) : of_variable(s, v, out)));
    s->depth--;
    if (found)
        *out = wrapped(c, *out);
    const char *text = found ? NULL : text_of(s, c);
    if (text)
        *out = sample_atom(s, text);
    return found || text;
}

/* ---- Expressions of clauses ---- */

static bool leaf(sample_t *s, const expr_t *e, int64_t *out)
{
    for (int k = 0; k < s->leaf_count; k++)
        if (s->leaf[k].expression == e) {
            s->used |= s->leaf[k].used;
            *out = s->leaf[k].value;
            return true;
        }
    uint64_t used = s->used;
    s->used = 0;
    if (!sample_cursor(s, e->cursor, out))
        *out = sample_atom(s, source_words(s->u->source, e->begin, e->end));
    s->leaf = arena_grow(s->leaf, s->leaf_count, &s->leaf_capacity, sizeof(*s->leaf));
    s->leaf[s->leaf_count++] = (struct leaf){e, *out, s->used};
    s->used |= used;
    return true;
}

bool sample_expression(sample_t *s, const expr_t *e, int64_t *out)
{
    int64_t a, b;
    if (!e)
        return false;
    switch (e->kind) {
    case EXPR_NUMBER: *out = e->value; return e->integral;
    case EXPR_NAME:
        for (int k = 0; s->in_section && k < s->d->axis_count; k++)
            if (*s->d->axis[k].name == *e->op && !strcmp(s->d->axis[k].name, e->op)) {
                *out = s->axis[k];
                return true;
            }
        break;
    case EXPR_CAST:
        if (!sample_expression(s, e->left, out))
            return false;
        if (is_unsigned(e->type) || !is_same_type(e->type, e->left->type))
            *out = as_type(e->type, *out);
        return true;
    case EXPR_UNARY: return sample_expression(s, e->left, &a) && apply_one(e->op, a, out);
    case EXPR_BINARY:
        return sample_expression(s, e->left, &a) && sample_expression(s, e->right, &b) &&
               apply(e->op, a, b, out);
    case EXPR_CHOICE:
        return sample_expression(s, e->left, &a) &&
               sample_expression(s, a ? e->right : e->other, out);
    default: break;
    }
    return leaf(s, e, out);
}

/* ---- Pointers ---- */

/* p + e, e + p, p - e; `p = e` and `x, e` are what e is. */
static const char *of_sum(sample_t *s, CXCursor c, int64_t *bytes)
{
    cursors_t list = cursor_children(c);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    int64_t count, size = clang_Type_getSizeOf(type_pointee(clang_getCursorType(c)));
    if (list.count == 2 && (op == CXBinaryOperator_Comma || op == CXBinaryOperator_Assign))
        return sample_pointer(s, list.at[1], bytes);
    if (list.count != 2 || size <= 0 || (op != CXBinaryOperator_Add && op != CXBinaryOperator_Sub))
        return NULL;
    int pointer = type_is_integer(clang_getCursorType(list.at[0]));
    const char *base = sample_pointer(s, list.at[pointer], bytes);
    if (!base || !sample_cursor(s, list.at[1 - pointer], &count))
        return NULL;
    *bytes += (op == CXBinaryOperator_Sub ? -count : count) * size;
    return base;
}

/* &p[e], &v and &w.v. */
static const char *of_address(sample_t *s, CXCursor c, int64_t *bytes)
{
    CXCursor of = unwrapped(cursor_last_child(c));
    cursors_t list = cursor_children(of);
    int64_t count = 0, size = clang_Type_getSizeOf(clang_getCursorType(of));
    if (clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf &&
        (clang_getCursorKind(of) == CXCursor_DeclRefExpr ||
         clang_getCursorKind(of) == CXCursor_MemberRefExpr))
        return arena_printf("&%s", text_of(s, of));
    if (clang_getCursorUnaryOperatorKind(c) != CXUnaryOperator_AddrOf ||
        clang_getCursorKind(of) != CXCursor_ArraySubscriptExpr || list.count != 2 || size <= 0)
        return NULL;
    const char *base = sample_pointer(s, list.at[0], bytes);
    if (!base || !sample_cursor(s, list.at[1], &count))
        return NULL;
    *bytes += count * size;
    return base;
}

/* The struct of which an argument is a copy. */
static CXCursor copied(CXCursor c)
{
    CXCursor from = cursor_last_child(c);
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    if (clang_getCursorKind(c) != CXCursor_CallExpr || type.kind != CXType_Record ||
        clang_Cursor_getNumArguments(c) != 1 || clang_Cursor_isNull(from))
        return c;
    CXCursor a = clang_getTypeDeclaration(type),
             b = clang_getTypeDeclaration(clang_getCanonicalType(clang_getCursorType(from)));
    CXType whole = clang_getCursorType(unwrapped(from)); /* the base of a larger struct is none */
    return clang_equalCursors(a, b) && is_same_type(type, whole) ? unwrapped(from) : c;
}

const char *sample_pointer(sample_t *s, CXCursor c, int64_t *bytes)
{
    c = copied(unwrapped(c));
    *bytes = 0;
    switch (clang_getCursorKind(c)) {
    case CXCursor_DeclRefExpr: return sample_name(s, clang_getCursorReferenced(c));
    case CXCursor_MemberRefExpr: return text_of(s, c);
    case CXCursor_BinaryOperator: return of_sum(s, c, bytes);
    case CXCursor_UnaryOperator: return of_address(s, c, bytes);
    default: return NULL;
    }
}
