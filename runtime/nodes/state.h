/* SPDX-License-Identifier: Apache-2.0 */
/* What this process knows of the program's nodes. There is one for the process. */
#ifndef KMM__NODES_STATE_H
#define KMM__NODES_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "memory/array.h"
#include "nodes/holders.h"
#include "transport/post.h"

/* An array that several nodes know. */
typedef struct kmm__shared {
    struct kmm__shared *next;
    uint64_t id; /* of the array on node 0 */
    char *base;  /* the array's address on this node */
    int64_t bytes;
    bool stays; /* of node 0: launches that are not divided have used it */
    kmm__holder_map_t holders;
} kmm__shared_t;

/* Contents that have arrived, or a command that is to be executed. */
typedef struct kmm__mail {
    struct kmm__mail *next;
    uint32_t from, kind;
    uint64_t key[3]; /* of contents: command, array, first byte */
    size_t count;
    _Alignas(16) char bytes[];
} kmm__mail_t;

typedef struct kmm__nodes {
    kmm__post_t *post;
    uint32_t me, count;
    kmm_runtime_t *rt;         /* the process's; NULL: not made yet */
    uint64_t command;          /* number of the command that is executed, or was executed last */
    kmm__shared_t *shared;     /* list */
    _Atomic uint64_t launches; /* that were divided */
    _Atomic uint64_t chunks;   /* of these that this node has run */

    bool is_busy;         /* of node 0: a launch was shared since the latest COMMAND_WAIT */
    pthread_mutex_t turn; /* of node 0: the thread whose command is written and executed */
    pthread_t log;        /* of other nodes: the thread that executes commands */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    kmm__mail_t *commands, **commands_end; /* that wait for being executed */
    kmm__mail_t *contents;                 /* that nobody has asked for yet */
    uint64_t held, held_most;              /* bytes of these, and of those that arrive; the most */
    uint64_t sent[KMM__NODES_MOST];        /* bytes that each node has not stored yet */
    uint64_t events;                       /* counts changes of `contents` and `sent` */
    uint32_t done;                         /* answers to the latest COMMAND_WAIT */
} kmm__nodes_t;

/* Commands, of which node 0 sends each to all others, in one order; and answers. */
typedef enum kmm__command_kind {
    KMM__COMMAND_ARRAY = 16, /* id, bytes: an array that commands will name */
    KMM__COMMAND_FORGET,     /* id */
    KMM__COMMAND_USE,        /* id, mode, begin, end: node 0 reads or writes bytes */
    KMM__COMMAND_DEAL,       /* id, begin, end: node 0 writes bytes, which go to their homes */
    KMM__COMMAND_FILL,       /* the same with a value: each node sets its own bytes */
    KMM__COMMAND_FETCH,      /* id, begin, end: node 0 reads bytes and does not keep them */
    KMM__COMMAND_LAUNCH,     /* nodes/launch.c */
    KMM__COMMAND_WAIT,       /* all work that was submitted ends, then DONE is sent */
    KMM__ANSWER_DONE,
    KMM__ANSWER_TAKEN /* bytes: as many that the receiver had sent have been stored */
} kmm__command_kind_t;

/* Ends all processes with an error of this node. */
void kmm__nodes_fail(kmm__nodes_t *n, const char *text) __attribute__((noreturn));
/* Node 0: sends a command to all others. */
void kmm__command_send(kmm__nodes_t *n, kmm__command_kind_t kind, const void *bytes, size_t count);

kmm__shared_t *kmm__shared_find(const kmm__nodes_t *n, uint64_t id); /* NULL: it is not shared */
kmm__shared_t *kmm__shared_add(kmm__nodes_t *n, uint64_t id, char *base, int64_t bytes);
void kmm__shared_drop(kmm__nodes_t *n, kmm__shared_t *shared);

#endif
