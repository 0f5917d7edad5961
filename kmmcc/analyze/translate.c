/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a declaration, which uses the names of the kernel's parameters, into the words of a
 * launch. */
#include "analyze/translate.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/effects.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "pragma/expression.h"
#include "pragma/parser.h"

CXCursor translate_argument(const directive_t *d, int number)
{
    int first = d->form == LAUNCH_CALL ? 2 : 0, count = clang_Cursor_getNumArguments(d->launch);
    if (first && strcmp(cursor_name(d->launch), "cudaLaunchKernelEx") != 0)
        return clang_getNullCursor();
    CXCursor argument = number + first < count
                            ? clang_Cursor_getArgument(d->launch, (unsigned)(number + first))
                            : clang_getNullCursor();
    bool is_pack = clang_getCursorKind(argument) == CXCursor_PackExpansionExpr ||
                   (d->pack != PACK_NONE && number >= d->pack);
    return is_pack ? clang_getNullCursor() : argument;
}

const char *translate_argument_text(const completion_t *c, int number)
{
    size_t begin, end;
    CXCursor argument = translate_argument(c->d, number);
    if (clang_Cursor_isNull(argument) || !callee_argument_range(c->u, c->d, argument, &begin, &end))
        return NULL;
    return source_words(c->u->source, begin, end);
}

/* Such a text needs no parentheses. */
bool translate_is_path(const char *text)
{
    source_t *s = source_from("", text, strlen(text));
    lexer_t l = lexer_at(s, 0, s->length);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind != TOKEN_NAME && !token_is(s, t, ".") && !token_is(s, t, "->") &&
            !token_is(s, t, "::"))
            return false;
    return true;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789uUlL") == strlen(text);
}

/* True if the words have more than sums and products, so that numbers which are the same modulo
 * 2^32 may give other results. */
static bool is_exact(const source_t *s, size_t begin, size_t end)
{
    static const char *const plain[] = {"+", "-", "*", "(", ")", "[", "]", ":", ".", "->", "::"};
    lexer_t l = lexer_at(s, begin, end);
    token_t last = {.kind = TOKEN_END};
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; last = t, t = lex(&l)) {
        bool operand = t.kind == TOKEN_NAME || t.kind == TOKEN_NUMBER, known = operand;
        bool after = last.kind != TOKEN_END && token_is(s, last, ")");
        for (size_t k = 0; k < sizeof(plain) / sizeof(*plain) && !operand; k++)
            known |= token_is(s, t, plain[k]);
        bool opens = token_is(s, t, "(") || (token_is(s, t, "[") && last.kind != TOKEN_END);
        bool calls_or_casts = (after && operand) || (opens && (after || last.kind == TOKEN_NAME));
        if (!known || calls_or_casts)
            return true;
    }
    return false;
}

bool translate_has_name(const char *text, const char *name)
{
    source_t *s = source_from("", text, strlen(text));
    lexer_t l = lexer_at(s, 0, s->length);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_NAME && token_is(s, t, name))
            return true;
    return false;
}

static bool is_class(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_Record || kind == CXType_Enum;
}

CXType translate_written_type(const unit_t *u, CXCursor c)
{
    size_t begin, end, a, b;
    for (;;) {
        CXCursor inner = cursor_last_child(c);
        enum CXCursorKind kind = clang_getCursorKind(c),
                          called = clang_getCursorKind(clang_getCursorReferenced(c));
        bool conversion = kind == CXCursor_CallExpr && called == CXCursor_ConversionFunction;
        if (kind == CXCursor_CallExpr && called == CXCursor_Constructor &&
            clang_Cursor_getNumArguments(c) > 0) {
            conversion = true;
            inner = clang_Cursor_getArgument(c, 0); /* the others are default arguments */
        }
        if (kind == CXCursor_MemberRefExpr &&
            clang_getCursorKind(clang_getCursorReferenced(c)) == CXCursor_ConversionFunction)
            conversion = true;
        if ((kind != CXCursor_UnexposedExpr && !conversion) || clang_Cursor_isNull(inner) ||
            !unit_range(u, c, &begin, &end) || !unit_range(u, inner, &a, &b) || a != begin ||
            b != end)
            return clang_getCanonicalType(clang_getCursorType(c));
        c = inner;
    }
}

/* True if the argument's type depends on a template, so that another instance may convert it. */
static bool is_open(const completion_t *c, int number)
{
    const directive_t *d = c->d->pattern ? c->d->pattern : c->d;
    return number < d->argument_count &&
           type_is_dependent(clang_getCursorType(d->argument[number]));
}

static bool is_signed(CXType type)
{
    return type.kind >= CXType_Char_S;
}

/* True if the integer type `to` has all values of the integer type `is`. */
static bool holds_all(CXType to, CXType is)
{
    long long wide = clang_Type_getSizeOf(to), size = clang_Type_getSizeOf(is);
    if (to.kind == CXType_Bool || is.kind == CXType_Bool)
        return to.kind != CXType_Bool || is.kind == CXType_Bool;
    return is_signed(to) == is_signed(is) ? wide >= size : is_signed(to) && wide > size;
}

/* True if the text is a number, and a value of the integer type. */
static bool is_number_of(const char *text, CXType type)
{
    long long bits = 8 * clang_Type_getSizeOf(type) - is_signed(type);
    if (!is_number(text))
        return false;
    unsigned long long value = strtoull(text, NULL, 0);
    return type.kind == CXType_Bool ? value <= 1 : bits >= 64 || value >> bits == 0;
}

/* True if the number that the clause would compute with is not the one that the kernel gets. Sums
 * and products are the same in 32 bits, whether a number added is -1 or 4294967295. */
static bool changes_number(const completion_t *c, const char *text, CXType is, CXType to)
{
    long long size = clang_Type_getSizeOf(to);
    if (holds_all(to, is) || is_number_of(text, to))
        return false;
    return size < 4 || size < clang_Type_getSizeOf(is) ||
           (size == 4 && (c->in_range || c->is_exact));
}

/* True if the launch converts a pointer to a class to one to its base, or may do so in an instance
 * of a template. */
static bool converts_to_base(CXType is, CXType to)
{
    if (to.kind != CXType_Pointer || type_pointee(to).kind != CXType_Record)
        return false;
    if (is.kind != CXType_Pointer || type_is_dependent(is))
        return type_is_dependent(is);
    CXType derived = type_pointee(is);
    return derived.kind == CXType_Record &&
           !clang_equalTypes(clang_getUnqualifiedType(derived),
                             clang_getUnqualifiedType(type_pointee(to)));
}

/* Returns the template's argument as the launch writes it; NULL if the launch writes none. */
static const char *written_template_argument(const completion_t *c, int number)
{
    lexer_t l = lexer_at(c->u->source, c->d->name_after, c->d->template_end);
    int depth = 0, count = 0;
    l.line_start = false;
    size_t begin = lex(&l).end;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool last = l.at >= c->d->template_end;
        depth += token_is(c->u->source, t, "(") + token_is(c->u->source, t, "<") -
                 token_is(c->u->source, t, ")") - token_is(c->u->source, t, ">");
        if (!last && (depth || !token_is(c->u->source, t, ",")))
            continue;
        if (count++ == number)
            return arena_printf("(%s)", source_words(c->u->source, begin, t.begin));
        begin = t.end;
    }
    return NULL;
}

/* Returns the type to which a launch in a template converts the argument, where the arguments of
 * that template decide which instance of the kernel runs; NULL: none. A parameter whose type the
 * argument decides gets the argument as it is. */
static const char *open_conversion_of(const completion_t *c, int number)
{
    CXType type = clang_getCursorType(c->n->parameter[number]);
    const char *name = clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
    if (!type_is_dependent(type))
        return type_is_integer(type)
                   ? clang_text(clang_getTypeSpelling(clang_getCanonicalType(type)))
                   : NULL;
    for (int k = 0; k < c->n->template_count; k++)
        if (!strcmp(c->n->template_name[k], name)) {
            const char *written = written_template_argument(c, k); /* in parentheses */
            return written ? arena_copy(written + 1, strlen(written) - 2) : NULL;
        }
    return NULL;
}

/* Returns the type to which the launch converts the argument; NULL if the conversion makes no
 * difference in a clause, in no instance of a template. */
static const char *conversion_of(const completion_t *c, int number)
{
    CXType function = c->d->callee_type;
    bool known = function.kind == CXType_FunctionProto;
    if (known && number >= clang_getNumArgTypes(function))
        return NULL;
    if (!c->d->pattern &&
        (!known || type_is_dependent(clang_getArgType(function, (unsigned)number))))
        return open_conversion_of(c, number);
    if (!known)
        return NULL;
    CXType is = translate_written_type(c->u, translate_argument(c->d, number));
    CXType to = clang_getCanonicalType(clang_getArgType(function, (unsigned)number));
    bool integer = to.kind >= CXType_Bool && to.kind <= CXType_Int128,
         pointer = to.kind == CXType_Pointer;
    bool was_integer = is.kind >= CXType_Bool && is.kind <= CXType_Int128;
    bool changes =
        integer && was_integer && changes_number(c, translate_argument_text(c, number), is, to);
    changes |= integer && is_open(c, number);
    bool other =
        (integer && (is.kind == CXType_Float || is.kind == CXType_Double || is_class(is))) ||
        (pointer && is_class(is)) || converts_to_base(is, to);
    return changes || other ? clang_text(clang_getTypeSpelling(to)) : NULL;
}

static bool converts_struct(const completion_t *c, int number);

/* The types of argument and parameter depend on a template: true if one instance converts. */
static bool instance_converts_struct(const completion_t *c, int number)
{
    bool converts = false;
    for (int k = 0; k < c->d->instance_count && !converts; k++) {
        converts = !instance_enter(c->u, c->d, k);
        if (converts)
            break;
        converts = converts_struct(c, number);
        instance_leave(c->u, c->d);
    }
    return converts;
}

/* True if the parameter is a struct, and the argument another one: it is sliced to its base, or an
 * operator or a constructor of the program makes the struct of it. */
static bool converts_struct(const completion_t *c, int number)
{
    CXType function = c->d->callee_type;
    if (function.kind != CXType_FunctionProto || number >= clang_getNumArgTypes(function))
        return false;
    CXType is = translate_written_type(c->u, translate_argument(c->d, number));
    CXType to = clang_getCanonicalType(clang_getArgType(function, (unsigned)number));
    if (!c->d->pattern && (type_is_dependent(is) || type_is_dependent(to)))
        return c->d->instances == INSTANCES_ALL ? instance_converts_struct(c, number)
                                                : to.kind == CXType_Record;
    return to.kind == CXType_Record &&
           !clang_equalTypes(clang_getUnqualifiedType(is), clang_getUnqualifiedType(to));
}

/* True if a negative argument becomes a number that is greater than any index. */
static bool becomes_great(const completion_t *c, int number)
{
    CXType function = c->d->callee_type;
    if (function.kind != CXType_FunctionProto || number >= clang_getNumArgTypes(function))
        return false;
    CXType is = translate_written_type(c->u, translate_argument(c->d, number));
    CXType to = clang_getCanonicalType(clang_getArgType(function, (unsigned)number));
    bool may_be_negative =
        (is.kind >= CXType_Char_S && is.kind <= CXType_Int128) || is_open(c, number);
    return may_be_negative && to.kind >= CXType_Bool && to.kind <= CXType_UInt128 &&
           clang_Type_getSizeOf(to) == 8 && !is_number(translate_argument_text(c, number));
}

void translate_fail(completion_t *c, const char *message)
{
    if (!c->failed && !c->n->s) /* what is inferred is left out */
        unit_error(c->u, c->d->name_begin, c->d->name_end, "%s", message);
    if (!c->reason)
        c->reason = message;
    c->failed = true;
}

/* Fails because of what the launch passes for the parameter. */
static void fail_by_argument(completion_t *c, int number, const char *what, const char *remedy)
{
    const char *name = c->n->name[number];
    c->reason = arena_printf("what the launch passes for '%s' %s; %s", name, what, remedy);
    translate_fail(c, arena_printf("what is passed for '%s', which the declared clauses of kernel "
                                   "'%s' name, %s; %s",
                                   name, cursor_name(c->n->kernel), what, remedy));
}

/* True if the text is an expression as clauses have them. */
static bool is_expression(const char *text)
{
    const source_t *s = source_from("", text, strlen(text));
    parser_t p = {.s = s, .lexer = lexer_at(s, 0, s->length), .failed = true};
    lexer_t l = lexer_at(s, 0, s->length);
    l.line_start = p.lexer.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_NUMBER &&
            strchr(token_text(s, t), '_')) /* an operator of the program */
            return false;
    parser_advance(&p);
    return parse_expression(&p) && p.token.kind == TOKEN_END;
}

static bool has_effects(const completion_t *c, int number)
{
    CXCursor argument = translate_argument(c->d, number);
    return is_open(c, number) && !c->d->pattern ? !effects_may_be_pure(argument)
                                                : !effects_is_pure(argument);
}

/* Fails if the argument's text cannot take the parameter's place. */
static void check_argument(completion_t *c, int number, const char *text)
{
    static const char before[] = "compute the value before the pragma";
    for (int k = 0; c->in_section && k < KMM_MAX_AXES; k++)
        if (c->axis[k] && translate_has_name(text, c->axis[k]))
            translate_fail(
                c,
                arena_printf(
                    "axis '%s' hides the variable that is passed for '%s'; call the axis otherwise",
                    c->axis[k], c->n->name[number]));
    if (converts_struct(c, number))
        fail_by_argument(c, number, "is converted to another struct", "say here what it accesses");
    else if (!(translate_is_path(text) && !conversion_of(c, number)) && has_effects(c, number))
        fail_by_argument(c, number, "may have side effects, which clauses would repeat", before);
    else if (!is_expression(text))
        fail_by_argument(c, number, "is no expression that clauses may have", before);
}

static const char *argument_as_operand(completion_t *c, int number)
{
    const char *text = translate_argument_text(c, number), *to;
    if (!text) {
        translate_fail(
            c, arena_printf("what is passed for '%s', which the declared clauses of kernel '%s' "
                            "name, is not written at this launch; say here what it accesses",
                            c->n->name[number], cursor_name(c->n->kernel)));
        return "0";
    }
    check_argument(c, number, text);
    if (c->in_range && c->n->s && becomes_great(c, number))
        return arena_printf("(%s < 0 ? 4294967295 : %s)", text, text);
    c->is_count[number] |= (c->is_exact || c->in_range) && becomes_great(c, number);
    if ((to = conversion_of(c, number)))
        return arena_printf("((%s)(%s))", to, text);
    CXCursor argument = translate_argument(c->d, number);
    bool macro =
        cursor_is_from_body(argument) && clang_getCursorKind(argument) == CXCursor_BinaryOperator;
    return (translate_is_path(text) && !macro) || is_number(text) ||
                   (c->in_range && !strpbrk(text, "?,"))
               ? text
               : arena_printf("(%s)", text);
}

/* Returns the value or type of the template's parameter at the launch; NULL if it is not known
 * there. */
static const char *template_argument(const completion_t *c, int number)
{
    CXCursor f = c->d->target_count == 1 ? c->d->target[0].instance : clang_getNullCursor();
    /* In an instance of a template, what the launch writes is the same for all instances. */
    const char *written = c->d->pattern ? written_template_argument(c, number) : NULL;
    if (written)
        return written;
    if (clang_Cursor_isNull(f) || number >= clang_Cursor_getNumTemplateArguments(f))
        return written_template_argument(c, number);
    switch (clang_Cursor_getTemplateArgumentKind(f, (unsigned)number)) {
    case CXTemplateArgumentKind_Integral:
        return arena_printf("%lld", instance_value(f, (unsigned)number));
    case CXTemplateArgumentKind_Type:
        return clang_text(clang_getTypeSpelling(
            clang_getCanonicalType(clang_Cursor_getTemplateArgumentType(f, (unsigned)number))));
    default: return NULL;
    }
}

/* Returns the text at the launch for a name in a declared clause. */
static const char *translate(completion_t *c, const char *name)
{
    for (int k = 0; c->in_section && k < c->n->d->axis_count; k++)
        if (!strcmp(c->n->d->axis[k].name, name))
            return c->axis[k];
    for (int k = 0; k < c->n->count; k++)
        if (*name && !strcmp(c->n->name[k], name))
            return argument_as_operand(c, k);
    for (int k = 0; k < c->n->template_count; k++) {
        if (strcmp(c->n->template_name[k], name))
            continue;
        const char *text = template_argument(c, k);
        if (!text)
            translate_fail(
                c, arena_printf("the template argument '%s', which the declared clauses of kernel "
                                "'%s' name, is not known at this launch; say here what it accesses",
                                name, cursor_name(c->n->kernel)));
        return text ? text : "0";
    }
    return name;
}

bool translate_is_word(const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_at(s, begin, end);
    l.line_start = false;
    return lex(&l).kind == TOKEN_NAME && lex(&l).kind == TOKEN_END;
}

const char *translate_expression(completion_t *c, size_t begin, size_t end)
{
    text_t out = {0};
    lexer_t l = lexer_at(c->s, begin, end);
    size_t last = begin;
    bool qualified = false;
    c->is_exact = is_exact(c->s, begin, end);
    text_add(&out, "", 0);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; last = t.end, t = lex(&l)) {
        lexer_t ahead = l;
        bool name = t.kind == TOKEN_NAME && !qualified && !token_is(c->s, lex(&ahead), "::");
        text_printf(&out, "%s%s", t.begin > last && out.length ? " " : "",
                    name ? translate(c, token_text(c->s, t)) : token_text(c->s, t));
        qualified = token_is(c->s, t, ".") || token_is(c->s, t, "->") || token_is(c->s, t, "::");
    }
    return out.data;
}
