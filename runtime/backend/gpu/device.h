/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened GPU, and how its driver is called.
 *
 * A call of the driver needs the device to be current for the thread: kmm__gpu_enter makes it
 * current, and kmm__gpu_leave restores the program's own current device.
 *
 * While the program captures a graph, calls that allocate or that ask how far work is fail on all
 * threads, and end the capture. kmm's calls have nothing to do with what is captured. So they stand
 * between kmm__gpu_relax and kmm__gpu_restore, which exempt this thread from the capture.
 */
#ifndef KMM__BACKEND_GPU_DEVICE_H
#define KMM__BACKEND_GPU_DEVICE_H

#include <pthread.h>

#include "backend/gpu/clock.h"
#include "backend/gpu/driver.h"

/* A backend over a driver's table. */
typedef struct kmm__gpu_backend {
    kmm__backend_t base;
    kmm__gpu_driver_t *driver;
    int count;         /* number of devices */
    kmm__gpu_t *first; /* the first device opened, for calls that need any device */
} kmm__gpu_backend_t;

/* A kernel of the program, loaded for one device. */
typedef struct kmm__loaded_kernel {
    /* the driver's handle of the kernel; what it launches */
    void *kernel, *function;
    size_t shared_bytes; /* bytes of dynamic shared memory that launches may have */
} kmm__loaded_kernel_t;

/* Free list of events. */
typedef struct kmm__gpu_spare {
    void **event;
    int count, capacity;
} kmm__gpu_spare_t;

struct kmm__gpu {
    kmm__gpu_backend_t *backend;
    const kmm__gpu_driver_t *driver;
    const kmm__gpu_calls_t *calls; /* the driver's */
    kmm__gpu_device_t device;
    size_t granule; /* bytes; sizes of frames are multiples of it */

    pthread_mutex_t load_lock; /* guards loaded, loaded_count and peers */
    kmm__loaded_kernel_t *loaded;
    int loaded_count;
    unsigned peers; /* bit k: device k may use memory allocated here */

    /* Notifications (notify.c). */
    pthread_t watcher;
    pthread_mutex_t lock;     /* guards all members below */
    pthread_cond_t noted;     /* `pending` rose from 0, or `closing` was set */
    pthread_cond_t delivered; /* `delivering` became NULL */
    kmm__stream_t *streams;
    /* The stream whose notification is being delivered, without the lock. Only that delivery may
     * free the stream; it then sets this to NULL. */
    kmm__stream_t *delivering;
    int pending; /* notifications that are not delivered */
    bool closing;
    struct kmm__note *spare_notes; /* free list */
    kmm__gpu_spare_t spare[2];     /* of events: plain ones, timed ones */
    kmm__gpu_clock_t clock;
};

/* Calls the driver. 0 or a KMM_E_ error with its text. */
#define KMM__GPU_TRY(gpu, call, arguments)                                                         \
    kmm__gpu_result((gpu)->driver, (gpu)->calls->call arguments, (gpu)->driver->names->call)

/* Returns the driver's result r, which is an answer and not an error. Clears the thread's last
 * error, so that the program does not find it. */
static inline int kmm__gpu_answer(const kmm__gpu_t *gpu, int r)
{
    if (r != KMM__GPU_SUCCESS && gpu->driver->forget)
        gpu->driver->forget();
    return r;
}

/* Makes the device current. Its result is passed to kmm__gpu_leave. */
static inline bool kmm__gpu_enter(const kmm__gpu_t *gpu)
{
    return gpu->driver->enter(&gpu->device);
}

static inline void kmm__gpu_leave(const kmm__gpu_t *gpu, bool entered)
{
    gpu->driver->leave(entered);
}

/* Exempts this thread from captures. Its result is passed to kmm__gpu_restore. */
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

/* Makes the device current and exempts this thread from captures. */
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
