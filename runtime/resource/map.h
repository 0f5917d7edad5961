/* SPDX-License-Identifier: Apache-2.0 */
/* A map from addresses to pointers, for many threads: sharded, each shard with a lock of its own. */
#ifndef KMM__RESOURCE_MAP_H
#define KMM__RESOURCE_MAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { KMM__MAP_SHARDS = 64 };

typedef struct kmm__map_slot { uintptr_t key; void *value; } kmm__map_slot_t; /* key 0: empty */

typedef struct kmm__map_shard {
    _Alignas(64) atomic_flag lock;
    kmm__map_slot_t *slots; /* open addressing, linear; at most three quarters full */
    size_t capacity, count; /* capacity is 0 or a power of two */
} kmm__map_shard_t;

typedef struct kmm__map { kmm__map_shard_t shards[KMM__MAP_SHARDS]; } kmm__map_t;

void kmm__map_init(kmm__map_t *m);
void kmm__map_deinit(kmm__map_t *m);
/* Adds a key that is not there. KMM_E_MEMORY when the host has no memory for it. */
int kmm__map_put(kmm__map_t *m, const void *key, void *value);
void *kmm__map_find(kmm__map_t *m, const void *key); /* NULL: not there */
void *kmm__map_take(kmm__map_t *m, const void *key); /* removes it too */
/* Calls fn for every entry; no other thread uses the map meanwhile. */
void kmm__map_each(kmm__map_t *m, void (*fn)(void *context, void *value), void *context);
size_t kmm__map_count(kmm__map_t *m);

#endif
