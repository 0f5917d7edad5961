/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a shelf that are not on the fast path, which is inline in shelf.h. */
#include "resource/shelf.h"

unsigned kmm__shelf_below(const kmm__shelf_t *s, unsigned c)
{
    unsigned w = c / 64;
    uint64_t word = w < KMM__CLASS_WORDS ? s->words[w] & (((uint64_t)1 << c % 64) - 1) : 0;
    if (word == 0) {
        const uint64_t used = s->words_used & (((uint64_t)1 << w) - 1);
        if (used == 0)
            return 0;
        w = 63 - (unsigned)__builtin_clzll(used);
        word = s->words[w];
    }
    return w * 64 + 63 - (unsigned)__builtin_clzll(word);
}

bool kmm__shelf_is_valid(const kmm__shelf_t *s)
{
    size_t count = 0, bytes = 0;
    for (unsigned c = 0; c < KMM__CLASSES; c++) {
        bool bit = s->words[c / 64] >> c % 64 & 1;
        if (bit != (s->classes[c] != NULL) || (bit && !(s->words_used >> c / 64 & 1)))
            return false;
        if (s->words[c / 64] == 0 && (s->words_used >> c / 64 & 1))
            return false;
        for (const kmm__block_t *b = s->classes[c]; b; b = b->next) {
            if (kmm__class_of(b->bytes) != c || *b->at != b || (b->next && b->next->at != &b->next))
                return false;
            count++;
            bytes += b->bytes;
        }
    }
    return count == kmm__shelf_count(s) && bytes == s->bytes;
}
