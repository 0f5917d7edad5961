/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of KMM_STATS: a table, or JSON. docs/environment.md describes both. */
#ifndef KMM__OBSERVE_STATS_TEXT_H
#define KMM__OBSERVE_STATS_TEXT_H

#include "base/runtime.h"

/* What one device did. Times are in nanoseconds, the rest of what has no unit in bytes. */
typedef struct kmm__device_stats {
    char name[64];
    const char *kind;           /* "cuda", "hip" or "host" */
    bool has_memory;            /* of its own; what follows is 0 otherwise, but for these: */
    uint64_t chunks, launches;  /* numbers */
    uint64_t proven;            /* number of chunks that ran without -fkmm-check's checks */
    uint64_t ran;               /* time in which chunks ran, in all threads */
    uint32_t threads;           /* that run chunks; 1 for a GPU */
    int node;                   /* of host memory that is near; -1: not known */
    uint64_t limit, most;       /* memory for arrays: allowed, used at most */
    uint64_t in, out;           /* copied from the host, to the host */
    uint64_t from, to;          /* copied from other devices, to other devices */
    uint64_t again;             /* of in and from: what an eviction had taken */
    uint64_t evicted;           /* frames that were evicted */
    uint64_t host_backed;       /* frames made of host memory, at most */
    uint64_t premapped, mapped; /* numbers of frames: premapped; mapped or unmapped */
    uint64_t allowed, shared;   /* numbers of calls that gave access: to it, to others */
    uint64_t premapping, mapping, sharing; /* times of these */
    uint64_t waited;                       /* time in which tasks waited for room */
} kmm__device_stats_t;

typedef struct kmm__stats {
    const char *signal; /* that ends the program; NULL: none */
    long process;
    double seconds; /* since the runtime was made */
    uint32_t device_count;
    kmm__device_stats_t devices[KMM__MAX_DEVICES];
    uint64_t undone; /* launches that ran whole, as inferred facts did not hold */
    uint64_t arrays; /* bytes of all arrays at most */
    /* host memory, if it is limited: allowed, used at most; bytes written to disk, read, dropped */
    uint64_t host_limit, host_most, written, read, dropped;
    /* bytes in a second: page-locking ordinary memory, through buffers, locked to a device; 0: not
     * measured. lock_after: copies after which a block is locked */
    double locks, stages, links, lock_after;
    uint32_t links_at_once, links_all; /* devices that copy at once, and all; 0: all do */
    bool is_async, is_direct;          /* how the spill file is read and written */
} kmm__stats_t;

/* Writes lines, each with "kmm: " in front, or one line of JSON. Returns the length. What does not
 * fit is left out. One thread at a time. */
size_t kmm__stats_table(const kmm__stats_t *s, char *out, size_t size);
size_t kmm__stats_json(const kmm__stats_t *s, char *out, size_t size);

#endif
