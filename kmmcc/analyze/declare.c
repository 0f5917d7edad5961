/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `declare kernel`: what a declaration says in the names of the kernel's parameters is added to the
 * pragmas of its launches, in the words of each launch. So later stages see nothing but complete
 * launches.
 *
 * The declaration itself is checked in a function that nothing calls, which has the kernel's
 * parameters and stands in the pragma's place when the completed source is parsed.
 */
#include "analyze/declare.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/infer.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "clang/pragmas.h"
#include "kmm/launch.h"
#include "pragma/expression.h"
#include "pragma/includes.h"

/* ---- The kernel that a declaration governs ---- */

typedef struct nearest {
    const unit_t *u;
    size_t after, begin;
    CXCursor found;
} nearest_t;

static enum CXChildVisitResult find_nearest(CXCursor c, CXCursor parent, CXClientData data)
{
    nearest_t *n = data;
    size_t begin, end;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
        kind == CXCursor_UnexposedDecl)
        return CXChildVisit_Recurse;
    bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate;
    if (function && unit_range(n->u, c, &begin, &end) && begin >= n->after && begin < n->begin) {
        n->begin = begin;
        n->found = c;
    }
    return CXChildVisit_Continue;
}

/* Whether what stands between the pragma and the function can be the beginning of the function's
 * declaration. */
static bool is_adjacent(const source_t *s, size_t from, size_t to)
{
    lexer_t l = lexer_at(s, from, to);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(s, t, ";") || token_is(s, t, "{") || token_is(s, t, "}") ||
            token_is(s, t, "="))
            return false;
    return true;
}

static bool meets_directive(const source_t *s, size_t from, size_t to)
{
    lexer_t l = lexer_at(s, from, to);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE)
            return true;
    return false;
}

static CXCursor kernel_below(unit_t *u, const directive_t *d)
{
    nearest_t n = {u, d->pragma.end, SIZE_MAX, clang_getNullCursor()};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_nearest, &n);
    if (clang_Cursor_isNull(n.found) || !is_adjacent(u->source, d->pragma.end, n.begin))
        return clang_getNullCursor();
    if (meets_directive(u->source, d->pragma.end, n.begin) && disabled_in_parsed(u, d->parsed_at))
        return clang_getNullCursor();
    return n.found;
}

static enum CXChildVisitResult add_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    declaration_t *n = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_ParmDecl && n->count < MAX_PARAMETERS) {
        n->parameter[n->count] = c;
        n->name[n->count++] = clang_text(clang_getCursorSpelling(c));
    } else if ((kind == CXCursor_NonTypeTemplateParameter ||
                kind == CXCursor_TemplateTypeParameter) &&
               n->template_count < MAX_PARAMETERS) {
        n->template_name[n->template_count++] = clang_text(clang_getCursorSpelling(c));
    }
    return CXChildVisit_Continue;
}

declaration_t *declaration_of_kernel(unit_t *u, directive_t *d, CXCursor kernel)
{
    declaration_t *n = arena_alloc(sizeof(*n));
    *n = (declaration_t){.u = u, .d = d, .kernel = kernel};
    clang_visitChildren(kernel, add_parameter, n);
    return n;
}

/* ---- The function in which it is checked ---- */

/* `template <...>` before the function; "" when there is none. */
static const char *template_head(const unit_t *u, CXCursor kernel)
{
    size_t begin, end;
    int angles = 0, parens = 0;
    if (clang_getCursorKind(kernel) != CXCursor_FunctionTemplate ||
        !unit_range(u, kernel, &begin, &end))
        return "";
    lexer_t l = lexer_at(u->source, begin, end);
    lex(&l);
    do {
        token_t t = lex(&l);
        if (t.kind == TOKEN_END)
            return NULL;
        parens += token_is(u->source, t, "(") - token_is(u->source, t, ")");
        if (!parens)
            angles += token_is(u->source, t, "<") - token_is(u->source, t, ">") -
                      2 * token_is(u->source, t, ">>");
    } while (angles > 0);
    return source_words(u->source, begin, l.at);
}

/* NULL when a macro writes the parameters: then the launches alone are checked. */
static const char *check_head(const declaration_t *n, int number)
{
    const char *head = template_head(n->u, n->kernel);
    text_t out = {0};
    size_t begin, end;
    if (!head)
        return NULL;
    text_printf(&out, "%s static inline __attribute__((unused)) void kmm_declared_%d(", head,
                number);
    for (int k = 0; k < n->count; k++) {
        if (!unit_range(n->u, n->parameter[k], &begin, &end))
            return NULL;
        text_printf(&out, "%s%s", k ? ", " : "", source_words(n->u->source, begin, end));
    }
    text_printf(&out, ") ");
    return out.data;
}

/* ---- All declarations ---- */

static void error_at(const unit_t *u, size_t begin, size_t end, const char *message)
{
    diag_at(SEVERITY_ERROR, u->source, begin, end, "%s", message);
}

static declaration_t *find_declared(declaration_t *list, CXCursor kernel)
{
    for (; list; list = list->next)
        if (clang_equalCursors(clang_getCanonicalCursor(list->kernel),
                               clang_getCanonicalCursor(kernel)))
            return list;
    return NULL;
}

static declaration_t *bind_one(unit_t *u, directive_t *d, declaration_t *list)
{
    CXCursor kernel = kernel_below(u, d);
    if (clang_Cursor_isNull(kernel)) {
        if (!disabled_in_parsed(u, d->parsed_at))
            error_at(u, d->name_begin, d->name_end,
                     "'declare kernel' governs no kernel: put it before the definition or a "
                     "declaration of one");
        return NULL;
    }
    const char *name = clang_text(clang_getCursorSpelling(kernel));
    if (!cursor_is_kernel(kernel)) {
        error_at(u, d->name_begin, d->name_end,
                 arena_printf("'declare kernel' governs '%s', which is no kernel; what the call of "
                              "a function accesses is said at the call",
                              name));
        return NULL;
    }
    if (find_declared(list, kernel)) {
        error_at(u, d->name_begin, d->name_end,
                 arena_printf("kernel '%s' has two 'declare kernel'; leave one", name));
        return NULL;
    }
    d->declares = true;
    d->callee = kernel;
    return declaration_of_kernel(u, d, kernel);
}

declaration_t *declare_bind(unit_t *u)
{
    declaration_t *list = NULL, **last = &list;
    int number = 0;
    for (unit_t *file = u; file; file = file->next) {
        if (file != u && !unit_is_included(file))
            continue;
        for (int k = 0; k < file->directive_count; k++) {
            directive_t *d = file->directives[k];
            declaration_t *n = d->kind == DIRECTIVE_DECLARE ? bind_one(file, d, list) : NULL;
            if (!n)
                continue;
            d->check_head = check_head(n, number++);
            *last = n;
            last = &n->next;
        }
    }
    return list;
}

/* ---- In the words of a launch ---- */

/* A declaration, or what was inferred, against one launch. */
typedef struct completion {
    unit_t *u;
    directive_t *d;
    const declaration_t *n;
    const source_t *s;              /* of the declaration */
    const char *axis[KMM_MAX_AXES]; /* what each declared axis is called at the launch */
    bool in_section, in_range, failed;
} completion_t;

/* Null when it is not written, as in an array that cudaLaunchKernel is given. */
static CXCursor argument_of(const directive_t *d, int number)
{
    int first = d->form == LAUNCH_CALL ? 2 : 0, count = clang_Cursor_getNumArguments(d->launch);
    if (first && strcmp(clang_text(clang_getCursorSpelling(d->launch)), "cudaLaunchKernelEx") != 0)
        return clang_getNullCursor();
    return number + first < count ? clang_Cursor_getArgument(d->launch, (unsigned)(number + first))
                                  : clang_getNullCursor();
}

/* The text of the argument; NULL when it is not written at the launch. */
static const char *argument_text(const completion_t *c, int number)
{
    size_t begin, end;
    CXCursor argument = argument_of(c->d, number);
    if (clang_Cursor_isNull(argument) || !unit_range(c->u, argument, &begin, &end))
        return NULL;
    return source_words(c->u->source, begin, end);
}

/* Whether the text is one name, with members: it needs no parentheses. */
static bool is_path(const char *text)
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

static bool has_name(const char *text, const char *name)
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

static enum CXChildVisitResult last_child(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = c;
    return CXChildVisit_Continue;
}

/* The type of what is written, before what it is converted to. */
static CXType written_type(const unit_t *u, CXCursor c)
{
    size_t begin, end, a, b;
    for (;;) {
        CXCursor inner = clang_getNullCursor();
        enum CXCursorKind kind = clang_getCursorKind(c);
        bool conversion =
            kind == CXCursor_CallExpr &&
            clang_getCursorKind(clang_getCursorReferenced(c)) == CXCursor_ConversionFunction;
        clang_visitChildren(c, last_child, &inner);
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

/* The type to which the launch converts the argument, where that changes what a clause would make
 * of it; NULL: none. */
static const char *conversion_of(const completion_t *c, int number)
{
    CXType function = c->d->callee_type;
    if (function.kind != CXType_FunctionProto || number >= clang_getNumArgTypes(function))
        return NULL;
    CXType is = written_type(c->u, argument_of(c->d, number));
    CXType to = clang_getCanonicalType(clang_getArgType(function, (unsigned)number));
    bool integer = to.kind >= CXType_Bool && to.kind <= CXType_Int128,
         pointer = to.kind == CXType_Pointer;
    bool was_integer = is.kind >= CXType_Bool && is.kind <= CXType_Int128;
    bool narrows = integer && was_integer && clang_Type_getSizeOf(to) < clang_Type_getSizeOf(is) &&
                   !is_number(argument_text(c, number));
    bool other =
        (integer && (is.kind == CXType_Float || is.kind == CXType_Double || is_class(is))) ||
        (pointer && is_class(is));
    return narrows || other ? clang_text(clang_getTypeSpelling(to)) : NULL;
}

static void fail(completion_t *c, const char *message)
{
    if (!c->failed && !c->n->s) /* what is inferred is left out */
        error_at(c->u, c->d->name_begin, c->d->name_end, message);
    c->failed = true;
}

static const char *kernel_name(const completion_t *c)
{
    return clang_text(clang_getCursorSpelling(c->n->kernel));
}

static const char *argument_as_operand(completion_t *c, int number)
{
    const char *text = argument_text(c, number), *to;
    if (!text) {
        fail(c, arena_printf("what is passed for '%s', which the declared clauses of kernel '%s' "
                             "name, is not written at this launch; say here what it accesses",
                             c->n->name[number], kernel_name(c)));
        return "0";
    }
    for (int k = 0; c->in_section && k < KMM_MAX_AXES; k++)
        if (c->axis[k] && has_name(text, c->axis[k]))
            fail(
                c,
                arena_printf(
                    "axis '%s' hides the variable that is passed for '%s'; call the axis otherwise",
                    c->axis[k], c->n->name[number]));
    if ((to = conversion_of(c, number)))
        return arena_printf("((%s)(%s))", to, text);
    return is_path(text) || is_number(text) || (c->in_range && !strpbrk(text, "?,"))
               ? text
               : arena_printf("(%s)", text);
}

/* The template's argument as the launch writes it; NULL when it writes none. */
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

/* The value or the type that the launch gives the template's parameter; NULL when it is not known
 * here. */
static const char *template_argument(const completion_t *c, int number)
{
    CXCursor f = c->d->target_count == 1 ? c->d->target[0].instance : clang_getNullCursor();
    if (clang_Cursor_isNull(f) || number >= clang_Cursor_getNumTemplateArguments(f))
        return written_template_argument(c, number);
    switch (clang_Cursor_getTemplateArgumentKind(f, (unsigned)number)) {
    case CXTemplateArgumentKind_Integral:
        return arena_printf("%lld", clang_Cursor_getTemplateArgumentValue(f, (unsigned)number));
    case CXTemplateArgumentKind_Type:
        return clang_text(clang_getTypeSpelling(
            clang_getCanonicalType(clang_Cursor_getTemplateArgumentType(f, (unsigned)number))));
    default: return NULL;
    }
}

/* What the name in a declared clause is at the launch. */
static const char *at_launch(completion_t *c, const char *name)
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
            fail(c,
                 arena_printf("the template argument '%s', which the declared clauses of kernel "
                              "'%s' name, is not known at this launch; say here what it accesses",
                              name, kernel_name(c)));
        return text ? text : "0";
    }
    return name;
}

static bool is_one_word(const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_at(s, begin, end);
    l.line_start = false;
    return lex(&l).kind == TOKEN_NAME && lex(&l).kind == TOKEN_END;
}

/* The words of the declaration from `begin` to `end`, on one line. */
static const char *translate(completion_t *c, size_t begin, size_t end)
{
    text_t out = {0};
    lexer_t l = lexer_at(c->s, begin, end);
    size_t last = begin;
    bool qualified = false;
    text_add(&out, "", 0);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; last = t.end, t = lex(&l)) {
        lexer_t ahead = l;
        bool name = t.kind == TOKEN_NAME && !qualified && !token_is(c->s, lex(&ahead), "::");
        text_printf(&out, "%s%s", t.begin > last && out.length ? " " : "",
                    name ? at_launch(c, token_text(c->s, t)) : token_text(c->s, t));
        qualified = token_is(c->s, t, ".") || token_is(c->s, t, "->") || token_is(c->s, t, "::");
    }
    return out.data;
}

/* ---- Insertions ---- */

typedef struct insertion {
    struct insertion *next;
    size_t at;
    const char *text;
} insertion_t;

static void insert(unit_t *u, size_t at, const char *text)
{
    insertion_t *i = arena_alloc(sizeof(*i)), **link = &u->insertions;
    while (*link && (*link)->at <= at)
        link = &(*link)->next;
    *i = (insertion_t){*link, at, text};
    *link = i;
}

/* Quotes and backslashes as a string literal has them. */
static const char *escaped(const directive_t *d, const char *text)
{
    text_t out = {0};
    if (!d->pragma.is_operator)
        return text;
    text_add(&out, "", 0);
    for (; *text; text++)
        text_printf(&out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    return out.data;
}

/* ---- Axes ---- */

static kmm_source_t source_of(const directive_t *d, int number)
{
    return d->axis[number].source_given ? d->axis[number].source
                                        : (kmm_source_t)(KMM_GLOBAL_X + number);
}

/* A name for the axis that no argument of the launch has. */
static const char *free_name(const completion_t *c, const char *name)
{
    for (int k = 0; k < c->n->count; k++) {
        const char *text = argument_text(c, k);
        if (text && has_name(text, name))
            return free_name(c, arena_printf("%s_", name));
    }
    return name;
}

static void name_axes(completion_t *c)
{
    const directive_t *declared = c->n->d;
    for (int k = 0; k < declared->axis_count; k++)
        for (int i = 0; i < c->d->axis_count; i++)
            if (source_of(declared, k) == source_of(c->d, i))
                c->axis[k] = c->d->axis[i].name;
    for (int k = 0; k < declared->axis_count; k++) {
        bool given = c->axis[k];
        if (!given)
            c->axis[k] = free_name(c, declared->axis[k].name);
        for (int i = 0; !given && i < c->d->axis_count; i++)
            if (!strcmp(c->axis[k], c->d->axis[i].name))
                fail(c, arena_printf("axis '%s' of the launch is another than that of 'declare "
                                     "kernel' for kernel '%s'; call it otherwise",
                                     c->axis[k], kernel_name(c)));
    }
}

/* A bound of an axis, which needs no parentheses of its own. */
static const char *bound(completion_t *c, const expr_t *e)
{
    c->in_range = is_one_word(c->s, e->begin, e->end);
    const char *text = translate(c, e->begin, e->end);
    c->in_range = false;
    return text;
}

/* The declared ranges of axes that the launch has without one. */
static void insert_ranges(completion_t *c)
{
    const directive_t *declared = c->n->d;
    for (int k = 0; k < declared->axis_count; k++)
        for (int i = 0; i < c->d->axis_count; i++)
            if (source_of(declared, k) == source_of(c->d, i) && declared->axis[k].length &&
                !c->d->axis[i].length) {
                const char *range = arena_printf(" = %s:%s", bound(c, declared->axis[k].lower),
                                                 bound(c, declared->axis[k].length));
                if (!c->failed)
                    insert(c->u, c->d->axis[i].end, escaped(c->d, range));
            }
}

/* The declared axes that the launch does not have. */
static void add_axes(completion_t *c, text_t *out)
{
    static const char *const sources[] = {"global.x", "global.y", "global.z",
                                          "block.x",  "block.y",  "block.z"};
    const directive_t *declared = c->n->d;
    for (int k = 0; k < declared->axis_count; k++) {
        const axis_t *axis = &declared->axis[k];
        bool given = false;
        for (int i = 0; i < c->d->axis_count; i++)
            given |= source_of(declared, k) == source_of(c->d, i);
        if (given || source_of(declared, k) > KMM_BLOCK_Z)
            continue;
        text_printf(out, "%s%s", out->length ? ", " : "", c->axis[k]);
        if (c->d->axis_count || axis->source_given)
            text_printf(out, ": %s", sources[source_of(declared, k)]);
        if (axis->length)
            text_printf(out, " = %s:%s", bound(c, axis->lower), bound(c, axis->length));
    }
}

/* ---- Items ---- */

/* The parameter with which the item's base begins; -1: none. */
static int parameter_of(const completion_t *c, const item_t *item)
{
    lexer_t l = lexer_at(c->s, item->base->begin, item->base->end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        for (int k = 0; k < c->n->count && t.kind == TOKEN_NAME; k++)
            if (token_is(c->s, t, c->n->name[k]))
                return k;
    return -1;
}

static bool is_null(const char *text)
{
    return !strcmp(text, "NULL") || !strcmp(text, "nullptr") || !strcmp(text, "0");
}

bool declare_covers(const directive_t *d, CXCursor argument)
{
    CXCursor root = cursor_root(argument);
    for (int k = 0; k < d->item_count && !clang_Cursor_isNull(root); k++) {
        CXCursor base = cursor_root(d->item[k].base->cursor);
        if (!clang_Cursor_isNull(base) &&
            clang_equalCursors(clang_getCanonicalCursor(root), clang_getCanonicalCursor(base)))
            return true;
    }
    return false;
}

static bool is_wanted(const completion_t *c, const item_t *item)
{
    int number = parameter_of(c, item);
    if (number < 0)
        return true;
    const char *text = argument_text(c, number);
    return !(text && is_null(text)) && !declare_covers(c->d, argument_of(c->d, number));
}

static const char *item_at_launch(completion_t *c, const item_t *item)
{
    text_t out = {0};
    c->in_section = false;
    text_printf(&out, "%s", translate(c, item->base->begin, item->base->end));
    c->in_section = true;
    for (int k = 0; k < item->section_count; k++)
        text_printf(&out, "%s", translate(c, item->section[k].begin, item->section[k].end));
    c->in_section = false;
    return out.data;
}

static const char *word_of(const item_t *item)
{
    static const char *const ops[] = {"+", "*",  "min", "max",    "&",     "|",
                                      "^", "&&", "||",  "argmin", "argmax"};
    static const char *const words[] = {"", "read(", "write(", "update("};
    return item->mode == KMM_REDUCE ? arena_printf("reduce(%s: ", ops[item->op])
                                    : words[item->mode];
}

/* Neighbours of the same kind share a clause. */
static void add_items(completion_t *c, text_t *out)
{
    const char *open = "";
    for (int k = 0; k < c->n->d->item_count; k++) {
        const item_t *item = &c->n->d->item[k];
        if (!is_wanted(c, item))
            continue;
        const char *word = word_of(item), *text = item_at_launch(c, item);
        if (strcmp(word, open))
            text_printf(out, "%s %s%s", *open ? ")" : "", word, text);
        else
            text_printf(out, ", %s", text);
        open = word;
    }
    text_printf(out, "%s", *open ? ")" : "");
}

static bool has_shape(const completion_t *c, const char *base)
{
    for (int k = 0; k < c->d->shape_count; k++)
        if (!strcmp(source_words(c->u->source, c->d->shape[k].name.begin, c->d->shape[k].name.end),
                    base))
            return true;
    return false;
}

static void add_shapes(completion_t *c, text_t *out)
{
    text_t all = {0};
    for (int k = 0; k < c->n->d->shape_count; k++) {
        const shape_t *shape = &c->n->d->shape[k];
        const char *name = token_text(c->s, shape->name);
        bool wanted = false;
        for (int i = 0; i < c->n->d->item_count; i++)
            wanted |= is_wanted(c, &c->n->d->item[i]) &&
                      !strcmp(source_words(c->s, c->n->d->item[i].base->begin,
                                           c->n->d->item[i].base->end),
                              name);
        const char *base = wanted ? translate(c, shape->name.begin, shape->name.end) : "";
        if (!wanted || has_shape(c, base))
            continue;
        text_printf(&all, "%s%s%s", all.length ? ", " : "", base,
                    translate(c, shape->name.end, shape->end));
    }
    if (all.length)
        text_printf(out, " shape(%s)", all.data);
}

/* ---- The completed pragma ---- */

/* Behind the last word of the pragma that is no comment. */
static size_t last_word(const unit_t *u, const directive_t *d)
{
    size_t end = d->pragma.content;
    lexer_t l = lexer_at(u->source, d->pragma.content, d->pragma.content_end);
    l.line_start = false;
    l.quoted = d->pragma.is_operator;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        end = t.end;
    return end;
}

static void insert_axes(unit_t *u, const directive_t *d, const char *axes)
{
    lexer_t l = lexer_at(u->source, d->name_end, d->pragma.content_end);
    l.line_start = false;
    token_t t = lex(&l);
    if (d->axis_count)
        insert(u, d->axis[d->axis_count - 1].end, arena_printf(", %s", axes));
    else if (token_is(u->source, t, "("))
        insert(u, t.end, axes);
    else
        insert(u, d->name_end, arena_printf("(%s)", axes));
}

bool declare_add(unit_t *u, directive_t *d, const declaration_t *n)
{
    completion_t c = {.u = u, .d = d, .n = n, .s = n->s ? n->s : n->u->source};
    text_t axes = {0}, clauses = {0};
    text_add(&axes, "", 0);
    text_add(&clauses, "", 0);
    name_axes(&c);
    insert_ranges(&c);
    add_axes(&c, &axes);
    add_shapes(&c, &clauses);
    add_items(&c, &clauses);
    if (axes.length && !c.failed)
        insert_axes(u, d, escaped(d, axes.data));
    if (clauses.length && !c.failed)
        insert(u, last_word(u, d), escaped(d, clauses.data));
    return !c.failed;
}

/* ---- All launches ---- */

static bool leaves_to_declaration(const directive_t *d)
{
    return d->item_count == 0;
}

/* Which pointers nothing is said of. */
static bool find_unsaid(const unit_t *u, const directive_t *d, const declaration_t *n, bool *wanted)
{
    bool any = false;
    for (int k = 0; k < n->count; k++) {
        completion_t c = {.u = (unit_t *)u, .d = (directive_t *)d, .n = n};
        const char *text = argument_text(&c, k);
        bool pointer =
            clang_getCanonicalType(clang_getCursorType(n->parameter[k])).kind == CXType_Pointer;
        wanted[k] = pointer && text && !is_null(text) && !declare_covers(d, argument_of(d, k));
        any |= wanted[k];
    }
    return any;
}

static void infer_launch(unit_t *u, directive_t *d)
{
    bool wanted[MAX_PARAMETERS];
    CXCursor definition = d->target_count == 1 ? clang_getCursorDefinition(d->target[0].kernel)
                                               : clang_getNullCursor();
    if (clang_Cursor_isNull(definition) || d->form != LAUNCH_CHEVRON ||
        !find_unsaid(u, d, declaration_of_kernel(u, NULL, definition), wanted))
        return;
    range_t range = RANGE_INFERRED;
    for (int k = 0; k < d->axis_count; k++)
        if (d->axis[k].length)
            range = RANGE_GIVEN;
    declaration_t *n = infer_kernel(u->main, definition, wanted, range);
    if (n)
        declare_add(u, d, n);
}

static void complete_launch(unit_t *u, directive_t *d, declaration_t *list)
{
    declaration_t *n = NULL;
    for (int k = 0; k < d->target_count && !n; k++)
        n = find_declared(list, d->target[k].kernel);
    if (!n)
        return infer_launch(u, d);
    if (d->target_count > 1) {
        if (leaves_to_declaration(d))
            error_at(u, d->name_begin, d->name_end,
                     arena_printf("this launch may run one of %d kernels, so what is declared of "
                                  "them is not used; say here what it accesses",
                                  d->target_count));
        d->failed = leaves_to_declaration(d);
        return;
    }
    d->failed = !declare_add(u, d, n);
    d->declared_in = n->u;
    d->declared_order = n->d->order;
}

/* Offsets of the #include lines behind the place. */
static void move_includes(include_file_t *f, size_t at, size_t by)
{
    for (int k = 0; k < f->include_count; k++) {
        if (f->include[k].begin < at)
            continue;
        f->include[k].begin += by;
        f->include[k].end += by;
    }
}

static void apply_insertions(unit_t *u, const includes_t *includes)
{
    text_t out = {0};
    size_t from = 0;
    include_file_t *file = NULL;
    for (int k = 0; k < includes->count; k++)
        if (includes->file[k]->source == u->source)
            file = includes->file[k];
    for (const insertion_t *i = u->insertions; i; i = i->next) {
        text_add(&out, u->source->text + from, i->at - from);
        if (file)
            move_includes(file, out.length, strlen(i->text));
        text_add(&out, i->text, strlen(i->text));
        from = i->at;
    }
    text_add(&out, u->source->text + from, u->source->length - from);
    source_t *changed = source_from(u->source->path, out.data, out.length);
    changed->completed = true;
    u->source = changed;
    if (file)
        file->source = u->source;
}

/* The directives of the new text; what is known of the old ones stays known. */
static void parse_again(unit_t *u)
{
    directive_t **old = u->directives;
    int count = u->directive_count, messages = diag_count();
    u->directives = NULL;
    u->directive_count = 0;
    pragmas_parse(u);
    diag_retract(messages, diag_count()); /* they are known */
    u->mistakes = NULL;
    for (int k = 0; k < count && k < u->directive_count; k++) {
        u->directives[k]->check_head = old[k]->check_head;
        u->directives[k]->declared_in = old[k]->declared_in;
        u->directives[k]->declared_order = old[k]->declared_order;
        u->directives[k]->broken = old[k]->failed;
    }
}

bool declare_complete(unit_t *u, int first)
{
    declaration_t *list = declare_bind(u);
    bool any = list;
    if (list)
        diag_retract(first, diag_count()); /* what is said so far is said again */
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            directive_t *d = file->directives[k];
            if (d->bound && !d->broken && d->kind == DIRECTIVE_PARALLEL && d->is_kernel &&
                !clang_Cursor_isNull(d->launch))
                complete_launch(file, d, list);
        }
    for (unit_t *file = u; file; file = file->next)
        any |= file->insertions != NULL;
    if (any && !list)
        diag_retract(first, diag_count());
    for (unit_t *file = u; any && file; file = file->next) {
        if (file->insertions)
            apply_insertions(file, u->includes);
        file->insertions = NULL;
        parse_again(file);
    }
    return any;
}
