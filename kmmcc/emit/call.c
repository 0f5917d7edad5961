/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of plain functions: the arguments go into a block, and a function calls the original with
 * what `rebase` makes of them for a chunk. In C that function stands before the enclosing one. In
 * C++ it is a member of a class where the call stood, so that it can name all that the call could:
 * types of the function, private members of its class, and what these hide.
 *
 * The names that are written around the program's expressions begin with kmm__, which no name of
 * the program does (driver/transform.c).
 *
 * libkmm translates each word of the block that is the address of an array. So that no number is
 * taken for one, integers of less than 64 bits are kept as long long, and float as double.
 */
#include "emit/call.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/flow.h"
#include "analyze/limit.h"
#include "analyze/outside.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "clang/written.h"
#include "emit/default.h"
#include "emit/describe.h"
#include "emit/moved.h"
#include "emit/origin.h"
#include "emit/place.h"
#include "emit/prove.h"
#include "emit/variables.h"
#include "kmm/launch.h"
#include "pragma/form.h"

typedef struct parameter {
    const char *name;     /* of the field; NULL where rebase gives the value */
    const char *type;     /* the parameter's own, without const */
    const char *field;    /* the field's type */
    const char *argument; /* as it is written at the call */
    const char *placed;   /* the same with what tells its line */
    const char *value;    /* the same, converted to the field's type */
    const char *shown;    /* its name in messages */
    int inner_dims;       /* N for a pointer to an N-dimensional array */
    bool is_default;      /* a constant, which the call in a chunk leaves out, too */
    const rebase_t *rebase;
    const item_t *item; /* what says how a pointer moves; NULL: nothing does, so it stays */
    long long element;  /* bytes of what the pointer points to, below its inner dimensions */
} parameter_t;

typedef struct call {
    unit_t *u;
    directive_t *d;
    parameter_t *parameter;
    int count;
    unsigned line;
    bool is_local;         /* the function that runs a chunk is a member of a local class */
    const char *name;      /* kmm__call_NUMBER, of that function, or of its class */
    const char *number;    /* also in the name of the block, kmm__args_NUMBER */
    text_t fields, values; /* of the block */
    const char
        *variables; /* the table of variables that the function names; NULL: there are none */
    int variable_count;
    text_t assignments; /* of its fields: in C++ conversions in braces are errors */
} call_t;

static bool is_moved(const call_t *c)
{
    for (int k = 0; k < c->d->rebase_count; k++)
        if (c->d->rebase[k].kind == REBASE_LENGTH)
            return true;
    return false;
}

static const char *field_type(CXType type, const char *spelling)
{
    CXType canonical = clang_getCanonicalType(type);
    bool integer = (canonical.kind >= CXType_Bool && canonical.kind <= CXType_Int128) ||
                   canonical.kind == CXType_Enum;
    if (integer && clang_Type_getSizeOf(canonical) < 8)
        return "long long";
    return canonical.kind == CXType_Float ? "double" : spelling;
}

/* A parameter's type: what a caller passes where the parameter is an array or a function. */
static CXType parameter_type(const call_t *c, int number, CXCursor cursor)
{
    CXType type = clang_getUnqualifiedType(type_passed(clang_getCursorType(cursor))),
           function = clang_getCanonicalType(clang_getCursorType(c->d->target[0].instance));
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    bool decays =
        type_is_array(type) || kind == CXType_FunctionProto || kind == CXType_FunctionNoProto;
    return decays ? clang_getUnqualifiedType(clang_getArgType(function, (unsigned)number)) : type;
}

/* The argument as the value of a field: where the field's type is not the parameter's, and the
 * argument's is neither, it is converted as the call converts it. */
static const char *field_value(const call_t *c, const parameter_t *p, CXType type,
                               CXCursor argument)
{
    CXType to = clang_getCanonicalType(type),
           is = clang_getCanonicalType(clang_getCursorType(flow_operand(argument)));
    bool real = is.kind == CXType_Float || is.kind == CXType_Double;
    bool small = type_is_integer(is) && clang_Type_getSizeOf(is) <= 8,
         exact = small && clang_Type_getSizeOf(is) < 8; /* as a double */
    bool stays = to.kind == CXType_Float  ? real || exact
                 : to.kind == CXType_Enum ? small && c->u->lang == LANG_C
                                          : small;
    if (p->type == TYPE_OPAQUE)
        return arena_printf("(void *)(%s)", p->placed);
    if (p->field == p->type || stays)
        return p->placed;
    const char *through = p->type;
    if (c->u->lang == LANG_C) /* the number that the type is, whose name may be another's here */
        through =
            type_written(LANG_C, to.kind == CXType_Enum
                                     ? clang_getEnumDeclIntegerType(clang_getTypeDeclaration(to))
                                     : to);
    return arena_printf("(%s)(%s)(%s)", p->field, through, p->placed);
}

static void add_field(call_t *c, const char *type, const char *name, const char *value)
{
    text_printf(&c->fields, "    %s;\n", type_declaration(type, name));
    text_printf(&c->values, "%s%s", c->values.length ? ", " : "", value);
    text_printf(&c->assignments, " kmm__args.%s = %s;", name, value);
}

static bool is_name_taken(const call_t *c, const char *name)
{
    for (int k = 0; k < c->count; k++)
        if (c->parameter[k].name && !strcmp(c->parameter[k].name, name))
            return true;
    return false;
}

/* The call in a chunk computes the default again, so that has to be a constant. */
static bool read_default(const call_t *c, int number)
{
    bool given = true;
    for (int k = 0; k < c->d->rebase_count; k++)
        given &= c->d->rebase[k].parameter != number;
    c->parameter[number].is_default =
        given && default_is_constant(c->d->target[0].instance, number, c->d->argument[number]);
    if (!c->parameter[number].is_default)
        diag_at(SEVERITY_ERROR, c->u->source, c->d->launch_begin, c->d->launch_end,
                given ? "argument %d is a default that is no constant; write it out"
                      : "argument %d is a default, which rebase changes; write it out",
                number + 1);
    return c->parameter[number].is_default;
}

/* True for a pointer that is the same in each chunk whatever it points to: NULL, a function, or one
 * that the function does not look behind. */
static bool may_stay(const call_t *c, int number, CXType type)
{
    enum CXTypeKind kind = clang_getPointeeType(clang_getCanonicalType(type)).kind;
    CXCursor argument = c->d->argument[number];
    return kind == CXType_FunctionProto || kind == CXType_FunctionNoProto ||
           (c->d->unused && c->d->unused[number]) || cursor_is_null_pointer(argument) ||
           clang_getCursorKind(flow_operand(argument)) == CXCursor_StringLiteral;
}

/* A struct is passed as it is, so that the pointers in it do not move. */
static void refuse_members(const call_t *c, const parameter_t *p, int number)
{
    const CXCursor root = cursor_root(c->d->argument[number]);
    for (int k = 0; k < c->d->item_count; k++) {
        const item_t *item = &c->d->item[k];
        form_t step;
        bool moves = false;
        for (int a = 0; a < c->d->rebase_count; a++)
            moves |=
                c->d->rebase[a].kind == REBASE_LENGTH &&
                !(describe_step(c->u, item, c->d->rebase[a].axis, 0, &step) && form_is(step, 0));
        if (moves && !clang_Cursor_isNull(root) && clang_equalCursors(root, item->root))
            diag_at(SEVERITY_ERROR, c->u->source, item->begin, item->end,
                    "rebase cannot move '%s' to where a chunk begins, because '%s' is a struct; "
                    "pass the pointer itself, or rebase begin and end instead",
                    unit_words(c->u, item->begin, item->end), p->argument);
    }
}

static bool read_parameter(call_t *c, int number, CXCursor cursor)
{
    parameter_t *p = &c->parameter[number];
    size_t begin, end;
    CXType type = parameter_type(c, number, cursor);
    if (callee_is_left_out(c->d->argument[number]))
        return read_default(c, number);
    if (!callee_argument_range(c->u, c->d, c->d->argument[number], &begin, &end)) {
        diag_at(SEVERITY_ERROR, c->u->source, c->d->launch_begin, c->d->launch_end,
                "argument %d comes from a macro; write it out", number + 1);
        return false;
    }
    p->type = type_written(c->u->lang, type);
    if (clang_getCanonicalType(type).kind == CXType_LValueReference || !type_is_copied(type) ||
        strstr(p->type, "(unnamed") || (p->type == TYPE_OPAQUE && c->u->lang != LANG_C)) {
        diag_at(SEVERITY_ERROR, c->u->source, begin, end,
                "the argument cannot be copied for each chunk: its parameter is '%s'; a split call "
                "takes numbers, pointers and plain structs; pass its members, or a pointer to it",
                clang_text(clang_getTypeSpelling(clang_getCursorType(cursor))));
        return false;
    }
    if (clang_Type_getAlignOf(type) > KMM_MAX_ALIGN) {
        diag_at(SEVERITY_ERROR, c->u->source, begin, end,
                "the argument cannot be copied for each chunk: its parameter is aligned to %lld "
                "bytes, and at most %d are possible",
                clang_Type_getAlignOf(type), KMM_MAX_ALIGN);
        return false;
    }
    const char *name = cursor_name(cursor);
    p->shown = *name ? name : arena_printf("#%d", number + 1);
    p->field = field_type(type, p->type);
    p->argument = source_words(c->u->source, begin, end);
    p->placed = place_kept(c->u, c->d->argument[number], begin, end);
    p->value = field_value(c, p, type, c->d->argument[number]);
    for (int k = 0; k < c->d->rebase_count; k++)
        if (c->d->rebase[k].parameter == number)
            p->rebase = &c->d->rebase[k];
    const char *field = arena_printf("kmm__%s", name);
    if (!p->rebase)
        p->name = *name && !is_name_taken(c, field) ? field : arena_printf("kmm__%d", number + 1);
    for (CXType e = clang_getPointeeType(clang_getCanonicalType(type));
         clang_getArrayElementType(e).kind != CXType_Invalid; e = clang_getArrayElementType(e))
        p->inner_dims++;
    if (clang_getCanonicalType(type).kind == CXType_Pointer && is_moved(c) && !p->rebase) {
        bool limits =
            c->d->unused && c->d->unused[number] && limit_is(c->d->target[0].instance, number);
        p->item = limits ? NULL : moved_item(c->u, c->d, number, p->inner_dims, p->argument);
        if (!p->item && !may_stay(c, number, type))
            diag_at(SEVERITY_ERROR, c->u->source, begin, end,
                    "rebase cannot tell how far argument '%s' moves; pass a pointer that an item "
                    "names, or a sum of one and integers",
                    p->argument);
    }
    CXType element = clang_getPointeeType(clang_getCanonicalType(type));
    while (type_is_array(element))
        element = type_pointee(element);
    /* compilers move pointers to void by bytes */
    p->element = element.kind == CXType_Void ? 1 : clang_Type_getSizeOf(element);
    if (clang_getCanonicalType(type).kind == CXType_Record && is_moved(c))
        refuse_members(c, p, number);
    return true;
}

static bool read_parameters(call_t *c)
{
    bool good = true;
    const CXCursor f = c->d->target[0].instance;
    c->count = clang_Cursor_getNumArguments(f);
    if (c->count < 0 || c->count != c->d->argument_count) {
        diag_at(SEVERITY_ERROR, c->u->source, c->d->launch_begin, c->d->launch_end,
                c->count < 0 ? "the call of a function that depends on a template's parameters "
                               "cannot be split; call it from a function that is no template"
                             : "the call of a function with a variable number of arguments cannot "
                               "be split; call it in one with a fixed number");
        return false;
    }
    c->parameter = arena_alloc(((size_t)c->count + 1) * sizeof(*c->parameter));
    for (int k = 0; k < c->count; k++)
        good &= read_parameter(c, k, clang_Cursor_getArgument(f, (unsigned)k));
    return good;
}

/* Bytes of the item's elements; 0 or less: not known. */
static long long element_bytes(const item_t *item)
{
    CXType element = type_pointee(clang_getCanonicalType(item->base->type));
    while (type_is_array(element))
        element = type_pointee(element);
    return clang_Type_getSizeOf(element);
}

/* True if a rebase before number k says the length of the same axis: pointers move once for each.
 */
static bool is_moved_before(const directive_t *d, int k)
{
    for (int i = 0; i < k; i++)
        if (d->rebase[i].kind == REBASE_LENGTH && d->rebase[i].axis == d->rebase[k].axis)
            return true;
    return false;
}

/* Returns the pointer, moved by as many elements as the chunk's begin is away from the range's. */
static const char *moved(call_t *c, const parameter_t *p)
{
    text_t out = {0};
    long long bytes = p->item ? element_bytes(p->item) : 0;
    text_printf(&out, "kmm__args->%s", p->name);
    for (int k = 0; p->item && k < c->d->rebase_count; k++) {
        const rebase_t *r = &c->d->rebase[k];
        if (r->kind != REBASE_LENGTH || is_moved_before(c->d, k))
            continue;
        form_t step;
        if (!describe_step(c->u, p->item, r->axis, p->inner_dims, &step))
            diag_at(SEVERITY_ERROR, c->u->source, p->item->begin, p->item->end,
                    "rebase cannot move '%s' to where a chunk begins, because that is inside of a "
                    "'%s'; rebase begin and end instead",
                    p->argument, p->type);
        if (form_is(step, 0))
            continue;
        if (p->type == TYPE_OPAQUE)
            diag_at(SEVERITY_ERROR, c->u->source, p->item->begin, p->item->end,
                    "rebase cannot move '%s' to where a chunk begins, because its parameter '%s' "
                    "has a type without a name, or rows of a variable length; rebase begin and end "
                    "instead",
                    p->argument, p->shown);
        else if (bytes > 0 && p->element > 0 && bytes != p->element)
            diag_at(SEVERITY_ERROR, c->u->source, p->item->begin, p->item->end,
                    "rebase cannot move '%s' as '%s' moves: its type is '%s', of %lld bytes, and "
                    "the item's elements have %lld; rebase begin and end instead",
                    p->argument, unit_words(c->u, p->item->begin, p->item->end), p->type,
                    p->element, bytes);
        text_printf(&out, " + ");
        if (step.known && step.value != 1)
            text_printf(&out, "%s * ", form_text(step));
        if (!step.known) {
            const char *field = arena_printf("%s_step_%d", p->name, r->axis);
            add_field(c, "long long", field, form_text(step));
            text_printf(&out, "kmm__args->%s * ", field);
        }
        text_printf(&out, "kmm_chunk_distance(kmm__chunk, %d)", r->axis);
    }
    return out.data;
}

/* Returns the argument for the parameter in a chunk. */
static const char *passed(call_t *c, const parameter_t *p)
{
    if (!p->rebase) {
        const char *value = moved(c, p);
        return p->field == p->type ? value : arena_printf("(%s)%s", p->type, value);
    }
    int axis = p->rebase->axis;
    switch (p->rebase->kind) {
    case REBASE_LENGTH: return arena_printf("(%s)kmm_chunk_length(kmm__chunk, %d)", p->type, axis);
    case REBASE_BEGIN: return arena_printf("(%s)kmm_chunk_begin(kmm__chunk, %d)", p->type, axis);
    case REBASE_END: break;
    }
    return arena_printf("(%s)kmm_chunk_end(kmm__chunk, %d)", p->type, axis);
}

/* True if the function is declared before the enclosing one. */
static bool is_declared_before(const call_t *c)
{
    size_t begin, end, first, last;
    CXCursor declaration = clang_getCanonicalCursor(c->d->callee);
    const unit_t *u = unit_holding(c->u->main, c->d->top);
    if (!u || !unit_range(u, c->d->top, &begin, &end) ||
        !unit_range(u, declaration, &first, &last) || first < begin || first >= end)
        return true;
    diag_at(SEVERITY_ERROR, c->u->source, c->d->launch_begin, c->d->launch_end,
            "'%s' is not declared before the function that calls it, where the call of a chunk "
            "stands; declare it there",
            c->d->callee_name);
    return false;
}

/* The call of the original, in the function that runs a chunk. */
static const char *called(const call_t *c, const char *arguments)
{
    const source_t *s = c->u->source;
    const directive_t *d = c->d;
    const char *name = d->is_selected ? d->callee_name
                                      : arena_copy(s->text + d->callee_begin,
                                                   d->template_end - d->callee_begin),
               *path = c->u->lang == LANG_C ? "" : callee_path(c->u, d),
               *call = arena_printf("%s%s(%s);", path, name, arguments ? arguments : "");
    if (c->u->lang == LANG_C)
        return call;
    if (d->template_end > d->name_after) /* which may ask for its line */
        call =
            arena_printf("\n%s\n%s", source_line_marker(s, source_line(s, d->callee_begin)), call);
    return arena_printf("KMM_TRY { %s } KMM_CATCH(%s, %s, %u)", call, text_quoted(d->callee_name),
                        text_quoted(s->path), c->line);
}

/* Returns the struct of the arguments, and the function that runs a chunk. */
static const char *definitions(call_t *c)
{
    text_t out = {0}, arguments = {0};
    for (int k = 0; k < c->count; k++)
        if (c->parameter[k].name)
            add_field(c, c->parameter[k].field, c->parameter[k].name, c->parameter[k].value);
    for (int k = 0; k < c->count && !c->parameter[k].is_default; k++)
        text_printf(&arguments, "%s%s", k ? ", " : "", passed(c, &c->parameter[k]));
    bool chunk = arguments.length && strstr(arguments.data, "kmm__chunk"), in_c = !c->is_local;
    const char *in = in_c ? "" : "    ";
    if (c->fields.length)
        text_printf(&out, "struct kmm__args_%s {\n%s};\n%s", c->number, c->fields.data,
                    in_c ? "\n" : "");
    if (!in_c)
        text_printf(&out, "struct %s {\n", c->name);
    text_printf(&out, "%sstatic void %s(const kmm_chunk_t *kmm__chunk, void *kmm__block)\n%s{\n",
                in, in_c ? c->name : "kmm__run", in);
    if (!chunk)
        text_printf(&out, "%s    (void)kmm__chunk;\n", in);
    if (c->fields.length)
        text_printf(&out,
                    "%s    const struct kmm__args_%s *kmm__args = (const struct kmm__args_%s "
                    "*)kmm__block;\n",
                    in, c->number, c->number);
    else
        text_printf(&out, "%s    (void)kmm__block;\n", in);
    text_printf(&out, "%s    %s\n%s}\n%s", in, called(c, arguments.data), in, in_c ? "" : "};\n");
    return out.data;
}

/* In C, the function that runs a chunk stands before the enclosing one. */
static void write_before(const call_t *c, const char *text)
{
    size_t begin, end;
    unit_t *u = unit_holding(c->u->main, c->d->top);
    if (!u || !unit_range(u, c->d->top, &begin, &end)) {
        diag_at(SEVERITY_ERROR, c->u->source, c->d->launch_begin, c->d->launch_end,
                "the function around the launch is written by a macro, or its file is not seen; "
                "write it out");
        return;
    }
    begin = source_declaration_begin(u->source, begin);
    unit_edit(u, begin, begin,
              arena_printf("%s\n%s\n", text,
                           source_line_marker(u->source, source_line(u->source, begin))));
}

/* Adds the lines, each with the white space before it. */
static void add_lines(text_t *out, const char *lines, const char *indent)
{
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        text_printf(out, "%.*s\n%s    ", (int)(end - lines), lines, indent);
}

static const char *expected(const call_t *c, const rebase_t *r)
{
    const axis_t *axis = &c->d->axis[r->axis];
    form_t lower = form_of(c->u->source, axis->lower), length = form_of(c->u->source, axis->length);
    if (r->kind == REBASE_LENGTH)
        return form_text(length);
    return form_text(r->kind == REBASE_BEGIN ? lower : form_add(lower, length));
}

static bool calls_functions(const unit_t *u)
{
    for (const unit_t *k = u->main; k; k = k->next)
        for (int m = 0; m < k->directive_count; m++)
            if (k->directives[m]->bound && k->directives[m]->kind == DIRECTIVE_PARALLEL &&
                !k->directives[m]->is_kernel)
                return true;
    return false;
}

const char *call_rethrow(const unit_t *u, unsigned line)
{
    if (u->lang == LANG_C || (u->lang != LANG_CXX && !calls_functions(u)))
        return "";
    return arena_printf(" kmm_rethrow(%s, %u);", text_quoted(u->source->path), line);
}

/* True if the description of the launch is written at the call, and not at the pragma. */
static bool is_described_here(const call_t *c)
{
    for (int k = 0; k < c->u->edit_count; k++)
        if (c->u->edits[k].begin == c->d->launch_begin && c->u->edits[k].end == c->d->launch_begin)
            return true;
    return false;
}

/* What a chunk has thrown is thrown again where the launch has waited for its results. */
static const char *thrown(const call_t *c)
{
    const char *rethrow = call_rethrow(c->u, c->line);
    return *rethrow ? arena_printf(" if (kmm_launch_waited())%s", rethrow) : "";
}

static void write_call(call_t *c, const char *definitions, const char *indent)
{
    const source_t *s = c->u->source;
    text_t out = {0};
    size_t begin = c->d->launch_begin; /* with the white space before it, when it begins its line */
    while (s->text[begin - 1] == ' ' || s->text[begin - 1] == '\t')
        begin--;
    if (s->text[begin - 1] != '\n' || is_described_here(c))
        begin = c->d->launch_begin;
    else
        text_printf(&out, "%s    ", indent);
    const char *args = c->fields.length       ? "&kmm__args, sizeof(kmm__args)"
                       : c->u->lang == LANG_C ? "NULL, 0"
                                              : "nullptr, 0";
    for (int k = 0; k < c->count; k++)
        if (c->parameter[k].rebase)
            text_printf(&out, "kmm_launch_expect(kmm__launch, %s, %s, %s);\n%s    ",
                        text_quoted(c->parameter[k].shown), c->parameter[k].placed,
                        expected(c, c->parameter[k].rebase), indent);
    if (c->is_local)
        add_lines(&out, definitions, indent);
    if (c->fields.length && c->u->lang == LANG_C)
        text_printf(&out, "struct kmm__args_%s kmm__args = { %s };\n%s    ", c->number,
                    c->values.data, indent);
    else if (c->fields.length)
        text_printf(&out, "struct kmm__args_%s kmm__args{};%s\n%s    ", c->number,
                    c->assignments.data, indent);
    for (int k = 0; k < c->count; k++)
        if (c->d->unused && c->d->unused[k] && c->parameter[k].name)
            text_printf(&out,
                        "kmm_launch_unused(kmm__launch, __builtin_offsetof(struct kmm__args_%s, "
                        "%s) / sizeof(void *));\n%s    ",
                        c->number, c->parameter[k].name, indent);
    if (c->variables && c->is_local)
        add_lines(&out, c->variables, indent);
    if (c->variables)
        text_printf(&out, "kmm_launch_variables(kmm__launch, kmm__variables_%s, %d);\n%s    ",
                    c->number, c->variable_count, indent);
    if (c->d->borrows || outside_is_read(c->u, c->d))
        text_printf(&out, "kmm_launch_await(kmm__launch);\n%s    ", indent);
    if (outside_is_owned(c->u, c->d))
        text_printf(&out, "kmm_launch_once(kmm__launch);\n%s    ", indent);
    text_printf(&out,
                "kmm_directive_check(kmm_launch_call(kmm__launch, %s, %s), %s, %u);%s%s\n%s}\n%s\n",
                arena_printf("%s%s", c->name, c->is_local ? "::kmm__run" : ""), args,
                text_quoted(s->path), c->line, thrown(c), c->d->returns ? " return;" : "", indent,
                source_line_marker(s, source_line(s, c->d->launch_end)));
    unit_edit(c->u, begin, c->d->launch_end, out.data);
}

void call_rewrite(unit_t *u, directive_t *d, const char *indent)
{
    unsigned line = source_line(u->source, d->pragma.begin);
    call_t c = {.u = u,
                .d = d,
                .line = line,
                .is_local = u->lang != LANG_C,
                .name = unit_name(u, arena_printf("kmm__call_%u", line))};
    c.number = c.name + strlen("kmm__call_");
    if ((!c.is_local && !is_declared_before(&c)) || !read_parameters(&c))
        return;
    const char *text = definitions(&c);
    c.variables =
        variables_table(u, d, arena_printf("kmm__variables_%s", c.number), &c.variable_count);
    if (!c.is_local)
        write_before(&c, c.variables ? arena_printf("%s\n%s", c.variables, text) : text);
    write_call(&c, text, indent);
    const item_t **moved = arena_alloc(((size_t)c.count + 1) * sizeof(const item_t *));
    for (int k = 0; k < c.count; k++)
        moved[k] = c.parameter[k].item;
    prove_call(u, d, moved);
}
