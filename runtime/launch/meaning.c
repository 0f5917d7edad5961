/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the items of a launch that a word of its arguments means. A word is translated with the
 * array of that item, which need not be the array that the word points into. For example, of `f(p)`
 * with the item `p->values[i]` only the values are mapped, and `p` lies in front of them.
 */
#include "launch/meaning.h"

bool kmm__meaning_shared(const kmm__work_t *w, const kmm__item_t *a, const kmm__item_t *b)
{
    for (uint32_t k = 0; k < w->used_words; k++)
        if (kmm__meaning_has(a, kmm__argument_word(w, k)) &&
            kmm__meaning_has(b, kmm__argument_word(w, k)))
            return true;
    return false;
}

bool kmm__meaning_enters(const kmm__work_t *w, const kmm__item_t *item)
{
    for (uint32_t k = 0; k < w->used_words; k++)
        if (kmm__meaning_in_region(item, kmm__argument_word(w, k)))
            return true;
    return false;
}
