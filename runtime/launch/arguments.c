/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a launch, and the array addresses among them. */
#include "launch/arguments.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "memory/array.h"
#include "memory/lifetime.h"

/* ---- Packing ---- */

/* Returns the array that an address means. An item with this very base says it by its region;
 * otherwise it is the array that contains the address. NULL: none. */
static kmm__array_t *array_meant(const kmm__submission_t *s, const char *address)
{
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].base == address && s->l->items[k].array)
            return s->l->items[k].array;
    return kmm__array_find(s->rt, address);
}

static void add_pointer(kmm__submission_t *s, uint32_t at)
{
    kmm__work_t *w = s->work;
    char *address;
    memcpy(&address, w->args + at, sizeof(address));
    kmm__array_t *a = address ? array_meant(s, address) : NULL;
    if (!a)
        return;
    if (!w->pointers)
        w->pointers = kmm__work_take(w, w->args_bytes / sizeof(address) * sizeof(*w->pointers));
    w->pointers[w->pointer_count++] = (kmm__pointer_t){at, a, address - a->base, -1};
    kmm__array_ref(a);
}

static void find_pointers(kmm__submission_t *s, uint32_t begin, uint32_t bytes)
{
    for (uint32_t at = begin; at + sizeof(void *) <= begin + bytes; at += sizeof(void *))
        add_pointer(s, at);
}

/* Records the pointers in parameter k, unless the description says that the kernel does not use it.
 */
static void find_used(kmm__submission_t *s, uint32_t k)
{
    kmm__work_t *w = s->work;
    uint32_t number = k - (w->kernel->is_clone ? 1 : 0);
    bool unused = number < KMM__MAX_UNUSED && s->l->unused[number / 64] >> number % 64 & 1;
    if (!unused)
        find_pointers(s, w->arg_offset[k], w->kernel->param_bytes[k]);
}

int kmm__arguments_pack(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args)
{
    kmm__work_t *w = s->work;
    uint32_t at = 0;
    w->kernel = kernel;
    w->arg_count = kernel->param_count;
    w->arg_offset = kmm__work_take(w, kernel->param_count * sizeof(*w->arg_offset));
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        w->arg_offset[k] = at;
        at += (kernel->param_bytes[k] + 15u) & ~15u;
    }
    if (at > KMM__MAX_ARGS_BYTES)
        return kmm__submission_refuse(s, KMM_E_INVALID, "its arguments are too large");
    w->args_bytes = at;
    w->args = kmm__work_take(w, at);
    for (uint32_t k = kernel->is_clone ? 1 : 0; k < kernel->param_count; k++)
        memcpy(w->args + w->arg_offset[k], args[k], kernel->param_bytes[k]);
    return 0;
}

void kmm__arguments_copy(kmm__submission_t *s, const void *args, size_t bytes)
{
    kmm__work_t *w = s->work;
    w->args = kmm__work_take(w, bytes);
    w->args_bytes = (uint32_t)bytes;
    if (bytes)
        memcpy(w->args, args, bytes);
}

/* ---- Pointers ---- */

void kmm__arguments_find(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    if (!w->kernel)
        find_pointers(s, 0, w->args_bytes);
    for (uint32_t k = w->kernel && w->kernel->is_clone ? 1 : 0; w->kernel && k < w->arg_count; k++)
        find_used(s, k);
}

int kmm__arguments_check(kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    for (uint32_t p = 0; p < w->pointer_count; p++) {
        bool named = false;
        for (uint32_t k = 0; k < s->l->item_count; k++)
            named |= s->l->items[k].array == w->pointers[p].array;
        if (named)
            continue;
        char text[160];
        uint32_t number = 0;
        while (w->kernel && number + 1 < w->arg_count &&
               w->arg_offset[number + 1] <= w->pointers[p].at)
            number++;
        snprintf(text, sizeof(text), "argument %u points into an array that no access clause names",
                 w->kernel && w->kernel->is_clone ? number : number + 1);
        return kmm__submission_refuse(s, KMM_E_INVALID, text);
    }
    return 0;
}
