/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a word of a launch's arguments: the items that it stands for. The caller holds the
 * runtime's lock. */
#ifndef KMM__LAUNCH_MEANING_H
#define KMM__LAUNCH_MEANING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "launch/builder.h"
#include "task/work.h"

/* The k-th aligned word of the arguments, of work's word_count. */
static inline char *kmm__argument_word(const kmm__work_t *w, uint32_t k)
{
    char *word;
    memcpy(&word, w->args + w->words[k], sizeof(word));
    return word;
}

/* True if the word lies in the item's region. */
static inline bool kmm__meaning_in_region(const kmm__item_t *item, const char *word)
{
    return item->region_begin <= word && word < item->region_end;
}

/* True if the word lies between the item's base and a pointer that kmm_launch_through named, or if
 * it is the base of an item whose region no word lies in. The items must have their regions. */
static inline bool kmm__meaning_names(const kmm__item_t *item, const char *word)
{
    bool reaches = item->reach_begin <= word && word <= item->reach_end;
    bool is_through = item->reach_begin < item->reach_end;
    return reaches && (is_through || !item->is_entered || kmm__meaning_in_region(item, word));
}

/* The same, or the word lies in the item's region. */
static inline bool kmm__meaning_has(const kmm__item_t *item, const char *word)
{
    return kmm__meaning_in_region(item, word) || kmm__meaning_names(item, word);
}

/* True if a word of the arguments lies in the item's region. */
bool kmm__meaning_enters(const kmm__work_t *w, const kmm__item_t *item);
/* True if a word of the arguments means both items. */
bool kmm__meaning_shared(const kmm__work_t *w, const kmm__item_t *a, const kmm__item_t *b);

#endif
