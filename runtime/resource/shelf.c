/* SPDX-License-Identifier: Apache-2.0 */
#include "shelf.h"

/* How many blocks of the request's own class are looked at: some of them may be too small. */
enum { PROBES = 8 };

static unsigned class_of(size_t bytes)
{
    uint64_t units = bytes >> KMM__UNIT_SHIFT;
    if (units < 32)
        return (unsigned)units;
    unsigned log = 63 - (unsigned)__builtin_clzll(units);
    if (log > 41)
        return KMM__CLASSES - 1; /* larger than any address space */
    return (log - 4) * 32 + (unsigned)(units >> (log - 5) & 31);
}

static void order_add(kmm__shelf_t *s, kmm__block_t *b)
{
    b->newer = NULL;
    b->older = s->newest;
    if (s->newest)
        s->newest->newer = b;
    else
        s->oldest = b;
    s->newest = b;
}

static void order_remove(kmm__shelf_t *s, kmm__block_t *b)
{
    if (b->older)
        b->older->newer = b->newer;
    else
        s->oldest = b->newer;
    if (b->newer)
        b->newer->older = b->older;
    else
        s->newest = b->older;
}

void kmm__shelf_put(kmm__shelf_t *s, kmm__block_t *b)
{
    unsigned c = class_of(b->bytes);
    b->previous = NULL;
    b->next = s->classes[c];
    if (b->next)
        b->next->previous = b;
    s->classes[c] = b;
    s->words[c / 64] |= (uint64_t)1 << c % 64;
    s->words_used |= (uint64_t)1 << c / 64;
    if (s->keeps_order)
        order_add(s, b);
    s->bytes += b->bytes;
    atomic_store_explicit(&s->count, atomic_load_explicit(&s->count, memory_order_relaxed) + 1, memory_order_relaxed);
}

static void class_unlink(kmm__shelf_t *s, kmm__block_t *b)
{
    if (b->next)
        b->next->previous = b->previous;
    if (b->previous) {
        b->previous->next = b->next;
        return;
    }
    unsigned c = class_of(b->bytes);
    s->classes[c] = b->next;
    if (b->next)
        return;
    s->words[c / 64] &= ~((uint64_t)1 << c % 64);
    if (s->words[c / 64] == 0)
        s->words_used &= ~((uint64_t)1 << c / 64);
}

void kmm__shelf_take(kmm__shelf_t *s, kmm__block_t *b)
{
    class_unlink(s, b);
    if (s->keeps_order)
        order_remove(s, b);
    s->bytes -= b->bytes;
    atomic_store_explicit(&s->count, atomic_load_explicit(&s->count, memory_order_relaxed) - 1, memory_order_relaxed);
}

/* The first block of the lowest class above c that has one. */
static kmm__block_t *first_above(const kmm__shelf_t *s, unsigned c)
{
    unsigned w = (c + 1) / 64;
    if (w >= KMM__CLASS_WORDS)
        return NULL;
    uint64_t word = s->words[w] & ~(uint64_t)0 << (c + 1) % 64;
    if (word == 0) {
        uint64_t used = w + 1 < 64 ? s->words_used & ~(uint64_t)0 << (w + 1) : 0;
        if (used == 0)
            return NULL;
        w = (unsigned)__builtin_ctzll(used);
        word = s->words[w];
    }
    return s->classes[w * 64 + (unsigned)__builtin_ctzll(word)];
}

kmm__block_t *kmm__shelf_fit(const kmm__shelf_t *s, size_t bytes)
{
    unsigned c = class_of(bytes);
    kmm__block_t *best = NULL;
    int probes = 0;
    for (kmm__block_t *b = s->classes[c]; b && probes < PROBES; b = b->next, probes++) {
        if (b->bytes == bytes)
            return b;
        if (b->bytes > bytes && (!best || b->bytes < best->bytes))
            best = b;
    }
    return best ? best : first_above(s, c);
}

bool kmm__shelf_is_valid(const kmm__shelf_t *s)
{
    size_t count = 0, bytes = 0;
    for (unsigned c = 0; c < KMM__CLASSES; c++) {
        bool bit = s->words[c / 64] >> c % 64 & 1;
        if (bit != (s->classes[c] != NULL) || (bit && !(s->words_used >> c / 64 & 1)))
            return false;
        for (const kmm__block_t *b = s->classes[c]; b; b = b->next) {
            if (class_of(b->bytes) != c || (b->next && b->next->previous != b))
                return false;
            count++;
            bytes += b->bytes;
        }
    }
    size_t ordered = 0;
    for (const kmm__block_t *b = s->oldest; b; b = b->newer, ordered++)
        if (b->newer ? b->newer->older != b : s->newest != b)
            return false;
    return count == s->count && bytes == s->bytes && (!s->keeps_order || ordered == count);
}
