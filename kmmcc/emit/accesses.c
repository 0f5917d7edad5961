/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how well the accesses of each kernel are known, for --accesses. */
#include "emit/accesses.h"

#include <stddef.h>
#include <stdio.h>

#include "analyze/known.h"
#include "base/arena.h"
#include "base/diag.h"
#include "ir/load.h"

static const char *name_of(const ir_function_t *f, int param, int member)
{
    const char *name = f->param_name[param];
    if (!*name)
        name = arena_printf("parameter %d", param + 1);
    return member < 0 ? name : arena_printf("%s, the pointer at byte %d", name, member);
}

static bool is_listed(const known_t *k, int param)
{
    for (; k; k = k->next)
        if (k->param == param)
            return true;
    return false;
}

static void print_function(const ir_function_t *f)
{
    static const int64_t any[3] = {0};
    int64_t counted[3] = {0};
    const known_t *list = known_of(f, affine_of(f, any));
    if (affine_blocks(f, counted))
        list = known_better((known_t *)list, known_of(f, affine_of(f, counted)));
    const char *reason = NULL;
    for (int k = 0; k < f->unknown_count; k++)
        if (f->unknown[k].param < 0)
            reason = f->unknown[k].reason;
    printf("%s:\n", f->title);
    for (int d = 0; d < 3 && list && list->in_blocks; d++)
        if (counted[d])
            printf("    where blocks have %lld threads in %c:\n", (long long)counted[d], "xyz"[d]);
    for (const known_t *k = list; k; k = k->next)
        printf("    %s: %s\n", name_of(f, k->param, k->member), known_text(k));
    for (int k = 0; k < f->param_count; k++)
        if (f->is_pointer[k] && !is_listed(list, k))
            printf("    %s: %s\n", name_of(f, k, -1),
                   reason ? arena_printf("unknown: %s", reason) : "exact: it is not accessed");
}

bool accesses_print(const unit_t *main)
{
    const char *reason;
    ir_function_t **f = ir_functions(main, &reason);
    if (!f) {
        diag_plain(SEVERITY_ERROR, "nothing is known of the kernels of '%s': %s", main->path,
                   reason);
        return false;
    }
    for (; *f; f++)
        print_function(*f);
    return true;
}
