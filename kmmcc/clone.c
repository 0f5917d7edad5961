/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that can run a part of their grid: copies whose first parameter says which part, and in which `blockIdx` and
 * `gridDim` are locals that hide the built-in ones.
 */
#include <string.h>

#include "directive.h"

/* The declaration's first token: behind the last token that ends another one, or opens what it stands in. */
size_t clone_begin(const source_t *s, size_t offset)
{
    lexer_t l = lexer_at(s, 0, s->length);
    size_t begin = offset;
    bool ended = true;
    for (token_t t = lex(&l); t.kind != TOKEN_END && t.begin <= offset; t = lex(&l)) {
        if (ended)
            begin = t.begin;
        ended = t.kind == TOKEN_DIRECTIVE || token_is(s, t, ";") || token_is(s, t, "{") || token_is(s, t, "}");
    }
    return begin;
}

static bool is_template(CXCursor kernel)
{
    return clang_getCursorKind(kernel) == CXCursor_FunctionTemplate;
}

/* ---- The copy ---- */

typedef struct copy {
    const source_t *s;
    size_t begin, end, name; /* of the declaration, and its name */
    const char *spelling;
    const char *uses; /* the locals that the body needs */
} copy_t;

static size_t find_token(const source_t *s, size_t from, size_t end, const char *text)
{
    lexer_t l = lexer_at(s, from, end);
    l.line_start = false;
    token_t t = lex(&l);
    while (t.kind != TOKEN_END && !token_is(s, t, text))
        t = lex(&l);
    return t.kind == TOKEN_END ? end : t.end;
}

/* Behind the parenthesis that closes what ends at `open`. */
static size_t find_close(const source_t *s, size_t open, size_t end)
{
    lexer_t l = lexer_at(s, open, end);
    l.line_start = false;
    int depth = 1;
    token_t t;
    do {
        t = lex(&l);
        depth += token_is(s, t, "(") - token_is(s, t, ")");
    } while (depth && t.kind != TOKEN_END);
    return t.end;
}

static bool has_parameters(const source_t *s, size_t open, size_t close)
{
    const char *words = source_words(s, open, close - 1);
    return *words && strcmp(words, "void");
}

static char *copy_text(const copy_t *c)
{
    const source_t *s = c->s;
    text_t out = {0};
    size_t after = c->name + strlen(c->spelling);
    size_t open = find_token(s, after, c->end, "("), close = find_close(s, open, c->end);
    text_add(&out, s->text + c->begin, c->name - c->begin);
    text_printf(&out, "kmm_");
    text_add(&out, s->text + c->name, open - c->name);
    text_printf(&out, "const kmm_blocks_t kmm_blocks");
    if (has_parameters(s, open, close)) {
        text_printf(&out, ", ");
        text_add(&out, s->text + open, close - open);
    } else {
        text_printf(&out, ")");
    }
    if (!c->uses) {
        text_add(&out, s->text + close, c->end - close);
        return out.data;
    }
    size_t body = find_token(s, close, c->end, "{");
    text_add(&out, s->text + close, body - close);
    text_printf(&out, "%s", c->uses);
    text_add(&out, s->text + body, c->end - body);
    return out.data;
}

/* ---- What the kernel uses ---- */

typedef struct uses { CXCursor seen[512]; int seen_count; bool index, dim, grid; CXCursor helper; } uses_t;

static enum CXChildVisitResult find_uses(CXCursor c, CXCursor parent, CXClientData data);

/* A function that the kernel calls, and what it calls. */
static void visit_helper(uses_t *uses, CXCursor c)
{
    CXCursor f = clang_getCursorReferenced(c);
    enum CXCursorKind kind = clang_getCursorKind(f);
    if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod && kind != CXCursor_FunctionTemplate)
        return;
    f = clang_getCursorDefinition(f);
    if (clang_Cursor_isNull(f) || uses->seen_count == 512)
        return;
    for (int k = 0; k < uses->seen_count; k++)
        if (clang_equalCursors(uses->seen[k], f))
            return;
    uses->seen[uses->seen_count++] = f;
    bool index = uses->index, dim = uses->dim;
    uses->index = uses->dim = false;
    clang_visitChildren(f, find_uses, uses);
    if ((uses->index || uses->dim) && clang_Cursor_isNull(uses->helper))
        uses->helper = f;
    uses->index = index;
    uses->dim = dim;
}

static enum CXChildVisitResult find_uses(CXCursor c, CXCursor parent, CXClientData data)
{
    uses_t *uses = data;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_DeclRefExpr)
        return CXChildVisit_Recurse;
    const char *name = clang_text(clang_getCursorSpelling(c));
    uses->index |= !strcmp(name, "blockIdx");
    uses->dim |= !strcmp(name, "gridDim");
    uses->grid |= !strcmp(name, "this_grid") || !strcmp(name, "this_multi_grid");
    if (!uses->grid)
        visit_helper(uses, c);
    return CXChildVisit_Recurse;
}

static const char *locals(const uses_t *uses)
{
    return arena_printf("%s%s", uses->index ? " const uint3 blockIdx = kmm_block_index(kmm_blocks);" : "",
                        uses->dim ? " const dim3 gridDim = kmm_grid_dim(kmm_blocks);" : "");
}

/* ---- Where it goes ---- */

/* The arguments of the instance, as text; NULL when they depend on an enclosing template. */
static const char *template_arguments(CXCursor instance)
{
    text_t out = {0};
    int count = clang_Cursor_getNumTemplateArguments(instance);
    for (int k = 0; k < count; k++) {
        const char *separator = k ? ", " : "";
        switch (clang_Cursor_getTemplateArgumentKind(instance, (unsigned)k)) {
        case CXTemplateArgumentKind_Type:
            text_printf(&out, "%s%s", separator,
                        clang_text(clang_getTypeSpelling(clang_Cursor_getTemplateArgumentType(instance, (unsigned)k))));
            break;
        case CXTemplateArgumentKind_Integral:
            text_printf(&out, "%s%lld", separator, clang_Cursor_getTemplateArgumentValue(instance, (unsigned)k));
            break;
        default:
            return NULL;
        }
    }
    return count > 0 ? out.data : NULL;
}

const char *clone_registration(const unit_t *u, const directive_t *d)
{
    if (!is_template(d->definition))
        return "";
    const char *arguments = template_arguments(d->instance), *s = u->source->text;
    arguments = arguments ? arena_printf("<%s>", arguments) : arena_copy(s + d->name_after, d->template_end - d->name_after);
    const char *scope = arena_copy(s + d->callee_begin, d->name_at - d->callee_begin);
    const char *name = clang_text(clang_getCursorSpelling(d->definition));
    return arena_printf("static const int kmm_registered = kmm_cuda_register_clone((const void *)%skmm_%s%s, (const void *)%s%s%s); "
                        "(void)kmm_registered;", scope, name, arguments, scope, name, arguments);
}

typedef struct overloads { const char *name; int count; } overloads_t;

static enum CXChildVisitResult count_overload(CXCursor c, CXCursor parent, CXClientData data)
{
    overloads_t *o = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    bool function = kind == CXCursor_FunctionTemplate ||
                    (kind == CXCursor_FunctionDecl && clang_equalCursors(c, clang_getCanonicalCursor(c)));
    if (function)
        o->count += !strcmp(clang_text(clang_getCursorSpelling(c)), o->name);
    return CXChildVisit_Continue;
}

/* The type of the kernel's pointer, as a cast that chooses it among others of its name; empty when it is alone.
 * `first` is the clone's own parameter. */
static const char *chosen_type(CXCursor kernel, const char *first)
{
    overloads_t o = {clang_text(clang_getCursorSpelling(kernel)), 0};
    clang_visitChildren(clang_getCursorSemanticParent(kernel), count_overload, &o);
    if (o.count < 2)
        return "";
    text_t out = {0};
    CXType type = clang_getCursorType(kernel);
    int count = clang_getNumArgTypes(type);
    text_printf(&out, "(void (*)(%s%s", first, *first && count > 0 ? ", " : "");
    for (int k = 0; k < count; k++)
        text_printf(&out, "%s%s", k ? ", " : "", clang_text(clang_getTypeSpelling(clang_getArgType(type, (unsigned)k))));
    text_printf(&out, "))");
    return out.data;
}

static const char *registration(const directive_t *d, unsigned line)
{
    const char *name = clang_text(clang_getCursorSpelling(d->definition));
    if (is_template(d->definition))
        return "";
    return arena_printf("static const int kmm_registered_%u = kmm_cuda_register_clone((const void *)%skmm_%s, (const void *)%s%s);\n", line,
                        chosen_type(d->definition, "kmm_blocks_t"), name, chosen_type(d->definition, ""), name);
}

static char *namespaces_of(CXCursor c, char **close)
{
    text_t open = {0};
    *close = "";
    text_add(&open, "", 0);
    for (CXCursor n = clang_getCursorSemanticParent(c); clang_getCursorKind(n) == CXCursor_Namespace;
         n = clang_getCursorSemanticParent(n)) {
        char *outer = arena_printf("namespace %s { %s", clang_text(clang_getCursorSpelling(n)), open.data);
        open = (text_t){0};
        text_printf(&open, "%s", outer);
        *close = arena_printf("%s}", *close);
    }
    return open.data;
}

static size_t name_offset(CXCursor c)
{
    unsigned offset;
    clang_getFileLocation(clang_getCursorLocation(c), NULL, NULL, NULL, &offset);
    return offset;
}

/* A kernel of a header is cloned before the declaration of the main file that launches it. */
static void clone_from_header(unit_t *u, directive_t *d, const uses_t *uses)
{
    CXFile file;
    size_t begin, end, size, at, at_end;
    if (!clang_file_range(d->definition, &file, &begin, &end) || !unit_range(u, d->outermost, &at, &at_end))
        return;
    const char *text = clang_getFileContents(u->tu, file, &size);
    const source_t *header = source_from(clang_text(clang_getFileName(file)), text, size);
    char *close, *open = namespaces_of(d->definition, &close);
    copy_t c = {header, clone_begin(header, begin), end, name_offset(d->definition),
                clang_text(clang_getCursorSpelling(d->definition)), locals(uses)};
    at = clone_begin(u->source, at);
    unsigned line = source_line(header, c.begin);
    unit_edit(u, at, at,
              arena_printf("%s%s%s\n%s\n%s%s%s%s\n", open, *open ? "\n" : "", emit_line(header, line), copy_text(&c),
                           registration(d, line), close, *close ? "\n" : "", emit_line(u->source, source_line(u->source, at))));
}

/* A declaration before the definition has a clone, too: launches may stand between them, and it may have the
 * default arguments. */
static void clone_prototype(unit_t *u, CXCursor definition)
{
    CXCursor first = clang_getCanonicalCursor(definition);
    size_t begin, end;
    if (clang_equalCursors(first, definition) || !unit_range(u, first, &begin, &end))
        return;
    copy_t c = {u->source, clone_begin(u->source, begin), end, unit_offset(u, name_offset(first)),
                clang_text(clang_getCursorSpelling(first)), NULL};
    size_t after = find_token(u->source, end, u->source->length, ";");
    unit_edit(u, after, after,
              arena_printf("\n%s\n%s;\n%s\n", emit_line(u->source, source_line(u->source, c.begin)), copy_text(&c),
                           emit_line(u->source, source_line(u->source, after))));
}

static uses_t *uses_of(const directive_t *d)
{
    uses_t *uses = arena_alloc(sizeof(*uses));
    uses->helper = clang_getNullCursor();
    clang_visitChildren(d->definition, find_uses, uses);
    return uses;
}

static void clone_kernel(unit_t *u, directive_t *d)
{
    const uses_t *uses = uses_of(d);
    size_t begin, end;
    if (!unit_range(u, d->definition, &begin, &end)) {
        clone_from_header(u, d, uses);
        return;
    }
    clone_prototype(u, d->definition);
    copy_t c = {u->source, clone_begin(u->source, begin), end, unit_offset(u, name_offset(d->definition)),
                clang_text(clang_getCursorSpelling(d->definition)), locals(uses)};
    unsigned line = source_line(u->source, c.begin);
    unit_edit(u, end, end,
              arena_printf("\n\n%s\n%s\n%s%s\n", emit_line(u->source, line), copy_text(&c), registration(d, line),
                           emit_line(u->source, source_line(u->source, end))));
}

/* ---- Which kernels ---- */

static bool is_kernel_launch(const directive_t *d)
{
    return d->bound && d->kind == DIRECTIVE_PARALLEL && d->is_kernel && !clang_Cursor_isNull(d->launch);
}

typedef struct calls { unit_t *u; CXCursor seen[512]; int seen_count; bool found; } calls_t;

/* Bodies are left out in headers, and with them it is unknown that a declaration is a definition. System headers
 * are known. */
static enum CXChildVisitResult find_header(CXCursor c, CXCursor parent, CXClientData data)
{
    calls_t *calls = data;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_DeclRefExpr && clang_getCursorKind(c) != CXCursor_MemberRefExpr)
        return CXChildVisit_Recurse;
    CXCursor f = clang_getCursorReferenced(c);
    if (!clang_isDeclaration(clang_getCursorKind(f)) || clang_getCursorResultType(f).kind == CXType_Invalid ||
        clang_Location_isInSystemHeader(clang_getCursorLocation(f)))
        return CXChildVisit_Recurse;
    f = clang_getCursorDefinition(f);
    size_t begin, end;
    if (clang_Cursor_isNull(f) || !unit_range(calls->u, f, &begin, &end)) {
        calls->found = true;
        return CXChildVisit_Break;
    }
    for (int k = 0; k < calls->seen_count; k++)
        if (clang_equalCursors(calls->seen[k], f))
            return CXChildVisit_Recurse;
    if (calls->seen_count < 512) {
        calls->seen[calls->seen_count++] = f;
        clang_visitChildren(f, find_header, calls);
    }
    return calls->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool clone_needs_headers(unit_t *u)
{
    calls_t *calls = arena_alloc(sizeof(*calls));
    size_t begin, end;
    calls->u = u;
    for (int k = 0; k < u->directive_count && !calls->found; k++) {
        directive_t *d = u->directives[k];
        if (!is_kernel_launch(d))
            continue;
        if (clang_Cursor_isNull(d->definition) || !unit_range(u, d->definition, &begin, &end))
            return true;
        clang_visitChildren(d->definition, find_header, calls);
    }
    return calls->found;
}

static void check_kernel(unit_t *u, const directive_t *d)
{
    const char *name = clang_text(clang_getCursorSpelling(d->callee));
    if (clang_Cursor_isNull(d->definition)) {
        diag_at(SEVERITY_ERROR, u->source, d->name_at, d->name_after,
                "kernel '%s' is only declared here; a launch can be split where the kernel's definition is seen: include it", name);
        return;
    }
    const uses_t *uses = uses_of(d);
    if (uses->grid)
        diag_at(SEVERITY_ERROR, u->source, d->name_at, d->name_after,
                "kernel '%s' synchronizes its whole grid (cooperative groups), so it cannot be split; launch it without the pragma", name);
    else if (!clang_Cursor_isNull(uses->helper))
        diag_at(SEVERITY_ERROR, u->source, d->name_at, d->name_after,
                "kernel '%s' cannot be split yet: '%s', which it calls, reads blockIdx or gridDim; pass them to it as parameters", name,
                clang_text(clang_getCursorSpelling(uses->helper)));
}

void clone_check(unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++)
        if (is_kernel_launch(u->directives[k]))
            check_kernel(u, u->directives[k]);
}

/* Whether an earlier directive launches the same kernel. */
static bool is_cloned(const unit_t *u, int number)
{
    for (int k = 0; k < number; k++)
        if (is_kernel_launch(u->directives[k]) && clang_equalCursors(u->directives[k]->definition, u->directives[number]->definition))
            return true;
    return false;
}

void clone_kernels(unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++)
        if (is_kernel_launch(u->directives[k]) && !is_cloned(u, k))
            clone_kernel(u, u->directives[k]);
}
