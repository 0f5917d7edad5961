/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a kernel, and the functions that it calls, read of the grid: direct uses of `blockIdx`
 * and `gridDim`, and calls of functions that use them. clone.c copies these functions so that they
 * receive the part of the grid that they run.
 */
#include "gpu/reach.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/token.h"
#include "clang/cursor.h"

typedef struct reach {
    unit_t *u;
    function_t *f;    /* the function whose body is visited */
    lambda_t *lambda; /* the innermost lambda around the place */
} reach_t;

static bool is_function(enum CXCursorKind k)
{
    return k == CXCursor_FunctionDecl || k == CXCursor_FunctionTemplate ||
           k == CXCursor_CXXMethod || k == CXCursor_Constructor || k == CXCursor_Destructor ||
           k == CXCursor_ConversionFunction;
}

static size_t place_of(const unit_t *u, CXCursor c, const char *name, bool *written)
{
    CXFile file, spelled;
    unsigned at, spelled_at;
    CXSourceLocation place = clang_getCursorLocation(c);
    clang_getFileLocation(place, &file, NULL, NULL, &at);
    clang_getSpellingLocation(place, &spelled, NULL, NULL, &spelled_at);
    *written = file && clang_File_isEqual(file, clang_getFile(u->tu, u->path));
    size_t offset = unit_offset(u, at);
    *written = *written && offset + strlen(name) <= u->source->length &&
               !memcmp(u->source->text + offset, name, strlen(name));
    return offset;
}

/* ---- Functions ---- */

static function_t *find_function(const unit_t *u, CXCursor f)
{
    for (function_t *k = u->main->functions; k; k = k->next)
        if (clang_equalCursors(k->cursor, f))
            return k;
    return NULL;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data);

/* True if the kernel's cluster size is an attribute. The number of blocks of its grid is then
 * restricted. */
static bool has_cluster_size(const function_t *f)
{
    lexer_t l = lexer_at(f->u->source, f->begin, f->end);
    for (token_t t = lex(&l); t.kind != TOKEN_END && !token_is(f->u->source, t, "{"); t = lex(&l))
        if (token_is(f->u->source, t, "__cluster_dims__") ||
            token_is(f->u->source, t, "cluster_dims") ||
            token_is(f->u->source, t, "__block_size__"))
            return true;
    return false;
}

static function_t *add_function(unit_t *u, CXCursor f)
{
    function_t *found = find_function(u, f);
    if (found)
        return found;
    function_t *new = arena_alloc(sizeof(*new));
    *new = (function_t){.cursor = f,
                        .u = unit_holding(u->main, f),
                        .name = cursor_name(f),
                        .is_kernel = cursor_is_kernel(f)};
    new->next = u->main->functions;
    u->main->functions = new;
    if (!new->u || !unit_range(new->u, f, &new->begin, &new->end))
        new->u = NULL; /* a macro wrote the function */
    reach_t r = {u->main, new, NULL};
    clang_visitChildren(f, visit, &r);
    new->is_cluster |= new->is_kernel && new->u && has_cluster_size(new);
    return new;
}

/* Returns the body of the function, or of the template that it is an instance of; null if the
 * body is not in the program. */
static CXCursor change_body_begin(CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f),
             definition = clang_getCursorDefinition(f);
    if (clang_Cursor_isNull(template))
        return definition;
    /* An explicit specialization has a body of its own. An instance uses its template's body. */
    CXCursor general = clang_getCursorDefinition(template);
    if (clang_Cursor_isNull(definition) ||
        clang_equalLocations(clang_getCursorLocation(definition), clang_getCursorLocation(general)))
        return change_body_begin(general);
    return definition;
}

static void add_callee(reach_t *r, reach_call_t *call, CXCursor f)
{
    enum { MAX_CALLEES = 32 };
    if (!is_function(clang_getCursorKind(f)))
        return;
    f = change_body_begin(f);
    if (clang_Cursor_isNull(f) || clang_Location_isInSystemHeader(clang_getCursorLocation(f)))
        return;
    if (!call->callee)
        call->callee = arena_alloc(MAX_CALLEES * sizeof(*call->callee));
    if (call->callee_count < MAX_CALLEES)
        call->callee[call->callee_count++] = add_function(r->u, f);
}

static bool is_of_groups(CXCursor f)
{
    CXCursor scope = clang_getCursorSemanticParent(f);
    for (; !clang_Cursor_isNull(scope) && !clang_isInvalid(clang_getCursorKind(scope));
         scope = clang_getCursorSemanticParent(scope))
        if (clang_getCursorKind(scope) == CXCursor_Namespace &&
            !strcmp(cursor_name(scope), "cooperative_groups"))
            return true;
    return false;
}

static bool is_class(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl ||
           kind == CXCursor_ClassTemplate || kind == CXCursor_ClassTemplatePartialSpecialization ||
           kind == CXCursor_UnionDecl;
}

/* Adds a call by a name that stands for one function or several. */
static void add_call(reach_t *r, CXCursor c)
{
    CXCursor to =
        clang_getCursorKind(c) == CXCursor_OverloadedDeclRef ? c : clang_getCursorReferenced(c);
    reach_call_t *call = arena_alloc(sizeof(*call));
    *call = (reach_call_t){.cursor = c, .lambda = r->lambda, .name = cursor_name(c)};
    if (r->f->u)
        call->at = place_of(r->f->u, c, call->name, &call->written);
    add_callee(r, call, to);
    unsigned count =
        clang_getCursorKind(to) == CXCursor_OverloadedDeclRef ? clang_getNumOverloadedDecls(to) : 0;
    for (unsigned k = 0; k < count; k++)
        add_callee(r, call, cursor_used(clang_getOverloadedDecl(to, k)));
    if (!call->callee_count)
        return;
    call->is_member = clang_getCursorKind(call->callee[0]->cursor) == CXCursor_CXXMethod ||
                      is_class(clang_getCursorSemanticParent(call->callee[0]->cursor));
    for (const reach_call_t *k = r->f->calls; k; k = k->next)
        if (call->written && k->written && k->at == call->at)
            return; /* clang visits some names twice: as an expression, and as the declaration
                       referred to */
    call->next = r->f->calls;
    r->f->calls = call;
}

static void note_index(reach_t *r, bool index)
{
    r->f->reads_index |= index;
    r->f->reads_dim |= !index;
    for (lambda_t *l = r->lambda; l; l = l->up) {
        l->reads_index |= index;
        l->reads_dim |= !index;
    }
}

/* Notes a synchronization of the grid: `grid.sync()` or `sync(grid)`. */
static void note_sync(reach_t *r, CXCursor c)
{
    CXCursor class = clang_getCursorSemanticParent(clang_getCursorReferenced(c));
    CXCursor argument = clang_Cursor_getNumArguments(c) > 0 ? clang_Cursor_getArgument(c, 0)
                                                            : clang_getNullCursor();
    const char *type = clang_Cursor_isNull(argument)
                           ? ""
                           : clang_text(clang_getTypeSpelling(
                                 clang_getCanonicalType(clang_getCursorType(argument))));
    const char *name = clang_Cursor_isNull(class) ? "" : cursor_name(class);
    r->f->syncs_grid |= !strcmp(name, "grid_group") || !strcmp(name, "multi_grid_group") ||
                        strstr(type, "grid_group") != NULL;
}

/* Adds a part of the body that is replaced in the copy. */
static void add_change(function_t *f, size_t begin, size_t end, const char *text)
{
    change_t *c = arena_alloc(sizeof(*c));
    *c = (change_t){begin, end, text, f->changes};
    f->changes = c;
}

/* Returns where the qualifier `a::b::` of a name begins. */
static size_t qualified_begin(const source_t *s, size_t at)
{
    while (at >= 2 && s->text[at - 1] == ':' && s->text[at - 2] == ':') {
        at -= 2;
        while (at > 0 && (isalnum((unsigned char)s->text[at - 1]) || s->text[at - 1] == '_' ||
                          s->text[at - 1] == '$'))
            at--;
    }
    return at;
}

/* Groups of cooperative_groups look the grid up themselves. kmm's own groups receive it. */
static void note_group(reach_t *r, CXCursor c, const char *name)
{
    CXCursor to = clang_getCursorReferenced(c);
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool call = kind == CXCursor_CallExpr, index = !strcmp(name, "group_index"),
         grid = !strcmp(name, "this_grid");
    size_t begin, end;
    bool written;
    if (!is_of_groups(to))
        return;
    r->f->is_cluster |= !strcmp(name, "this_cluster") || !strcmp(name, "this_multi_grid");
    if (call && (index || grid)) {
        r->f->reads_group = true;
        for (lambda_t *l = r->lambda; l; l = l->up)
            l->reads_group = true;
        if (r->f->u && unit_range(r->f->u, c, &begin, &end))
            add_change(r->f, begin, end,
                       index ? "kmm_block_index(kmm__blocks)" : "kmm_this_grid(kmm__blocks)");
        else
            r->f->is_hidden_group = true;
    } else if (kind == CXCursor_TypeRef && strstr(name, "grid_group") && r->f->u) {
        begin = place_of(r->f->u, c, name, &written);
        end = begin + strlen("grid_group");
        if (!strncmp(r->f->u->source->text + begin, "grid_group", strlen("grid_group")))
            add_change(r->f, qualified_begin(r->f->u->source, begin), end, "kmm_grid_group");
        else
            r->f->is_hidden_group = true;
    }
}

/* True if what is called is no function that has a name. */
static bool is_variable_of(CXCursor called)
{
    enum CXCursorKind kind = clang_getCursorKind(called);
    return clang_Cursor_isNull(called) || kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl ||
           kind == CXCursor_FieldDecl;
}

static enum CXChildVisitResult visit_lambda(CXCursor c, const reach_t *r)
{
    lambda_t *l = arena_alloc(sizeof(*l));
    *l = (lambda_t){.up = r->lambda, .next = r->f->lambdas, .cursor = c};
    l->written = r->f->u && unit_range(r->f->u, c, &l->begin, &l->end);
    r->f->lambdas = l;
    reach_t inner = {r->u, r->f, l};
    clang_visitChildren(c, visit, &inner);
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    reach_t *r = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_LambdaExpr)
        return visit_lambda(c, r);
    if (kind == CXCursor_GCCAsmStmt) {
        const char *text = clang_text(clang_Cursor_getGCCAssemblyTemplate(c));
        r->f->asks_assembly |= strstr(text, "ctaid") || strstr(text, "%gridid");
    }
    if (kind == CXCursor_TypeRef)
        note_group(r, c, cursor_name(clang_getCursorReferenced(c)));
    if (kind != CXCursor_DeclRefExpr && kind != CXCursor_MemberRefExpr &&
        kind != CXCursor_CallExpr && kind != CXCursor_OverloadedDeclRef)
        return CXChildVisit_Recurse;
    if (kind == CXCursor_CallExpr)
        r->f->calls_pointer |= is_variable_of(clang_getCursorReferenced(c));
    const char *name = cursor_name(c);
    bool is_variable = kind == CXCursor_DeclRefExpr;
    if ((is_variable || kind == CXCursor_MemberRefExpr) && !*name) {
        CXCursor to = clang_getCursorReferenced(c);
        r->f->is_open |= clang_getCursorKind(to) != CXCursor_OverloadedDeclRef ||
                         clang_getNumOverloadedDecls(to) == 0;
        return CXChildVisit_Recurse;
    }
    if (is_variable && (!strcmp(name, "blockIdx") || !strcmp(name, "gridDim")))
        note_index(r, name[0] == 'b');
    else if (kind != CXCursor_CallExpr ||
             clang_getCursorKind(clang_getCursorReferenced(c)) == CXCursor_Constructor)
        add_call(r, c);
    note_group(r, c, name);
    if (!strcmp(name, "sync"))
        note_sync(r, c);
    return CXChildVisit_Recurse;
}

/* ---- Consequences ---- */

/* Code that #if hides from this parse is analysed by its words alone. */
static void read_words(function_t *f)
{
    bool hidden = false, index = false, dim = false;
    lexer_t l = lexer_at(f->u->source, f->begin, f->end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        hidden |= t.kind == TOKEN_DIRECTIVE;
        index |= token_is(f->u->source, t, "blockIdx");
        dim |= token_is(f->u->source, t, "gridDim");
    }
    f->hidden = hidden && ((index && !f->reads_index) || (dim && !f->reads_dim));
    f->reads_index |= hidden && index;
    f->reads_dim |= hidden && dim;
}

/* True if a kernel can call the function without writing its name: as an operator, conversion,
 * constructor, destructor or virtual method. */
static bool is_reached_unnamed(CXCursor f)
{
    enum CXCursorKind kind = clang_getCursorKind(f);
    return kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
           kind == CXCursor_ConversionFunction || clang_CXXMethod_isVirtual(f) ||
           !strncmp(cursor_name(f), "operator", 8);
}

/* True if the call has a form to which the part of the grid can be added: `f(`, `f<...>(`,
 * `x.f(`. */
static bool can_be_told(const function_t *caller, const reach_call_t *call)
{
    if (!caller->u || caller->holds_lambdas || is_reached_unnamed(caller->cursor) || !call->written)
        return false;
    for (int k = 0; k < call->callee_count; k++) {
        if (!call->callee[k]->u || is_reached_unnamed(call->callee[k]->cursor))
            return false;
    }
    return reach_open(caller->u->source, call) != 0;
}

size_t reach_open(const source_t *s, const reach_call_t *call)
{
    lexer_t l = lexer_at(s, call->at + strlen(call->name), s->length);
    l.line_start = false;
    token_t t = lex(&l);
    int depth = 0;
    while (token_is(s, t, "<") || depth > 0) {
        depth += token_is(s, t, "<") - token_is(s, t, ">") - 2 * token_is(s, t, ">>");
        t = lex(&l);
        if (t.kind == TOKEN_END || token_is(s, t, ";"))
            return 0;
    }
    return token_is(s, t, "(") ? t.end : 0;
}

static void add_copied(unit_t *u, bool *grown)
{
    for (function_t *f = u->functions; f; f = f->next)
        for (reach_call_t *c = f->calls; c; c = c->next) {
            bool depends = false;
            for (int k = 0; k < c->callee_count; k++)
                depends |= !c->callee[k]->is_kernel && !c->callee[k]->holds_lambdas &&
                           (reach_is_told(c->callee[k]) || c->callee[k]->is_shared);
            if (!depends)
                continue;
            bool told = can_be_told(f, c);
            if (told && !f->is_told)
                f->is_told = *grown = true;
            c->is_told = told;
            for (int k = 0; k < c->callee_count; k++) {
                bool *mark = told ? &c->callee[k]->is_told : &c->callee[k]->is_shared;
                if (!*mark)
                    *mark = *grown = true;
            }
        }
}

bool reach_is_told(const function_t *f)
{
    return f->is_told || f->reads_index || f->reads_dim || f->reads_group;
}

/* A function that looks up its part of the grid cannot pass it on, so the functions that it
 * calls look it up too. */
static void add_shared(unit_t *u, bool *grown)
{
    for (function_t *f = u->functions; f; f = f->next)
        for (reach_call_t *c = f->calls; f->is_shared && c; c = c->next)
            for (int k = 0; k < c->callee_count; k++)
                if (reach_is_told(c->callee[k]) && !c->callee[k]->is_shared)
                    c->callee[k]->is_shared = *grown = true;
}

static bool names(const function_t *f, const char *name)
{
    lexer_t l = lexer_at(f->u->source, f->begin, f->end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(f->u->source, t, name))
            return true;
    return false;
}

static void mark_reached(function_t *f)
{
    if (f->is_reached)
        return;
    f->is_reached = true;
    for (reach_call_t *c = f->calls; c; c = c->next)
        for (int k = 0; k < c->callee_count; k++)
            mark_reached(c->callee[k]);
}

/* If only a template's arguments resolve a called name, the call may reach every function of
 * that name. */
static void add_open(unit_t *u, bool *grown)
{
    for (function_t *f = u->functions; f; f = f->next) {
        if (!f->is_open || !f->is_reached || !f->u)
            continue;
        for (function_t *g = u->functions; g; g = g->next) {
            if (g == f || g->is_shared || g->is_kernel || g->holds_lambdas || !reach_is_told(g) ||
                !names(f, g->name))
                continue;
            g->is_shared = *grown = true;
            mark_reached(g);
        }
    }
}

function_t *reach_kernel(unit_t *u, CXCursor definition)
{
    return add_function(u, definition);
}

static enum CXChildVisitResult find_device(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(bool *)data |= clang_getCursorKind(c) == CXCursor_CUDADeviceAttr ||
                     clang_getCursorKind(c) == CXCursor_CUDAGlobalAttr;
    return CXChildVisit_Continue;
}

/* True if the function runs on the host. Such a function can contain lambdas that run in
 * kernels. */
static bool runs_on_host(CXCursor f)
{
    bool device = false;
    clang_visitChildren(f, find_device, &device);
    return !device;
}

static bool names_device(unit_t *u, CXCursor f)
{
    unit_t *file = unit_holding(u, f);
    size_t begin, end;
    if (!file || !unit_range(file, f, &begin, &end))
        return false;
    const char *found = strstr(file->source->text + begin, "__device__");
    return found && found < file->source->text + end;
}

static enum CXChildVisitResult find_loose(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *u = data;
    (void)parent;
    if (cursor_is_system(c))
        return CXChildVisit_Continue;
    if (!is_function(clang_getCursorKind(c)))
        return CXChildVisit_Recurse;
    bool unnamed = is_reached_unnamed(c), host = runs_on_host(c);
    if (clang_isCursorDefinition(c) && !cursor_is_kernel(c) && (!host || names_device(u, c))) {
        function_t *f = add_function(u, c);
        f->is_shared |= unnamed && !host && reach_is_told(f);
        f->holds_lambdas |= host;
    }
    return CXChildVisit_Continue;
}

void reach_close(unit_t *u)
{
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_loose, u);
    for (function_t *f = u->functions; f; f = f->next)
        if (f->u && !f->holds_lambdas)
            read_words(f);
    for (function_t *f = u->functions; f; f = f->next)
        if (f->is_kernel || f->is_shared)
            mark_reached(f);
    for (bool grown = true; grown;) {
        grown = false;
        add_copied(u, &grown);
        add_shared(u, &grown);
        add_open(u, &grown);
    }
}
