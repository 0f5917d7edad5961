/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of the CPU's backend and of its devices. */
#ifndef KMM__BACKEND_HOST_DEVICE_H
#define KMM__BACKEND_HOST_DEVICE_H

#include "backend/backend.h"
#include "backend/host/thread_pool.h"

/* A frame of a pretend device. */
typedef struct kmm__host_frame {
    struct kmm__host_frame *next; /* next frame of the device */
    uint64_t bytes;
    uint64_t counted; /* bytes that count as the device's memory; 0: the frame is host-backed */
    kmm__addr_t at;   /* where it is mapped; 0: nowhere */
} kmm__host_frame_t;

enum { KMM__HOST_GRANULARITY = 4096 };

typedef struct kmm__host kmm__host_t;

/* A pretend device, or the CPU itself. */
struct kmm__gpu {
    kmm__host_t *host;
    int ordinal;
    pthread_mutex_t lock; /* guards the members below */
    uint64_t used;        /* bytes of frames that count */
    uint32_t windows;
    kmm__host_frame_t *frames;
    bool is_stuck; /* a frame could not be unmapped; whoever uses the device keeps it for ever */
};

/* The backend. */
struct kmm__host {
    kmm__backend_t base;
    kmm__thread_pool_t pool;
    /* pretend devices; 0: none, the CPU is one device that works in host memory */
    uint32_t pretend;
    uint64_t mem;      /* bytes of memory of each pretend device */
    bool check_frames; /* KMM_CHECK=frames: fill a frame with a pattern when it is mapped */
    pthread_mutex_t lock;
    /* all that were ever made, because an event may name a destroyed stream; guarded by lock */
    kmm__stream_t *streams;
    kmm__stream_t *spare_streams; /* destroyed streams, which are used again; guarded by lock */
};

#endif
