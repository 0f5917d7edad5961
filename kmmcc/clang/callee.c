/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernels or the function that a launch runs, and its arguments. */
#include "clang/callee.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/launch.h"

void callee_error(const unit_t *u, const directive_t *d, CXCursor c, const char *message)
{
    size_t begin, end;
    if (unit_range(u, c, &begin, &end))
        unit_error(u, begin, end, "%s", message);
    else
        unit_error(u, d->name_begin, d->name_end, "%s", message);
}

/* The reference to what is called: below conversions, casts, `&` and parentheses. */
static CXCursor callee_reference(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr &&
            kind != CXCursor_CStyleCastExpr && kind != CXCursor_CXXReinterpretCastExpr &&
            kind != CXCursor_CXXStaticCastExpr && kind != CXCursor_UnaryOperator)
            return c;
        cursors_t list = cursor_children(c);
        if (list.count == 0)
            return c;
        c = list.at[list.count - 1];
    }
}

static CXType pointed_function(CXType type)
{
    type = clang_getCanonicalType(type);
    if (type.kind == CXType_LValueReference || type.kind == CXType_Pointer)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    return type.kind == CXType_Pointer ? clang_getCanonicalType(clang_getPointeeType(type)) : type;
}

/* The reference to the function that a _Generic selects: the only one that has its type. Null:
 * there are several. */
static CXCursor selected_reference(CXCursor generic)
{
    cursors_t list = cursor_children(generic);
    CXType type = pointed_function(clang_getCursorType(generic));
    CXCursor found = clang_getNullCursor();
    for (int k = 0; k < list.count; k++) {
        CXCursor c = callee_reference(list.at[k]);
        if (clang_getCursorKind(c) == CXCursor_GenericSelectionExpr)
            c = selected_reference(c);
        if (clang_Cursor_isNull(c) || clang_getCursorKind(c) != CXCursor_DeclRefExpr ||
            !clang_equalTypes(type, pointed_function(clang_getCursorType(c))))
            continue;
        if (!clang_Cursor_isNull(found) &&
            !clang_equalCursors(clang_getCursorReferenced(found), clang_getCursorReferenced(c)))
            return clang_getNullCursor();
        found = c;
    }
    return found;
}

static CXCursor template_of(CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    return clang_Cursor_isNull(template) ? f : template;
}

static void add_target(directive_t *d, CXCursor f)
{
    enum { MAX_TARGETS = 64 };
    CXCursor kernel = template_of(f);
    for (int k = 0; k < d->target_count; k++)
        if (clang_equalCursors(d->target[k].instance, f))
            return;
    if (!d->target)
        d->target = arena_alloc(MAX_TARGETS * sizeof(*d->target));
    if (d->target_count < MAX_TARGETS)
        d->target[d->target_count++] =
            (target_kernel_t){kernel, clang_getCursorDefinition(kernel), f};
}

/* The functions that a name stands for. */
static void add_named(directive_t *d, CXCursor f)
{
    enum CXCursorKind kind = clang_getCursorKind(f);
    if (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate)
        add_target(d, f);
    if (kind != CXCursor_OverloadedDeclRef)
        return;
    unsigned count = clang_getNumOverloadedDecls(f);
    for (unsigned k = 0; k < count; k++) {
        CXCursor one = cursor_used(clang_getOverloadedDecl(f, k));
        if (!d->is_kernel || cursor_is_kernel(template_of(one)))
            add_target(d, clang_getCanonicalCursor(one));
    }
}

static bool is_dependent(CXType type)
{
    return strstr(clang_text(clang_getTypeSpelling(clang_getCanonicalType(type))),
                  "type-parameter-");
}

static bool same_parameters(CXType a, CXType b)
{
    int count = clang_getNumArgTypes(a);
    if (a.kind != CXType_FunctionProto || b.kind != CXType_FunctionProto || is_dependent(a) ||
        is_dependent(b))
        return true; /* one is void *, or depends on a template: it may be any */
    if (count != clang_getNumArgTypes(b))
        return false;
    for (int k = 0; k < count; k++)
        if (!clang_equalTypes(clang_getCanonicalType(clang_getArgType(a, (unsigned)k)),
                              clang_getCanonicalType(clang_getArgType(b, (unsigned)k))))
            return false;
    return true;
}

typedef struct addressed {
    directive_t *d;
    CXType type;
} addressed_t;

/* Every kernel of the pointer's type whose name is written other than to launch it may be what it
 * points to. */
static enum CXChildVisitResult find_addressed(CXCursor c, CXCursor parent, CXClientData data)
{
    addressed_t *a = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (cursor_is_system(c))
        return CXChildVisit_Continue;
    if (kind == CXCursor_CallExpr && cursor_is_launch(c)) {
        cursors_t list = cursor_children(c);
        for (int k = 1; k < list.count; k++) {
            find_addressed(list.at[k], parent, data);
            clang_visitChildren(list.at[k], find_addressed, data);
        }
        return CXChildVisit_Continue;
    }
    if (kind == CXCursor_DeclRefExpr) {
        CXCursor f = clang_getCursorReferenced(c);
        if (cursor_is_kernel(template_of(f)) &&
            same_parameters(a->type, clang_getCanonicalType(clang_getCursorType(f))))
            add_target(a->d, f);
    }
    return CXChildVisit_Recurse;
}

/* The last name of `a::b::name`, which begins the launch, or of `(a::name)` and `(*name)`. */
static size_t last_name(const source_t *s, size_t begin)
{
    lexer_t l = lexer_at(s, begin, s->length);
    l.line_start = false;
    size_t name = begin;
    token_t t = lex(&l);
    while (token_is(s, t, "(") || token_is(s, t, "*") || token_is(s, t, "&"))
        t = lex(&l);
    for (; t.kind == TOKEN_NAME || token_is(s, t, "::"); t = lex(&l))
        if (t.kind == TOKEN_NAME)
            name = t.begin;
    return name;
}

/* Finds the argument list behind a _Generic, in place of which a chunk calls the function by its
 * name. */
static bool find_behind(unit_t *u, directive_t *d, size_t end)
{
    lexer_t l = lexer_at(u->source, end, d->launch_end);
    l.line_start = false;
    d->name_at = d->callee_begin;
    d->name_after = d->template_end = end;
    token_t t = lex(&l);
    while (token_is(u->source, t, ")"))
        t = lex(&l);
    d->open = token_is(u->source, t, "(") ? t.end : 0;
    return d->open;
}

/* Finds the places in `<...> (` of a call, from its first token on: the arguments are what the last
 * parentheses hold, since those of a template may have some, too. */
static void find_template(unit_t *u, directive_t *d, token_t first, lexer_t l)
{
    int depth = 0;
    size_t last = first.end;
    for (token_t t = lex(&l); t.kind != TOKEN_END; last = t.end, t = lex(&l)) {
        if (depth == 0 && token_is(u->source, t, "(")) {
            d->template_end = last;
            d->open = t.end;
        }
        depth += token_is(u->source, t, "(") - (depth && token_is(u->source, t, ")"));
    }
}

/* Finds the places in `name [<...>] [<<<...>>>] (`. */
static bool find_name(unit_t *u, directive_t *d)
{
    const char *name = d->callee_name;
    d->name_at = last_name(u->source, d->callee_begin);
    d->name_after = d->template_end = d->name_at + strlen(name);
    if (!*name || d->name_after > u->source->length ||
        memcmp(u->source->text + d->name_at, name, strlen(name)))
        return false;
    lexer_t l = lexer_at(u->source, d->name_after, d->launch_end);
    l.line_start = false;
    token_t t = lex(&l);
    if (d->is_kernel) {
        for (int depth = 0; !token_is(u->source, t, "<<<"); t = lex(&l)) {
            depth += token_is(u->source, t, "(") - token_is(u->source, t, ")");
            if (t.kind == TOKEN_END || depth < 0 || token_is(u->source, t, ";"))
                return false;
            d->template_end = t.end;
        }
        d->configuration.begin = t.end;
        for (int depth = 0; depth || !token_is(u->source, t, ">>>"); t = lex(&l)) {
            if (t.kind == TOKEN_END)
                return false;
            depth += token_is(u->source, t, "(") - token_is(u->source, t, ")");
        }
        d->configuration.end = t.begin;
        t = lex(&l);
    }
    if (!d->is_kernel && token_is(u->source, t, "<")) {
        find_template(u, d, t, l);
        return d->open;
    }
    while (!d->is_kernel && !token_is(u->source, t, "(") && t.kind != TOKEN_END) {
        d->template_end = t.end;
        t = lex(&l);
    }
    d->open = token_is(u->source, t, "(") ? t.end : 0;
    return d->open;
}

/* Reads the arguments behind the parenthesis, up to the one that closes it: what stands between
 * commas. `angles`: < and > are brackets, too. Returns their number; 0: there are none, or lines of
 * the preprocessor are among them. */
static int split_arguments(const source_t *s, size_t open, size_t end, bool angles,
                           text_range_t *out, int room)
{
    static const char *const opening[] = {"(", "[", "{", NULL}, *const closing[] = {")", "]", "}",
                                                                                    NULL};
    lexer_t l = lexer_at(s, open, end);
    l.line_start = false;
    int count = 0, depth = 0;
    size_t begin = 0, last = 0;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind == TOKEN_DIRECTIVE)
            return 0;
        const char *text = token_text(s, t);
        bool closes = text_is_one_of(text, closing), ends = depth == 0 && closes;
        if (ends || (depth == 0 && !strcmp(text, ","))) {
            if (count == room || !last)
                return 0;
            out[count++] = (text_range_t){begin, last};
            begin = last = 0;
            if (ends)
                return count;
            continue;
        }
        depth += text_is_one_of(text, opening) - closes;
        depth += angles ? !strcmp(text, "<") - !strcmp(text, ">") - 2 * !strcmp(text, ">>") : 0;
        begin = last ? begin : t.begin;
        last = t.end;
    }
    return 0;
}

bool callee_is_left_out(CXCursor argument)
{
    CXFile file;
    clang_getFileLocation(clang_getRangeStart(clang_getCursorExtent(argument)), &file, NULL, NULL,
                          NULL);
    return !file;
}

static void find_argument_texts(const unit_t *u, directive_t *d)
{
    int written = d->argument_count;
    while (written > 0 && callee_is_left_out(d->argument[written - 1]))
        written--;
    d->argument_text = arena_alloc(((size_t)written + 1) * sizeof(*d->argument_text));
    d->argument_text_count = 0;
    for (int angles = 0; angles < (u->lang == LANG_C ? 1 : 2) && d->open; angles++) {
        int count =
            split_arguments(u->source, d->open, d->launch_end, angles, d->argument_text, written);
        if (count == written) {
            d->argument_text_count = count;
            return;
        }
    }
}

bool callee_argument_range(const unit_t *u, const directive_t *d, CXCursor argument, size_t *begin,
                           size_t *end)
{
    for (int k = 0; k < d->argument_text_count; k++)
        if (clang_equalCursors(d->argument[k], argument)) {
            *begin = d->argument_text[k].begin;
            *end = d->argument_text[k].end;
            return true;
        }
    return cursor_is_written_out(argument) && unit_range(u, argument, begin, end);
}

static void find_arguments(directive_t *d)
{
    int count = d->form == LAUNCH_CALL ? 0 : clang_Cursor_getNumArguments(d->launch);
    d->argument_count = count > 0 ? count : 0;
    d->argument = arena_alloc(((size_t)d->argument_count + 1) * sizeof(*d->argument));
    for (int k = 0; k < d->argument_count; k++)
        d->argument[k] = clang_Cursor_getArgument(d->launch, (unsigned)k);
}

static int find_pack(const directive_t *d)
{
    int pack = PACK_NONE;
    for (int k = 0; k < d->argument_count; k++)
        if (clang_getCursorKind(d->argument[k]) == CXCursor_PackExpansionExpr)
            pack = k == d->argument_count - 1 && pack == PACK_NONE ? k : PACK_OPEN;
    return pack;
}

/* The texts of arguments stand within lines of generated code. */
static void refuse_lines(unit_t *u, directive_t *d)
{
    size_t begin, end;
    for (int k = 0; k < d->argument_count; k++) {
        if (!callee_argument_range(u, d, d->argument[k], &begin, &end))
            continue;
        lexer_t l = lexer_within(u->source, begin, end);
        for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
            if (t.kind == TOKEN_DIRECTIVE) {
                unit_error(u, begin, end,
                           "lines of the preprocessor stand within an argument of the launch; give "
                           "its value to a variable before the launch");
                d->launch = clang_getNullCursor();
                return;
            }
    }
}

static void bind_arguments(unit_t *u, directive_t *d)
{
    find_arguments(d);
    d->pack = find_pack(d);
    find_argument_texts(u, d);
    refuse_lines(u, d);
}

/* Returns the cursor's text; "?" if it is not in the source. */
static const char *written(const unit_t *u, CXCursor c)
{
    size_t begin, end;
    return unit_range(u, c, &begin, &end) ? source_words(u->source, begin, end) : "?";
}

static void no_launch(unit_t *u, directive_t *d, const char *message)
{
    callee_error(u, d, d->launch, message);
    d->launch = clang_getNullCursor();
}

/* The kernels that a launch through a variable may run. */
static void bind_pointer(unit_t *u, directive_t *d, CXCursor reference)
{
    addressed_t a = {d, pointed_function(clang_getCursorType(reference))};
    if (a.type.kind == CXType_FunctionProto)
        d->callee_type = a.type;
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_addressed, &a);
    if (d->target_count == 0)
        no_launch(u, d,
                  arena_printf("what '%s' points to is not known: no kernel of its type is named "
                               "in this file; launch the kernel by its name",
                               d->callee_name + (*d->callee_name == '*')));
}

static void bind_kernel(unit_t *u, directive_t *d, CXCursor written_callee)
{
    CXCursor reference = callee_reference(written_callee), f = clang_getCursorReferenced(reference);
    size_t end;
    add_named(d, f);
    const bool is_parameter = clang_getCursorKind(f) == CXCursor_NonTypeTemplateParameter;
    d->callee_name = d->target_count
                         ? cursor_name(d->target[0].kernel)
                         : arena_printf("%s%s", is_parameter ? "" : "*", written(u, reference));
    if (d->target_count == 0)
        bind_pointer(u, d, reference);
    else if (d->target_count == 1)
        d->callee = d->target[0].kernel, d->definition = d->target[0].definition;
    if (clang_Cursor_isNull(d->launch))
        return;
    if (d->target_count == 1 &&
        clang_getCanonicalType(clang_getCursorType(d->target[0].instance)).kind ==
            CXType_FunctionProto)
        d->callee_type = clang_getCanonicalType(clang_getCursorType(d->target[0].instance));
    enum CXCursorKind kind = clang_getCursorKind(f);
    bool named = d->form == LAUNCH_CHEVRON &&
                 (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ||
                  kind == CXCursor_OverloadedDeclRef);
    bool written_out =
        named && unit_range(u, written_callee, &d->callee_begin, &end) && find_name(u, d);
    bool is_template = false;
    for (int k = 0; k < d->target_count; k++)
        is_template |= clang_getCursorKind(d->target[k].kernel) == CXCursor_FunctionTemplate;
    d->names_clone = written_out && is_template;
    if (!written_out)
        d->open = 0, d->name_at = d->launch_begin, d->name_after = d->launch_begin;
    bind_arguments(u, d);
}

/* True for a member function, also for a static one and for several with one name. */
static bool is_member(CXCursor reference)
{
    CXCursor f = clang_getCursorReferenced(reference);
    if (clang_getCursorKind(f) == CXCursor_OverloadedDeclRef && clang_getNumOverloadedDecls(f))
        f = clang_getOverloadedDecl(f, 0);
    enum CXCursorKind kind = clang_getCursorKind(f),
                      scope = clang_getCursorKind(clang_getCursorSemanticParent(f));
    return clang_getCursorKind(reference) == CXCursor_MemberRefExpr || kind == CXCursor_CXXMethod ||
           (kind == CXCursor_FunctionTemplate &&
            (scope == CXCursor_ClassDecl || scope == CXCursor_StructDecl ||
             scope == CXCursor_ClassTemplate));
}

typedef struct rival {
    CXCursor callee;
    const char *name;
    bool found;
} rival_t;

static enum CXChildVisitResult find_rival(CXCursor c, CXCursor parent, CXClientData data)
{
    rival_t *r = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    r->found = (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate) &&
               !strcmp(cursor_name(c), r->name) &&
               !clang_equalCursors(clang_getCanonicalCursor(c), r->callee);
    bool holds = clang_isDeclaration(kind) && kind != CXCursor_FunctionDecl;
    return r->found ? CXChildVisit_Break : holds ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

/* True if C++ finds the function when the template around the call is instantiated, and may then
 * find another one in the namespaces of the arguments' types. */
static bool may_be_another(const unit_t *u, const directive_t *d, CXCursor reference)
{
    rival_t r = {clang_getCanonicalCursor(d->callee), cursor_name(d->callee), false};
    const char *written = u->source->text + d->callee_begin;
    if (clang_getCursorKind(clang_getCursorReferenced(reference)) != CXCursor_OverloadedDeclRef ||
        *written == '(' || memchr(written, ':', d->name_after - d->callee_begin))
        return false;
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_rival, &r);
    return r.found;
}

static void bind_function(unit_t *u, directive_t *d, CXCursor written_callee)
{
    CXCursor reference = callee_reference(written_callee);
    size_t end;
    bool generic = clang_getCursorKind(reference) == CXCursor_GenericSelectionExpr;
    if (generic)
        reference = selected_reference(reference);
    if (clang_Cursor_isNull(reference)) {
        no_launch(u, d,
                  "_Generic has several functions of the type that it selects here, so which one "
                  "is called is not known; call it by its name");
        return;
    }
    add_named(d, clang_getCursorReferenced(reference));
    if (d->target_count != 1 || is_member(reference)) {
        no_launch(u, d,
                  is_member(reference)
                      ? "the call of a member function, also of a static one, cannot be split; "
                        "govern the call of a plain function"
                      : "what is called here is no single function; a call through a pointer, or "
                        "of overloads that depend on a template, cannot be split");
        return;
    }
    d->callee = d->target[0].kernel;
    d->definition = d->target[0].definition;
    d->callee_name = cursor_name(d->callee);
    bool ranged = unit_range(u, written_callee, &d->callee_begin, &end);
    d->is_selected = generic;
    if (!ranged || !(generic ? find_behind(u, d, end) : find_name(u, d))) {
        no_launch(u, d,
                  cursor_is_written_out(written_callee)
                      ? "what is called here is no name of a function; call it by its name"
                      : "the call is written by a macro; write it out below the pragma");
        return;
    }
    if (!generic && may_be_another(u, d, reference)) {
        no_launch(u, d,
                  "which function of this name is called depends on the arguments of the template; "
                  "write its namespace before its name, as in '::f(...)'");
        return;
    }
    bind_arguments(u, d);
}

CXCursor callee_of(CXCursor launch)
{
    CXCursor c = cursor_first_child(launch);
    while (!clang_Cursor_isNull(c)) {
        CXCursor reference = callee_reference(c), f = clang_getCursorReferenced(reference);
        if (!clang_Cursor_isNull(f))
            return f;
        c = cursor_last_child(reference); /* what a template's parameter stands for */
    }
    return c;
}

void callee_bind_instance(directive_t *d)
{
    CXCursor kernel = callee_of(d->launch);
    d->target = NULL;
    d->target_count = 0;
    add_target(d, kernel);
    d->callee = d->target[0].kernel;
    d->definition = d->target[0].definition;
    d->callee_type = clang_getCanonicalType(clang_getCursorType(kernel));
    find_arguments(d);
}

void callee_bind(unit_t *u, directive_t *d)
{
    cursors_t list = cursor_children(d->launch);
    CXCursor callee = list.count ? list.at[0] : clang_getNullCursor();
    d->callee = d->definition = clang_getNullCursor();
    d->callee_type = (CXType){.kind = CXType_Invalid};
    d->target_count = 0;
    d->names_clone = false;
    d->open = 0;
    if (d->form == LAUNCH_CALL)
        callee = clang_Cursor_getArgument(d->launch, (unsigned)launch_kernel_argument(d->launch));
    if (d->is_kernel)
        bind_kernel(u, d, callee);
    else
        bind_function(u, d, callee);
}

/* Returns the innermost namespace around the cursor whose name belongs to the names of what is in
 * it; or the translation unit. */
static CXCursor namespace_of(CXCursor c)
{
    for (;;) {
        c = clang_getCursorSemanticParent(c);
        bool in_names = clang_getCursorKind(c) == CXCursor_Namespace &&
                        !clang_Cursor_isInlineNamespace(c) && *cursor_name(c);
        if (in_names || clang_getCursorKind(c) == CXCursor_TranslationUnit ||
            clang_Cursor_isNull(c))
            return c;
    }
}

/* The arguments of a chunk's call have the types of the parameters, so their namespaces, in which
 * C++ looks for functions, too, are others than those of the launch's arguments. A function that is
 * of the launch's namespace is found without them. One that only a class declares, as its friend,
 * has no other name. */
const char *callee_path(const unit_t *u, const directive_t *d)
{
    CXCursor function = clang_getCanonicalCursor(d->callee), at = namespace_of(function);
    enum CXCursorKind scope = clang_getCursorKind(clang_getCursorLexicalParent(function));
    const char *written = u->source->text + d->callee_begin, *name = cursor_name(function),
               *path = "";
    size_t length = d->name_after - d->callee_begin;
    bool is_plain = length == strlen(name) && !strncmp(written, name, length);
    if (clang_getCursorKind(function) != CXCursor_FunctionDecl || scope == CXCursor_ClassDecl ||
        scope == CXCursor_StructDecl || scope == CXCursor_ClassTemplate ||
        (!is_plain && !d->is_selected) || clang_equalCursors(at, namespace_of(d->top)))
        return path;
    for (; clang_getCursorKind(at) == CXCursor_Namespace; at = namespace_of(at))
        path = arena_printf("%s::%s", cursor_name(at), path);
    return arena_printf("::%s", path);
}
