/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU as a device: the structs of the backend and of its devices. */
#ifndef KMM__BACKEND_HOST_DEVICE_H
#define KMM__BACKEND_HOST_DEVICE_H

#include "backend/backend.h"
#include "backend/host/thread_pool.h"

/* A frame of a pretend device. */
typedef struct kmm__host_frame {
    struct kmm__host_frame *next; /* in the device's list */
    uint64_t bytes;
    uint64_t counted; /* of the device's memory: bytes, or 0 when it is away */
    kmm__addr_t at;   /* 0: not mapped */
} kmm__host_frame_t;

enum { KMM__HOST_GRANULARITY = 4096 };

typedef struct kmm__host kmm__host_t;

/* A pretend device, or the CPU itself. */
struct kmm__gpu {
    kmm__host_t *host;
    int ordinal;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t used;        /* bytes of frames */
    uint32_t windows;
    kmm__host_frame_t *frames;
};

/* The backend. */
struct kmm__host {
    kmm__backend_t base;
    kmm__thread_pool_t pool;
    uint32_t pretend;  /* 0: one device that works in the host's memory */
    uint64_t mem;      /* bytes of each pretend device */
    bool check_frames; /* fill what is mapped with a pattern */
    pthread_mutex_t lock;
    kmm__stream_t *streams; /* all ever made: events may name a stream that has been destroyed */
    kmm__stream_t *spare_streams; /* of them, those that may be used again */
};

#endif
