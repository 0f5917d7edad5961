/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements of kernels: fibers or a block for barriers, index variables for the functions that
 * it calls, and launches in order if it uses memory that libkmm does not see. They become the
 * kernel's flags (include/kmm/host/kmm_flags.h).
 */
#include "cpu/program/requirements.h"

#include <string.h>

#include <kmm/host/kmm_flags.h>

#include "base/text.h"
#include "cpu/program/callgraph.h"
#include "cpu/program/collectives.h"
#include "cpu/program/nested.h"

/* Sets is_device for definitions in which `__device__` is written, itself or by a macro: they may
 * have a lambda of the device. */
static void find_device_code(program_t *h)
{
    list_t device = {0};
    list_add(&device, "__device__");
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->definition_count; k++)
            if (h->definitions[k]->is_macro && !list_has(&device, h->definitions[k]->name) &&
                definition_uses(h->definitions[k], &device)) {
                list_add(&device, h->definitions[k]->name);
                grown = true;
            }
    }
    for (int k = 0; k < h->definition_count; k++)
        h->definitions[k]->is_device |= definition_uses(h->definitions[k], &device);
}

/* True if the definition uses one of `names` or of `direct`, and kernels may reach it without its
 * name: as an operator, constructor, destructor, lambda or template argument. A name in `names`
 * counts only in device code or if it is a callee, since variables and functions of the CPU may
 * have such names too. */
static bool is_hidden_in(const program_t *h, const definition_t *b, const list_t *names,
                         const list_t *direct)
{
    if (b->is_kernel || b->is_called_by_name)
        return false;
    for (int k = 0; k < b->names.count; k++) {
        const char *name = b->names.item[k];
        if (list_has(direct, name))
            return true;
        if (strcmp(name, b->name) && list_has(names, name) &&
            (b->is_device || callgraph_has_callee(h, name)))
            return true;
    }
    return false;
}

/* Sets h->barriers: functions that reach a barrier, a warp operation or an operation of a
 * cooperative group. */
static void find_barriers(program_t *h)
{
    list_t collectives = {0};
    collectives_add_builtins(&collectives);
    if (h->has_groups)
        list_add_all(&collectives, group_collectives);
    h->barriers = callgraph_reaching(h, collectives, false);
}

/* Sets h->indexed: functions that read the index variables, and names of cooperative groups, which
 * read them too. A kernel's own use of the index variables does not count, since they are its
 * parameters. */
static void find_indexed(program_t *h)
{
    list_t direct = {0}, indexed = {0};
    list_add_all(&direct, index_variables);
    const int own = direct.count;
    for (int k = 0; k < h->elsewhere.count; k++)
        list_add(&direct, h->elsewhere.item[k]);
    direct = callgraph_reaching(h, direct, false);
    for (int k = own; k < direct.count; k++)
        list_add(&indexed, direct.item[k]);
    if (h->has_groups) {
        list_add_all(&indexed, group_names);
        list_add_all(&indexed, group_collectives);
        indexed = callgraph_reaching(h, indexed, false);
    }
    h->indexed = indexed;
}

/* Sets h->hidden. Returns true if some definition that reads the index variables is hidden as
 * well. */
static bool find_hidden(program_t *h)
{
    list_t builtins = {0}, indices = {0};
    bool hidden_index = false;
    collectives_add_builtins(&builtins);
    list_add_all(&indices, index_variables);
    find_device_code(h);
    for (int k = 0; k < h->definition_count; k++) {
        const definition_t *b = h->definitions[k];
        if (!h->hidden && is_hidden_in(h, b, &h->barriers, &builtins))
            h->hidden = b;
        hidden_index |= is_hidden_in(h, b, &h->indexed, &indices);
    }
    return hidden_index;
}

void requirements_find(program_t *h)
{
    for (const unit_t *k = h->u; k; k = k->next)
        h->has_groups |= strstr(k->source->text, "cooperative_groups") != NULL;
    const list_t globals = callgraph_reaching(h, h->globals, false),
                 pointing = callgraph_reaching(h, h->pointing, false);
    find_barriers(h);
    find_indexed(h);
    const bool hidden_index = find_hidden(h);
    for (int k = 0; k < h->kernel_count; k++) {
        kernel_t *kernel = &h->kernels[k];
        const definition_t *d = kernel->definition;
        const nested_t nested = nested_pointers_of(kernel->cursor);
        if (h->hidden || definition_uses(d, &h->barriers))
            kernel->flags |= KMM_HOST_SYNC;
        if (hidden_index || definition_uses(d, &h->indexed))
            kernel->flags |= KMM_HOST_HELPERS;
        if (definition_uses(d, &globals))
            kernel->flags |= KMM_HOST_GLOBALS;
        if (nested.found || definition_uses(d, &pointing))
            kernel->flags |= KMM_HOST_POINTERS;
        else if (nested.depends)
            kernel->flags |= KMM_HOST_GENERIC;
    }
}
