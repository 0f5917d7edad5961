/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests the name that a misspelled word probably means. */
#ifndef KMMCC_PRAGMA_SPELLING_H
#define KMMCC_PRAGMA_SPELLING_H

#include "pragma/parser.h"

/* Returns the name that the word probably means; NULL: no name is similar. */
const char *spelling_nearest(const char *word, const char *const *names, int count);
/* Reports the next token as an unknown `what`, with the name that was meant, or all names. */
void spelling_unknown_word(parser_t *p, const char *what, const char *const *names, int count);

#endif
