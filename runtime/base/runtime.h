/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root: one runtime, its devices, and a pointer to the part of each floor that has state of its
 * own. A part is defined, made and written by its floor alone.
 *
 * One lock, kmm_runtime.lock, guards everything in libkmm that does not say otherwise. It is never
 * held while a driver maps memory, copies, launches or blocks. Functions whose comment says
 * "locked" are called with it; "not locked", without it.
 */
#ifndef KMM__BASE_RUNTIME_H
#define KMM__BASE_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <kmm.h>

enum {
    KMM__MAX_DEVICES = 24,                  /* sets of spaces are masks of 32 bits */
    KMM__MAX_SPACES = KMM__MAX_DEVICES + 1, /* the host's, and one for each device */
    KMM__MAX_BACKENDS = 5,
    KMM__HOST = 0 /* the host's space; device k has space k + 1 if it has memory of its own */
};

typedef struct kmm__backend kmm__backend_t;
typedef struct kmm__device kmm__device_t;

/* The first error of asynchronous work since kmm_wait returned one. code 0: none. */
typedef struct kmm__error {
    int code;
    bool is_told; /* a call has returned it */
    char text[512];
} kmm__error_t;

struct kmm_runtime {
    uint32_t number; /* of runtimes of the process, for trace points; constant */
    pthread_mutex_t lock;
    pthread_cond_t progress;       /* a task, marker or array has finished; goes with lock */
    _Atomic uint32_t lock_waiters; /* device threads that wait for the lock; written without it */
    bool stopping;                 /* threads end when they find nothing to do */
    kmm__error_t error;            /* written by base/error.c */

    /* Devices. Constant once the runtime has been made. */
    kmm__backend_t *backends[KMM__MAX_BACKENDS];
    uint32_t backend_count;
    kmm__device_t *device[KMM__MAX_DEVICES];
    uint32_t device_count;  /* the visible ones come first */
    uint32_t visible_count; /* those that launches use */
    kmm__device_t *cpu;     /* the device in the host's space; there always is one */
    uint32_t space_count;   /* device_count + 1 */
    bool has_spaces;        /* some device has memory of its own */
    bool checks_access;     /* KMM_CHECK=access */
    bool checks_result;     /* KMM_CHECK=result */
    char *stats; /* KMM_STATS when it was made: the time of chunks is measured; NULL: it is not */
    atomic_bool stats_told; /* the statistics have been printed */
    uint64_t began;         /* kmm__now() when it was made */
    bool is_counted;        /* the user has said how many GPUs to use: launches use them all */

    /* Parts. Each is owned by the floor of its name. */
    struct kmm__tasks *tasks;       /* task/state.h */
    struct kmm__memory *memory;     /* memory/state.h */
    struct kmm__launches *launches; /* launch/state.h */
};

#endif
