/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that PyTorch and CuPy look up by name. Numba's plugin is python/kmm_numba.py,
 * which uses CuPy's functions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "resource/driver.h"
#include "resource/table.h"
#include "resource/timeline.h"

/* ---- Which resource ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmm_resource_t
    *pools[KMM__MAX_DEVICES]; /* ours, for good: frameworks free until the process ends */

/* Whether any device of the process can be let reach memory of any other. */
static bool all_reach_all(const kmm__driver_t *driver)
{
    for (int a = 0; a < driver->devices; a++)
        for (int b = 0; b < driver->devices; b++)
            if (a != b && kmm__driver_can_reach(a, b))
                return false;
    return true;
}

/* On mapped memory, since what training allocates leaves plain memory in pieces. On plain memory
 * where copies between devices have to go through the host, which they do for plain memory only;
 * where the driver cannot map; and with HIP, some of whose releases claim to map and do not. */
int kmm__framework_pool_create(kmm_resource_t *plain, kmm_resource_t **out)
{
    const kmm__driver_t *driver = kmm__driver();
    kmm_resource_t *mapped = NULL;
    if (!driver || driver->is_hip || !driver->maps || !all_reach_all(driver) ||
        kmm_mapped_resource_create(plain->device, &mapped))
        return kmm_pool_resource_create(plain, NULL, out);
    int status = kmm_pool_resource_create(mapped, NULL, out);
    if (status)
        kmm_resource_destroy(mapped);
    return status;
}

/* Frameworks copy between devices, and let kernels of one read another's arrays: each device that
 * has a pool of ours reaches all of them, plain memory as frameworks open it themselves. So one
 * that uses one device of many has no other opened to it. */
static int open_to_others(int device, kmm_resource_t *pool)
{
    int status = 0;
    for (int other = 0; other < KMM__MAX_DEVICES && status == 0; other++)
        if (pools[other] && pools[other]->upstream->mapper)
            status = kmm_resource_allow(pools[other], device);
    for (int other = 0; other < KMM__MAX_DEVICES && status == 0; other++)
        if (pools[other] && pool->upstream->mapper)
            status = kmm_resource_allow(pool, other);
    return status;
}

/* With the lock held. What has been made is kept though it cannot be opened to others now: the next
 * call tries again. */
static kmm_resource_t *pool_of(int device, kmm_resource_t *plain)
{
    static kmm_resource_t *made[KMM__MAX_DEVICES];
    if (pools[device])
        return pools[device];
    if (!made[device] && kmm__framework_pool_create(plain, &made[device]))
        return NULL;
    if (open_to_others(device, made[device]))
        return NULL;
    pools[device] = made[device];
    kmm_resource_set_of_device(device, pools[device], NULL);
    return pools[device];
}

/* A pool of ours on the device's memory unless the program has set a resource. */
static kmm_resource_t *resource_of(int device)
{
    if (device < 0) {
        kmm__resource_fail(KMM_E_NO_DEVICE, "there is no device %d", device);
        return NULL;
    }
    kmm_resource_t *r = kmm_resource_of_device(device);
    if (!r || !kmm__resource_is_initial(r))
        return r;
    pthread_mutex_lock(&lock);
    kmm_resource_t *pool = pool_of(device, r);
    pthread_mutex_unlock(&lock);
    return pool;
}

/* ---- What is outstanding, and on which streams ---- */

typedef struct use {
    struct use *next;
    kmm_stream_t stream;
} use_t;

typedef struct allocation {
    kmm_resource_t *resource; /* the device's may be another by the time it is freed */
    kmm_stream_t stream;
    uintptr_t life; /* which of the streams that have had this handle; NO_LIFE: the memory waits for
                       all work of its device */
    size_t bytes;
    use_t *others; /* guarded by the lock */
} allocation_t;

#define NO_LIFE UINTPTR_MAX

/* What zeros are is an empty table. */
static kmm__table_t outstanding; /* address -> allocation_t */
static kmm__table_t ended;       /* a stream's handle -> how many streams have ended that had it */
static _Atomic uint64_t used;    /* devices that something has been allocated on */
_Static_assert(KMM__MAX_DEVICES <= 64, "a bit for each");

static uintptr_t life_of(kmm_stream_t stream)
{
    return stream ? (uintptr_t)kmm__table_find(&ended, stream) : 0;
}

/* What a graph has been given must be nobody else's as long as it may run, which is not known here:
 * so it is given nothing. The default stream is never captured. */
static int check_capture(kmm_stream_t stream)
{
    if ((uintptr_t)stream <= KMM__STREAM_LEGACY || !kmm__driver() ||
        !kmm__driver_check_capture(stream))
        return 0;
    return kmm__resource_fail(KMM_E_STATE,
                              "stream %p is being captured into a graph, which would use memory "
                              "that is allocated now after it has "
                              "been freed; allocate before",
                              stream);
}

static int get(int device, size_t bytes, kmm_stream_t stream, void **out)
{
    kmm_resource_t *r = resource_of(device);
    allocation_t *a = r ? calloc(1, sizeof(*a)) : NULL;
    *out = NULL;
    if (!a)
        return r ? kmm__resource_fail(KMM_E_MEMORY, "no host memory to record an allocation")
                 : KMM_E_DEVICE;
    atomic_fetch_or(&used, (uint64_t)1 << device);
    *a = (allocation_t){r, stream, life_of(stream), bytes, NULL};
    int status = check_capture(stream);
    if (status == 0)
        status = kmm_resource_allocate(r, bytes, 0, stream, out);
    if (status == 0 && kmm__table_put(&outstanding, *out, a)) {
        kmm_resource_deallocate(r, *out, bytes, stream);
        *out = NULL;
        status = kmm__resource_fail(KMM_E_MEMORY, "no host memory to record an allocation");
    }
    if (status)
        free(a);
    else
        kmm__driver_settle_in(device); /* frameworks count on it */
    return status;
}

/* The events are those of the memory's device: for a stream of another one the processor waits. */
static int wait_for(const allocation_t *a, kmm_stream_t stream, kmm_stream_t other)
{
    const kmm_stream_order_t *o = a->resource->order;
    void *event;
    int status = o->event_create(o->context, &event);
    if (status)
        return status;
    status = o->event_record(o->context, event, other);
    if (status && status != KMM_E_STATE && other && o == kmm__driver_order(a->resource->device))
        status = kmm__driver_check(kmm__driver()->StreamSynchronize(other), "cuStreamSynchronize",
                                   a->resource->device);
    else if (status == 0 && o->stream_wait(o->context, stream, event))
        status = o->event_wait(o->context, event);
    o->event_destroy(o->context, event);
    return status;
}

/* Makes `stream` wait for what the other streams have been given by now. */
static int wait_for_others(const allocation_t *a, kmm_stream_t stream)
{
    int status = 0;
    for (use_t *u = a->others; u && a->resource->order && status == 0; u = u->next)
        if (u->stream != stream)
            status = wait_for(a, stream, u->stream);
    return status;
}

/* Waits for all work of a device. */
static int settle(int device)
{
    int status = kmm__driver_enter(device);
    if (status)
        return status;
    status = kmm__driver_check(kmm__driver()->CtxSynchronize(), "cuCtxSynchronize", device);
    kmm__driver_leave();
    return status;
}

/* Orders the free after all uses of the memory. The stream it was allocated on may be gone: then on
 * the default one, after all work there is, since nobody can say any more which of it uses the
 * memory. */
static int order_free(const allocation_t *a, kmm_stream_t *stream)
{
    if (a->life == life_of(a->stream))
        return wait_for_others(a, *stream);
    *stream = NULL;
    const int status = settle(a->resource->device);
    return status ? status : wait_for_others(a, NULL);
}

/* Memory that cannot be ordered after its last use stays allocated: that is the safe way to lose
 * it. */
static void put(void *p, kmm_stream_t stream)
{
    allocation_t *a = p ? kmm__table_take(&outstanding, p) : NULL;
    if (!a)
        return;
    if (order_free(a, &stream) == 0)
        kmm_resource_deallocate(a->resource, p, a->bytes, stream);
    for (use_t *u = a->others, *next; u; u = next) {
        next = u->next;
        free(u);
    }
    free(a);
}

/* ---- PyTorch ---- */

static _Atomic(void (*)(int, int, size_t, const char *)) on_failure;

KMM__API void kmm_torch_on_failure(void (*fn)(int status, int device, size_t bytes,
                                              const char *text))
{
    atomic_store(&on_failure, fn);
}

KMM__API void *kmm_torch_alloc(ptrdiff_t bytes, int device, kmm_stream_t stream)
{
    if (bytes <= 0)
        return NULL;
    void *p;
    const int status = get(device, (size_t)bytes, stream, &p);
    void (*fn)(int, int, size_t, const char *) = atomic_load(&on_failure);
    if (status && fn)
        fn(status, device, (size_t)bytes, kmm_resource_error_text()); /* may throw */
    return p;
}

KMM__API void kmm_torch_free(void *p, ptrdiff_t bytes, int device, kmm_stream_t stream)
{
    (void)bytes, (void)device;
    put(p, stream);
}

KMM__API void kmm_torch_record_stream(void *p, kmm_stream_t stream)
{
    allocation_t *a = p ? kmm__table_find(&outstanding, p) : NULL;
    if (!a || a->stream == stream)
        return;
    pthread_mutex_lock(&lock);
    use_t *u = a->others;
    while (u && u->stream != stream)
        u = u->next;
    if (!u && (u = malloc(sizeof(*u)))) {
        *u = (use_t){a->others, stream};
        a->others = u;
    }
    if (!u)
        a->life = NO_LIFE;
    pthread_mutex_unlock(&lock);
}

KMM__API void kmm_torch_empty_cache(void)
{
    for (int device = 0; device < KMM__MAX_DEVICES; device++)
        if (atomic_load(&used) >> device & 1)
            kmm_resource_trim(kmm_resource_of_device(device), 0);
}

/* ---- CuPy ---- */

static _Thread_local kmm_stream_t cupy_stream;
static _Thread_local int cupy_failure;

KMM__API void kmm_cupy_stream(kmm_stream_t stream)
{
    cupy_stream = stream;
}
KMM__API int kmm_cupy_failure(void)
{
    return cupy_failure;
}

KMM__API void kmm_cupy_stream_end(kmm_stream_t stream, int device)
{
    if (!stream || device < 0 || device >= KMM__MAX_DEVICES || !(atomic_load(&used) >> device & 1))
        return;
    kmm_resource_stream_end(kmm_resource_of_device(device), stream);
    pthread_mutex_lock(&lock);
    const uintptr_t lives = (uintptr_t)kmm__table_take(&ended, stream);
    kmm__table_put(
        &ended, stream,
        (void *)(lives + 1)); /* should that fail, its memory is freed on a stream that is gone */
    pthread_mutex_unlock(&lock);
    if (cupy_stream == stream)
        cupy_stream = NULL;
}

KMM__API void *kmm_cupy_alloc(void *param, size_t bytes, int device)
{
    (void)param;
    void *p = NULL;
    cupy_failure = bytes ? get(device, bytes, cupy_stream, &p) : 0;
    return p;
}

KMM__API void kmm_cupy_free(void *param, void *p, int device)
{
    (void)param, (void)device;
    allocation_t *a = p ? kmm__table_find(&outstanding, p) : NULL;
    if (a)
        put(p, a->stream);
}
