/* SPDX-License-Identifier: Apache-2.0 */
/* Checks directives, and reports each error at its position. */
#include "analyze/check.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <string.h>

#include "analyze/by_name.h"
#include "analyze/check_argument.h"
#include "analyze/check_axis.h"
#include "analyze/check_block.h"
#include "analyze/check_hazard.h"
#include "analyze/check_item.h"
#include "analyze/check_nowait.h"
#include "analyze/check_operator.h"
#include "analyze/check_rebase.h"
#include "analyze/check_scalar.h"
#include "analyze/check_section.h"
#include "analyze/compare.h"
#include "analyze/configured.h"
#include "analyze/flow.h"
#include "analyze/instances.h"
#include "analyze/launch_throws.h"
#include "analyze/shared.h"
#include "analyze/state.h"
#include "analyze/thrown.h"
#include "base/diag.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "pragma/directive.h"

/* ---- declare kernel ---- */

/* The names in a declaration are those of the parameters of d->function, in which it is checked. */
static void check_declaration(unit_t *u, directive_t *d)
{
    int errors = diag_error_count();
    CXCursor definition = clang_getCursorDefinition(d->callee);
    const parameter_list_t *p = check_parameters(d->function);
    d->is_kernel = true;
    d->callee_name = cursor_name(d->callee);
    check_axes(u, d);
    check_scalars(u, d);
    check_items(u, d);
    check_fits(u, d);
    if (!clang_Cursor_isNull(definition)) {
        for (int k = 0; k < p->count; k++)
            if (flow_is_pointer(type_of_parameter(d->callee, k, p->at[k])))
                check_parameter_use(u, d, definition, p->at[k], k);
    }
    d->failed = diag_error_count() > errors;
}

/* ---- Launches in templates ---- */

/* Says in which instance of the template the clauses are wrong. */
static void note_instance(unit_t *u, const directive_t *d, const instance_t *i)
{
    diag_at(SEVERITY_NOTE, u->source, d->launch_begin, d->launch_end,
            "'%s' is launched here in the instance '%s'", i->title, i->place);
}

/* Takes back warnings: all, or those of clauses that are wider than what is accessed. */
static void retract_warnings(int first, bool all)
{
    for (int k = diag_count() - 1; k >= first; k--)
        if (all || strstr(diag_said(k), "[-Wkmm-wide]"))
            diag_retract(k, k + 1);
}

/* The clauses have to be right for each instance. What one instance needs is not too wide, and what
 * is wrong with several is said once. `is_good`: no error of the pragma was reported. */
static void check_instances(unit_t *u, directive_t *d, bool compares, bool is_good)
{
    int errors = diag_error_count(), before = diag_count();
    for (int k = 0; k < d->instance_count && diag_error_count() == errors; k++) {
        int first = diag_count();
        if (!instance_enter(u, d, k))
            return;
        if ((!is_good || check_effects(u, d)) && (!compares || compare_accesses(u, d)))
            check_uses(u, d);
        instance_leave(u, d);
        if (diag_error_count() > errors)
            note_instance(u, d, &d->instance[k]);
        else if (d->instance_count > 1)
            retract_warnings(first, first > before);
    }
}

/* ---- Plain functions ---- */

/* True if a message says already that chunks may give something else than one call. first: the
 * number of messages before those about the directive. */
static bool is_doubted(int first)
{
    static const char *const names[] = {"[-Wkmm-length]", "[-Wkmm-output]", "[-Wkmm-thread]",
                                        "[-Wkmm-order]", "[-Wkmm-calls]"};
    for (int n = first; n < diag_count(); n++)
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
            if (strstr(diag_said(n), names[k]))
                return true;
    return false;
}

/* ---- All directives ---- */

void check_directive(unit_t *u, directive_t *d)
{
    const directive_t *declared = directive_declared(d);
    if (d->kind == DIRECTIVE_TASK)
        check_task(u, d);
    else if (d->kind != DIRECTIVE_PARALLEL)
        check_data(u, d);
    if (d->kind != DIRECTIVE_PARALLEL || clang_Cursor_isNull(d->launch) ||
        (declared && (declared->failed || declared->broken)))
        return;
    int first = diag_error_count(), said = diag_count();
    check_hazards(u, d);
    check_launch_throws(u, d);
    check_configured(u, d);
    check_axes(u, d);
    check_scalars(u, d);
    check_items(u, d);
    check_fits(u, d);
    check_stride(u, d);
    /* Which arguments the items name shows in an instance: there all types are known. */
    if (!check_pack(u, d))
        return;
    bool entered = instances_are_known(d) && instance_enter(u, d, 0);
    check_arguments(u, d);
    if (entered)
        instance_leave(u, d);
    int errors = diag_error_count();
    check_stored_addresses(u, d);
    check_operators(u, d);
    check_rebase(u, d);
    check_nowait(u, d);
    bool compares = !u->main->options->no_compare && diag_error_count() == errors;
    if (instances_are_known(d))
        check_instances(u, d, compares, diag_error_count() == first);
    else if (!d->is_kernel || !compares || compare_accesses(u, d))
        check_uses(u, d);
    if (!d->is_kernel && compares && diag_error_count() == errors && check_state(u, d) &&
        check_shared(u, d) && check_thrown(u, d)) {
        compare_accesses(u, d);
        check_by_name(u, d);
    }
    d->is_compared = compares && diag_error_count() == first;
    d->is_doubted |= is_doubted(said);
}

/* An error in a declaration is reported once, and not again at its launches. */
void check_directives(unit_t *u)
{
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++)
            if (file->directives[k]->kind == DIRECTIVE_DECLARE && file->directives[k]->bound &&
                !file->directives[k]->broken)
                check_declaration(file, file->directives[k]);
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            directive_t *d = file->directives[k];
            if (d->kind != DIRECTIVE_DECLARE && d->bound && !d->broken)
                check_directive(file, d);
        }
}
