/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a file in an array, so that one can look back as well as ahead. */
#ifndef KMMCC_CPU_PROGRAM_TOKENS_H
#define KMMCC_CPU_PROGRAM_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "base/token.h"

typedef struct tokens {
    token_t *at;
    int count, capacity;
} tokens_t;

/* The tokens of [begin, end), those of #define lines too; other preprocessor lines are one token.
 */
void tokens_read(const source_t *s, size_t begin, size_t end, tokens_t *out);
/* Whether token k is this one; false outside the list. */
bool tokens_is(const source_t *s, const tokens_t *list, int k, const char *text);

#endif
