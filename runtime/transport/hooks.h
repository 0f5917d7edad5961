/* SPDX-License-Identifier: Apache-2.0 */
/* What the users of the post hand to it. */
#ifndef KMM__TRANSPORT_HOOKS_H
#define KMM__TRANSPORT_HOOKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct kmm__post kmm__post_t;

/* Called on the post's thread, which they must not block. They may post. */
typedef struct kmm__post_hooks {
    void *ctx;
    void (*message)(void *ctx, uint32_t from, uint32_t kind, const void *bytes, size_t count);
    /* Returns memory for the contents, `bytes` bytes. It stays until `arrived` is called. */
    void *(*parcel)(void *ctx, uint32_t from, const void *header, size_t count, size_t bytes);
    void (*arrived)(void *ctx, uint32_t from, void *contents);
    /* Process `rank` is lost. Called once. */
    void (*lost)(void *ctx, uint32_t rank, const char *why);
} kmm__post_hooks_t;

typedef struct kmm__parcel {
    uint32_t to;
    const void *header; /* copied; header_bytes bytes */
    size_t header_bytes;
    /* stay until `sent` is called; `bytes` bytes, at most KMM__MESSAGE_MOST */
    const void *contents;
    size_t bytes;
    void (*sent)(void *arg); /* called on the post's thread; NULL: nobody is told */
    void *arg;
} kmm__parcel_t;

/* Messages and parcels that were sent, and transport messages that carried the messages. */
typedef struct kmm__post_counts {
    uint64_t messages, batches, parcels, bytes;
} kmm__post_counts_t;

enum { KMM__POST_KINDS = 1 << 16 }; /* kinds of messages are less */

#endif
