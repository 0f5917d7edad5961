/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that PyTorch and CuPy look up by name. Numba's plugin,
 * python/kmm/allocators/numba.py, uses CuPy's functions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "resource/driver.h"
#include "resource/graph_pools.h"
#include "resource/table.h"
#include "resource/timeline.h"

/* ---- The resources ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmm_resource_t *pools[KMM__MAX_DEVICES]; /* created by libkmm; never destroyed, because
                                                   frameworks free memory until the process ends */

/* True if each device of the process can be given access to the memory of each other one. */
static bool all_reach_all(const kmm__driver_t *driver)
{
    for (int a = 0; a < driver->devices; a++)
        for (int b = 0; b < driver->devices; b++)
            if (a != b && kmm__driver_can_reach(a, b))
                return false;
    return true;
}

/* Creates the pool of a device for a framework. It is on mapped memory, because training leaves
 * plain memory fragmented. It is on plain memory in three cases. If copies between devices go
 * through the host, they work on plain memory only. Some drivers cannot map. And with HIP some
 * releases claim to map and do not. */
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

/* Gives a new pool's device access to the other pools, and their devices access to the new pool.
 * Frameworks copy between devices, and kernels on one device read arrays of another. Only mapped
 * memory needs it here: frameworks open plain memory themselves. A process that uses one device of
 * many opens no other. */
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

/* Returns the pool of a device; NULL: an error. A pool that cannot be opened to other devices now
 * is kept, and the next call tries again. The caller holds the lock. */
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

/* Returns the resource that the program has set for a device, or else a pool on the device's
 * memory. */
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

/* ---- Live allocations, and the streams that use them ---- */

typedef struct use {
    struct use *next;
    kmm_stream_t stream;
} use_t;

typedef struct allocation {
    kmm_resource_t
        *resource; /* where it is from; the device's resource may be another one when it is freed */
    kmm_stream_t stream;
    uintptr_t life; /* tells apart the streams that had this handle one after the other; NO_LIFE:
                       the memory waits for all work of its device */
    size_t bytes;
    use_t *others;           /* other streams that use the memory; guarded by `lock` */
    kmm__graph_pool_t *pool; /* that of a graph; NULL: none */
} allocation_t;

#define NO_LIFE UINTPTR_MAX

/* A table of zeros is empty. */
static kmm__table_t outstanding; /* address -> allocation_t */
static kmm__table_t ended;       /* stream handle -> number of ended streams that had it */
static _Atomic uint64_t used;    /* one bit for each device on which memory was allocated */
_Static_assert(KMM__MAX_DEVICES <= 64, "a bit for each");

static uintptr_t life_of(kmm_stream_t stream)
{
    return stream ? (uintptr_t)kmm__table_find(&ended, stream) : 0;
}

/* Refuses to allocate on a stream that is being captured, if no pool of the graph is known. A graph
 * may run as long as it exists, and may use the memory each time; but libkmm does not know when it
 * ends. The default stream is never captured. */
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

static void forget(allocation_t *a)
{
    if (a->pool)
        kmm__graph_pool_drop(a->pool);
    free(a);
}

/* Allocates for a record whose other members are set. */
static int allocate(allocation_t *a, void **out)
{
    int status = a->pool ? 0 : check_capture(a->stream);
    if (status == 0)
        status = kmm_resource_allocate(a->resource, a->bytes, 0, a->stream, out);
    if (status == 0 && kmm__table_put(&outstanding, *out, a)) {
        kmm_resource_deallocate(a->resource, *out, a->bytes, a->stream);
        *out = NULL;
        status = kmm__resource_fail(KMM_E_MEMORY, "no host memory to record an allocation");
    }
    return status;
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
    kmm__graph_pool_t *pool = kmm__graph_pool_take(device, stream);
    *a = (allocation_t){
        pool ? kmm__graph_pool_resource(pool) : r, stream, life_of(stream), bytes, NULL, pool};
    int status = allocate(a, out);
    if (status)
        forget(a);
    else
        kmm__driver_settle_in(device); /* frameworks expect a current context after an allocation */
    return status;
}

/* Makes `stream` wait for the work on `other`. Events belong to the memory's device; for a stream
 * of another device, this thread waits. */
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

/* Makes `stream` wait for the work so far of the other streams that use the memory. */
static int wait_for_others(const allocation_t *a, kmm_stream_t stream)
{
    int status = 0;
    for (use_t *u = a->others; u && a->resource->order && status == 0; u = u->next)
        if (u->stream != stream)
            status = wait_for(a, stream, u->stream);
    return status;
}

/* Makes the free follow all uses of the memory. If the stream on which the memory was allocated has
 * ended, no stream is known to have its uses. Then this waits for all work of the device, and the
 * memory is freed on the default stream. */
static int order_free(const allocation_t *a, kmm_stream_t *stream)
{
    if (a->life == life_of(a->stream))
        return wait_for_others(a, *stream);
    *stream = NULL;
    const int status = kmm__driver_settle(a->resource->device);
    return status ? status : wait_for_others(a, NULL);
}

/* Frees memory. If it cannot be ordered after its last use it stays allocated: a leak is safe. */
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
    forget(a);
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
        fn(status, device, (size_t)bytes, kmm_resource_error_text()); /* may throw an exception */
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
    kmm__graph_pools_collect();
    for (int device = 0; device < KMM__MAX_DEVICES; device++)
        if (atomic_load(&used) >> device & 1)
            kmm_resource_trim(kmm_resource_of_device(device), 0);
}

KMM__API int kmm_torch_pool_begin(int device, const uint64_t id[2],
                                  bool (*fits)(void *filter, kmm_stream_t stream), void *filter)
{
    kmm_resource_t *r = resource_of(device);
    return r ? kmm__graph_pool_begin(device, id, r, fits, filter) : KMM_E_DEVICE;
}

KMM__API void *kmm_torch_pool_end(int device, const uint64_t id[2])
{
    return kmm__graph_pool_end(device, id);
}

KMM__API void kmm_torch_pool_release(int device, const uint64_t id[2])
{
    kmm__graph_pool_release(device, id);
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
    kmm__table_put(&ended, stream,
                   (void *)(lives + 1)); /* if this fails, memory of the stream is freed on its
                                            handle although it has ended */
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
