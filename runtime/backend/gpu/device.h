/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened GPU, and how its driver is called: with the device current for the thread, which finds
 * its own current device again afterwards, and outside of any graph that the program captures.
 *
 * A capture forbids all threads calls that allocate or that ask how far work is; such a call fails
 * and ends the capture. Calls of kmm have nothing to do with what is captured, whichever thread
 * makes them. They stand between kmm__gpu_relax and kmm__gpu_restore, which exempt this thread.
 */
#ifndef KMM__BACKEND_GPU_DEVICE_H
#define KMM__BACKEND_GPU_DEVICE_H

#include <pthread.h>

#include "backend/gpu/driver.h"

typedef struct kmm__gpu_backend {
    kmm__backend_t base;
    kmm__gpu_driver_t *driver;
    int count;         /* devices of the driver */
    kmm__gpu_t *first; /* the first device opened, for calls that need any device */
} kmm__gpu_backend_t;

/* A kernel of the program as a function of this device. */
typedef struct kmm__loaded_kernel {
    void *kernel, *function;
    size_t shared_bytes; /* dynamic shared memory that launches may have */
} kmm__loaded_kernel_t;

struct kmm__gpu {
    kmm__gpu_backend_t *backend;
    const kmm__gpu_driver_t *driver;
    const kmm__gpu_calls_t *calls; /* the driver's */
    kmm__gpu_device_t device;
    size_t granule; /* bytes; frames are multiples of it */

    pthread_mutex_t load_lock; /* guards the three below */
    kmm__loaded_kernel_t *loaded;
    int loaded_count;
    unsigned peers; /* bit k: device k may use memory that was allocated here */

    /* Notifications (notify.c). */
    pthread_t watcher;
    pthread_mutex_t lock;     /* guards what follows */
    pthread_cond_t noted;     /* `pending` has risen from 0, or `closing` was set */
    pthread_cond_t delivered; /* `delivering` has become NULL */
    kmm__stream_t *streams;
    kmm__stream_t *delivering; /* whose notification is being delivered, unlocked. Freed meanwhile
                                  only by that delivery, which sets this to NULL */
    int pending;               /* notifications not delivered */
    bool closing;
    void **spare; /* events that no notification uses */
    int spare_count, spare_capacity;
};

/* Calls the driver: 0, or a KMM_E_ error with its text. */
#define KMM__GPU_TRY(gpu, call, arguments)                                                         \
    kmm__gpu_result((gpu)->driver, (gpu)->calls->call arguments, (gpu)->driver->names->call)

/* The driver's result r, when it is an answer and no error: the program does not see it later. */
static inline int kmm__gpu_answer(const kmm__gpu_t *gpu, int r)
{
    if (r != KMM__GPU_SUCCESS && gpu->driver->forget)
        gpu->driver->forget();
    return r;
}

/* Makes the device current. The result is for kmm__gpu_leave. */
static inline bool kmm__gpu_enter(const kmm__gpu_t *gpu)
{
    return gpu->driver->enter(&gpu->device);
}

static inline void kmm__gpu_leave(const kmm__gpu_t *gpu, bool entered)
{
    gpu->driver->leave(entered);
}

/* Exempts this thread from a capture. The result is for kmm__gpu_restore. */
static inline int kmm__gpu_relax(const kmm__gpu_t *gpu)
{
    int mode = KMM__GPU_CAPTURE_RELAXED;
    gpu->calls->ThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static inline void kmm__gpu_restore(const kmm__gpu_t *gpu, int mode)
{
    gpu->calls->ThreadExchangeStreamCaptureMode(&mode);
}

/* Both. */
typedef struct kmm__gpu_scope {
    bool entered;
    int mode;
} kmm__gpu_scope_t;

static inline kmm__gpu_scope_t kmm__gpu_scope_enter(const kmm__gpu_t *gpu)
{
    return (kmm__gpu_scope_t){kmm__gpu_enter(gpu), kmm__gpu_relax(gpu)};
}

static inline void kmm__gpu_scope_leave(const kmm__gpu_t *gpu, kmm__gpu_scope_t scope)
{
    kmm__gpu_restore(gpu, scope.mode);
    kmm__gpu_leave(gpu, scope.entered);
}

#endif
