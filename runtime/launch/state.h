/* SPDX-License-Identifier: Apache-2.0 */
/* State of launch/ for one runtime. Guarded by the runtime's lock. */
#ifndef KMM__LAUNCH_STATE_H
#define KMM__LAUNCH_STATE_H

#include "base/runtime.h"

enum {
    KMM__MEMO_SETS = 64, /* sets of slots of the table of memos; a power of two */
    KMM__MEMO_WAYS = 4,  /* slots of a set: launches with one hash modulo the sets have so many */
    KMM__SITES = 256     /* slots of the table of sites; a power of two */
};

/* A slot of the table of memos (launch/memo.h). */
struct kmm__memo_slot {
    struct kmm__memo *memo; /* NULL: none yet */
    uint64_t memo_hash;     /* of the memo */
    uint64_t used;          /* memos_looked_for when the slot was last looked at */
    /* The launch that was looked for last and not found: its hash, and the arrays' index then. */
    uint64_t hash, index_changes;
    uint32_t misses; /* since then, launches that have the memo's hash and differ from it */
};

/* A place in the source with an annotated launch (launch/sites.h). */
struct kmm__site {
    const char *file, *kernel; /* static texts */
    int line;
    uint64_t launches, next; /* launches so far; the number of the one that is timed next */
    bool wants_time;         /* the latest launch is to be timed */
    bool is_timing;          /* a launch is being timed */
    /* nanoseconds of the latest sample, and the less of the latest two; 0: there are none */
    uint64_t latest_ns, kernel_ns;
    uint64_t timed_blocks; /* blocks of the launch that was looked at last */
    uint64_t once; /* bytes of its arrays; most of them move when the launch is first divided */
    uint64_t each; /* as in kmm__figures_t */
    uint32_t parts;
};

struct kmm__launches {
    /* KMM_JOIN: limits for joining small chunks into one task. A task has at most `bytes` (0:
     * chunks are never joined) and at most 1/`part` of a device's memory. Each device keeps at
     * least `tasks` tasks of a launch. */
    struct {
        uint64_t bytes, tasks, part;
    } join;
    int64_t calls;     /* number of launches of plain functions that were submitted */
    uint64_t undone;   /* number of launches for which what kmmcc has inferred did not hold */
    uint32_t deferred; /* number of arrays that launches with nowait left mapped */
    struct kmm__memo_slot memos[KMM__MEMO_SETS][KMM__MEMO_WAYS];
    uint64_t memos_looked_for;            /* number of launches that looked for a memo */
    const struct kmm__nodes_hooks *nodes; /* launch/nodes.h; NULL: there is one node */
    uint32_t other_nodes;                 /* how many there are besides this one */
    uint64_t memos_used;                  /* number of launches that used one */
    /* Whether managed standing pays (launch/sites.c): */
    struct kmm__site sites[KMM__SITES];
    int64_t gained; /* nanoseconds that launches would have gained by it, less what calls lose */
    uint64_t native_calls, native_launches; /* as counted at the latest annotated launch */
    bool stays_native;                      /* it never pays */
};

void kmm__launches_start(kmm_runtime_t *rt);
void kmm__launches_stop(kmm_runtime_t *rt);

#endif
