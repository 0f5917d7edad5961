/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that describe a launch to libkmm, as include/kmm/launch.h defines them. */
#include "emit/describe.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/check_section.h"
#include "analyze/outside.h"
#include "analyze/translate.h"
#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "emit/graph.h"
#include "emit/origin.h"
#include "kmm/launch.h"
#include "pragma/parse.h"

static const char *const source_names[] = {"KMM_GLOBAL_X", "KMM_GLOBAL_Y", "KMM_GLOBAL_Z",
                                           "KMM_BLOCK_X",  "KMM_BLOCK_Y",  "KMM_BLOCK_Z",
                                           "KMM_RANGE_0",  "KMM_RANGE_1",  "KMM_RANGE_2"};
static const char *const op_names[] = {
    "KMM_OP_ADD",  "KMM_OP_MUL",  "KMM_OP_MIN", "KMM_OP_MAX",    "KMM_OP_BAND",  "KMM_OP_BOR",
    "KMM_OP_BXOR", "KMM_OP_LAND", "KMM_OP_LOR", "KMM_OP_ARGMIN", "KMM_OP_ARGMAX"};
static const char *const type_names[] = {
    "KMM_INT8",   "KMM_INT16",    "KMM_INT32",         "KMM_INT64",         "KMM_UINT8",
    "KMM_UINT16", "KMM_UINT32",   "KMM_UINT64",        "KMM_FLOAT",         "KMM_DOUBLE",
    "KMM_HALF",   "KMM_BFLOAT16", "KMM_COMPLEX_FLOAT", "KMM_COMPLEX_DOUBLE"};

/* ---- Values: what the description is made of besides the text of the source ---- */

static void add_value(values_t *values, const char *call)
{
    for (int k = 0; k < values->count; k++)
        if (!strcmp(values->call[k], call))
            return;
    values->is_full |= values->count == KMM_MAX_VALUES;
    if (!values->is_full)
        values->call[values->count++] = call;
}

/* Returns the number's text. */
static const char *integer(values_t *values, form_t f)
{
    const char *text = form_text(f);
    if (!f.known)
        add_value(values, arena_printf("kmm_number(%s)", text));
    return text;
}

static const char *number(const unit_t *u, values_t *values, const expr_t *e, const char *otherwise)
{
    return e ? integer(values, form_of(u->source, e)) : otherwise;
}

/* Returns the text of the address. */
static const char *address(values_t *values, const char *text)
{
    add_value(values, arena_printf("kmm_address(%s)", text));
    return text;
}

/* ---- Calls ---- */

const char *describe_base(const unit_t *u, const expr_t *base)
{
    const char *text = source_words(u->source, base->begin, base->end);
    bool closed = base->kind == EXPR_NAME || u->source->text[base->begin] == '(';
    return closed ? text : arena_printf("(%s)", text);
}

static void describe_axes(const unit_t *u, const directive_t *d, const char *indent,
                          values_t *values, text_t *out)
{
    int entry = 0;
    if (d->bounded)
        text_printf(out, "%skmm_launch_bounded(kmm__launch);\n", indent);
    for (int k = 0; k < d->axis_count; k++)
        text_printf(out, "%skmm_launch_axis(kmm__launch, \"%s\", %s, %s, %s);\n", indent,
                    d->axis[k].name, source_names[d->axis[k].source],
                    number(u, values, d->axis[k].lower, "0"),
                    number(u, values, d->axis[k].length, "KMM_WHOLE"));
    for (int k = 0; k < d->axis_count; k++)
        if (d->axis[k].splits && entry < d->chunk_count)
            text_printf(out, "%skmm_launch_chunk(kmm__launch, %s, %s);\n", indent,
                        source_names[d->axis[k].source], number(u, values, d->chunk[entry++], ""));
}

/* The number of dimensions that are described; 0: one flat one. */
static int extents_of(const item_t *item)
{
    return item->shape                               ? item->shape->dims
           : item->inner_dims && item->section_count ? item->inner_dims + 1
                                                     : 0;
}

static const char *stars_of(int count)
{
    char *stars = arena_alloc((size_t)count + 1);
    memset(stars, '*', (size_t)count);
    stars[count] = 0;
    return stars;
}

/* An extent of an array type is a quotient of sizes, so that it is right for variable arrays, too.
 */
static form_t extent_of(const unit_t *u, const item_t *item, int dimension)
{
    if (item->shape)
        return form_of(u->source, item->shape->extent[dimension]);
    const char *base = describe_base(u, item->base), *stars = stars_of(dimension);
    if (dimension == 0 && clang_getCanonicalType(item->base->type).kind == CXType_Pointer)
        return (form_t){.text = "KMM_WHOLE"};
    return (form_t){.text = arena_printf("sizeof(%s%s) / sizeof(*%s%s)", stars, base, stars, base),
                    .precedence = 10};
}

/* The type of the offsets, as an expression where a template decides. */
static const char *offsets_type(CXType element, const char *base)
{
    kmm_type_t known;
    if (section_offsets_type(element, &known))
        return type_names[known];
    const char *type = arena_printf("__typeof__(+*(%s))", base);
    return arena_printf("sizeof(*(%s)) < 4 ? KMM_INT8 : (%s)-1 < (%s)1"
                        " ? sizeof(*(%s)) == 8 ? KMM_INT64 : KMM_INT32"
                        " : sizeof(*(%s)) == 8 ? KMM_UINT64 : KMM_UINT32",
                        base, type, type, base, base);
}

/* An array, or its shape, tells how many offsets there are. */
static void describe_offsets(const unit_t *u, const section_t *section, const char *indent,
                             values_t *values, text_t *out)
{
    const char *base = describe_base(u, section->offsets), *count = "KMM_WHOLE";
    CXType type = section_offsets_array(section->offsets);
    if (section->offsets_shape)
        count = integer(values, form_of(u->source, section->offsets_shape->extent[0]));
    else if (type_is_array(type) && type.kind != CXType_IncompleteArray)
        count = arena_printf("sizeof(%s) / sizeof(*%s)", base, base);
    text_printf(out, "%skmm_launch_offsets(kmm__launch, %s, %s, %s);\n", indent,
                address(values, base), offsets_type(type_pointee(type), base), count);
}

static void describe_section(const unit_t *u, const directive_t *d, const section_t *section,
                             const char *indent, values_t *values, text_t *out)
{
    if (!section->lower) {
        text_printf(out, "%skmm_launch_index(kmm__launch, 0, KMM_WHOLE);\n", indent);
        return;
    }
    const affine_t *lower = section->offsets ? &section->first_part : &section->lower_form,
                   *length = section->offsets ? &section->part_count : &section->length_form;
    text_printf(out, "%skmm_launch_index(kmm__launch, %s, %s);\n", indent,
                integer(values, lower->constant), integer(values, length->constant));
    for (int k = 0; k < d->axis_count; k++)
        if (!form_is(lower->coef[k], 0) || !form_is(length->coef[k], 0))
            text_printf(out, "%skmm_launch_coef(kmm__launch, %d, %s, %s);\n", indent, k,
                        integer(values, lower->coef[k]), integer(values, length->coef[k]));
    if (section->offsets)
        describe_offsets(u, section, indent, values, out);
}

/* True if the argument is the one that the call passes for another item. */
static bool is_of_another(const unit_t *u, const directive_t *d, const item_t *item,
                          CXCursor argument)
{
    for (int k = 0; k < d->item_count; k++)
        if (&d->item[k] != item && origin_is_item(u, d, &d->item[k], argument))
            return true;
    return false;
}

/* The pointers from which the item's base is computed, where they are others: an argument may hold
 * these in place of the base. */
static void describe_through(const unit_t *u, const directive_t *d, const item_t *item,
                             const char *indent, values_t *values, text_t *out)
{
    size_t begin, end;
    if (!d->argument_count || origin_is_passed(u, d, item))
        return;
    const char *origin = origin_of_base(u, item->base);
    if (!origin)
        return;
    const char *base = origin_bare(source_words(u->source, item->base->begin, item->base->end));
    if (strcmp(origin, base) != 0)
        text_printf(out, "%skmm_launch_through(kmm__launch, %s);\n", indent,
                    address(values, origin));
    for (int k = 0; k < d->argument_count; k++) {
        const char *other = origin_of_argument(u, d, d->argument[k]);
        if (!other || strcmp(other, origin) != 0 || !origin_is_pure(d->argument[k]) ||
            is_of_another(u, d, item, d->argument[k]) ||
            !callee_argument_range(u, d, d->argument[k], &begin, &end))
            continue;
        const char *text = source_words(u->source, begin, end);
        if (strcmp(origin_bare(text), base) != 0 && strcmp(origin_bare(text), origin) != 0)
            text_printf(out, "%skmm_launch_through(kmm__launch, %s);\n", indent,
                        address(values, text));
    }
}

/* Whether the call hands on what holds pointers. */
static bool hands_on(CXCursor call)
{
    bool found = false;
    for (int k = 0; k < clang_Cursor_getNumArguments(call); k++) {
        CXCursor argument = clang_Cursor_getArgument(call, (unsigned)k);
        CXType type = clang_getCanonicalType(clang_getCursorType(argument));
        found |=
            type_holds_pointers(type.kind == CXType_Pointer ? clang_getPointeeType(type) : type);
    }
    return found;
}

/* Whether the mention uses a pointer that lies in memory, or hands on what holds one. */
static enum CXChildVisitResult find_pointer(CXCursor c, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    bool *found = data;
    (void)parent;
    *found |= kind == CXCursor_MemberRefExpr && type_holds_pointers(type);
    *found |= kind == CXCursor_CallExpr && hands_on(c);
    return *found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* Whether the function may follow pointers that the item's elements hold: it is not seen, or calls
 * another, or names a member that holds one. */
static bool follows_pointers(const directive_t *d, CXType element)
{
    CXCursor f =
        clang_Cursor_isNull(d->definition) ? clang_getCursorDefinition(d->callee) : d->definition;
    bool found = clang_Cursor_isNull(f) || clang_getCanonicalType(element).kind != CXType_Record;
    if (!found)
        clang_visitChildren(f, find_pointer, &found);
    return found;
}

static bool packs_pointers(CXType type);

static enum CXVisitorResult find_packed_field(CXCursor field, CXClientData data)
{
    CXType type = clang_getCursorType(field);
    const long long at = clang_Cursor_getOffsetOfField(field) / 8;
    *(bool *)data |=
        type_holds_pointers(type) && (at % (long long)sizeof(void *) || packs_pointers(type));
    return *(bool *)data ? CXVisit_Break : CXVisit_Continue;
}

/* True if pointers in array elements of the type may lie at addresses that are no multiple of a
 * pointer's size. */
static bool packs_pointers(CXType type)
{
    type = clang_getCanonicalType(type);
    while (clang_getArrayElementType(type).kind != CXType_Invalid)
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    bool found =
        type_holds_pointers(type) && clang_Type_getSizeOf(type) % (long long)sizeof(void *) != 0;
    if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_packed_field, &found);
    return found;
}

/* Pointers that the item's elements hold, and which a plain function may follow or store. */
static void describe_pointers(const directive_t *d, const item_t *item, const char *indent,
                              text_t *out)
{
    CXType element = type_pointee(clang_getCanonicalType(item->base->type));
    while (type_is_array(element))
        element = type_pointee(element);
    bool numbers = d->stores_numbers && type_is_integer(clang_getCanonicalType(element)) &&
                   clang_Type_getSizeOf(element) == (long long)sizeof(void *);
    if (d->is_kernel || item->mode == KMM_REDUCE || !(type_holds_pointers(element) || numbers))
        return;
    if (!numbers && follows_pointers(d, element))
        text_printf(out, "%skmm_launch_pointers(kmm__launch);\n", indent);
    if (item->mode != KMM_READ)
        text_printf(out, "%skmm_launch_stored_pointers(kmm__launch);\n", indent);
    if (packs_pointers(element))
        text_printf(out, "%skmm_launch_packed_pointers(kmm__launch);\n", indent);
}

static void describe_item(const unit_t *u, const directive_t *d, const item_t *item,
                          const char *indent, values_t *values, text_t *out)
{
    static const char *const modes[] = {"", "KMM_READ", "KMM_WRITE", "KMM_UPDATE"};
    const char *text = text_quoted(source_words(u->source, item->begin, item->end));
    const char *base = address(values, source_words(u->source, item->base->begin, item->base->end));
    const char *stars = stars_of(item->inner_dims + 1);
    if (item->mode == KMM_REDUCE)
        text_printf(out, "%skmm_launch_reduce(kmm__launch, %s, %s, %s, %s);\n", indent,
                    op_names[item->op], type_names[item->reduced.type], text, base);
    else if (clang_getCanonicalType(clang_getPointeeType(clang_getCanonicalType(item->base->type)))
                 .kind == CXType_Void)
        text_printf(out, "%skmm_launch_access(kmm__launch, %s, %s, %s, 1);\n", indent,
                    modes[item->mode], text, base);
    else
        text_printf(out, "%skmm_launch_access(kmm__launch, %s, %s, %s, sizeof(%s(%s)));\n", indent,
                    modes[item->mode], text, base, stars, base);
    if (item->mode == KMM_REDUCE && item->reduced.takes_number)
        text_printf(out, "%skmm_launch_numbers(kmm__launch);\n", indent);
    if (item->mode == KMM_REDUCE && item->reduced.is_pair)
        text_printf(out, "%skmm_launch_pair(kmm__launch, %lld, %lld, %s, %lld);\n", indent,
                    item->reduced.bytes, item->reduced.value_at, type_names[item->reduced.index],
                    item->reduced.index_at);
    describe_through(u, d, item, indent, values, out);
    describe_pointers(d, item, indent, out);
    for (int k = 0; k < extents_of(item); k++)
        text_printf(out, "%skmm_launch_extent(kmm__launch, %s);\n", indent,
                    integer(values, extent_of(u, item, k)));
    for (int k = 0; k < item->section_count; k++)
        describe_section(u, d, &item->section[k], indent, values, out);
}

bool describe_step(const unit_t *u, const item_t *item, int axis, int inner, form_t *step)
{
    int count = item->section_count - inner;
    *step = form_number(0);
    for (int k = 0; k < item->section_count; k++) {
        const section_t *section = &item->section[k];
        /* Offsets count from the base, wherever the chunk begins. */
        form_t coef =
            section->lower && !section->offsets ? section->lower_form.coef[axis] : form_number(0);
        if (k < count)
            *step =
                form_add(form_multiply(*step, k ? extent_of(u, item, k) : form_number(1)), coef);
        else if (!form_is(coef, 0))
            return false;
    }
    return true;
}

/* Writes the call of each setting. */
static void describe_settings(const unit_t *u, const directive_t *d, const char *indent,
                              values_t *values, text_t *out)
{
    for (int k = 0; k < d->setting_count; k++) {
        const setting_t *s = &d->setting[k];
        text_printf(out, "%skmm_launch_%s(kmm__launch", indent, token_text(u->source, s->name));
        if (s->constant)
            text_printf(out, ", %s", s->constant);
        if (s->value)
            text_printf(out, ", (int)(%s)", number(u, values, s->value, ""));
        if (s->string.kind == TOKEN_STRING)
            text_printf(out, ", %s", directive_string(u->source, d, s->string));
        text_printf(out, ");\n");
    }
}

/* The conditions under which the description holds. */
static void describe_fits(const unit_t *u, const directive_t *d, const char *indent,
                          values_t *values, text_t *out)
{
    if (d->inferred)
        text_printf(out, "%skmm_launch_inferred(kmm__launch);\n", indent);
    for (int k = 0; k < d->fits_count; k++) {
        const fits_t *f = &d->fits[k];
        text_printf(out, "%skmm_launch_fits(kmm__launch, %s, %s, %s, %s);\n", indent,
                    text_quoted(source_words(u->source, f->value->begin, f->value->end)),
                    fits_types[f->type].constant, f->in_grid ? "KMM_IN_GRID" : "KMM_IN_RANGE",
                    integer(values, f->form.constant));
        for (int a = 0; a < d->axis_count; a++)
            if (!form_is(f->form.coef[a], 0))
                text_printf(out, "%skmm_launch_fits_coef(kmm__launch, %d, %s);\n", indent, a,
                            integer(values, f->form.coef[a]));
    }
}

/* Pointers in the structs that are a kernel's arguments, for messages. */
typedef struct members {
    text_t table;
    unsigned argument, count;
    long long at;     /* bytes from the argument's begin to the struct that is looked at */
    const char *text; /* of that struct */
} members_t;

static enum CXVisitorResult add_member(CXCursor field, CXClientData data)
{
    enum { MOST = 32 };
    members_t *m = data;
    CXType type = clang_getCanonicalType(clang_getCursorType(field));
    long long bits = clang_Cursor_getOffsetOfField(field), at = m->at + bits / 8;
    const char *outer = m->text, *text = arena_printf("%s.%s", outer, cursor_name(field));
    if (bits < 0 || m->count == MOST)
        return CXVisit_Break;
    if (!*cursor_name(field))
        return CXVisit_Continue;
    if (type.kind == CXType_Pointer) {
        text_printf(&m->table, "%s{%u, %lld, %s}", m->count++ ? ", " : "", m->argument, at,
                    text_quoted(text));
    } else if (type.kind == CXType_Record) {
        members_t inner = *m;
        inner.at = at;
        inner.text = text;
        clang_Type_visitFields(type, add_member, &inner);
        m->table = inner.table;
        m->count = inner.count;
    }
    return CXVisit_Continue;
}

/* The argument's text, with the conversion to another struct. */
static const char *struct_text(const unit_t *u, CXCursor argument, CXType to, size_t begin,
                               size_t end)
{
    const char *text = source_words(u->source, begin, end);
    CXType is = clang_getUnqualifiedType(translate_written_type(u, argument));
    return is.kind != CXType_Record || clang_equalTypes(is, clang_getUnqualifiedType(to))
               ? text
               : arena_printf("((%s)(%s))", clang_text(clang_getTypeSpelling(to)), text);
}

static void describe_members(const unit_t *u, const directive_t *d, const char *indent, text_t *out)
{
    members_t m = {.count = 0};
    int count = d->callee_type.kind == CXType_FunctionProto && d->is_kernel
                    ? clang_getNumArgTypes(d->callee_type)
                    : 0;
    for (int k = 0; k < count && k < d->argument_count; k++) {
        CXType type = clang_getCanonicalType(clang_getArgType(d->callee_type, (unsigned)k));
        size_t begin, end;
        if (type.kind != CXType_Record || !type_holds_pointers(type) || type_is_dependent(type) ||
            !callee_argument_range(u, d, d->argument[k], &begin, &end))
            continue;
        m.argument = (unsigned)k + 1;
        m.at = 0;
        m.text = struct_text(u, d->argument[k], type, begin, end);
        clang_Type_visitFields(type, add_member, &m);
    }
    if (m.count)
        text_printf(out,
                    "%sstatic const kmm_member_t kmm__members[] = {%s};\n"
                    "%skmm_launch_members(kmm__launch, kmm__members, %u);\n",
                    indent, m.table.data, indent, m.count);
}

static void describe_condition(const unit_t *u, const directive_t *d, const char *indent,
                               values_t *values, text_t *out)
{
    if (d->home) {
        text_printf(out, "%skmm_launch_home(kmm__launch); // %s\n", indent, d->home);
    } else if (d->condition) {
        const char *text =
            arena_printf("!!(%s)", source_words(u->source, d->condition->begin, d->condition->end));
        add_value(values, arena_printf("kmm_number(%s)", text));
        text_printf(out, "%skmm_launch_if(kmm__launch, %s);\n", indent, text);
    }
}

void describe_launch(const unit_t *u, const directive_t *d, const char *indent, values_t *values,
                     text_t *out)
{
    const char *name = d->kind == DIRECTIVE_TASK ? "task" : d->callee_name;
    text_printf(out, "kmm__launch = kmm_launch_begin(%s, %s, %u);\n", text_quoted(name),
                text_quoted(u->source->path), source_line(u->source, d->pragma.begin));
    const char *graph =
        u->options->checks && !u->options->checks_all ? graph_of_launch(u, d) : NULL;
    if (graph)
        text_printf(out, "%skmm_launch_graph(kmm__launch, %s);\n", indent, graph);
    if (d->is_kernel && outside_is_unused(u, d))
        text_printf(out, "%skmm_launch_confined(kmm__launch);\n", indent);
    describe_settings(u, d, indent, values, out);
    describe_axes(u, d, indent, values, out);
    describe_fits(u, d, indent, values, out);
    describe_condition(u, d, indent, values, out);
    if (d->nowait && !d->borrows)
        text_printf(out, "%skmm_launch_nowait(kmm__launch);\n", indent);
    for (int k = 0; d->is_kernel && d->unused && k < d->argument_count; k++)
        if (d->unused[k])
            text_printf(out, "%skmm_launch_unused(kmm__launch, %d);\n", indent, k);
    describe_members(u, d, indent, out);
    for (int k = 0; k < d->item_count; k++) {
        if (d->item[k].inferred && (k == 0 || !d->item[k - 1].inferred))
            text_printf(out, "%skmm_launch_inferred_accesses(kmm__launch);\n", indent);
        describe_item(u, d, &d->item[k], indent, values, out);
    }
}
