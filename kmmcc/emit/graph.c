/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the graph of a launch's kernel (ir/ir.h) as text. Only nodes are written that an access, a
 * guard or the test of a loop depends on. */
#include "emit/graph.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/instances.h"
#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "ir/load.h"
#include "pragma/includes.h"

enum {
    MOST_TEXT = 60000,          /* compilers may refuse longer strings */
    MOST_GRAPHS = 4 * MOST_TEXT /* of all instances of a launch */
};

/* One letter for each ir_op_t. */
static const char letters[] = "npgksd+-muq%rlha&|^=!<(L)?zxt";
_Static_assert(sizeof(letters) == IR_TRUNC + 2, "one letter for each operation");

/* Macros by which code is other code for another compiler, or for another GPU. */
static bool is_one_code(const unit_t *u)
{
    static const char *const words[] = {"__CUDA_ARCH", "__NVCC__", "__CUDACC", "__clang__", "__HIP",
                                        "KMM_CHECKED", "KMM_HOST", "__GNUC__", "__NVPTX__"};
    for (int f = 0; f < u->main->includes->count; f++)
        for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
            if (strstr(u->main->includes->file[f]->source->text, words[k]))
                return false;
    return true;
}

static void mark(const ir_function_t *f, int node, int *number)
{
    if (node < 0 || number[node])
        return;
    const ir_node_t *n = &f->node[node];
    number[node] = 1;
    if (n->op <= IR_DATA)
        return;
    mark(f, n->a, number);
    mark(f, n->b, number);
    mark(f, n->c, number);
}

/* Nodes are numbered from 1; 0: the node is not written. Operands stand before their nodes. */
static int number_nodes(const ir_function_t *f, int *number)
{
    int count = 0;
    memset(number, 0, (size_t)f->node_count * sizeof(*number));
    for (int k = 0; k < f->loop_count; k++)
        mark(f, f->loop[k].test, number);
    for (int k = 0; k < f->access_count; k++) {
        mark(f, f->access[k].offset, number);
        mark(f, f->access[k].bytes, number);
        mark(f, f->access[k].guard, number);
    }
    for (int k = 0; k < f->node_count; k++)
        if (number[k])
            number[k] = ++count;
    return count;
}

static int operand(const ir_node_t *n, int which, const int *number)
{
    return which < 0 ? -1 : n->op <= IR_DATA ? which : number[which] - 1;
}

static const char *graph_text(const ir_function_t *f)
{
    int *number = arena_alloc(((size_t)f->node_count + 1) * sizeof(*number));
    text_t out = {0};
    text_printf(&out, "%d %d %d", number_nodes(f, number), f->loop_count, f->access_count);
    for (int k = 0; k < f->node_count && out.length < MOST_TEXT; k++) {
        const ir_node_t *n = &f->node[k];
        if (number[k])
            text_printf(&out, " %c %d %d %d %d %lld", letters[n->op], n->bits,
                        operand(n, n->a, number), operand(n, n->b, number),
                        operand(n, n->c, number), (long long)n->value);
    }
    for (int k = 0; k < f->loop_count; k++)
        text_printf(&out, " %d %d %d %d", f->loop[k].parent, number[f->loop[k].test] - 1,
                    f->loop[k].tests_at_end, f->loop[k].has_breaks);
    for (int k = 0; k < f->access_count && out.length < MOST_TEXT; k++) {
        const ir_access_t *a = &f->access[k];
        text_printf(&out, " %d %d %d %d %d %d %d %d", a->kind, a->param, a->member,
                    number[a->offset] - 1, number[a->bytes] - 1, number[a->guard] - 1, a->loop,
                    a->after_write);
    }
    return out.length < MOST_TEXT ? out.data : NULL;
}

/* The graph of one kernel as text; NULL: not all that it accesses is known. */
static const char *graph_of(const unit_t *u, CXCursor kernel)
{
    const ir_function_t *f = ir_function_of(u->main, kernel);
    return f && f->unknown_count == 0 ? graph_text(f) : NULL;
}

/* ---- Launches in templates ---- */

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void add_value(void *context, const char *name, long long value)
{
    text_printf(context, " && (long long)(%s) == %lldLL", name, value);
}

/* A condition that holds in the instance, of the sizes of elements and of the template's integers.
 */
static const char *condition_of(const unit_t *u, const directive_t *d, int number)
{
    directive_t one = *d;
    text_t out = {0};
    text_printf(&out, "1");
    if (!instance_enter((unit_t *)u, &one, number))
        return "1";
    for (int k = 0; k < one.item_count; k++) {
        const expr_t *base = one.item[k].base;
        long long size = clang_Type_getSizeOf(type_pointee(clang_getCanonicalType(base->type)));
        if (size > 1)
            text_printf(&out, " && sizeof(*(%s)) == %lld",
                        source_words(u->source, base->begin, base->end), size);
    }
    instance_values(&d->instance[number], add_value, &out);
    instance_leave((unit_t *)u, &one);
    return out.data;
}

/* Chooses the graph of the instance that runs. Instances that the condition does not tell apart
 * have one graph, or none is chosen. */
static const char *graph_of_instances(const unit_t *u, const directive_t *d)
{
    size_t count = (size_t)d->instance_count;
    const char **graph = arena_alloc(count * sizeof(*graph)),
               **condition = arena_alloc(count * sizeof(*condition));
    text_t out = {0};
    bool any = false;
    for (int k = 0; k < d->instance_count; k++) {
        graph[k] = graph_of(u, d->instance[k].kernel);
        condition[k] = condition_of(u, d, k);
    }
    for (int k = 0; k < d->instance_count; k++) {
        bool is_clear = graph[k] && out.length < MOST_GRAPHS;
        for (int i = 0; i < d->instance_count && is_clear; i++)
            is_clear = is_same(graph[i], graph[k]) || strcmp(condition[i], condition[k]) != 0;
        if (is_clear)
            text_printf(&out, "%s ? \"%s\" : ", condition[k], graph[k]);
        any |= is_clear;
    }
    text_printf(&out, "0");
    return any ? out.data : NULL;
}

const char *graph_of_launch(const unit_t *u, const directive_t *d)
{
    if (!d->is_kernel || d->target_count != 1 || clang_Cursor_isNull(d->callee) || !is_one_code(u))
        return NULL;
    if (instances_are_known(d))
        return graph_of_instances(u, d);
    const char *text = graph_of(u, d->target[0].instance);
    return text ? arena_printf("\"%s\"", text) : NULL;
}
