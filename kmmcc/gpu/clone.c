/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that can run a part of their grid: copies whose first parameter says which part, and in
 * which `blockIdx` and `gridDim` are locals that hide the built-in ones. So are functions that they
 * call, where these depend on the part.
 */
#include "gpu/clone.h"

#include <clang-c/Index.h>
#include <string.h>

#include "analyze/hazard.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "gpu/reach.h"

/* The declaration's first token: behind the last token that ends another one, or opens what it
 * stands in. */
size_t clone_begin(const source_t *s, size_t offset)
{
    lexer_t l = lexer_at(s, 0, s->length);
    size_t begin = offset;
    bool ended = true;
    for (token_t t = lex(&l); t.kind != TOKEN_END && t.begin <= offset; t = lex(&l)) {
        if (ended)
            begin = t.begin;
        ended = t.kind == TOKEN_DIRECTIVE || token_is(s, t, ";") || token_is(s, t, "{") ||
                token_is(s, t, "}");
    }
    return begin;
}

static const char *spelling(CXCursor c)
{
    return clang_text(clang_getCursorSpelling(c));
}

static bool is_template(CXCursor kernel)
{
    return clang_getCursorKind(kernel) == CXCursor_FunctionTemplate;
}

/* ---- Names ---- */

/* Names with which those of kmm's own functions and types go on. */
static bool is_of_kmm(const char *name)
{
    static const char *const first[] = {
        "launch", "cuda", "hip",   "uint3",    "make_uint3", "data",    "directive",
        "block",  "grid", "host",  "share",    "this_grid",  "kernel",  "malloc",
        "free",   "wait", "use",   "map",      "unmap",      "error",   "default",
        "device", "args", "call",  "register", "geometry",   "runtime", "axis",
        "mode",   "base", "bytes", "task",     NULL};
    for (int k = 0; first[k]; k++)
        if (!strncmp(name, first[k], strlen(first[k])))
            return true;
    return false;
}

/* Outside comments and strings. */
static bool has_word(const source_t *s, const char *word)
{
    if (!strstr(s->text, word))
        return false;
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool found = t.kind == TOKEN_DIRECTIVE && strstr(token_text(s, t), word);
        if (found || token_is(s, t, word))
            return true;
    }
    return false;
}

static bool is_free(const unit_t *u, const char *prefix)
{
    for (const function_t *f = u->functions; f; f = f->next) {
        if (!f->is_copied)
            continue;
        if (!strcmp(prefix, "kmm_") && is_of_kmm(f->name))
            return false;
        for (const unit_t *file = u; file; file = file->next)
            if (has_word(file->source, arena_printf("%s%s", prefix, f->name)))
                return false;
    }
    return true;
}

/* What the copies' names begin with: the first of kmm_, kmm_clone_, kmm_clone2_ ... that makes no
 * name of the program. */
static void choose_prefix(unit_t *u)
{
    u->prefix = "kmm_";
    for (int k = 1; !is_free(u, u->prefix); k++)
        u->prefix = k == 1 ? "kmm_clone_" : arena_printf("kmm_clone%d_", k);
}

static const char *namespaces_of(CXCursor c)
{
    const char *path = "";
    for (CXCursor n = clang_getCursorSemanticParent(c);
         clang_getCursorKind(n) == CXCursor_Namespace; n = clang_getCursorSemanticParent(n))
        if (*spelling(n))
            path = arena_printf("%s::%s", spelling(n), path);
    return path;
}

static bool is_around(CXCursor scope, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(scope);
    if (kind != CXCursor_Namespace)
        return true;
    for (; !clang_Cursor_isNull(c) && !clang_isInvalid(clang_getCursorKind(c));
         c = clang_getCursorSemanticParent(c))
        if (clang_getCursorKind(c) == CXCursor_Namespace &&
            clang_equalCursors(clang_getCanonicalCursor(c), clang_getCanonicalCursor(scope)))
            return true;
    return false;
}

/* What goes before the name of the function where `from` names it: a copy is not known by a using
 * declaration. */
static const char *prefix_at(const unit_t *u, const source_t *s, size_t at, CXCursor function,
                             CXCursor from)
{
    bool qualified = at >= 2 && s->text[at - 1] == ':' && s->text[at - 2] == ':';
    CXCursor scope = clang_getCursorSemanticParent(function);
    while (clang_getCursorKind(scope) == CXCursor_Namespace && !*spelling(scope))
        scope = clang_getCursorSemanticParent(scope); /* an unnamed one */
    return arena_printf("%s%s", qualified || is_around(scope, from) ? "" : namespaces_of(function),
                        u->main->prefix);
}

/* ---- Changed text ---- */

typedef struct changes {
    change_t *first;
} changes_t;

static void change(changes_t *list, size_t begin, size_t end, const char *text)
{
    change_t **at = &list->first;
    while (*at && ((*at)->begin < begin || ((*at)->begin == begin && (*at)->end <= end)))
        at = &(*at)->next;
    change_t *c = arena_alloc(sizeof(*c));
    *c = (change_t){begin, end, text, *at};
    *at = c;
}

static char *changed_text(const source_t *s, size_t begin, size_t end, const changes_t *list)
{
    text_t out = {0};
    size_t from = begin;
    for (const change_t *c = list->first; c; c = c->next) {
        if (c->begin < from || c->end > end)
            continue;
        text_add(&out, s->text + from, c->begin - from);
        text_printf(&out, "%s", c->text);
        from = c->end;
    }
    text_add(&out, s->text + from, end - from);
    return out.data;
}

static size_t find_token(const source_t *s, size_t from, size_t end, const char *text)
{
    lexer_t l = lexer_at(s, from, end);
    l.line_start = false;
    token_t t = lex(&l);
    while (t.kind != TOKEN_END && !token_is(s, t, text))
        t = lex(&l);
    return t.kind == TOKEN_END ? end : t.end;
}

/* Whether something other than `)` or `void)` stands there. */
static bool has_parameters(const source_t *s, size_t open)
{
    lexer_t l = lexer_at(s, open, s->length);
    l.line_start = false;
    token_t first = lex(&l), second = lex(&l);
    return !token_is(s, first, ")") && !(token_is(s, first, "void") && token_is(s, second, ")"));
}

static bool has_arguments(const source_t *s, size_t open)
{
    lexer_t l = lexer_at(s, open, s->length);
    l.line_start = false;
    return !token_is(s, lex(&l), ")");
}

/* The name and parameters of a copy. */
static void change_head(const unit_t *u, const source_t *s, size_t name, const char *spelled,
                        changes_t *list)
{
    reach_call_t head = {.name = spelled, .at = name};
    size_t open = reach_open(s, &head);
    change(list, name, name, u->main->prefix);
    if (!has_parameters(s, open))
        change(list, open, find_token(s, open, s->length, ")") - 1,
               "const kmm_blocks_t kmm_blocks");
    else
        change(list, open, open, "const kmm_blocks_t kmm_blocks, ");
}

/* `[=]`, `[&]` and those that go on with a comma capture what they need by themselves. */
static void change_captures(const function_t *f, const lambda_t *l, changes_t *list)
{
    const source_t *s = f->u->source;
    lexer_t lexer = lexer_at(s, l->begin, l->end);
    lexer.line_start = false;
    token_t open = lex(&lexer), first = lex(&lexer), second = lex(&lexer);
    bool by_default = (token_is(s, first, "=") || token_is(s, first, "&")) &&
                      (token_is(s, second, ",") || token_is(s, second, "]"));
    bool blocks = l->calls_told || l->reads_group;
    if (by_default || !(l->reads_index || l->reads_dim || blocks))
        return;
    text_t names = {0};
    text_printf(&names, "%s%s%s", l->reads_index ? "blockIdx" : "",
                l->reads_index && (l->reads_dim || blocks) ? ", " : "",
                l->reads_dim ? "gridDim" : "");
    text_printf(&names, "%s%s%s", l->reads_dim && blocks ? ", " : "", blocks ? "kmm_blocks" : "",
                token_is(s, first, "]") ? "" : ", ");
    change(list, open.end, open.end, names.data);
}

static void change_body(const unit_t *u, const function_t *f, changes_t *list)
{
    const source_t *s = f->u->source;
    for (const change_t *c = f->changes; c; c = c->next)
        change(list, c->begin, c->end, c->text);
    for (const reach_call_t *c = f->calls; c; c = c->next) {
        if (!c->is_told)
            continue;
        size_t open = reach_open(s, c);
        change(list, c->at, c->at,
               c->is_member ? u->main->prefix
                            : prefix_at(u, s, c->at, c->callee[0]->cursor, f->cursor));
        change(list, open, open, has_arguments(s, open) ? "kmm_blocks, " : "kmm_blocks");
        for (lambda_t *l = c->lambda; l; l = l->up)
            l->calls_told = true;
    }
    for (const lambda_t *l = f->lambdas; l; l = l->next)
        change_captures(f, l, list);
}

static const char *locals(const unit_t *u, const function_t *f)
{
    const char *index = u->lang == LANG_HIP ? "kmm_uint3" : "uint3";
    return arena_printf(
        "%s%s%s%s",
        f->reads_index ? arena_printf(" const %s blockIdx = kmm_block_index(kmm_blocks);", index)
                       : "",
        f->reads_index && f->hidden ? " (void)blockIdx;" : "",
        f->reads_dim ? " const dim3 gridDim = kmm_grid_dim(kmm_blocks);" : "",
        f->reads_dim && f->hidden ? " (void)gridDim;" : "");
}

static enum CXChildVisitResult find_body(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        *(CXCursor *)data = c;
    return CXChildVisit_Continue;
}

/* Behind the brace that opens the body. */
static size_t body_of(const unit_t *u, CXCursor function)
{
    CXCursor body = clang_getNullCursor();
    size_t begin, end;
    clang_visitChildren(function, find_body, &body);
    return !clang_Cursor_isNull(body) && unit_range(u, body, &begin, &end) ? begin + 1 : 0;
}

static size_t name_offset(const unit_t *u, CXCursor c)
{
    unsigned offset;
    clang_getFileLocation(clang_getCursorLocation(c), NULL, NULL, NULL, &offset);
    return unit_offset(u, offset);
}

/* ---- Registration ---- */

/* The arguments of the instance, as text; NULL when they cannot be written down here. */
static const char *template_arguments(CXCursor instance)
{
    text_t out = {0};
    int count = clang_Cursor_getNumTemplateArguments(instance);
    for (int k = 0; k < count; k++) {
        const char *separator = k ? ", " : "";
        const char *type;
        switch (clang_Cursor_getTemplateArgumentKind(instance, (unsigned)k)) {
        case CXTemplateArgumentKind_Type:
            type = clang_text(clang_getTypeSpelling(clang_getCanonicalType(
                clang_Cursor_getTemplateArgumentType(instance, (unsigned)k))));
            if (!*type || strstr(type, "(unnamed") || strstr(type, "(lambda") ||
                strstr(type, "(anonymous") || strstr(type, "type-parameter"))
                return NULL;
            text_printf(&out, "%s%s", separator, type);
            break;
        case CXTemplateArgumentKind_Integral:
            text_printf(&out, "%s%lld", separator,
                        clang_Cursor_getTemplateArgumentValue(instance, (unsigned)k));
            break;
        default: return NULL;
        }
    }
    return count > 0 ? out.data : NULL;
}

/* The type of the kernel's pointer, as a cast that chooses it among others of its name. `first` is
 * the clone's own parameter. */
static const char *chosen_type(CXCursor kernel, const char *first)
{
    text_t out = {0};
    CXType type = clang_getCursorType(kernel);
    int count = clang_getNumArgTypes(type);
    text_printf(&out, "(void (*)(%s%s", first, *first && count > 0 ? ", " : "");
    for (int k = 0; k < count; k++)
        text_printf(&out, "%s%s", k ? ", " : "",
                    clang_text(clang_getTypeSpelling(clang_getArgType(type, (unsigned)k))));
    text_printf(&out, "))");
    return out.data;
}

typedef struct overloads {
    const char *name;
    int count;
} overloads_t;

static enum CXChildVisitResult count_overload(CXCursor c, CXCursor parent, CXClientData data)
{
    overloads_t *o = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    bool function =
        kind == CXCursor_FunctionTemplate ||
        (kind == CXCursor_FunctionDecl && clang_equalCursors(c, clang_getCanonicalCursor(c)));
    if (function)
        o->count += !strcmp(spelling(c), o->name);
    return CXChildVisit_Continue;
}

static bool is_overloaded(CXCursor kernel)
{
    overloads_t o = {spelling(kernel), 0};
    clang_visitChildren(clang_getCursorSemanticParent(kernel), count_overload, &o);
    return o.count > 1;
}

static const char *registration_call(const unit_t *u, CXCursor kernel, const char *scope,
                                     const char *name, const char *arguments)
{
    bool chosen = is_overloaded(kernel);
    return arena_printf("kmm_%s_register_clone((const void *)%s%s%s%s%s, (const void *)%s%s%s%s)",
                        u->lang == LANG_HIP ? "hip" : "cuda",
                        chosen ? chosen_type(kernel, "kmm_blocks_t") : "", scope, u->main->prefix,
                        name, arguments, chosen ? chosen_type(kernel, "") : "", scope, name,
                        arguments);
}

/* Behind the clone of a kernel that is no template. */
static const char *registration(const unit_t *u, const function_t *f)
{
    unsigned line = source_line(f->u->source, f->begin);
    if (is_template(f->cursor) ||
        !clang_Cursor_isNull(clang_getSpecializedCursorTemplate(f->cursor)))
        return "";
    const char *file = f->u == u->main ? "" : arena_printf("%s_", f->name);
    return arena_printf("\nstatic const int kmm_registered_%s%u = %s;", file, line,
                        registration_call(u, f->cursor, "", f->name, ""));
}

/* An instance of a template is registered where it is launched, when the launch does not name the
 * clone. */
const char *clone_registration(const unit_t *u, const directive_t *d)
{
    text_t out = {0};
    text_add(&out, "", 0);
    if (d->names_clone || !d->is_kernel)
        return "";
    for (int k = 0; k < d->target_count; k++) {
        const target_kernel_t *t = &d->target[k];
        const char *arguments = is_template(t->kernel) ? template_arguments(t->instance) : NULL;
        if (arguments)
            text_printf(&out, "%s%s", out.length ? ", " : "",
                        registration_call(u, t->instance, namespaces_of(t->kernel),
                                          spelling(t->kernel), arena_printf("<%s>", arguments)));
    }
    return out.length
               ? arena_printf("static const int kmm_registered = (%s); (void)kmm_registered;",
                              out.data)
               : "";
}

/* ---- The copies ---- */

/* The line of the program that text put at the place belongs to, and then that of what is behind
 * it. */
static const char *between_lines(const source_t *s, unsigned line, const char *text, size_t place)
{
    return arena_printf("\n%s\n%s\n%s\n", source_line_marker(s, line), text,
                        source_line_marker(s, source_line(s, place)));
}

/* A declaration before the definition has a copy, too: calls may stand between them, and it may
 * have the default arguments. */
static void copy_prototype(unit_t *u, const function_t *f)
{
    CXCursor first = clang_getCanonicalCursor(f->cursor);
    size_t begin, end;
    unit_t *file = unit_holding(u->main, first);
    if (clang_equalCursors(first, f->cursor) || !file || !unit_range(file, first, &begin, &end))
        return;
    const source_t *s = file->source;
    changes_t list = {0};
    if (s->text[end - 1] == '}') /* of a specialization: the template's definition */
        return;
    begin = clone_begin(s, begin);
    change_head(u, s, name_offset(file, first), f->name, &list);
    size_t after = find_token(s, end, s->length, ";");
    unit_edit(file, after, after,
              between_lines(s, source_line(s, begin),
                            arena_printf("%s;", changed_text(s, begin, end, &list)), after));
    unit_include_before(file, first);
}

static void copy_function(unit_t *u, function_t *f, bool shares)
{
    const source_t *s = f->u->source;
    changes_t list = {0};
    size_t begin = clone_begin(s, f->begin), body = body_of(f->u, f->cursor);
    copy_prototype(u, f);
    change_head(u, s, name_offset(f->u, f->cursor), f->name, &list);
    change(&list, body, body,
           arena_printf("%s%s", f->is_kernel && shares ? " kmm_share_blocks(kmm_blocks);" : "",
                        locals(u, f)));
    change_body(u, f, &list);
    const char *text = arena_printf("%s%s", changed_text(s, begin, f->end, &list),
                                    f->is_kernel ? registration(u, f) : "");
    unit_edit(f->u, f->end, f->end,
              arena_printf("\n%s", between_lines(s, source_line(s, begin), text, f->end)));
    unit_include_before(f->u, f->cursor);
}

/* ---- Functions that look the part of the grid up ---- */

static void share_locals(unit_t *file, size_t body, const function_t *f)
{
    unit_edit(
        file, body, body,
        arena_printf(" const kmm_blocks_t kmm_blocks = kmm_shared_blocks(); (void)kmm_blocks;%s",
                     locals(file, f)));
}

static enum CXChildVisitResult share_kernel(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *u = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (clang_isDeclaration(kind) && clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
        kind == CXCursor_UnexposedDecl)
        return CXChildVisit_Recurse;
    if (!cursor_is_kernel(c) || !clang_isCursorDefinition(c))
        return CXChildVisit_Continue;
    unit_t *file = unit_holding(u, c);
    size_t body = file ? body_of(file, c) : 0;
    if (!body)
        return CXChildVisit_Continue;
    unit_edit(file, body, body, " kmm_share_blocks(kmm_all_blocks());");
    unit_include_before(file, c);
    return CXChildVisit_Continue;
}

static void share_function(unit_t *u, function_t *f)
{
    size_t body = f->u ? body_of(f->u, f->cursor) : 0;
    if (!body) {
        diag_plain(SEVERITY_ERROR,
                   "'%s' reads blockIdx or gridDim for a kernel that is split, and a macro writes "
                   "it; write it out",
                   f->name);
        return;
    }
    share_locals(f->u, body, f);
    for (const change_t *c = f->changes; c; c = c->next)
        unit_edit(f->u, c->begin, c->end, c->text);
    unit_include_before(f->u, f->cursor);
    (void)u;
}

static bool reads(const lambda_t *l)
{
    return l->reads_index || l->reads_dim || l->reads_group;
}

/* Lambdas of a host function that run in kernels. */
static void share_lambdas(function_t *f)
{
    for (lambda_t *l = f->lambdas; l; l = l->next) {
        size_t body = f->u && reads(l) && !l->up ? body_of(f->u, l->cursor) : 0;
        function_t as = {.reads_index = l->reads_index, .reads_dim = l->reads_dim};
        if (!body)
            continue;
        share_locals(f->u, body, &as);
        unit_include_before(f->u, f->cursor);
    }
}

static bool is_any_shared(const unit_t *u)
{
    for (const function_t *f = u->functions; f; f = f->next) {
        if (f->is_shared && (f->reads_index || f->reads_dim || f->reads_group))
            return true;
        for (const lambda_t *l = f->lambdas; f->holds_lambdas && l; l = l->next)
            if (reads(l))
                return true;
    }
    return false;
}

/* ---- Which kernels ---- */

static bool is_kernel_launch(const directive_t *d)
{
    return d->bound && d->kind == DIRECTIVE_PARALLEL && d->is_kernel &&
           !clang_Cursor_isNull(d->launch);
}

/* Whether a kernel, or what it calls, has its body in a header, where bodies are left out at first.
 * System headers are known. */
typedef struct calls {
    unit_t *u;
    CXCursor seen[512];
    int seen_count;
    bool found;
} calls_t;

static enum CXChildVisitResult find_header(CXCursor c, CXCursor parent, CXClientData data)
{
    calls_t *calls = data;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_DeclRefExpr &&
        clang_getCursorKind(c) != CXCursor_MemberRefExpr)
        return CXChildVisit_Recurse;
    CXCursor f = clang_getCursorReferenced(c);
    if (!clang_isDeclaration(clang_getCursorKind(f)) ||
        clang_getCursorResultType(f).kind == CXType_Invalid ||
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

static bool launch_needs_headers(unit_t *file, const directive_t *d, calls_t *calls)
{
    size_t begin, end;
    for (int k = 0; k < d->target_count; k++) {
        CXCursor definition = d->target[k].definition;
        if (clang_Cursor_isNull(definition) || !unit_range(file->main, definition, &begin, &end))
            return true;
        clang_visitChildren(definition, find_header, calls);
    }
    return calls->found;
}

bool clone_needs_headers(unit_t *u)
{
    calls_t *calls = arena_alloc(sizeof(*calls));
    calls->u = u;
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++)
            if (is_kernel_launch(file->directives[k]) &&
                launch_needs_headers(file, file->directives[k], calls))
                return true;
    return false;
}

/* ---- What cannot be ---- */

static const function_t *find_reached(const function_t *f, int depth,
                                      bool (*is)(const function_t *))
{
    const function_t *found = is(f) ? f : NULL;
    for (const reach_call_t *c = f->calls; c && !found && depth < 32; c = c->next)
        for (int k = 0; k < c->callee_count && !found; k++)
            if (c->callee[k] != f && !c->callee[k]->is_kernel)
                found = find_reached(c->callee[k], depth + 1, is);
    return found;
}

static bool syncs_grid(const function_t *f)
{
    return f->syncs_grid;
}
static bool uses_cluster(const function_t *f)
{
    return f->is_cluster;
}
static bool hides_group(const function_t *f)
{
    return f->is_hidden_group;
}

static void error_of(const unit_t *u, const directive_t *d, const char *message)
{
    diag_at(SEVERITY_ERROR, u->source, d->name_at,
            d->name_after > d->name_at ? d->name_after : d->launch_end, "%s", message);
}

static void check_target(unit_t *u, const directive_t *d, const target_kernel_t *t)
{
    const char *name = spelling(t->kernel);
    if (clang_Cursor_isNull(t->definition)) {
        if (is_template(t->kernel))
            error_of(u, d,
                     arena_printf("kernel '%s' is a template that is only declared here; a launch "
                                  "of it can be split where its definition is seen: include it",
                                  name));
        return;
    }
    const function_t *f = reach_kernel(u, t->definition);
    if (!f->u)
        error_of(
            u, d,
            arena_printf("kernel '%s' is written by a macro, so it cannot be split; write it out",
                         name));
    else if (find_reached(f, 0, syncs_grid))
        error_of(u, d,
                 arena_printf("kernel '%s' synchronizes its whole grid (cooperative groups), so it "
                              "cannot be split; launch it without the pragma",
                              name));
    else if (find_reached(f, 0, uses_cluster))
        error_of(
            u, d,
            arena_printf("kernel '%s' uses clusters of thread blocks or several grids (cooperative "
                         "groups), so it cannot be split; launch it without the pragma",
                         name));
    else if (find_reached(f, 0, hides_group))
        error_of(u, d,
                 arena_printf("kernel '%s' asks a cooperative group for the grid in a macro, so it "
                              "cannot be split; write it out",
                              name));
    else if (is_template(t->kernel) && !d->names_clone && !template_arguments(t->instance))
        error_of(u, d,
                 arena_printf("the template arguments of kernel '%s' are not known here; write its "
                              "launch out below the pragma",
                              name));
}

void clone_check(unit_t *u)
{
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            const directive_t *d = file->directives[k];
            for (int i = 0; is_kernel_launch(d) && i < d->target_count; i++)
                check_target(file, d, &d->target[i]);
        }
}

/* ---- All of it ---- */

typedef struct special {
    unit_t *u;
    CXCursor general;
} special_t;

/* Explicit specializations of the template. */
static enum CXChildVisitResult find_special(CXCursor c, CXCursor parent, CXClientData data)
{
    special_t *s = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
        kind == CXCursor_UnexposedDecl)
        return clang_Location_isInSystemHeader(clang_getCursorLocation(c)) ? CXChildVisit_Continue
                                                                           : CXChildVisit_Recurse;
    if (kind != CXCursor_FunctionDecl || !clang_isCursorDefinition(c))
        return CXChildVisit_Continue;
    CXCursor general = clang_getSpecializedCursorTemplate(c);
    if (!clang_Cursor_isNull(general) &&
        clang_equalCursors(clang_getCanonicalCursor(general), clang_getCanonicalCursor(s->general)))
        reach_kernel(s->u, c)->is_copied = true;
    return CXChildVisit_Continue;
}

static bool calls_elsewhere(const unit_t *u, CXCursor kernel)
{
    hazards_t h = hazards_of(kernel);
    return hazard_calls_elsewhere(u, &h);
}

static void add_kernels(unit_t *u, const directive_t *d)
{
    for (int k = 0; k < d->target_count; k++) {
        const target_kernel_t *t = &d->target[k];
        if (clang_Cursor_isNull(t->definition) ||
            (!is_template(t->kernel) && calls_elsewhere(u, t->definition)))
            continue;
        reach_kernel(u, t->definition)->is_copied = true;
        special_t special = {u, t->kernel};
        if (is_template(t->kernel))
            clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_special, &special);
    }
}

/* Every kernel, but those that cannot be told and those that are templates. */
static enum CXChildVisitResult add_any(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *u = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (clang_isDeclaration(kind) && clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
        kind == CXCursor_UnexposedDecl)
        return CXChildVisit_Recurse;
    if (kind != CXCursor_FunctionDecl || !cursor_is_kernel(c) || !clang_isCursorDefinition(c) ||
        !clang_Cursor_isNull(clang_getSpecializedCursorTemplate(c)))
        return CXChildVisit_Continue;
    function_t *f = reach_kernel(u, c);
    f->is_copied |= f->u && !find_reached(f, 0, syncs_grid) && !find_reached(f, 0, uses_cluster) &&
                    !find_reached(f, 0, hides_group) && !calls_elsewhere(u, c);
    return CXChildVisit_Continue;
}

void clone_kernels(unit_t *u)
{
    if (u->options->clones_all)
        clang_visitChildren(clang_getTranslationUnitCursor(u->tu), add_any, u);
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++)
            if (is_kernel_launch(file->directives[k]))
                add_kernels(u, file->directives[k]);
    reach_close(u);
    bool shares = is_any_shared(u);
    for (function_t *f = u->functions; f; f = f->next)
        f->is_copied |= f->is_told && !f->is_kernel && !f->holds_lambdas;
    choose_prefix(u);
    if (shares)
        clang_visitChildren(clang_getTranslationUnitCursor(u->tu), share_kernel, u);
    for (function_t *f = u->functions; f; f = f->next) {
        if (f->is_shared && reach_is_told(f))
            share_function(u, f);
        if (f->holds_lambdas)
            share_lambdas(f);
        if (f->is_copied && f->u)
            copy_function(u, f, shares);
    }
}

/* A launch of a template names the clone, and the compiler chooses the instance. */
void clone_launch(unit_t *u, const directive_t *d)
{
    if (!d->names_clone)
        return;
    unit_edit(u, d->name_at, d->name_at,
              prefix_at(u, u->source, d->name_at, d->target[0].kernel, d->function));
    unit_edit(u, d->open, d->open,
              has_arguments(u->source, d->open) ? "kmm_blocks_t(), " : "kmm_blocks_t()");
}
