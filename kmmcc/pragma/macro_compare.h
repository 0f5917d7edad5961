/* SPDX-License-Identifier: Apache-2.0 */
/* Compares preprocessed texts token by token. */
#ifndef KMMCC_PRAGMA_MACRO_COMPARE_H
#define KMMCC_PRAGMA_MACRO_COMPARE_H

#include "base/source.h"
#include "base/token.h"

/* What _Pragma and __COUNTER__ are in preprocessed copies (pragma/macro.h). */
extern const char macro_operator_name[], macro_counter_name[];

typedef enum macro_comparison {
    COMPARE_COPIES, /* both texts are preprocessed copies */
    COMPARE_FILES   /* the first is made of the program's files, where _Pragma has an effect */
} macro_comparison_t;

/* True if the token's text has `text` in it. */
bool macro_contains(const source_t *s, token_t t, const char *text);
/* Returns the number of the use at whose marks the two texts part, and stores where that is; -1:
 * their tokens are the same. */
int macro_first_change(const source_t *marked, const source_t *plain, macro_comparison_t how,
                       size_t *at);

#endif
