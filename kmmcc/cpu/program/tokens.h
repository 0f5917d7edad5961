/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a file in an array, to look back as well as ahead. */
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

/* Appends the tokens of [begin, end) to *out. A #define line gives its tokens from the macro's name
 * on; other preprocessor lines give none. */
void tokens_read(const source_t *s, size_t begin, size_t end, tokens_t *out);
/* True if the list has a token k, and its text is `text`. */
bool tokens_is(const source_t *s, const tokens_t *list, int k, const char *text);

#endif
