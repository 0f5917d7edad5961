/* SPDX-License-Identifier: Apache-2.0 */
/* The edits that turn directives into calls of libkmm. */
#include "emit/rewrite.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/configured.h"
#include "analyze/launch_throws.h"
#include "analyze/task_name.h"
#include "base/arena.h"
#include "base/options.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/written.h"
#include "emit/call.h"
#include "emit/describe.h"
#include "emit/jump.h"
#include "gpu/clone.h"
#include "gpu/register.h"
#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/expression.h"
#include "pragma/form.h"
#include "pragma/pragma.h"

/* Returns the white space at the beginning of the line that has the offset. */
static char *indent_at(const source_t *s, size_t offset)
{
    size_t begin = s->lines[source_line(s, offset) - 1], end = begin;
    while (s->text[end] == ' ' || s->text[end] == '\t')
        end++;
    return arena_copy(s->text + begin, end - begin);
}

/* Returns the pragma as a comment. Each line of it has its own `//`, and the pragma's line splices
 * are left out, because a splice would continue the comment. */
static char *comment_of(const source_t *s, const pragma_t *pragma, const char *indent)
{
    text_t out = {0};
    text_printf(&out, "// ");
    for (size_t k = pragma->begin; k < pragma->end; k++) {
        char c = s->text[k];
        while (c == '\n' && (out.data[out.length - 1] == ' ' || out.data[out.length - 1] == '\t'))
            out.length--;
        if (c == '\n')
            text_printf(&out, "\n%s//", indent);
        else if (c != '\r' && !(c == '\\' && (s->text[k + 1] == '\n' || s->text[k + 1] == '\r')))
            text_add(&out, &c, 1);
    }
    return out.data;
}

/* Returns the pragma of a launch as a comment, without the conditions of inferred
 * clauses. The conditions are the last clauses of the pragma, and become calls below the comment.
 */
static char *comment_of_launch(const source_t *s, const directive_t *d, const char *indent)
{
    pragma_t shown = d->pragma;
    size_t rest = d->fits_count ? d->fits[d->fits_count - 1].end + 1 : 0;
    if (!s->completed || !d->fits_count ||
        rest + strspn(s->text + rest, " \t") < d->pragma.content_end)
        return comment_of(s, &shown, indent);
    shown.end = d->fits_begin;
    while (strchr(" \t\\\n\r", s->text[shown.end - 1]))
        shown.end--;
    return arena_printf("%s%s", comment_of(s, &shown, indent), d->pragma.is_operator ? "\")" : "");
}

/* Returns the `#line` for the text behind the pragma's edit. After a `#pragma` that is the line
 * below it; after an operator, the rest of the operator's own line. */
static const char *line_below(const source_t *s, const pragma_t *pragma)
{
    unsigned line = source_line(s, pragma->end);
    return pragma->is_operator ? arena_printf("%s\n", source_line_marker(s, line))
                               : source_line_marker(s, line + 1);
}

/* Returns the comment that replaces the pragma. Code that follows an operator on its line stays
 * code. */
static char *comment_in_place(const source_t *s, const pragma_t *pragma)
{
    char *comment = comment_of(s, pragma, indent_at(s, pragma->begin));
    return pragma->is_operator ? arena_printf("%s\n%s", comment, line_below(s, pragma)) : comment;
}

/* ---- The header ---- */

/* The header stands before the first changed declaration at file scope. So the header is in no
 * namespace, and macros that the program defines before its own headers hold for it, too. */
void rewrite_include(unit_t *u)
{
    if (u->include_at == SIZE_MAX)
        return;
    bool jumps = jump_find(u);
    size_t place = source_declaration_begin(u->source, u->include_at);
    unit_edit(u, place, place,
              arena_printf("%s#include <kmm/%s>\n%s%s\n",
                           source_begins_line(u->source, place) ? "" : "\n",
                           u->target == TARGET_HOST ? "launch.h"
                           : u->lang == LANG_HIP    ? "hip.h"
                                                    : "cuda.h",
                           jumps ? "#include <kmm/jump.h>\n" : "",
                           source_line_marker(u->source, source_line(u->source, place))));
    u->edits[u->edit_count - 1].order = -1;
}

/* ---- parallel ---- */

/* True if the launch is directly below the pragma. */
static bool stands_below(const unit_t *u, const directive_t *d)
{
    lexer_t l = lexer_at(u->source, d->pragma.end, u->source->length);
    return lex(&l).begin == d->launch_begin;
}

/* Returns the statement that arms the description. The launch's arguments are evaluated after it.
 * Where an argument may throw, the statement declares an object whose destructor drops the
 * description. */
static const char *arm_text(const unit_t *u, const directive_t *d)
{
    return launch_throws(u, d) ? "const kmm_armed_scope kmm__armed(kmm__launch);"
                               : "kmm_launch_arm(kmm__launch);";
}

/* Writes the description of a launch that is made once, or is not kept by libkmm. */
static void write_description(const unit_t *u, const directive_t *d, const char *indent,
                              text_t *out)
{
    values_t values = {.count = 0};
    text_printf(out, "%skmm_launch_t *", indent);
    describe_launch(u, d, indent, &values, out);
}

/* Writes the description of a kernel's launch so that libkmm can keep it (kmm_launch_again), and
 * arms it. False: it is not to be kept, and nothing is written. Plain functions and kernels of the
 * CPU, and kernels under -fkmm-check, are never launched as they stand. A constexpr function may
 * have no static variable. */
static bool write_kept(const unit_t *u, const directive_t *d, const char *indent, text_t *out)
{
    const char *inner = arena_printf("%s    ", indent);
    values_t values = {.count = 0};
    text_t description = {0};
    if (!d->is_kernel || u->target == TARGET_HOST || u->options->checks ||
        launch_is_in_constexpr(u, d))
        return false;
    describe_launch(u, d, inner, &values, &description);
    if (values.count == 0 || values.is_full)
        return false;
    text_printf(out, "%sstatic kmm_site_t kmm__site;\n%sconst kmm_value_t kmm__values[] = {",
                indent, indent);
    for (int k = 0; k < values.count; k++)
        text_printf(out, "%s%s", k ? ", " : "", values.call[k]);
    text_printf(out,
                "};\n%skmm_launch_t *kmm__launch = kmm_launch_again(&kmm__site, kmm__values, %d);\n"
                "%sif (!kmm__launch) {\n%s%s%skmm_launch_keep(kmm__launch, &kmm__site, "
                "kmm__values, %d);\n",
                indent, values.count, indent, inner, description.data, inner, values.count);
    if (!launch_throws(u, d))
        text_printf(out, "%skmm_launch_arm(kmm__launch);\n", inner);
    text_printf(out, "%s}\n", indent);
    return true;
}

/* Writes the launch's configuration before its description, if it may change what that says. The
 * launch takes it from there. */
static void write_configuration(unit_t *u, const directive_t *d, const char *indent, text_t *out)
{
    const text_range_t *c = &d->configuration;
    if (!d->is_kernel || !configured_has_effects(d))
        return;
    text_printf(out, "%sconst kmm_configuration<dim3, %s> kmm__configuration(%s);\n", indent,
                u->lang == LANG_HIP ? "hipStream_t" : "cudaStream_t",
                arena_copy(u->source->text + c->begin, c->end - c->begin));
    unit_edit(u, c->begin, c->end,
              "kmm__configuration.grid, kmm__configuration.block, kmm__configuration.bytes, "
              "kmm__configuration.stream");
}

static void rewrite_parallel(unit_t *u, directive_t *d)
{
    const source_t *s = u->source;
    const char *indent = indent_at(s, d->pragma.begin), *comment = comment_of_launch(s, d, indent);
    const char *inner = arena_printf("%s    ", indent);
    text_t out = {0};
    bool below = stands_below(u, d);
    if (below)
        text_printf(&out, "{ %s\n", comment);
    else
        text_printf(&out, "{\n");
    write_configuration(u, d, inner, &out);
    if (d->is_kernel && u->target != TARGET_HOST && *register_launch(u, d))
        text_printf(&out, "%s%s\n", inner, register_launch(u, d));
    for (int k = 0; k < d->shared_symbols.count && !d->home; k++)
        text_printf(&out, "%skmm_share(%s);\n", inner, d->shared_symbols.item[k]);
    bool is_kept = write_kept(u, d, inner, &out);
    if (!is_kept)
        write_description(u, d, inner, &out);
    if (d->is_kernel && (!is_kept || launch_throws(u, d)))
        text_printf(&out, "%s%s\n", inner, arm_text(u, d));
    if (below) {
        text_printf(&out, "%s", line_below(s, &d->pragma));
        unit_edit(u, d->pragma.begin, d->pragma.end, out.data);
    } else {
        text_printf(&out, "%s\n%s", source_line_marker(s, source_line(s, d->launch_begin)), inner);
        unit_edit(u, d->pragma.begin, d->pragma.end, comment_in_place(s, &d->pragma));
        unit_edit(u, d->launch_begin, d->launch_begin, out.data);
    }
    if (!d->is_kernel) {
        call_rewrite(u, d, indent);
        return;
    }
    if (u->target != TARGET_HOST)
        clone_launch(u, d);
    unit_edit(u, d->launch_end, d->launch_end, " }");
}

/* ---- Directives that stand alone, and data ---- */

static const char *const map_names[] = {"KMM_MAP_TO", "KMM_MAP_FROM", "KMM_MAP_TOFROM",
                                        "KMM_MAP_ALLOC"};

/* Sets *base to an expression for the item's first byte, and *bytes to one for the number of its
 * bytes. */
static void map_extent(const unit_t *u, const map_item_t *item, const char **base,
                       const char **bytes)
{
    const char *text = source_words(u->source, item->base->begin, item->base->end);
    bool pointer = clang_getCanonicalType(item->base->type).kind == CXType_Pointer;
    *base = text;
    *bytes = pointer ? "SIZE_MAX" : arena_printf("sizeof(%s)", text);
    if (!item->length)
        return;
    form_t lower = form_of(u->source, item->lower), length = form_of(u->source, item->length);
    if (!form_is(lower, 0))
        *base = arena_printf("%s + (%s)", describe_base(u, item->base), form_text(lower));
    *bytes = arena_printf("(kmm_size_t)(%s) * sizeof(*(%s))", form_text(length), text);
}

/* Returns the call for one item of a directive that stands alone. */
static const char *alone_call(const unit_t *u, const directive_t *d, const map_item_t *item)
{
    const char *text = text_quoted(source_words(u->source, item->begin, item->end)), *base, *bytes;
    const char *place = arena_printf("%s, %u", text_quoted(u->source->path),
                                     source_line(u->source, d->pragma.begin));
    map_extent(u, item, &base, &bytes);
    switch (d->kind) {
    case DIRECTIVE_WAIT: return arena_printf("kmm_directive_wait_on(%s, %s);", base, place);
    case DIRECTIVE_ENTER_DATA:
        return arena_printf("kmm_data_enter(%s, %s, (void *)(%s), %s, %s);", map_names[item->map],
                            text, base, bytes, place);
    case DIRECTIVE_EXIT_DATA:
        return arena_printf("kmm_data_exit((void *)(%s), %s, %s);", base, bytes, place);
    case DIRECTIVE_UPDATE:
        return arena_printf("kmm_data_update(%s, %s, %s, %s, %s);",
                            item->map == KMM_MAP_TO ? "KMM_TO" : "KMM_FROM", text, base, bytes,
                            place);
    case DIRECTIVE_PARALLEL:
    case DIRECTIVE_TASK:
    case DIRECTIVE_DATA:
    case DIRECTIVE_DECLARE: break;
    }
    return "";
}

static void rewrite_alone(unit_t *u, const directive_t *d)
{
    const source_t *s = u->source;
    const char *indent = indent_at(s, d->pragma.begin),
               *comment = comment_of(s, &d->pragma, indent);
    text_t out = {0};
    if (d->kind == DIRECTIVE_WAIT && d->map_count == 0) {
        unsigned line = source_line(s, d->pragma.begin);
        text_printf(&out, "kmm_directive_wait(%s, %u);%s %s", text_quoted(s->path), line,
                    call_rethrow(u, line), comment_in_place(s, &d->pragma));
        unit_edit(u, d->pragma.begin, d->pragma.end, out.data);
        return;
    }
    text_printf(&out, "%s\n", comment);
    for (int k = 0; k < d->map_count; k++)
        text_printf(&out, "%s%s\n", indent, alone_call(u, d, &d->map[k]));
    if (*call_rethrow(u, 0))
        text_printf(&out, "%s%s\n", indent, call_rethrow(u, source_line(s, d->pragma.begin)) + 1);
    text_printf(&out, "%s", line_below(s, &d->pragma));
    unit_edit(u, d->pragma.begin, d->pragma.end, out.data);
}

/* The output keeps the items' addresses in variables, because the block may change the program's
 * pointers. */
static void rewrite_data(unit_t *u, const directive_t *d)
{
    const source_t *s = u->source;
    const char *indent = indent_at(s, d->pragma.begin), *file = text_quoted(s->path);
    unsigned line = source_line(s, d->pragma.begin);
    size_t begin, end;
    text_t enter = {0}, leave = {0};
    text_printf(&enter, "{ %s\n", comment_of(s, &d->pragma, indent));
    for (int k = 0; k < d->map_count; k++) {
        const char *base, *bytes;
        map_extent(u, &d->map[k], &base, &bytes);
        text_printf(&enter,
                    "%s    void *const kmm__base_%d = (void *)(%s);\n%s    const kmm_size_t "
                    "kmm__bytes_%d = %s;\n",
                    indent, k, base, indent, k, bytes);
        text_printf(&enter, "%s    kmm_data_open(%s, %s, kmm__base_%d, kmm__bytes_%d, %s, %u);\n",
                    indent, map_names[d->map[k].map],
                    text_quoted(source_words(s, d->map[k].begin, d->map[k].end)), k, k, file, line);
        if (u->lang != LANG_C)
            text_printf(
                &enter,
                "%s    kmm_data_scope kmm__scope_%d(kmm__base_%d, kmm__bytes_%d, %s, %u);\n",
                indent, k, k, k, file, line);
    }
    for (int k = d->map_count - 1; k >= 0; k--)
        if (u->lang != LANG_C)
            text_printf(&leave, " kmm__scope_%d.kmm_end();", k);
        else
            text_printf(&leave, " kmm_data_close(kmm__base_%d, kmm__bytes_%d, %s, %u);", k, k, file,
                        line);
    text_printf(&leave, "%s", call_rethrow(u, line));
    text_printf(&enter, "%s", line_below(s, &d->pragma));
    text_printf(&leave, " }");
    unit_edit(u, d->pragma.begin, d->pragma.end, enter.data);
    if (unit_range(u, d->statement, &begin, &end))
        unit_edit(u, end, end, leave.data);
}

/* ---- task ---- */

/* Returns the type of the pointer that hides the base's name. The spelling of a type that the
 * program has named is not used, because the name may mean something else here. */
static const char *shadow_type(const unit_t *u, const expr_t *base)
{
    CXType type = clang_getUnqualifiedType(base->type);
    const char *text = source_words(u->source, base->begin, base->end);
    if (type_is_plain(type))
        return clang_text(clang_getTypeSpelling(clang_getCanonicalType(type)));
    if (clang_getCanonicalType(type).kind == CXType_Pointer)
        return arena_printf("%s(%s + 0)", u->lang == LANG_C ? "__typeof__" : "decltype", text);
    return arena_printf("%s(&*%s)", u->lang == LANG_C ? "__typeof__" : "decltype", text);
}

/* True if the item's name is to be hidden. Each name is hidden once. In a task on the CPU an array
 * is at its own address, so its name is not hidden. */
static bool hides(const unit_t *u, const directive_t *d, const task_names_t *names, int number)
{
    return task_name_first(u, d, number) == number &&
           !(names->on_cpu && task_name_is_array(&d->item[number]));
}

/* True if a reference hides the item's name. In C++ it does for an array whose type can be written,
 * so that the name still means an array. */
static bool hides_by_reference(const unit_t *u, const item_t *item)
{
    return u->lang != LANG_C && task_name_has_type(u, item);
}

/* Writes the pointer of an item to `out`, and the declaration that hides the item's name to
 * `inner`. */
static void write_shadow(const unit_t *u, const item_t *item, int number, const char *indent,
                         text_t *out, text_t *inner)
{
    const expr_t *base = item->base;
    bool by_reference = hides_by_reference(u, item);
    const char *name = source_words(u->source, base->begin, base->end),
               *type = by_reference ? arena_printf("decltype(&(%s))", name) : shadow_type(u, base);
    text_printf(out, "%s%s = (%s)kmm_task_pointer(kmm__task, %s);\n", indent,
                type_declaration(type, arena_printf("const kmm__pointer_%d", number)), type, name);
    if (by_reference)
        text_printf(inner, "%s    decltype((%s)) %s = *kmm__pointer_%d; (void)%s;\n", indent, name,
                    name, number, name);
    else
        text_printf(inner, "%s    %s = kmm__pointer_%d; (void)%s;\n", indent,
                    type_declaration(type, arena_printf("const %s", name)), number, name);
}

/* In C a pointer hides the name of an array. Where the program needs the array itself, as in
 * sizeof, an edit replaces the name by `*` of a pointer to the array. */
static void write_arrays(unit_t *u, const directive_t *d, const task_names_t *names,
                         const char *indent, text_t *out)
{
    bool is_written[MAX_ITEMS] = {false};
    for (int k = 0; k < names->count && !names->on_cpu && u->lang == LANG_C; k++) {
        const array_place_t *p = &names->place[k];
        const expr_t *base = d->item[p->item].base;
        const char *name = source_words(u->source, base->begin, base->end);
        if (!is_written[p->item])
            text_printf(out,
                        "%s__typeof__(%s) *const kmm__array_%d = (__typeof__(%s) "
                        "*)kmm__pointer_%d;\n",
                        indent, name, p->item, name, p->item);
        is_written[p->item] = true;
        unit_edit(u, p->begin, p->end, arena_printf("(*kmm__array_%d)", p->item));
    }
}

/* The output fetches the pointers before it hides names, while these still mean the program's
 * variables. */
static void write_shadows(unit_t *u, const directive_t *d, const task_names_t *names,
                          const char *indent, text_t *out)
{
    text_t inner = {0};
    text_add(&inner, "", 0);
    for (int k = 0; k < d->item_count; k++)
        if (hides(u, d, names, k))
            write_shadow(u, &d->item[k], k, indent, out, &inner);
    write_arrays(u, d, names, indent, out);
    text_printf(out, "%sif (kmm__task) {\n%s", indent, inner.data);
    if (d->stream) {
        const char *name = source_words(u->source, d->stream->begin, d->stream->end);
        const char *type = arena_printf("__typeof__(%s)", name),
                   *cast = u->lang == LANG_C ? "" : arena_printf("(decltype(+%s))", name);
        text_printf(out, "%s    %s = %skmm__stream; (void)%s;\n", indent,
                    type_declaration(type, arena_printf("const %s", name)), cast, name);
    }
}

static void rewrite_task(unit_t *u, const directive_t *d)
{
    const task_names_t names = task_names(u, d);
    const source_t *s = u->source;
    const char *indent = indent_at(s, d->pragma.begin), *inner = arena_printf("%s    ", indent);
    text_t out = {0};
    text_printf(&out, "{ %s\n", comment_of(s, &d->pragma, indent));
    write_description(u, d, inner, &out);
    if (names.on_cpu && !names.says_device)
        text_printf(&out, "%skmm_launch_device(kmm__launch, KMM_ON_HOST, 0);\n", inner);
    if (d->stream)
        text_printf(&out, "%svoid *kmm__stream;\n", inner);
    text_printf(
        &out, "%skmm_task_t *const kmm__task = kmm_task_begin(kmm__launch, %s, %s);\n", inner,
        d->stream ? arena_printf("(void *)%s", source_words(s, d->stream->begin, d->stream->end))
        : u->lang == LANG_C ? "NULL"
                            : "nullptr",
        d->stream           ? "&kmm__stream"
        : u->lang == LANG_C ? "NULL"
                            : "nullptr");
    if (u->lang != LANG_C)
        text_printf(&out, "%sconst kmm_task_scope kmm__scope(kmm__task);\n", inner);
    write_shadows(u, d, &names, inner, &out);
    text_printf(&out, "%s", line_below(s, &d->pragma));
    unit_edit(u, d->pragma.begin, d->pragma.end, out.data);
    unit_edit(u, d->statement_end, d->statement_end,
              u->lang == LANG_C ? " } kmm_task_end(kmm__task); }" : " } }");
}

void rewrite_directives(unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++) {
        directive_t *d = u->directives[k];
        if (d->kind == DIRECTIVE_DECLARE && d->declares)
            unit_edit(u, d->pragma.begin, d->pragma.end, comment_in_place(u->source, &d->pragma));
        if (!d->bound || d->kind == DIRECTIVE_DECLARE)
            continue;
        unit_include_before(u, clang_Cursor_isNull(d->outermost) ? d->function : d->outermost);
        if (d->kind == DIRECTIVE_PARALLEL)
            rewrite_parallel(u, d);
        else if (d->kind == DIRECTIVE_TASK)
            rewrite_task(u, d);
        else if (d->kind == DIRECTIVE_DATA)
            rewrite_data(u, d);
        else
            rewrite_alone(u, d);
    }
}
