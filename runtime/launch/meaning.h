/* SPDX-License-Identifier: Apache-2.0 */
/* Which items of a launch a word of its arguments means. The caller holds the runtime's lock. */
#ifndef KMM__LAUNCH_MEANING_H
#define KMM__LAUNCH_MEANING_H

#include "launch/builder.h"
#include "task/work.h"

/* The k-th aligned word of the arguments, of work's word_count. */
char *kmm__argument_word(const kmm__work_t *w, uint32_t k);

/* Whether a word of the arguments lies in the item's region. */
bool kmm__meaning_enters(const kmm__work_t *w, const kmm__item_t *item);
/* Whether the word lies in the item's region, or between the base and a pointer that
 * kmm_launch_through named, or is the base of an item that no word of the arguments lies in. The
 * items must have their regions. */
bool kmm__meaning_has(const kmm__item_t *item, const char *word);
/* The same without the words that only lie in the region. */
bool kmm__meaning_names(const kmm__item_t *item, const char *word);
/* Whether a word of the arguments means both items. */
bool kmm__meaning_shared(const kmm__work_t *w, const kmm__item_t *a, const kmm__item_t *b);

#endif
