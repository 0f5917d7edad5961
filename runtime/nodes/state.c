/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that several nodes know, and what is sent to all of them. */
#include "nodes/state.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"

void kmm__nodes_fail(kmm__nodes_t *n, const char *text)
{
    kmm__log(KMM__LOG_ERROR, "node %u: %s", n->me, text);
    kmm__post_abort(n->post, EXIT_FAILURE);
}

void kmm__command_send(kmm__nodes_t *n, kmm__command_kind_t kind, const void *bytes, size_t count)
{
    for (uint32_t k = 1; k < n->count; k++)
        kmm__post_message(n->post, k, kind, bytes, count);
    n->command++;
}

kmm__shared_t *kmm__shared_find(const kmm__nodes_t *n, uint64_t id)
{
    kmm__shared_t *s = n->shared;
    while (s && s->id != id)
        s = s->next;
    return s;
}

kmm__shared_t *kmm__shared_add(kmm__nodes_t *n, uint64_t id, char *base, int64_t bytes)
{
    kmm__shared_t *s = kmm__alloc(sizeof(*s));
    s->next = n->shared;
    s->id = id;
    s->base = base;
    s->bytes = bytes;
    kmm__holder_map_init(&s->holders, bytes);
    n->shared = s;
    return s;
}

void kmm__shared_drop(kmm__nodes_t *n, kmm__shared_t *shared)
{
    kmm__shared_t **at = &n->shared;
    while (*at != shared)
        at = &(*at)->next;
    *at = shared->next;
    kmm__holder_map_free(&shared->holders);
    free(shared);
}
