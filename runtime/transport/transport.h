/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between the runtime and a transport: what carries messages between the processes of
 * one program, which are its nodes. A transport is a plug-in, a shared library that
 * transport/load.c opens. mpi.c is one, built once for each MPI that is installed. tests/fake has
 * another.
 *
 * Rules:
 *  1. One thread makes all calls, also kmm__transport_open (transport/post.c).
 *  2. No call blocks, except opening and `end`. No call prints.
 *  3. Messages of one process to another on one channel are found in the order in which they were
 *     sent. Nothing orders messages of different pairs, or of different channels.
 *  4. A function returns 0 or a negative KMM_E_ error, unless its comment says otherwise.
 */
#ifndef KMM__TRANSPORT_H
#define KMM__TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

enum {
    KMM__TRANSPORT_VERSION = 2, /* of this contract */
    KMM__CONTROL = 0,           /* channel of small messages */
    KMM__DATA = 1,              /* channel of contents of arrays */
    KMM__CHANNELS = 2,
    KMM__MESSAGE_MOST = 1 << 30 /* bytes of the largest message */
};

typedef struct kmm__transport kmm__transport_t;

/* A message that has been found, and not yet received. */
typedef struct kmm__arrival {
    uint32_t from, channel;
    size_t bytes;
    void *message; /* the transport's own */
} kmm__arrival_t;

struct kmm__transport {
    uint32_t version; /* KMM__TRANSPORT_VERSION */
    const char *name; /* with its version, for messages */
    uint32_t rank, size;
    uint32_t host_rank, host_size; /* the same among the processes on this host, in that order */

    /* Begins to send to another process. The bytes stay as they are until the request is done. */
    int (*send)(kmm__transport_t *t, uint32_t to, uint32_t channel, const void *bytes, size_t count,
                void **request);
    /* Finds the next message, each once. Returns 1 if there is one, 0 if not. KMM_E_IO: process
     * out->from cannot be reached any more; that is told once for each. */
    int (*find)(kmm__transport_t *t, kmm__arrival_t *out);
    /* Begins to receive a message that was found into memory for all its bytes. */
    int (*receive)(kmm__transport_t *t, const kmm__arrival_t *a, void *to, void **request);
    /* Returns 1 if the request is done, and forgets it; 0: not yet. */
    int (*test)(kmm__transport_t *t, void *request);
    /* Ends this process's part. All processes call it, when all that was sent has been received. */
    void (*end)(kmm__transport_t *t);
    /* Ends all processes, as far as it can reach them, and this one. Does not return. */
    void (*abort)(kmm__transport_t *t, int status);
};

/* What a plug-in exports: joins the other processes. On an error it writes the reason to `reason`,
 * which has room for `room` bytes. */
typedef int kmm__transport_open_t(kmm__transport_t **out, char *reason, size_t room);
#define KMM__TRANSPORT_OPEN kmm__transport_open

#endif
