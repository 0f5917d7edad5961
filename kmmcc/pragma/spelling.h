/* SPDX-License-Identifier: Apache-2.0 */
/* The word that was probably meant. */
#ifndef KMMCC_PRAGMA_SPELLING_H
#define KMMCC_PRAGMA_SPELLING_H

#include "pragma/parser.h"

/* The name that was probably meant by the word; NULL: none is near. */
const char *spelling_nearest(const char *word, const char *const *names, int count);
/* Reports the next token as an unknown `what`, with the name that was meant, or all names. */
void spelling_unknown_word(parser_t *p, const char *what, const char *const *names, int count);

#endif
