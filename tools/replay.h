/* SPDX-License-Identifier: Apache-2.0 */
/* A log of allocations as kmm_logging_resource_create and RMM write it. */
#ifndef KMM_REPLAY_H
#define KMM_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct replay_event {
    bool allocates;  /* else frees */
    uint32_t thread; /* 0 .. threads - 1 */
    uint32_t stream; /* index into streams */
    uint32_t
        block; /* 0 .. blocks - 1: which allocation, even where the log uses an address again */
    size_t bytes;
} replay_event_t;

typedef struct replay_log {
    replay_event_t *events; /* in the log's order */
    size_t count, blocks;
    uint64_t *streams; /* handles as logged */
    uint32_t stream_count, thread_count;
    size_t peak, left; /* most bytes live, and live at the end */
    size_t failures;   /* lines of allocations that failed when logged: left out */
    size_t unknown;    /* frees of what the log does not allocate: left out too */
} replay_log_t;

/* 0, or -1 with a message on stderr that names the line. */
int replay_log_read(const char *path, replay_log_t *out);
void replay_log_free(replay_log_t *log);

#endif
