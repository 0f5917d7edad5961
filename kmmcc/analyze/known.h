/* SPDX-License-Identifier: Apache-2.0 */
/* How exactly the accesses of a launch's kernel are known. */
#ifndef KMMCC_ANALYZE_KNOWN_H
#define KMMCC_ANALYZE_KNOWN_H

#include "analyze/affine.h"
#include "clang/unit.h"
#include "pragma/directive.h"

typedef enum knowledge { KNOWN_EXACTLY, KNOWN_WIDER, KNOWN_NOT } knowledge_t;

/* One pointer that the kernel gets. */
typedef struct known {
    struct known *next;
    int param, member; /* as in ir/ir.h */
    knowledge_t knowledge;
    const char *reason; /* why it is not known exactly; NULL: it is */
    bool noted;         /* true only while indices fit into 32 bits */
    bool stores;        /* the kernel stores through it */
    bool escapes;       /* not all that is done through it is seen */
    bool steps;         /* there are gaps between its elements */
    bool assumes;       /* it holds while parameters that are sizes are not negative */
    bool in_block;      /* it holds while a bound of indices within blocks is within each block */
    bool in_blocks;     /* it holds while blocks have the size that the kernel's code counts on */
} known_t;

/* Returns a list of the pointers that the kernel accesses, or whose accesses are not all known. */
known_t *known_of(const ir_function_t *f, const footprint_t *x);
/* Returns `counted`, which holds while blocks have a certain size, if all in it is exact and not
 * all in `any` is. Otherwise `any`. */
known_t *known_better(known_t *any, known_t *counted);
/* Returns a list of the pointers that the launch's kernel accesses. NULL: there are none, or
 * *reason says why nothing is known. */
known_t *known_of_launch(const unit_t *u, const directive_t *d, const char **reason);
/* Returns one word for the knowledge, followed by the reason if there is one. */
const char *known_text(const known_t *k);

#endif
