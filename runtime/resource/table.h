/* SPDX-License-Identifier: Apache-2.0 */
/* A table from addresses to pointers for many threads. It is sharded. Reading writes nothing
 * that threads share. A writer makes a shard's version odd, which also locks the shard. */
#ifndef KMM__RESOURCE_TABLE_H
#define KMM__RESOURCE_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { KMM__TABLE_SHARDS = 64 };

typedef struct kmm__table_entry {
    _Atomic uintptr_t key; /* 0: empty */
    _Atomic(void *) value;
} kmm__table_entry_t;

/* Open addressing with linear probing, at most three quarters full. */
typedef struct kmm__table_entries {
    struct kmm__table_entries
        *smaller;    /* the array that this one replaced; readers may still use it */
    size_t capacity; /* a power of two */
    kmm__table_entry_t entry[];
} kmm__table_entries_t;

typedef struct kmm__table_shard {
    _Alignas(64) _Atomic uint32_t version;   /* odd while a thread writes the shard */
    _Atomic(kmm__table_entries_t *) entries; /* NULL until the first put */
    size_t count;
} kmm__table_shard_t;

typedef struct kmm__table {
    kmm__table_shard_t shards[KMM__TABLE_SHARDS];
} kmm__table_t;

void kmm__table_init(kmm__table_t *t);
void kmm__table_deinit(kmm__table_t *t);
/* Adds a key that is not in the table. KMM_E_MEMORY: the host has no memory. */
int kmm__table_put(kmm__table_t *t, const void *key, void *value);
void *kmm__table_find(kmm__table_t *t, const void *key); /* NULL: the key is not in the table */
void *kmm__table_take(kmm__table_t *t, const void *key); /* finds the key and removes it */
/* Calls fn for every entry. No other thread may use the table meanwhile. */
void kmm__table_each(kmm__table_t *t, void (*fn)(void *context, void *value), void *context);
size_t kmm__table_count(kmm__table_t *t);

#endif
