/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a module of device code, and whom they call. */
#include "device/function.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

/* ---- Names ---- */

/* Cuts the prefix of clones off the name. */
static const char *without_prefix(const char *name, size_t length)
{
    static const char prefix[] = "kmm_";
    size_t skip = strncmp(name, prefix, sizeof(prefix) - 1) ? 0 : sizeof(prefix) - 1;
    return arena_copy(name + skip, length - skip);
}

/* Returns the name of a kernel or of its clone as a user knows it. The parts of a nested name stand
 * behind their lengths: "_ZN5space8kmm_blurEi". */
static const char *kernel_name(const char *name)
{
    const char *at = name + 2, *found = NULL;
    if (strncmp(name, "_Z", 2))
        return without_prefix(name, strlen(name));
    bool is_nested = *at == 'N';
    at += is_nested;
    while (isdigit((unsigned char)*at) && (is_nested || !found)) {
        char *end;
        size_t n = strtoul(at, &end, 10);
        if (n > strlen(end))
            break;
        const char *part = without_prefix(end, n);
        found = found ? arena_printf("%s::%s", found, part) : part;
        at = end + n;
    }
    return found ? found : name;
}

/* ---- Calls ---- */

static device_function_t *find(device_function_t *all, const char *name)
{
    for (device_function_t *f = all; f; f = f->next)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}

void function_refuse(device_function_t *f, const char *why, const char *place)
{
    if (f->unknown)
        return;
    f->unknown = why;
    f->place = place;
}

static void forget_visits(device_function_t *all)
{
    for (device_function_t *f = all; f; f = f->next)
        f->is_visited = false;
}

/* Visits f and what it may call. A call by an address may be of every function. Returns the first
 * that the check refuses; NULL: none. */
static const device_function_t *visit(device_function_t *all, device_function_t *f,
                                      const char *const *harmless)
{
    if (f->is_visited || f->is_check)
        return NULL;
    f->is_visited = true;
    for (int k = 0; k < f->calls.count; k++)
        if (!find(all, f->calls.item[k]) && !text_is_one_of(f->calls.item[k], harmless))
            function_refuse(f, arena_printf("does not see what it calls: '%s'", f->calls.item[k]),
                            "?");
    const device_function_t *found = f->unknown ? f : NULL;
    for (int k = 0; k < f->calls.count; k++) {
        device_function_t *callee = find(all, f->calls.item[k]);
        const device_function_t *other = callee ? visit(all, callee, harmless) : NULL;
        found = found ? found : other;
    }
    for (device_function_t *g = all; g && f->calls_unknown; g = g->next) {
        const device_function_t *other = g->is_kernel ? NULL : visit(all, g, harmless);
        found = found ? found : other;
    }
    return found;
}

bool functions_are_checked(device_function_t *all, device_function_t *kernel,
                           const char *const *harmless)
{
    bool found = false;
    forget_visits(all);
    visit(all, kernel, harmless);
    for (const device_function_t *f = all; f; f = f->next)
        found |= f != kernel && f->is_visited && f->accesses > 0;
    return found;
}

bool functions_refuse(device_function_t *all, const char *const *harmless, const char *path)
{
    bool is_refused = false;
    for (device_function_t *f = all; f; f = f->next) {
        forget_visits(all);
        const device_function_t *at = f->is_clone || f->is_odd ? visit(all, f, harmless) : NULL;
        if (!at)
            continue;
        bool has_place = *at->place != '?';
        is_refused = true;
        diag_plain(SEVERITY_ERROR, "-fkmm-check refuses kernel '%s' of '%s': it %s%s%s%s",
                   kernel_name(f->name), path, at->unknown, has_place ? " (" : "",
                   has_place ? at->place : "", has_place ? ")" : "");
        diag_plain(SEVERITY_NOTE, "launch it without the pragma, or compile this file without "
                                  "-fkmm-check; --target=host checks kernels on the CPU");
    }
    return is_refused;
}
