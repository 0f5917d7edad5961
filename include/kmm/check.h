/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table by which kernels that were compiled with `kmmcc -fkmm-check` compare their accesses
 * with the clauses of their chunk, and the function that compares one. The kernel gets the table's
 * address in its kmm_blocks_t. kmmcc puts a call of kmm_check_access before each load and store
 * that may be of global memory.
 *
 * libkmm fills in a table for each chunk (runtime/execute/exact_device.c), which works on copies of
 * its arrays. All addresses are as the kernel knows them, and are those of memory that no other
 * chunk uses. Threads change the table at the same time.
 */
#ifndef KMM_CHECK_H
#define KMM_CHECK_H

#include <stdint.h>

/* What an access does; a number of bytes follows from bit KMM_CHECK_BYTES on. */
enum { KMM_CHECK_LOAD = 1, KMM_CHECK_STORE = 2, KMM_CHECK_BYTES = 2 };

/* Of a byte: what the clauses allow, and whether the chunk has stored it. */
enum { KMM_CHECK_MAY_READ = 1, KMM_CHECK_MAY_WRITE = 2, KMM_CHECK_STORED = 4 };

/* Wrong accesses: to what no clause names, to what clauses let the chunk read only, and of what
 * `write` names and the chunk has not stored. */
enum {
    KMM_CHECK_STORE_UNNAMED,
    KMM_CHECK_STORE_TO_READ,
    KMM_CHECK_LOAD_UNNAMED,
    KMM_CHECK_LOAD_OLD,
    KMM_CHECK_WRONGS,
    KMM_CHECK_LINE = 104
};

/* All wrong accesses of one sort. */
typedef struct kmm_check_wrong {
    uint64_t count;
    int64_t first, least, most; /* bytes of the array; `first`: of the access that came first */
    char line[KMM_CHECK_LINE];  /* "file:line" of that access */
} kmm_check_wrong_t;

/* The copy of one array. Parts of it that the chunk does not access are not there. */
typedef struct kmm_check_span {
    uint64_t begin; /* address of the array's first byte */
    uint64_t bytes; /* of the array */
    uint64_t slack; /* bytes on each side of the array in which nothing else lies */
    uint64_t map;   /* address: KMM_CHECK_MAY_... for each byte of the array */
    /* Address: a byte for each frame, which is 0 if array and map lack the frame. 0: all are there.
     */
    uint64_t frames;
    uint64_t frame_bytes; /* a multiple of 64 */
    uint32_t frame_shift; /* the logarithm of frame_bytes; 0: that is no power of two */
    uint32_t unused;
    kmm_check_wrong_t wrong[KMM_CHECK_WRONGS];
} kmm_check_span_t;

/* Addresses of an array that none of the chunk's arguments is for. */
typedef struct kmm_check_place {
    uint64_t begin, end;
} kmm_check_place_t;

typedef struct kmm_check_table {
    unsigned char scratch[64]; /* accesses to memory that no copy has go here; aligned */
    uint64_t spans, places;    /* addresses; places ascend and do not overlap */
    uint32_t span_count, place_count;
    uint32_t elsewhere;      /* number from 1 of the place that was accessed first; 0: none was */
    kmm_check_wrong_t other; /* accesses of that place; bytes count from its begin */
} kmm_check_table_t;

#if defined(__HIP__) && !defined(__CUDACC__)
#define KMM_CHECK_ON_AMD 1
#endif
#if ((defined(__CUDACC__) || defined(KMM_CHECK_ON_AMD)) && defined(KMM_CHECKED)) ||                \
    defined(KMM_CHECK_ON_HOST)

#if defined(KMM_CHECK_ON_AMD)
#define KMM_CHECK_CODE static __attribute__((device, always_inline)) inline
#define KMM_CHECK_CALLED static __attribute__((device, used, noinline))
#elif defined(__CUDACC__)
#define KMM_CHECK_CODE static __device__ __forceinline__
#define KMM_CHECK_CALLED static __device__ __attribute__((__used__, __noinline__))
#else
#define KMM_CHECK_CODE static inline
#define KMM_CHECK_CALLED static __attribute__((__unused__))
#endif

/* ---- What threads do at the same time ---- */
/* For NVIDIA's GPUs these are written in assembler: the check may be added to functions of CUDA's
 * headers, and would call itself. */

KMM_CHECK_CODE uint64_t kmm_check_add(uint64_t *at)
{
    uint64_t old = 0;
#if defined(__CUDA_ARCH__)
    __asm__ volatile("atom.add.u64 %0, [%1], 1;" : "=l"(old) : "l"(at) : "memory");
#elif !defined(__CUDACC__)
    old = __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
#endif
    return old;
}

/* Replaces 0 by `value`. Returns what was there. */
KMM_CHECK_CODE uint32_t kmm_check_claim(uint32_t *at, uint32_t value)
{
    uint32_t old = 0;
#if defined(__CUDA_ARCH__)
    __asm__ volatile("atom.cas.b32 %0, [%1], 0, %2;" : "=r"(old) : "l"(at), "r"(value) : "memory");
#elif !defined(__CUDACC__)
    __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
    return old;
}

/* Extends w->least to w->most by `at`. */
KMM_CHECK_CODE void kmm_check_extend(kmm_check_wrong_t *w, int64_t at)
{
#if defined(__CUDA_ARCH__)
    __asm__ volatile("red.min.s64 [%0], %1;" ::"l"(&w->least), "l"(at) : "memory");
    __asm__ volatile("red.max.s64 [%0], %1;" ::"l"(&w->most), "l"(at) : "memory");
#elif !defined(__CUDACC__)
    int64_t least = __atomic_load_n(&w->least, __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&w->most, __ATOMIC_RELAXED);
    while (at < least && !__atomic_compare_exchange_n(&w->least, &least, at, 0, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED))
        ;
    while (at > most &&
           !__atomic_compare_exchange_n(&w->most, &most, at, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
#endif
}

KMM_CHECK_CODE void kmm_check_note(kmm_check_wrong_t *w, int64_t at, uint64_t line)
{
    const char *text = (const char *)(uintptr_t)line;
    kmm_check_extend(w, at);
    if (kmm_check_add(&w->count) != 0)
        return;
    w->first = at;
    for (int k = 0; k < KMM_CHECK_LINE - 1 && text[k]; k++)
        w->line[k] = text[k];
}

/* ---- One access ---- */

/* What is wrong with an access to a byte; KMM_CHECK_WRONGS: nothing. An atomic operation stores,
 * and loads what was there. */
KMM_CHECK_CODE int kmm_check_judge(unsigned may, unsigned kind)
{
    if ((kind & KMM_CHECK_STORE) && !(may & KMM_CHECK_MAY_WRITE))
        return may & KMM_CHECK_MAY_READ ? KMM_CHECK_STORE_TO_READ : KMM_CHECK_STORE_UNNAMED;
    if ((kind & KMM_CHECK_LOAD) && !(may & (KMM_CHECK_MAY_READ | KMM_CHECK_STORED)))
        return may & KMM_CHECK_MAY_WRITE ? KMM_CHECK_LOAD_OLD : KMM_CHECK_LOAD_UNNAMED;
    return KMM_CHECK_WRONGS;
}

/* The map's byte for byte `at` of the array; NULL: the copy lacks it. */
KMM_CHECK_CODE volatile unsigned char *kmm_check_map(const kmm_check_span_t *s, int64_t at)
{
    const unsigned char *frames = (const unsigned char *)(uintptr_t)s->frames;
    if (at < 0 || (uint64_t)at >= s->bytes)
        return 0;
    if (frames &&
        !frames[s->frame_shift ? (uint64_t)at >> s->frame_shift : (uint64_t)at / s->frame_bytes])
        return 0;
    return (volatile unsigned char *)(uintptr_t)(s->map + (uint64_t)at);
}

/* Whether four bytes may be accessed. Their marks are one word. Threads that mark bytes of the same
 * word at the same time mark those that they store, and each leaves the others' clauses alone. */
KMM_CHECK_CODE int kmm_check_word(const kmm_check_span_t *s, int64_t at, unsigned kind)
{
    const uint32_t each = 0x01010101u;
    volatile uint32_t *map = (volatile uint32_t *)kmm_check_map(s, at);
    if (!map || (uint64_t)at + 3 >= s->bytes)
        return 0;
    uint32_t may = *map;
    if ((kind & KMM_CHECK_STORE) && (may >> 1 & each) != each)
        return 0;
    if ((kind & KMM_CHECK_LOAD) && ((may | may >> 2) & each) != each)
        return 0;
    if ((kind & KMM_CHECK_STORE) && (may >> 2 & each) != each)
        *map = may | each << 2;
    return 1;
}

/* Compares an access byte by byte, and counts each sort of mistake once. True if the copy has all
 * bytes. An access of several elements may be wrong in each of them. */
KMM_CHECK_CODE int kmm_check_bytes(kmm_check_span_t *s, int64_t at, unsigned bytes, unsigned kind,
                                   uint64_t line)
{
    unsigned said = 0;
    int is_there = 1;
    for (unsigned b = 0; b < bytes; b++) {
        volatile unsigned char *map = kmm_check_map(s, at + b);
        unsigned may = map ? *map : 0;
        int wrong = kmm_check_judge(may, kind);
        is_there &= map != 0;
        if (wrong != KMM_CHECK_WRONGS && !(said >> wrong & 1))
            kmm_check_note(&s->wrong[wrong], at + b, line);
        else if (wrong != KMM_CHECK_WRONGS)
            kmm_check_extend(&s->wrong[wrong], at + b);
        else if ((kind & KMM_CHECK_STORE) && !(may & KMM_CHECK_STORED))
            *map = (unsigned char)(may | KMM_CHECK_STORED);
        said |= 1u << wrong;
    }
    return is_there;
}

KMM_CHECK_CODE int kmm_check_span(kmm_check_span_t *s, int64_t at, unsigned bytes, unsigned kind,
                                  uint64_t line)
{
    unsigned done = 0;
    while (!((uint64_t)at & 3) && done + 4 <= bytes && kmm_check_word(s, at + done, kind))
        done += 4;
    return done == bytes || kmm_check_bytes(s, at + done, bytes - done, kind, line);
}

/* True if the address is in an array that the clauses of the chunk do not name. */
KMM_CHECK_CODE int kmm_check_elsewhere(kmm_check_table_t *t, uint64_t address, uint64_t line)
{
    const kmm_check_place_t *places = (const kmm_check_place_t *)(uintptr_t)t->places;
    uint32_t low = 0,
             high =
                 t->place_count; /* binary search: places from `high` on begin behind the address */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (places[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= places[low - 1].end)
        return 0;
    uint32_t first = kmm_check_claim(&t->elsewhere, low);
    if (!first || first == low)
        kmm_check_note(&t->other, (int64_t)(address - places[low - 1].begin), line);
    return 1;
}

/* Compares an access with the chunk's clauses and notes what is wrong. `what`: KMM_CHECK_LOAD and
 * KMM_CHECK_STORE, with the bytes. `line`: the address of "file:line". Returns the address to
 * access: `address`, or, where nothing is, that of the scratch. `table` 0: does nothing. */
KMM_CHECK_CALLED uint64_t kmm_check_access(uint64_t table, uint64_t address, uint32_t what,
                                           uint64_t line)
{
    kmm_check_table_t *t = (kmm_check_table_t *)(uintptr_t)table;
    unsigned bytes = what >> KMM_CHECK_BYTES, kind = what & (KMM_CHECK_LOAD | KMM_CHECK_STORE);
    if (!t || !bytes)
        return address;
    kmm_check_span_t *spans = (kmm_check_span_t *)(uintptr_t)t->spans;
    for (uint32_t k = 0; k < t->span_count; k++) {
        int64_t at = (int64_t)(address - spans[k].begin);
        if (at >= -(int64_t)spans[k].slack && at < (int64_t)(spans[k].bytes + spans[k].slack))
            return kmm_check_span(&spans[k], at, bytes, kind, line) ? address : table;
    }
    return kmm_check_elsewhere(t, address, line) ? table : address;
}
#endif

#endif
