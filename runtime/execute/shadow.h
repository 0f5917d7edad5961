/* SPDX-License-Identifier: Apache-2.0 */
/* Shadows: the copies of arrays that a chunk works on under KMM_CHECK. */
#ifndef KMM__EXECUTE_SHADOW_H
#define KMM__EXECUTE_SHADOW_H

#include <stdatomic.h>
#include <stdio.h>

#include "execute/origin.h"
#include "memory/array.h"

typedef struct kmm__check kmm__check_t;
typedef struct kmm__exact_device kmm__exact_device_t; /* execute/exact_device.c */

/* The flags of each byte of a copy: what the clauses allow, that the chunk has stored it, and that
 * it has loaded it before (noted if is_ordered). */
enum { KMM__MAY_READ = 1, KMM__MAY_WRITE = 2, KMM__STORED = 4, KMM__LOADED = 8 };

/* Kinds of wrong accesses. A message names the first kind in this order. */
typedef enum kmm__wrong {
    KMM__STORE_UNNAMED, /* a store to an element that no clause names */
    KMM__STORE_TO_READ, /* a store to an element that clauses let the chunk read only */
    KMM__LOAD_UNNAMED,  /* a load of an element that no clause names */
    KMM__LOAD_OLD,      /* a load of an element that `write` names and the chunk has not stored */
    KMM__WRONG_KINDS
} kmm__wrong_t;

enum { KMM__SHADOW_BLOCK = 4096 }; /* bytes in which copies are filled and compared */
enum { KMM__LINE = 104 };          /* bytes of a name with a line, with the final 0 */

/* The wrong accesses of one kind to one copy. */
typedef struct kmm__violation {
    uint64_t count;
    /* offsets in the array: `first` of the first access; the least and the greatest */
    int64_t first, least, most;
    const void *pc;       /* on the CPU: the address behind the instruction of the first access */
    char line[KMM__LINE]; /* on a GPU: "file:line" of the first access */
} kmm__violation_t;

/* The copy of one array. */
typedef struct kmm__shadow {
    kmm__array_t *array;
    size_t bytes, size; /* bytes of the array; of each of image, work and may */
    size_t slack;       /* bytes on each side of `work`, where accesses outside of it go; on a GPU:
                           of address space on each side of `window` */
    char *image;        /* contents before the chunk runs */
    char *work;         /* contents that the chunk works on and leaves */
    unsigned char *may; /* KMM__MAY_..., KMM__STORED and KMM__LOADED for each byte */
    unsigned char
        *named;      /* of a chunk that works apart: the blocks that are used (execute/apart.h) */
    bool is_ordered; /* other chunks may store what this one reads (execute/exact_order.h) */
    kmm__addr_t window; /* on a GPU: where the kernel finds the copy */
    /* on a GPU: one for each frame of the array; 0: the chunk does not touch it */
    kmm__frame_handle_t *frames;
    /* frames 0 to mapped - 1 are mapped, those that exist */
    uint32_t mapped;
    /* On a GPU, of a check of each access: `may` in the device's memory, in frames of its own
     * beside those above. */
    kmm__addr_t marks_window;
    kmm__frame_handle_t *marks;
    uint32_t marks_mapped;
    kmm__violation_t wrong[KMM__WRONG_KINDS];
} kmm__shadow_t;

/* The addresses by which the program knows an array. A chunk under a check must not use them. */
typedef struct kmm__place {
    uintptr_t begin, end;
    const kmm__array_t *array;
} kmm__place_t;

/* The check of one task. */
struct kmm__check {
    kmm__task_t *task;
    kmm__stream_t *stream;
    int error; /* error of a call of the backend; 0: none */
    uint32_t count;
    kmm__shadow_t *shadows;
    atomic_bool has_thrown; /* the chunk has ended by a C++ exception */
    /* Used if each access is checked: */
    bool is_exact;
    atomic_bool is_seen;  /* the chunk has run code that was compiled with -fkmm-check */
    pthread_mutex_t lock; /* guards violations */
    kmm__place_t *places; /* places of the runtime's arrays, sorted by address */
    uint32_t place_count;
    const kmm__array_t *elsewhere; /* the first array that was reached by such an address */
    kmm__violation_t other;
    struct kmm__globals *globals;   /* stores to variables (exact_global.h); NULL: not checked */
    kmm__exact_device_t *on_device; /* on a GPU; NULL: not made yet */
};

/* A change of fewer bytes in a row may be by chance. */
enum { KMM__SURE_BYTES = 16 };

/* Byte b of the pattern of a copy, which repeats after four bytes. Elements of four bytes and
 * eight bytes are quiet NaNs, and sums and products with such an element are the same NaN on the
 * CPU. */
unsigned char kmm__shadow_pattern(const kmm__check_t *c, const kmm__shadow_t *s, size_t b);
/* Byte b of the pattern of each copy of a chunk that KMM_CHECK=result compares. */
unsigned char kmm__shadow_plain_pattern(size_t b);
/* Returns the copy of an array; NULL: there is none. */
kmm__shadow_t *kmm__shadow_of(const kmm__check_t *c, const kmm__array_t *a);
/* Returns the item that a message names for byte `at` of the copy; -1: for none of its bytes. Of
 * several in one array, it is the one whose elements begin nearest in front of the byte. `writes`
 * true prefers an item that is written, false one that is not. KMM__MAX_ITEMS: no item names the
 * array. */
uint32_t kmm__shadow_item(const kmm__check_t *c, const kmm__shadow_t *s, int64_t at, bool writes);
/* Writes "elements 3 to 7, counted from its base (bytes 12 to 31 of its array)" to out; both ends
 * are included. */
void kmm__shadow_range(const kmm__check_t *c, const kmm__shadow_t *s, uint32_t item, size_t begin,
                       size_t end, char *out, size_t size);

#endif
