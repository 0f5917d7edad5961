/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The post: messages and parcels between the processes of one program. Its thread makes all calls
 * of the transport. Other threads hand it what is to be sent, and are told by hooks what arrived.
 *
 *   message   a kind and some bytes, which are copied. Messages to one process arrive in the order
 *             in which they were posted. Those that are posted while others are on their way travel
 *             together.
 *   parcel    a message, its header, and contents, which are not copied. The header arrives as
 *             messages do. Then the receiver says where the contents go.
 *
 * Process 0 watches the others, and they watch it. Each sends something every second. A process
 * that is silent for longer than KMM_NODE_TIMEOUT is lost.
 */
#ifndef KMM__POST_H
#define KMM__POST_H

#include "transport/hooks.h"
#include "transport/transport.h"

/* Starts the post's thread, which opens the transport. The hooks are copied; they may be called
 * before this returns, when *out has been set. On an error the text is set. */
int kmm__post_open(kmm__transport_open_t *open, const kmm__post_hooks_t *hooks, kmm__post_t **out);
uint32_t kmm__post_rank(const kmm__post_t *p);
uint32_t kmm__post_size(const kmm__post_t *p);
/* The process's number among those on its host, and how many these are. */
void kmm__post_host(const kmm__post_t *p, uint32_t *rank, uint32_t *size);
const char *kmm__post_name(const kmm__post_t *p); /* of the transport */

/* Any thread; `to` is another process. A thread other than the post's waits while much is queued
 * for `to`. */
void kmm__post_message(kmm__post_t *p, uint32_t to, uint32_t kind, const void *bytes, size_t count);
void kmm__post_parcel(kmm__post_t *p, const kmm__parcel_t *parcel);
void kmm__post_counts(kmm__post_t *p, kmm__post_counts_t *out);

/* On process 0: tells all others that the program ends, and waits until they have ended their part.
 * On others: waits until process 0 has called it; hooks are called meanwhile. Frees the post. No
 * messages are under way, and no thread posts any more. */
void kmm__post_end(kmm__post_t *p);
/* Ends all processes with this status. Does not return. Any thread. */
void kmm__post_abort(kmm__post_t *p, int status) __attribute__((noreturn));

#endif
