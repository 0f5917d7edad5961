/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the known word that a misspelled word probably means. */
#include "pragma/spelling.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/token.h"

/* Edits that turn one word into the other; counts up to 31 letters. */
static int distance(const char *a, const char *b)
{
    int row[32], length = (int)strlen(b);
    if (length > 31 || strlen(a) > 31)
        return 99;
    for (int k = 0; k <= length; k++)
        row[k] = k;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int k = 1; k <= length; k++) {
            int best = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[length];
}

const char *spelling_nearest(const char *word, const char *const *names, int count)
{
    const char *best = NULL;
    int length = (int)strlen(word), least = length < 3 ? length : length / 3 + 2;
    for (int k = 0; k < count; k++) {
        int edits = distance(word, names[k]);
        if (edits < least) {
            least = edits;
            best = names[k];
        }
    }
    return best;
}

void spelling_unknown_word(parser_t *p, const char *what, const char *const *names, int count)
{
    const char *word = token_text(p->s, p->token), *near = spelling_nearest(word, names, count);
    if (count == 0) {
        parser_error(p, "unknown %s '%s'; there is none", what, word);
    } else if (near && !p->failed) {
        parser_error(p, "unknown %s '%s'; did you mean '%s'?", what, word, near);
        diag_fix(p->token.begin, p->token.end, near);
    } else {
        const char *all = names[0];
        for (int k = 1; k < count; k++)
            all = arena_printf("%s, %s", all, names[k]);
        parser_error(p, "unknown %s '%s'; there are %s", what, word, all);
    }
}
