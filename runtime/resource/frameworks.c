/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that PyTorch and CuPy look up by name. Numba's plugin is python/kmm_numba.py, over CuPy's. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "table.h"

/* ---- Which resource ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmm_resource_t *pools[KMM__MAX_DEVICES]; /* ours, for good: frameworks free until the process ends */

/* On mapped memory, since what training allocates leaves plain memory in pieces. On plain memory where other devices may
 * have to reach it, where the driver cannot map, and with HIP, some of whose releases claim to map and do not. */
int kmm__framework_pool_create(kmm_resource_t *plain, kmm_resource_t **out)
{
    const kmm__driver_t *driver = kmm__driver();
    kmm_resource_t *mapped = NULL;
    if (!driver || driver->devices > 1 || driver->is_hip || kmm_mapped_resource_create(plain->device, &mapped))
        return kmm_pool_resource_create(plain, NULL, out);
    int status = kmm_pool_resource_create(mapped, NULL, out);
    if (status)
        kmm_resource_destroy(mapped);
    return status;
}

/* A pool of ours on the device's memory unless the program has set a resource. */
static kmm_resource_t *resource_of(int device)
{
    kmm_resource_t *r = kmm_resource_of_device(device);
    if (!r || device < 0 || !kmm__resource_is_initial(r))
        return r;
    pthread_mutex_lock(&lock);
    if (!pools[device] && kmm__framework_pool_create(r, &pools[device]) == 0)
        kmm_resource_set_of_device(device, pools[device], NULL);
    kmm_resource_t *pool = pools[device];
    pthread_mutex_unlock(&lock);
    return pool;
}

/* ---- What is outstanding, and on which streams ---- */

typedef struct use { struct use *next; kmm_stream_t stream; } use_t;

typedef struct allocation {
    kmm_resource_t *resource; /* the device's may be another by the time it is freed */
    kmm_stream_t stream;
    size_t bytes;
    use_t *others; /* guarded by the lock */
} allocation_t;

static kmm__table_t *outstanding(void)
{
    static kmm__table_t table;
    static atomic_bool made;
    if (!atomic_load_explicit(&made, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load(&made))
            kmm__table_init(&table);
        atomic_store_explicit(&made, true, memory_order_release);
        pthread_mutex_unlock(&lock);
    }
    return &table;
}

static void *get(int device, size_t bytes, kmm_stream_t stream)
{
    kmm_resource_t *r = resource_of(device);
    allocation_t *a = r ? calloc(1, sizeof(*a)) : NULL;
    void *p = NULL;
    if (!a)
        return NULL;
    *a = (allocation_t){ r, stream, bytes, NULL };
    int status = kmm_resource_allocate(r, bytes, 0, stream, &p);
    if (status == 0 && p && kmm__table_put(outstanding(), p, a) == 0)
        return p;
    if (p)
        kmm_resource_deallocate(r, p, bytes, stream);
    free(a);
    return NULL;
}

static int wait_for(const kmm_stream_order_t *o, kmm_stream_t stream, kmm_stream_t other)
{
    void *event;
    int status = o->event_create(o->context, &event);
    if (status)
        return status;
    status = o->event_record(o->context, event, other);
    if (status == 0 && o->stream_wait(o->context, stream, event))
        status = o->event_wait(o->context, event);
    o->event_destroy(o->context, event);
    return status;
}

/* Makes `stream` wait for what the other streams have been given by now. */
static int wait_for_others(const allocation_t *a, kmm_stream_t stream)
{
    const kmm_stream_order_t *o = a->resource->order;
    int status = 0;
    for (use_t *u = a->others; u && o && status == 0; u = u->next)
        if (u->stream != stream)
            status = wait_for(o, stream, u->stream);
    return status;
}

/* Memory that cannot be ordered after its last use stays allocated: that is the safe way to lose it. */
static void put(void *p, kmm_stream_t stream)
{
    allocation_t *a = p ? kmm__table_take(outstanding(), p) : NULL;
    if (!a)
        return;
    if (wait_for_others(a, stream) == 0)
        kmm_resource_deallocate(a->resource, p, a->bytes, stream);
    for (use_t *u = a->others, *next; u; u = next) {
        next = u->next;
        free(u);
    }
    free(a);
}

/* ---- PyTorch ---- */

static _Atomic(void (*)(int, size_t, const char *)) on_failure;

KMM__API void kmm_torch_on_failure(void (*fn)(int device, size_t bytes, const char *text)) { atomic_store(&on_failure, fn); }

KMM__API void *kmm_torch_alloc(ptrdiff_t bytes, int device, kmm_stream_t stream)
{
    if (bytes <= 0)
        return NULL;
    void *p = get(device, (size_t)bytes, stream);
    void (*fn)(int, size_t, const char *) = atomic_load(&on_failure);
    if (!p && fn)
        fn(device, (size_t)bytes, kmm_resource_error_text()); /* may throw */
    return p;
}

KMM__API void kmm_torch_free(void *p, ptrdiff_t bytes, int device, kmm_stream_t stream)
{
    (void)bytes, (void)device;
    put(p, stream);
}

KMM__API void kmm_torch_record_stream(void *p, kmm_stream_t stream)
{
    allocation_t *a = p ? kmm__table_find(outstanding(), p) : NULL;
    if (!a || a->stream == stream)
        return;
    pthread_mutex_lock(&lock);
    use_t *u = a->others;
    while (u && u->stream != stream)
        u = u->next;
    if (!u && (u = malloc(sizeof(*u)))) {
        *u = (use_t){ a->others, stream };
        a->others = u;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- CuPy ---- */

static _Thread_local kmm_stream_t cupy_stream;

KMM__API void kmm_cupy_stream(kmm_stream_t stream) { cupy_stream = stream; }

KMM__API void *kmm_cupy_alloc(void *param, size_t bytes, int device)
{
    (void)param;
    return bytes ? get(device, bytes, cupy_stream) : NULL;
}

KMM__API void kmm_cupy_free(void *param, void *p, int device)
{
    (void)param, (void)device;
    allocation_t *a = p ? kmm__table_find(outstanding(), p) : NULL;
    if (a)
        put(p, a->stream);
}
