/* SPDX-License-Identifier: Apache-2.0 */
/* A table from addresses to pointers, for many threads: sharded, and read without writing anything
 * that threads share. Whoever writes makes a shard's version odd meanwhile, which is also its lock.
 */
#ifndef KMM__RESOURCE_TABLE_H
#define KMM__RESOURCE_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { KMM__TABLE_SHARDS = 64 };

typedef struct kmm__table_slot {
    _Atomic uintptr_t key; /* 0: empty */
    _Atomic(void *) value;
} kmm__table_slot_t;

/* Open addressing, linear, at most three quarters full. */
typedef struct kmm__table_slots {
    struct kmm__table_slots *smaller; /* what it has replaced; readers may still be there */
    size_t capacity;                  /* a power of two */
    kmm__table_slot_t slot[];
} kmm__table_slots_t;

typedef struct kmm__table_shard {
    _Alignas(64) _Atomic uint32_t version; /* odd: being written */
    _Atomic(kmm__table_slots_t *) slots;   /* NULL: nothing was ever put */
    size_t count;
} kmm__table_shard_t;

typedef struct kmm__table {
    kmm__table_shard_t shards[KMM__TABLE_SHARDS];
} kmm__table_t;

void kmm__table_init(kmm__table_t *t);
void kmm__table_deinit(kmm__table_t *t);
/* Adds a key that is not there. KMM_E_MEMORY when the host has no memory for it. */
int kmm__table_put(kmm__table_t *t, const void *key, void *value);
void *kmm__table_find(kmm__table_t *t, const void *key); /* NULL: not there */
void *kmm__table_take(kmm__table_t *t, const void *key); /* removes it too */
/* Calls fn for every entry; no other thread uses the table meanwhile. */
void kmm__table_each(kmm__table_t *t, void (*fn)(void *context, void *value), void *context);
size_t kmm__table_count(kmm__table_t *t);

#endif
