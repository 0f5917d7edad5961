/* SPDX-License-Identifier: Apache-2.0 */
/* Registers clones with the runtime. */
#include "gpu/register.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/source.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "clang/written.h"
#include "gpu/name.h"
#include "gpu/partials.h"

const char *register_template_arguments(CXCursor instance)
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
                    type_written(LANG_CXX, clang_getArgType(type, (unsigned)k)));
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
        o->count += !strcmp(cursor_name(c), o->name);
    return CXChildVisit_Continue;
}

static bool is_overloaded(CXCursor kernel)
{
    overloads_t o = {cursor_name(kernel), 0};
    clang_visitChildren(clang_getCursorSemanticParent(kernel), count_overload, &o);
    return o.count > 1;
}

/* `first` is the type of the clone's own parameter. */
static const char *registration_call(const unit_t *u, CXCursor kernel, const char *first,
                                     const char *scope, const char *arguments)
{
    bool chosen = is_overloaded(kernel);
    const char *name = cursor_name(kernel);
    return arena_printf("kmm_%s_register_clone((const void *)%s%s%s%s%s, (const void *)%s%s%s%s)",
                        u->lang == LANG_HIP ? "hip" : "cuda",
                        chosen ? chosen_type(kernel, first) : "", scope, u->main->prefix, name,
                        arguments, chosen ? chosen_type(kernel, "") : "", scope, name, arguments);
}

const char *register_clone(const unit_t *u, const function_t *f)
{
    unsigned line = source_line(f->u->source, f->begin);
    if (cursor_is_template(f->cursor) ||
        !clang_Cursor_isNull(clang_getSpecializedCursorTemplate(f->cursor)))
        return "";
    const char *file = f->u == u->main ? "" : arena_printf("%s_", f->name);
    return arena_printf("\nstatic const int %s = %s;",
                        unit_name(u, arena_printf("kmm_registered_%s%u", file, line)),
                        registration_call(u, f->cursor, partials_type(f), "", ""));
}

static const char *launched_type(const unit_t *u, const target_kernel_t *t)
{
    return clang_Cursor_isNull(t->definition) ? "kmm_blocks_t"
                                              : partials_type(reach_kernel(u->main, t->definition));
}

/* An instance of a template is registered where it is launched, when the launch does not name the
 * clone. */
const char *register_launch(const unit_t *u, const directive_t *d)
{
    text_t out = {0};
    text_add(&out, "", 0);
    if (d->names_clone || !d->is_kernel)
        return "";
    for (int k = 0; k < d->target_count; k++) {
        const target_kernel_t *t = &d->target[k];
        const char *arguments =
            cursor_is_template(t->kernel) ? register_template_arguments(t->instance) : NULL;
        if (arguments)
            text_printf(&out, "%s%s", out.length ? ", " : "",
                        registration_call(u, t->instance, launched_type(u, t),
                                          name_namespaces(t->kernel),
                                          arena_printf("<%s>", arguments)));
    }
    return out.length
               ? arena_printf("static const int kmm__registered = (%s); (void)kmm__registered;",
                              out.data)
               : "";
}
