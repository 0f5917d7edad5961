/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emitter: the state of split.c while it writes a function's body for a block. The files that
 * write parts of the body share it.
 */
#include "cpu/loops/emitter.h"

enum { MAX_NUMBER = 250 };

bool emitter_fail(emitter_t *e, const node_t *n, const char *reason)
{
    return tree_fail(&e->b, n, reason);
}

int emitter_new_states(emitter_t *e, const node_t *n)
{
    int number = e->numbers + 1;
    e->numbers += 2;
    if (e->numbers > MAX_NUMBER)
        emitter_fail(e, n, "it has too many branches");
    return number;
}

void emitter_name_in_block(node_t *n)
{
    if (n->variable) {
        n->variable->is_named_by_block = true;
        if (n->variable->storage == STORAGE_RECOMPUTED && n->kind == CXCursor_DeclRefExpr)
            emitter_name_in_block(n->variable->initializer);
    }
    for (node_t *c = n->child; c; c = c->next)
        emitter_name_in_block(c);
}
