/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a launch, and the array addresses among them. */
#include "launch/arguments.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "launch/meaning.h"
#include "memory/array.h"
#include "memory/lifetime.h"

/* ---- Packing ---- */

static bool is_unused(const kmm__submission_t *s, uint32_t number)
{
    return number < KMM__MAX_UNUSED && s->l->unused[number / 64] >> number % 64 & 1;
}

static void find_words(kmm__work_t *w, uint32_t begin, uint32_t bytes)
{
    for (uint32_t at = begin; at + sizeof(void *) <= begin + bytes; at += sizeof(void *))
        w->words[w->word_count++] = at;
}

/* Records the words of the kernel's parameters that the description says are used, or of those that
 * it says are not. */
static void find_parameters(kmm__submission_t *s, bool unused)
{
    kmm__work_t *w = s->work;
    uint32_t first = w->kernel->is_clone ? 1 : 0;
    for (uint32_t k = first; k < w->arg_count; k++)
        if (is_unused(s, k - first) == unused)
            find_words(w, w->arg_offset[k], w->kernel->param_bytes[k]);
}

void kmm__arguments_words(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    w->words = kmm__work_take(w, w->args_bytes / sizeof(void *) * sizeof(*w->words));
    if (w->kernel)
        find_parameters(s, false);
    else
        find_words(w, 0, w->args_bytes);
    w->used_words = w->word_count;
    if (w->kernel)
        find_parameters(s, true);
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
    if (bytes == 0)
        return;
    w->args = memcpy(kmm__work_take(w, bytes), args, bytes);
    w->args_bytes = (uint32_t)bytes;
}

/* ---- Pointers ---- */

/* The number of the argument that has the byte, from 1; 0: of a function, which has one block. */
static uint32_t number_of(const kmm__work_t *w, uint32_t at)
{
    uint32_t number = 0;
    if (!w->kernel)
        return 0;
    while (number + 1 < w->arg_count && w->arg_offset[number + 1] <= at)
        number++;
    return w->kernel->is_clone ? number : number + 1;
}

static int refuse(const kmm__submission_t *s, uint32_t at, int code, const char *text)
{
    char copy[400];
    uint32_t number = number_of(s->work, at);
    if (number)
        snprintf(copy, sizeof(copy), "argument %u %s", number, text);
    else
        snprintf(copy, sizeof(copy), "a pointer argument %s", text);
    return kmm__submission_refuse(s, code, copy);
}

/* True if an item is in the array. */
static bool is_named(const kmm_launch_t *l, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < l->item_count; k++)
        if (l->items[k].array == a)
            return true;
    return false;
}

/* The array of an item with this base; or else the one the word lies in. */
static kmm__array_t *array_of_base(const kmm__submission_t *s, const char *word)
{
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].base == word && s->l->items[k].array)
            return s->l->items[k].array;
    return kmm__array_find(s->rt, word);
}

static int refuse_two(const kmm__submission_t *s, uint32_t at, const kmm__item_t *a,
                      const kmm__item_t *b)
{
    char text[300];
    snprintf(text, sizeof(text),
             "leads to %s and %s, which are in different arrays; pass a pointer of its own for "
             "each, or map the memory of both as one, by `#pragma kmm data`",
             a->text, b->text);
    return refuse(s, at, KMM_E_INVALID, text);
}

/* Finds the array that the word is an address for: that of an item that it names; or else of one in
 * whose region it lies; or else that of an item with this base; or else the one that it lies in. */
static int array_of(const kmm__submission_t *s, uint32_t at, const char *word, kmm__array_t **found)
{
    const kmm_launch_t *l = s->l;
    const kmm__item_t *named = NULL, *other_named = NULL, *entered = NULL, *other_entered = NULL;
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *item = &l->items[k];
        if (!item->array)
            continue;
        if (kmm__meaning_names(item, word)) {
            other_named = named && named->array != item->array ? item : other_named;
            named = named ? named : item;
        } else if (kmm__meaning_in_region(item, word)) {
            other_entered = entered && entered->array != item->array ? item : other_entered;
            entered = entered ? entered : item;
        }
    }
    if (other_named)
        return refuse_two(s, at, named, other_named);
    if (!named && other_entered)
        return refuse_two(s, at, entered, other_entered);
    *found = named ? named->array : entered ? entered->array : array_of_base(s, word);
    return 0;
}

/* True if the word may be an address: the lowest page is never mapped. */
static bool may_be_address(const char *word)
{
    return (uintptr_t)word >= 4096;
}

/* True for word k if the code may only compare it, or compute a distance with it. It is translated
 * only with the words into the same array. */
static bool is_compared(const kmm__submission_t *s, uint32_t k)
{
    const kmm__work_t *w = s->work;
    return w->kernel ? k >= w->used_words : is_unused(s, w->words[k] / (uint32_t)sizeof(void *));
}

bool kmm__argument_is_compared(const kmm__submission_t *s, const kmm__pointer_t *pointer)
{
    return is_unused(s, pointer->at / (uint32_t)sizeof(void *));
}

/* The array of an item that a function's address, which it only compares, leads to: it lies in the
 * array or ends it. The end of an array may be the begin of another. */
static kmm__array_t *array_limited(const kmm__submission_t *s, const char *word)
{
    kmm__array_t *found = NULL;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        kmm__array_t *a = s->l->items[k].array;
        if (a && a->base < word && word <= a->base + a->bytes)
            found = a;
    }
    return found;
}

/* The array that a kernel's address in front of it leads to, as of arrays that begin at index 1.
 * Under a pragma the address may be that of other memory, which the kernel uses. */
static kmm__array_t *array_near(const kmm__submission_t *s, const char *word, bool compared)
{
    if (!s->annotated)
        return kmm__array_near(s->rt, word);
    kmm__array_t *a = compared ? kmm__array_near(s->rt, word) : kmm__array_around(s->rt, word);
    return a && is_named(s->l, a) ? a : NULL;
}

int kmm__arguments_find(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    w->pointers = kmm__work_take(w, w->word_count * sizeof(*w->pointers));
    for (uint32_t k = 0; k < w->word_count; k++) {
        const char *word = kmm__argument_word(w, k);
        kmm__array_t *a = NULL;
        int error = may_be_address(word) ? array_of(s, w->words[k], word, &a) : 0;
        if (error)
            return error;
        bool compared = is_compared(s, k);
        if (compared && !w->kernel && array_limited(s, word))
            a = array_limited(s, word);
        if (!a && (w->kernel || compared) && may_be_address(word))
            a = array_near(s, word, compared);
        if (!a || (compared && !is_named(s->l, a)))
            continue;
        w->pointers[w->pointer_count++] = (kmm__pointer_t){w->words[k], a, word - a->base, -1};
        kmm__array_ref(a);
    }
    return 0;
}

static bool is_reached(const kmm__work_t *w, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < w->pointer_count; k++)
        if (w->pointers[k].array == a)
            return true;
    return false;
}

/* Refuses a word just outside of an array that no argument leads to, where the array has another
 * address on a device: a program that does not say that it computes an address from another one
 * would use host memory there. */
static int check_near(const kmm__submission_t *s, const kmm__item_t *item)
{
    enum { NEAR = 1 << 20 };
    const kmm__work_t *w = s->work;
    const kmm__array_t *a = item->array;
    uintptr_t begin = (uintptr_t)a->base, end = begin + a->bytes;
    uintptr_t near = a->bytes > NEAR ? a->bytes : NEAR;
    for (uint32_t k = 0; k < w->word_count; k++) {
        uintptr_t word = (uintptr_t)kmm__argument_word(w, k);
        bool before = word < begin && begin - word <= near;
        bool behind = word >= end && word - end <= near;
        if ((!before && !behind) || is_compared(s, k))
            continue;
        char text[300];
        snprintf(text, sizeof(text),
                 "points %s the memory of %s, and no argument points into it; base the item on the "
                 "pointer that is passed, or map the memory from there on, by `#pragma kmm data`",
                 before ? "before" : "behind", item->text);
        return refuse(s, w->words[k], KMM_E_ADDRESS, text);
    }
    return 0;
}

/* Refuses pointers into arrays that lie in host memory which the code reads: on a device the array
 * has another address. */
static int check_stored(const kmm__submission_t *s, const kmm__item_t *item)
{
    const uintptr_t step = item->is_packed ? 1 : sizeof(char *);
    const char *at = item->region_begin + (-(uintptr_t)item->region_begin & (step - 1)), *word;
    for (; at + sizeof(word) <= item->region_end; at += step) {
        char text[400];
        memcpy(&word, at, sizeof(word));
        const kmm__array_t *a = may_be_address(word) ? kmm__array_find(s->rt, word) : NULL;
        if (!a)
            continue;
        snprintf(text, sizeof(text),
                 "the memory of %s holds a pointer into the array %s%sat %p, which has another "
                 "address on a device; pass the pointer as an argument, or in a struct by value",
                 item->text, a->label ? a->label : "", a->label ? " " : "", (void *)a->base);
        return kmm__submission_refuse(s, KMM_E_ADDRESS, text);
    }
    return 0;
}

/* What the program writes for a pointer in a struct; NULL: it is not known. */
static const char *member_of(const kmm__submission_t *s, uint32_t number, uint32_t byte)
{
    for (uint32_t k = 0; k < s->l->member_count; k++)
        if (s->l->members[k].argument == number && s->l->members[k].at == byte)
            return s->l->members[k].text;
    return NULL;
}

/* A pointer into an array that no item is in. Of a struct it tells which member. */
static int refuse_unnamed(const kmm__submission_t *s, const kmm__pointer_t *p)
{
    const kmm__work_t *w = s->work;
    char text[300];
    uint32_t k = 0;
    while (w->kernel && k + 1 < w->arg_count && w->arg_offset[k + 1] <= p->at)
        k++;
    const char *member =
        w->kernel ? member_of(s, number_of(w, p->at), p->at - w->arg_offset[k]) : NULL;
    if (member) {
        snprintf(text, sizeof(text),
                 "has the pointer %.80s into an array that no access clause names; add `read`, "
                 "`write` or `update` with that member, as in read(%.80s[...])",
                 member, member);
    } else if (!w->kernel || w->kernel->param_bytes[k] <= sizeof(void *)) {
        snprintf(text, sizeof(text),
                 "points into an array that no access clause names; add `read`, `write` or "
                 "`update` of what the launch uses of it");
    } else {
        snprintf(text, sizeof(text),
                 "is a struct whose member at byte %u points into an array that no access clause "
                 "names; add `read`, `write` or `update` with that member, as in read(s.x[i])",
                 p->at - w->arg_offset[k]);
    }
    return refuse(s, p->at, KMM_E_INVALID, text);
}

int kmm__arguments_check(kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    for (uint32_t p = 0; p < w->pointer_count; p++)
        if (!is_named(s->l, w->pointers[p].array))
            return refuse_unnamed(s, &w->pointers[p]);
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        bool moves = s->rt->has_spaces || s->rt->checks_access;
        int error = moves && item->array && item->array->is_mapped && !is_reached(w, item->array)
                        ? check_near(s, item)
                        : 0;
        if (!error && moves && item->array && item->array->is_mapped && item->holds_pointers &&
            item->mode != KMM_WRITE)
            error = check_stored(s, item);
        if (error)
            return error;
    }
    return 0;
}
