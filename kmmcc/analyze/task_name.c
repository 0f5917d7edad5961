/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the names of a task's arrays through its statements, and through the functions that these
 * call, as far as their bodies are seen. A name is followed outwards, from its mention to the
 * expression that loads or stores an element, or that passes the pointer on.
 */
#include "analyze/task_name.h"

#include <clang-c/Index.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "clang/cursor.h"

enum { MAX_FOLLOWED = 64, DEEPEST = 6 };

/* A mention of a variable, with the expressions around it. */
typedef struct mention {
    CXCursor cursor;
    const struct mention *around;
} mention_t;

/* What is looked for in one body: the variables that hold addresses of the arrays. */
typedef struct search {
    CXCursor variable[MAX_FOLLOWED];
    int count, depth;
    bool loads; /* an element is loaded or stored */
    /* Called for each mention of a variable; NULL: nothing is. */
    void (*mention)(void *context, int variable, const mention_t *m);
    void *context;
} search_t;

static void search_body(search_t *s, CXCursor body);

static CXCursor canonical(CXCursor variable)
{
    return clang_getCanonicalCursor(variable);
}

static void follow(search_t *s, CXCursor variable)
{
    enum CXCursorKind kind = clang_getCursorKind(variable);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl && kind != CXCursor_FieldDecl)
        return;
    for (int k = 0; k < s->count; k++)
        if (clang_equalCursors(s->variable[k], canonical(variable)))
            return;
    if (s->count < MAX_FOLLOWED)
        s->variable[s->count++] = canonical(variable);
}

/* True for what wraps an expression without a meaning of its own. */
static bool is_wrapper(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr;
}

static bool is_cast(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
           kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CXXConstCastExpr ||
           kind == CXCursor_CXXFunctionalCastExpr;
}

static bool is_pointer(CXCursor e)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(e));
    return type.kind == CXType_Pointer || type_is_array(type);
}

/* Functions of the C library that read or write what their arguments point to. */
static bool is_library_access(CXCursor f)
{
    static const char *const names[] = {
        "memcpy",  "memmove", "memset",   "memcmp", "memchr", "strlen", "strcpy",  "strncpy",
        "strcat",  "strcmp",  "strncmp",  "strchr", "strstr", "printf", "puts",    "fputs",
        "fprintf", "sprintf", "snprintf", "fread",  "fwrite", "qsort",  "bsearch", NULL};
    CXCursor scope = clang_getCursorSemanticParent(f);
    while (clang_getCursorKind(clang_getCursorSemanticParent(scope)) == CXCursor_Namespace)
        scope = clang_getCursorSemanticParent(scope);
    return cursor_is_system(f) && (text_is_one_of(cursor_name(f), names) ||
                                   (clang_getCursorKind(scope) == CXCursor_Namespace &&
                                    !strcmp(cursor_name(scope), "std")));
}

/* True if the function loads or stores an element through the parameter. */
static bool callee_loads(CXCursor f, int parameter, int depth)
{
    search_t s = {.depth = depth + 1};
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    if (is_library_access(f))
        return true;
    CXCursor definition = clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template);
    if (depth >= DEEPEST || clang_Cursor_isNull(definition) || cursor_is_kernel(definition) ||
        cursor_is_system(definition))
        return false;
    int seen = 0;
    cursors_t list = cursor_children(definition);
    for (int k = 0; k < list.count; k++)
        if (clang_getCursorKind(list.at[k]) == CXCursor_ParmDecl && seen++ == parameter)
            follow(&s, list.at[k]);
    if (s.count)
        search_body(&s, cursor_body(definition));
    return s.loads;
}

static void pass_to_call(search_t *s, CXCursor call, CXCursor argument)
{
    CXCursor f = clang_getCursorReferenced(call);
    int count = clang_Cursor_getNumArguments(call);
    for (int k = 0; k < count && !clang_Cursor_isNull(f); k++)
        if (clang_equalCursors(clang_Cursor_getArgument(call, (unsigned)k), argument))
            s->loads |= callee_loads(f, k, s->depth);
}

/* True if only the type of the operand counts. */
static bool is_unevaluated(CXCursor around)
{
    return clang_getCursorKind(around) == CXCursor_UnaryExpr ||
           (clang_getCursorKind(around) == CXCursor_VarDecl &&
            clang_getCursorType(around).kind != CXType_LValueReference);
}

/* Follows an element, outwards. Returns the expression around it that is an address again; NULL:
 * the element is loaded or stored, or nothing is. */
static const mention_t *element_used(search_t *s, const mention_t *m)
{
    const mention_t *around = m->around;
    while (around && clang_getCursorKind(around->cursor) == CXCursor_ParenExpr)
        around = around->around;
    if (!around || is_unevaluated(around->cursor))
        return NULL;
    enum CXCursorKind kind = clang_getCursorKind(around->cursor);
    if (kind == CXCursor_UnaryOperator &&
        clang_getCursorUnaryOperatorKind(around->cursor) == CXUnaryOperator_AddrOf)
        return around;
    if (kind == CXCursor_MemberRefExpr)
        return type_is_array(clang_getCursorType(around->cursor)) ? around
                                                                  : element_used(s, around);
    s->loads = true;
    return NULL;
}

/* Follows an address from a mention outwards, step by step. */
static void address_used(search_t *s, const mention_t *m)
{
    for (const mention_t *around; m && (around = m->around) && !s->loads;) {
        CXCursor c = around->cursor;
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind == CXCursor_CXXForRangeStmt)
            s->loads = true;
        if (kind == CXCursor_VarDecl)
            follow(s, c);
        if (kind == CXCursor_CallExpr)
            pass_to_call(s, c, m->cursor);
        bool derefs = kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_MemberRefExpr ||
                      (kind == CXCursor_UnaryOperator &&
                       clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref);
        if (derefs) {
            m = type_is_array(clang_getCursorType(c)) ? around : element_used(s, around);
            continue;
        }
        if (kind == CXCursor_BinaryOperator &&
            clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign)
            follow(s, clang_getCursorReferenced(cursor_first_child(c)));
        bool goes_on = is_wrapper(c) || is_cast(c) || kind == CXCursor_BinaryOperator ||
                       kind == CXCursor_ConditionalOperator || kind == CXCursor_UnaryOperator;
        m = goes_on && is_pointer(c) ? around : NULL;
    }
}

typedef struct level {
    search_t *search;
    const mention_t *around;
} level_t;

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    const level_t *level = data;
    search_t *s = level->search;
    const mention_t here = {c, level->around};
    level_t inner = {s, &here};
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr) {
        CXCursor variable = canonical(clang_getCursorReferenced(c));
        for (int k = 0; k < s->count; k++)
            if (clang_equalCursors(s->variable[k], variable)) {
                address_used(s, &here);
                if (s->mention)
                    s->mention(s->context, k, &here);
            }
    }
    clang_visitChildren(c, visit, &inner);
    return CXChildVisit_Continue;
}

static void search_body(search_t *s, CXCursor body)
{
    level_t top = {s, NULL};
    for (int before = -1; before < s->count && !s->loads;) { /* variables come while it searches */
        before = s->count;
        visit(body, body, &top);
        if (s->count == before || s->mention)
            break;
    }
}

/* ---- The names of one task ---- */

bool task_name_is_array(const item_t *item)
{
    return type_is_array(clang_getCanonicalType(item->base->type));
}

bool task_name_has_type(const unit_t *u, const item_t *item)
{
    CXType type = clang_getCanonicalType(item->base->type);
    if (!type_is_array(type))
        return false;
    for (; type_is_array(type); type = clang_getCanonicalType(clang_getArrayElementType(type)))
        if (type.kind == CXType_IncompleteArray ||
            (type.kind == CXType_VariableArray && u->lang != LANG_C))
            return false;
    return true;
}

int task_name_first(const unit_t *u, const directive_t *d, int number)
{
    const char *name = unit_words(u, d->item[number].base->begin, d->item[number].base->end);
    for (int k = 0; k < number; k++)
        if (!strcmp(unit_words(u, d->item[k].base->begin, d->item[k].base->end), name))
            return k;
    return number;
}

typedef struct reading {
    const unit_t *u;
    const directive_t *d;
    task_names_t *names;
    int item[MAX_FOLLOWED]; /* of each variable */
    int item_count;
    bool checks; /* mistakes are reported */
} reading_t;

/* Stores where the source has the name. False: a macro's body writes it. */
static bool place_of(const unit_t *u, const directive_t *d, CXCursor name, size_t *begin,
                     size_t *end)
{
    CXFile file;
    unsigned at;
    clang_getSpellingLocation(clang_getCursorLocation(name), &file, NULL, NULL, &at);
    const char *text = cursor_name(name);
    if (!file || !clang_File_isEqual(file, clang_getFile(u->tu, u->path)) ||
        !unit_exact_offset(u, at, begin) || *begin < d->statement_begin ||
        *begin >= d->statement_end)
        return false;
    *end = *begin + strlen(text);
    return !strncmp(u->source->text + *begin, text, strlen(text));
}

/* True if the array is meant, and not the address of its first element. */
static bool means_array(const mention_t *m)
{
    const mention_t *around = m->around;
    while (around && clang_getCursorKind(around->cursor) == CXCursor_ParenExpr)
        around = around->around;
    return !around || clang_getCursorKind(around->cursor) != CXCursor_UnexposedExpr ||
           clang_getCanonicalType(clang_getCursorType(around->cursor)).kind != CXType_Pointer;
}

static void add_place(reading_t *r, int item, CXCursor name)
{
    array_place_t place = {.item = item};
    task_names_t *n = r->names;
    place.is_hidden = !place_of(r->u, r->d, name, &place.begin, &place.end);
    if (place.is_hidden) {
        CXFile file;
        unsigned at;
        clang_getExpansionLocation(clang_getCursorLocation(name), &file, NULL, NULL, &at);
        place.begin = unit_offset(r->u, at);
        place.end = place.begin + 1;
    }
    for (int k = 0; k < n->count; k++)
        if (n->place[k].begin == place.begin)
            return;
    n->place = arena_grow(n->place, n->count, &n->capacity, sizeof(*n->place));
    n->place[n->count++] = place;
}

/* Reports an expression that changes a pointer: in the task its name stands for a constant. */
static void check_changed(const reading_t *r, const mention_t *m)
{
    const mention_t *around = m->around;
    size_t begin, end;
    while (around && clang_getCursorKind(around->cursor) == CXCursor_ParenExpr) {
        m = around;
        around = around->around;
    }
    if (!around)
        return;
    enum CXCursorKind kind = clang_getCursorKind(around->cursor);
    enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(around->cursor);
    bool assigns = kind == CXCursor_CompoundAssignOperator ||
                   (kind == CXCursor_BinaryOperator &&
                    clang_getCursorBinaryOperatorKind(around->cursor) == CXBinaryOperator_Assign);
    bool changes = (assigns && clang_equalCursors(cursor_first_child(around->cursor), m->cursor)) ||
                   (kind == CXCursor_UnaryOperator && op >= CXUnaryOperator_PostInc &&
                    op <= CXUnaryOperator_PreDec);
    if (!changes)
        return;
    if (!unit_range(r->u, around->cursor, &begin, &end)) {
        begin = r->d->pragma.begin;
        end = r->d->pragma.end;
    }
    const char *name = cursor_name(m->cursor);
    unit_error(r->u, begin, end,
               "the task changes the pointer '%s', which an item names; change a copy of it in the "
               "task",
               *name ? name : "of an item");
}

static void note_mention(void *context, int variable, const mention_t *m)
{
    reading_t *r = context;
    if (variable >= r->item_count)
        return;
    const item_t *item = &r->d->item[r->item[variable]];
    if (!task_name_is_array(item)) {
        if (r->checks)
            check_changed(r, m);
    } else if (means_array(m)) {
        add_place(r, r->item[variable], m->cursor);
    }
}

static task_names_t read_names(const unit_t *u, const directive_t *d, bool checks)
{
    task_names_t names = {0};
    reading_t r = {.u = u, .d = d, .names = &names, .checks = checks};
    search_t s = {0}, access;
    for (int k = 0; k < d->item_count; k++) {
        if (clang_Cursor_isNull(d->item[k].root) || task_name_first(u, d, k) != k)
            continue;
        int before = s.count;
        follow(&s, d->item[k].root);
        if (s.count > before)
            r.item[r.item_count++] = k;
    }
    access = s;
    search_body(&access, d->statement);
    names.on_cpu = access.loads && !d->stream;
    for (int k = 0; k < d->setting_count; k++)
        if (!strcmp(token_text(u->source, d->setting[k].name), "device")) {
            names.says_device = true;
            names.on_cpu = d->setting[k].constant && strstr(d->setting[k].constant, "KMM_ON_HOST");
        }
    s.mention = note_mention;
    s.context = &r;
    search_body(&s, d->statement);
    return names;
}

task_names_t task_names(const unit_t *u, const directive_t *d)
{
    return read_names(u, d, false);
}

void check_task_names(const unit_t *u, const directive_t *d)
{
    task_names_t names = read_names(u, d, true);
    for (int k = 0; k < names.count && !names.on_cpu; k++) {
        const array_place_t *p = &names.place[k];
        const item_t *item = &d->item[p->item];
        const char *name = unit_words(u, item->base->begin, item->base->end);
        bool has_type = task_name_has_type(u, item);
        if (has_type && (u->lang != LANG_C || !p->is_hidden))
            continue;
        unit_error(u, p->begin, p->end,
                   has_type
                       ? "a macro uses the array '%s' as an array, not as a pointer, in a task "
                         "that may run on a GPU; write the expression out, or add device(host)"
                       : "the task uses '%s', an array of variable length, as an array, not as "
                         "a pointer; compute the value before the task, or add device(host)",
                   name);
    }
}
