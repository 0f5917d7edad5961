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
#include "launch/kernel_names.h"
#include "launch/nodes.h"
#include "launch/state.h"
#include "launch/submit.h"
#include "nodes/parts.h"
#include "task/inside.h"

/* An argument that points into an array. */
typedef struct sent_pointer {
    uint64_t id;
    int64_t offset;
    uint32_t at;
} sent_pointer_t;

/* What begins the command. The launch up to its items follows, the items, the numbers of their
 * arrays, the pointers, the arguments; of a kernel also the sizes of its parameters and the places
 * of their values in the arguments. */
typedef struct head {
    /* Offset in the program: of the function; of a kernel on the CPU, of what runs some blocks; of
     * one on GPUs, of its host function. */
    uintptr_t function;
    uintptr_t kernel_name; /* of a kernel on the CPU */
    kmm_geometry_t geometry;
    kmm__partition_t part;
    kmm__rounding_t rounding;
    int64_t number;
    uint32_t pointer_count, args_bytes;
    uint32_t param_count;
    kmm_kind_t kind;
    bool is_kernel;
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
static bool arguments_are_plain(const kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    const kmm_cuda_names_t *names = kmm__kernel_names(s->kind);
    for (uint32_t at = 0; at + sizeof(uintptr_t) <= w->args_bytes; at += sizeof(uintptr_t)) {
        uintptr_t word;
        bool is_pointer = false;
        memcpy(&word, w->args + at, sizeof(word));
        for (uint32_t k = 0; k < w->pointer_count; k++)
            is_pointer |= w->pointers[k].at == at;
        if (!is_pointer && (is_address(word) || (names && names->is_memory((void *)word))))
            return false;
    }
    return true;
}

/* True if all that the description points to is in the program. */
static bool texts_are_of_program(const kmm_launch_t *l)
{
    bool are = is_of_program(l->kernel) && is_of_program(l->file) && is_of_program(l->graph);
    for (uint32_t k = 0; k < l->axis_count; k++)
        are &= is_of_program(l->axis[k].name);
    for (uint32_t k = 0; k < l->item_count; k++)
        are &= is_of_program(l->items[k].text);
    return are;
}

/* The function by whose offset other nodes find the code; NULL: there is none. */
static const void *code_of(const kmm__submission_t *s)
{
    const kmm_kernel_t *k = s->work->kernel;
    const kmm_cuda_names_t *names = kmm__kernel_names(s->kind);
    if (s->function)
        return (const void *)(uintptr_t)s->function;
    if (s->kind == KMM_KIND_HOST)
        return is_of_program(k->name) ? (const void *)(uintptr_t)k->run : NULL;
    return names ? names->function(k) : NULL;
}

/* True if the kernel or function is in the program. */
static bool is_known(const kmm__submission_t *s)
{
    const void *code = code_of(s);
    return code && is_of_program(code);
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

bool kmm__launch_is_confined(const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    bool is = s->annotated && (s->function ? !l->awaits : l->confined);
    for (uint32_t k = 0; k < l->item_count; k++)
        is &= !l->items[k].holds_pointers && !l->items[k].stores_pointers;
    return is;
}

const char *kmm__launch_refuse(const kmm__nodes_t *n, const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    const kmm_runtime_t *rt = s->rt;
    if (!s->annotated)
        return "it has no clauses";
    if (!kmm__launch_is_confined(s))
        return "it may use more than its arguments and the arrays to which they lead";
    if (l->runs_once || l->is_undivided || l->where != KMM_ON_ALL || l->on_current)
        return "its clauses, or what it allocates, keep it here";
    if (l->nowait && s->function)
        return "it has `nowait`";
    if (l->has_offsets)
        return "its regions are those of offsets";
    if (rt->checks_access || rt->checks_result || kmm__exact_is_on())
        return "it is checked";
    if (kmm__is_inside())
        return "it is launched by a chunk or a task";
    if (!is_known(s) || !texts_are_of_program(l))
        return "its code is not in the program itself";
    if (!pointers_are_of_items(s) || !arguments_are_plain(s))
        return "an argument is an address of memory that no item names";
    return kmm__parts_refuse(s, n->count);
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
    sent.label = NULL; /* messages of node 0 alone use what is left out */
    sent.members = NULL;
    sent.member_count = sent.fits_count = 0;
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

static head_t head_of(const kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    head_t h = {.function = offset_of(code_of(s)),
                .kind = s->kind,
                .geometry = s->geometry,
                .part = s->part,
                .rounding = w->rounding,
                .number = s->rt->launches->calls + 1,
                .pointer_count = w->pointer_count,
                .args_bytes = w->args_bytes};
    h.geometry.stream = NULL;
    if (!w->kernel)
        return h;
    h.is_kernel = true;
    if (s->kind == KMM_KIND_HOST)
        h.kernel_name = offset_of(w->kernel->name);
    h.param_count = w->kernel->param_count;
    return h;
}

void kmm__launch_send(kmm__nodes_t *n, const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    const kmm__work_t *w = s->work;
    const head_t head = head_of(s);
    const size_t each = sizeof(kmm__item_t) + sizeof(uint64_t),
                 params = head.param_count * sizeof(uint32_t);
    char *bytes =
        kmm__alloc(sizeof(head) + LAUNCH_BYTES + l->item_count * each +
                   w->pointer_count * sizeof(sent_pointer_t) + w->args_bytes + 2 * params);
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
    if (head.is_kernel) {
        at = put(at, w->kernel->param_bytes, params);
        at = put(at, w->arg_offset, params);
    }
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

/* ---- Kernels of other nodes ---- */

/* A kernel on the CPU that this node has been told of. Kernels live as long as the process. */
typedef struct known {
    struct known *next;
    kmm_kernel_t kernel;
    uint32_t param_bytes[];
} known_t;

static known_t *known;

/* Returns the kernel on the CPU of a command, whose parameters have these sizes. */
static const kmm_kernel_t *host_kernel_of(const head_t *h, const uint32_t *param_bytes)
{
    const uintptr_t run = (uintptr_t)at_offset(h->function);
    const char *name = at_offset(h->kernel_name);
    const size_t bytes = h->param_count * sizeof(*param_bytes);
    for (known_t *k = known; k; k = k->next)
        if ((uintptr_t)k->kernel.run == run && k->kernel.name == name &&
            k->kernel.param_count == h->param_count && !memcmp(k->param_bytes, param_bytes, bytes))
            return &k->kernel;
    known_t *k = kmm__alloc(sizeof(*k) + bytes);
    k->next = known;
    memcpy(k->param_bytes, param_bytes, bytes);
    k->kernel = (kmm_kernel_t){.version = KMM_LAUNCH_VERSION,
                               .kind = KMM_KIND_HOST,
                               .name = name,
                               .param_count = h->param_count,
                               .param_bytes = k->param_bytes};
    memcpy(&k->kernel.run, &run, sizeof(run));
    known = k;
    return &k->kernel;
}

/* The same of a kernel on GPUs. */
static const kmm_kernel_t *gpu_kernel_of(kmm__nodes_t *n, const head_t *h,
                                         const uint32_t *param_bytes)
{
    const kmm_cuda_names_t *names = kmm__kernel_names(h->kind);
    const kmm_kernel_t *k = names ? names->kernel(at_offset(h->function)) : NULL;
    if (!k)
        kmm__nodes_fail(n, "there is no GPU code for a kernel of the program here");
    if (k->param_count != h->param_count ||
        memcmp(k->param_bytes, param_bytes, h->param_count * sizeof(*param_bytes)))
        kmm__nodes_fail(n, "a kernel of the program has other parameters here");
    return k;
}

static int launch_kernel(kmm__nodes_t *n, kmm_launch_t *l, char *args, const uint32_t *params)
{
    const uint32_t count = given->param_count, *offset = params + count;
    const kmm_kernel_t *kernel = given->kind == KMM_KIND_HOST ? host_kernel_of(given, params)
                                                              : gpu_kernel_of(n, given, params);
    void **values = kmm__alloc((count + 1) * sizeof(*values));
    for (uint32_t k = 0; k < count; k++)
        values[k] = args + offset[k];
    int error = kmm__submit_kernel(l, true, kernel, &given->geometry, values);
    free(values);
    return error;
}

static int launch_function(kmm_launch_t *l, const char *args)
{
    const uintptr_t address = (uintptr_t)at_offset(given->function);
    kmm_function_t *function;
    memcpy(&function, &address, sizeof(function));
    return kmm_launch_call(l, function, args, given->args_bytes);
}

static void submit(kmm__nodes_t *n, const kmm_launch_t *l, char *args, const uint32_t *params)
{
    pthread_mutex_lock(&n->rt->lock);
    n->rt->launches->calls = given->number - 1;
    pthread_mutex_unlock(&n->rt->lock);
    kmm__rounding_t own = kmm__rounding_change(given->rounding);
    kmm__is_of_node = false;
    int error = given->is_kernel ? launch_kernel(n, kmm__launch_copy(l), args, params)
                                 : launch_function(kmm__launch_copy(l), args);
    kmm__is_of_node = true;
    kmm__rounding_change(own);
    if (error)
        kmm__nodes_fail(n, kmm_error_text(n->rt));
}

/* Puts this node's addresses into the arguments. */
static void restore_pointers(kmm__nodes_t *n, const head_t *h, const char *at, char *args)
{
    for (uint32_t k = 0; k < h->pointer_count; k++) {
        sent_pointer_t p;
        at = get(at, &p, sizeof(p));
        const char *address = shared_of(n, p.id)->base + p.offset;
        memcpy(args + p.at, &address, sizeof(address));
    }
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
    uint32_t *params = kmm__alloc((size_t)2 * head.param_count * sizeof(*params));
    at = get(at, items, l.item_count * sizeof(*items));
    at = get(at, ids, l.item_count * sizeof(*ids));
    l.items = items;
    restore_launch(n, &l);
    restore_items(n, &l, ids);
    const char *pointers = at;
    at = get(at + head.pointer_count * sizeof(sent_pointer_t), args, head.args_bytes);
    get(at, params, (size_t)2 * head.param_count * sizeof(*params));
    restore_pointers(n, &head, pointers, args);
    given = &head;
    given_ids = ids;
    submit(n, &l, args, params);
    free(params);
    free(args);
    free(ids);
    free(items);
}

void kmm__launch_divide(kmm__submission_t *s)
{
    s->part = given->part;
}

void kmm__launch_begin_part(kmm__nodes_t *n, kmm__submission_t *s)
{
    if (s->part.count != given->part.count)
        kmm__nodes_fail(n, "its devices have less memory than those of node 0");
    kmm__parts_begin(n, s, given_ids);
}
