/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graphs from text. */
#include "execute/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MOST_NODES = 1 << 14 };

static int64_t next_number(const char **at)
{
    char *end;
    int64_t value = strtoll(*at, &end, 10);
    *at = end;
    return value;
}

static int next(const char **at)
{
    return (int)next_number(at);
}

static void read_node(const char **at, kmm__graph_node_t *n)
{
    *at += strspn(*at, " ");
    n->op = **at;
    *at += n->op != 0;
    n->bits = next(at);
    n->a = next(at);
    n->b = next(at);
    n->c = next(at);
    n->value = next_number(at);
}

static bool is_leaf(const kmm__graph_node_t *n)
{
    return strchr("npgksd", n->op) != NULL;
}

/* Operands stand before their nodes, so that there are no circles. */
static bool is_node(const kmm__graph_t *g, int k)
{
    static const char ops[] = "npgksd+-muq%rlha&|^=!<(L)?zxt";
    const kmm__graph_node_t *n = &g->node[k];
    int operands = is_leaf(n) ? 0 : n->op == '?' ? 3 : strchr("zxt", n->op) ? 1 : 2;
    if (!n->op || !strchr(ops, n->op) || n->bits < 1 || n->bits > 64 ||
        (n->op == 'k' && (n->value < 0 || n->value >= g->loop_count)) ||
        (n->op == 'g' && (n->value < 0 || n->value >= 12)))
        return false;
    return !(operands > 0 && (n->a < 0 || n->a >= k)) &&
           !(operands > 1 && (n->b < 0 || n->b >= k)) && !(operands > 2 && (n->c < 0 || n->c >= k));
}

static bool is_graph(const kmm__graph_t *g)
{
    for (int k = 0; k < g->node_count; k++)
        if (!is_node(g, k))
            return false;
    for (int k = 0; k < g->loop_count; k++)
        if (g->loop[k].test < 0 || g->loop[k].test >= g->node_count || g->loop[k].parent >= k ||
            g->loop[k].parent < -1)
            return false;
    for (int k = 0; k < g->access_count; k++) {
        const kmm__graph_access_t *a = &g->access[k];
        if ((unsigned)a->kind > KMM__GRAPH_ATOMIC || a->param < 0 || a->offset < 0 ||
            a->offset >= g->node_count || a->bytes < 0 || a->bytes >= g->node_count ||
            a->guard < 0 || a->guard >= g->node_count || a->loop >= g->loop_count || a->loop < -1)
            return false;
    }
    return true;
}

kmm__graph_t *kmm__graph_parse(const char *text)
{
    if (*text < '0' || *text > '9')
        return NULL;
    kmm__graph_t *g = kmm__alloc(sizeof(*g));
    g->node_count = next(&text);
    g->loop_count = next(&text);
    g->access_count = next(&text);
    if (g->node_count < 0 || g->node_count > MOST_NODES || g->loop_count < 0 ||
        g->loop_count > KMM__FORM_LOOPS || g->access_count < 0 || g->access_count > MOST_NODES) {
        free(g);
        return NULL;
    }
    g->node = kmm__alloc(((size_t)g->node_count + 1) * sizeof(*g->node));
    g->loop = kmm__alloc(((size_t)g->loop_count + 1) * sizeof(*g->loop));
    g->access = kmm__alloc(((size_t)g->access_count + 1) * sizeof(*g->access));
    for (int k = 0; k < g->node_count; k++)
        read_node(&text, &g->node[k]);
    for (int k = 0; k < g->loop_count; k++) {
        kmm__graph_loop_t *l = &g->loop[k];
        l->parent = next(&text);
        l->test = next(&text);
        l->tests_at_end = next(&text) != 0;
        l->has_breaks = next(&text) != 0;
    }
    for (int k = 0; k < g->access_count; k++) {
        kmm__graph_access_t *a = &g->access[k];
        a->kind = (kmm__graph_kind_t)next(&text);
        a->param = next(&text);
        a->member = next(&text);
        a->offset = next(&text);
        a->bytes = next(&text);
        a->guard = next(&text);
        a->loop = next(&text);
        a->is_after_write = next(&text) != 0;
    }
    if (is_graph(g))
        return g;
    kmm__graph_free(g);
    return NULL;
}

void kmm__graph_free(kmm__graph_t *g)
{
    if (!g)
        return;
    free(g->node);
    free(g->loop);
    free(g->access);
    free(g);
}
