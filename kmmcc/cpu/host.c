/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites the kernels and launches of CUDA and HIP source as C++ for the CPU. Launches and
 * declarations of shared memory are found by their tokens, so that those in macros and templates
 * are found too. Kernels are found by clang. include/kmm/host/kmm_launch.h shows what a kernel and
 * a launch become.
 */
#include "cpu/host.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "clang/unit.h"
#include "cpu/address.h"
#include "cpu/callee.h"
#include "cpu/index.h"
#include "cpu/kernel.h"
#include "cpu/launch.h"
#include "cpu/program/program.h"
#include "cpu/program/ptx.h"
#include "cpu/program/requirements.h"
#include "cpu/program/scan.h"
#include "cpu/program/tokens.h"
#include "cpu/shared.h"

/* True if the offset is in a kernel, or in a function that only the device has. */
static bool is_on_device(const program_t *h, const unit_t *u, size_t at)
{
    for (int k = 0; k < h->kernel_count; k++)
        if (h->kernels[k].u == u && at >= h->kernels[k].begin && at < h->kernels[k].end)
            return true;
    for (int k = 0; k < h->callee_count; k++) {
        const callee_t *c = &h->callees[k];
        if (c->u == u && at >= c->begin && at < c->end)
            return !cursor_has_child(c->cursor, CXCursor_CUDAHostAttr);
    }
    return false;
}

static void edit_file(const program_t *h, unit_t *u, const tokens_t *list)
{
    for (int k = 0; k < list->count; k++) {
        const token_t t = list->at[k];
        if (tokens_is(u->source, list, k, "<<<") && is_on_device(h, u, t.begin) &&
            !disabled_in_source(u, t.begin))
            diag_at(SEVERITY_ERROR, u->source, t.begin, t.end,
                    "launches from kernels are missing on the CPU target");
        else if (tokens_is(u->source, list, k, "<<<"))
            launch_edit(u, list, k);
        else if (shared_is_declared(u->source, list, k))
            shared_edit(u, list, k);
    }
}

void host_kernels(unit_t *main)
{
    program_t h = {.u = main};
    int errors = diag_error_count();
    const tokens_t *list = program_scan(&h);
    requirements_find(&h);
    ptx_refuse(&h);
    for (int k = 0; k < h.kernel_count; k++)
        index_refuse_hidden(h.kernels[k].u, h.kernels[k].cursor);
    for (int k = 0; k < h.callee_count; k++)
        index_refuse_hidden(h.callees[k].u, h.callees[k].cursor);
    if (diag_error_count() > errors)
        return;
    for (unit_t *u = main; u; u = u->next)
        edit_file(&h, u, list++);
    clang_visitChildren(clang_getTranslationUnitCursor(main->tu), address_edit, main);
    if (!h.hidden && !main->options->fibers) {
        callees_find_fibers(&h);
        callees_edit(&h);
    }
    for (int k = 0; k < h.kernel_count; k++)
        kernel_edit(h.kernels[k].u, &h.kernels[k], &h);
}
