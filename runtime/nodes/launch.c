/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of a launch. It is libkmm's own description of the launch, which is the same struct
 * on all nodes, since they run the same libkmm. Pointers to texts and functions of the program
 * travel as offsets in the program, and pointers into arrays as an array and an offset.
 */
#include "nodes/launch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/code.h"
#include "base/error.h"
#include "execute/exact.h"
#include "launch/nodes.h"
#include "launch/state.h"
#include "memory/disk/page.h"
#include "nodes/parts.h"
#include "task/inside.h"

/* An argument that points into an array. */
typedef struct sent_pointer {
    uint64_t id;
    int64_t offset;
    uint32_t at;
} sent_pointer_t;

/* What begins the command. The launch up to its items follows, the items, the numbers of their
 * arrays, the pointers, and the arguments. */
typedef struct head {
    uintptr_t function;
    kmm__partition_t part;
    kmm__rounding_t rounding;
    int64_t number;
    uint32_t pointer_count, args_bytes;
} head_t;

enum { LAUNCH_BYTES = offsetof(kmm_launch_t, few) };

/* What this node executes: between kmm__launch_execute and the hook of its launch. */
static const head_t *given;
static const uint64_t *given_ids;

/* ---- Pointers into the program ---- */

static bool is_of_program(const void *p)
{
    uintptr_t base;
    return !p || kmm__code_offset(p, &base);
}

/* NULL stays NULL. */
static uintptr_t offset_of(const void *p)
{
    uintptr_t offset = 0;
    if (p)
        kmm__code_offset(p, &offset);
    return p ? offset + 1 : 0;
}

static const void *at_offset(uintptr_t offset)
{
    return offset ? kmm__code_at(offset - 1) : NULL;
}

/* ---- Whether a launch can be shared ---- */

/* True if the word is the address of memory of this process. */
static bool is_address(uintptr_t word)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    return mincore((void *)(word / page * page), 1, &resident) == 0;
}

/* True if the arguments have no address but those that lead into arrays. */
static bool arguments_are_plain(const kmm__work_t *w)
{
    for (uint32_t at = 0; at + sizeof(uintptr_t) <= w->args_bytes; at += sizeof(uintptr_t)) {
        uintptr_t word;
        bool is_pointer = false;
        memcpy(&word, w->args + at, sizeof(word));
        for (uint32_t k = 0; k < w->pointer_count; k++)
            is_pointer |= w->pointers[k].at == at;
        if (!is_pointer && is_address(word))
            return false;
    }
    for (uint32_t k = 0; k < w->pointer_count; k++)
        if (w->pointers[k].partials >= 0)
            return false;
    return true;
}

/* True if all that the description points to is in the program. */
static bool texts_are_of_program(const kmm_launch_t *l)
{
    bool are = is_of_program(l->kernel) && is_of_program(l->file) && is_of_program(l->graph) &&
               !l->label && !l->members && l->fits_count == 0;
    for (uint32_t k = 0; k < l->axis_count; k++)
        are &= is_of_program(l->axis[k].name);
    for (uint32_t k = 0; k < l->item_count; k++)
        are &= is_of_program(l->items[k].text);
    return are;
}

/* A pointer of the arguments may lead to an array that no item names. */
static bool pointers_are_of_items(const kmm__submission_t *s)
{
    for (uint32_t k = 0; k < s->work->pointer_count; k++) {
        bool is_of_item = false;
        for (uint32_t i = 0; i < s->l->item_count; i++)
            is_of_item |= s->l->items[i].array == s->work->pointers[k].array;
        if (!is_of_item)
            return false;
    }
    return true;
}

bool kmm__launch_is_shared(const kmm__nodes_t *n, const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    const kmm_runtime_t *rt = s->rt;
    /* That it does not await its chunks says that the function reads nothing but its arguments,
     * constants and the arrays to which its arguments lead. */
    return s->function && !l->awaits && !l->runs_once && !l->nowait && !l->is_undivided &&
           l->where == KMM_ON_ALL && !rt->has_spaces && !kmm__spill_room(rt) &&
           !rt->checks_access && !rt->checks_result && !kmm__exact_is_on() && !kmm__is_inside() &&
           is_of_program((const void *)(uintptr_t)s->function) && texts_are_of_program(l) &&
           pointers_are_of_items(s) && arguments_are_plain(s->work) &&
           kmm__parts_are_possible(s, n->count);
}

/* ---- Sending ---- */

static char *put(char *at, const void *bytes, size_t count)
{
    if (count)
        memcpy(at, bytes, count);
    return at + count;
}

static char *put_launch(char *at, const kmm_launch_t *l)
{
    kmm_launch_t sent = *l;
    sent.kernel = (const char *)offset_of(l->kernel);
    sent.file = (const char *)offset_of(l->file);
    sent.graph = (const char *)offset_of(l->graph);
    for (uint32_t k = 0; k < l->axis_count; k++)
        sent.axis[k].name = (const char *)offset_of(l->axis[k].name);
    return put(at, &sent, LAUNCH_BYTES);
}

/* An item's base travels as the offset in its array, and what it reaches as the distance from the
 * base. */
static char *put_item(char *at, const kmm__item_t *item)
{
    kmm__item_t sent = *item;
    sent.text = (const char *)offset_of(item->text);
    sent.base = (char *)(item->base - item->array->base);
    sent.reach_begin = (const char *)(item->reach_begin - item->base);
    sent.reach_end = (const char *)(item->reach_end - item->base);
    sent.array = NULL;
    return put(at, &sent, sizeof(sent));
}

void kmm__launch_send(kmm__nodes_t *n, const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    const kmm__work_t *w = s->work;
    const head_t head = {.function = offset_of((const void *)(uintptr_t)s->function),
                         .part = s->part,
                         .rounding = w->rounding,
                         .number = s->rt->launches->calls + 1,
                         .pointer_count = w->pointer_count,
                         .args_bytes = w->args_bytes};
    const size_t each = sizeof(kmm__item_t) + sizeof(uint64_t);
    char *bytes = kmm__alloc(sizeof(head) + LAUNCH_BYTES + l->item_count * each +
                             w->pointer_count * sizeof(sent_pointer_t) + w->args_bytes);
    char *at = put_launch(put(bytes, &head, sizeof(head)), l);
    for (uint32_t k = 0; k < l->item_count; k++)
        at = put_item(at, &l->items[k]);
    for (uint32_t k = 0; k < l->item_count; k++)
        at = put(at, &l->items[k].array->id, sizeof(uint64_t));
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        const kmm__pointer_t *p = &w->pointers[k];
        const sent_pointer_t sent = {p->array->id, p->offset, p->at};
        at = put(at, &sent, sizeof(sent));
    }
    at = put(at, w->args, w->args_bytes);
    kmm__command_send(n, KMM__COMMAND_LAUNCH, bytes, (size_t)(at - bytes));
    free(bytes);
}

/* ---- Executing ---- */

static const char *get(const char *at, void *out, size_t count)
{
    if (count)
        memcpy(out, at, count);
    return at + count;
}

static kmm__shared_t *shared_of(kmm__nodes_t *n, uint64_t id)
{
    kmm__shared_t *shared = kmm__shared_find(n, id);
    if (!shared)
        kmm__nodes_fail(n, "nodes disagree on which arrays there are");
    return shared;
}

static void restore_launch(kmm__nodes_t *n, kmm_launch_t *l)
{
    l->runtime = n->rt;
    l->kernel = at_offset((uintptr_t)l->kernel);
    l->file = at_offset((uintptr_t)l->file);
    l->graph = at_offset((uintptr_t)l->graph);
    for (uint32_t k = 0; k < l->axis_count; k++)
        l->axis[k].name = at_offset((uintptr_t)l->axis[k].name);
}

static void restore_items(kmm__nodes_t *n, kmm_launch_t *l, const uint64_t *ids)
{
    for (uint32_t k = 0; k < l->item_count; k++) {
        kmm__item_t *item = &l->items[k];
        item->text = at_offset((uintptr_t)item->text);
        item->base = shared_of(n, ids[k])->base + (intptr_t)item->base;
        item->reach_begin = item->base + (intptr_t)item->reach_begin;
        item->reach_end = item->base + (intptr_t)item->reach_end;
    }
}

static void submit(kmm__nodes_t *n, kmm_launch_t *l, char *args)
{
    uintptr_t address = (uintptr_t)at_offset(given->function);
    kmm_function_t *function;
    memcpy(&function, &address, sizeof(function));
    pthread_mutex_lock(&n->rt->lock);
    n->rt->launches->calls = given->number - 1;
    pthread_mutex_unlock(&n->rt->lock);
    kmm__rounding_t own = kmm__rounding_change(given->rounding);
    kmm__is_of_node = false;
    int error = kmm_launch_call(kmm__launch_copy(l), function, args, given->args_bytes);
    kmm__is_of_node = true;
    kmm__rounding_change(own);
    if (error)
        kmm__nodes_fail(n, kmm_error_text(n->rt));
}

void kmm__launch_execute(kmm__nodes_t *n, const char *bytes, size_t count)
{
    head_t head;
    kmm_launch_t l = {0};
    (void)count;
    const char *at = get(get(bytes, &head, sizeof(head)), &l, LAUNCH_BYTES);
    kmm__item_t *items = kmm__alloc(l.item_count * sizeof(*items));
    uint64_t *ids = kmm__alloc(l.item_count * sizeof(*ids));
    char *args = kmm__alloc(head.args_bytes);
    at = get(at, items, l.item_count * sizeof(*items));
    at = get(at, ids, l.item_count * sizeof(*ids));
    l.items = items;
    restore_launch(n, &l);
    restore_items(n, &l, ids);
    get(at + head.pointer_count * sizeof(sent_pointer_t), args, head.args_bytes);
    for (uint32_t k = 0; k < head.pointer_count; k++) {
        sent_pointer_t p;
        at = get(at, &p, sizeof(p));
        const char *address = shared_of(n, p.id)->base + p.offset;
        memcpy(args + p.at, &address, sizeof(address));
    }
    given = &head;
    given_ids = ids;
    submit(n, &l, args);
    free(args);
    free(ids);
    free(items);
}

void kmm__launch_begin_part(kmm__nodes_t *n, kmm__submission_t *s)
{
    s->part = given->part;
    kmm__parts_begin(n, s, given_ids);
}
