/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of pages: what is known of each byte that the chunks of a launch have stored. */
#ifndef KMM__EXECUTE_EXACT_PAGE_H
#define KMM__EXECUTE_EXACT_PAGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct kmm__work kmm__work_t;

enum { KMM__PAGE = 4096, KMM__PAGE_WORD = 8 };

/* Flags of a byte. */
enum {
    KMM__BYTE_STORED = 1,  /* a store to it has begun */
    KMM__BYTE_LEFT = 2,    /* `left` is known */
    KMM__BYTE_SEVERAL = 4, /* stores have left several values */
    KMM__BYTE_LOOSE = 8,   /* a store to it has no order with another chunk's store or load */
    KMM__BYTE_SAID = 16    /* a message has named its memory, or its variable is left alone */
};

/* What is known of the bytes of one page. */
typedef struct kmm__page {
    uintptr_t begin;
    unsigned char flags[KMM__PAGE];
    unsigned char left[KMM__PAGE];   /* what a store has left in it */
    unsigned char before[KMM__PAGE]; /* what was there before the first store */
    uint16_t place[KMM__PAGE];       /* of the clock of the chunk that stored last */
    uint32_t time[KMM__PAGE];        /* of that chunk then */
    const void *pc[KMM__PAGE / KMM__PAGE_WORD];
} kmm__page_t;

/* A hash table by `begin`, half of it empty at least. */
typedef struct kmm__pages {
    kmm__page_t **at;
    uint32_t count, slots;
} kmm__pages_t;

/* NULL: there is none. */
kmm__page_t *kmm__page_find(const kmm__pages_t *p, uintptr_t begin);
/* `w`: the launch to whose memory the table belongs; NULL: the table is a chunk's, and freed. */
void kmm__page_add(kmm__pages_t *p, kmm__page_t *page, kmm__work_t *w);
/* Allocates memory that lives as long as the launch. Not locked. */
void *kmm__page_take(kmm__work_t *w, size_t bytes);
/* Drops what is known of the bytes, but for those that are wrong. */
void kmm__page_forget(const kmm__pages_t *p, uintptr_t begin, uintptr_t end);

#endif
