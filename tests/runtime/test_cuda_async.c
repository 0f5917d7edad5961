/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that a program frees in the order of a stream, in native standing. The CUDA runtime and
 * libkmm are small stand-ins here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "managed_stand_ins.h"

int __wrap_cudaMalloc(void **out, size_t bytes);
int __wrap_cudaMallocAsync(void **out, size_t bytes, void *s);
int __wrap_cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *s);
int __wrap_cudaFreeAsync(void *p, void *s);
int __wrap_cudaStreamDestroy(void *s);

/* ---- The CUDA runtime ---- */

enum { EVENTS = 64 };
static struct {
    char used, done;
} events[EVENTS];
static int real_mallocs, real_frees, synchronized, waited, capturing, current, last_error, cleared;

#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }
NOTHING(__real_cudaMalloc)
NOTHING(__real_cudaMallocPitch)
NOTHING(__real_cudaMemcpy)
NOTHING(__real_cudaPointerGetAttributes)
NOTHING(__real_cudaFree)
NOTHING(__real_cudaDeviceSynchronize)
NOTHING(__real_cudaDeviceEnablePeerAccess)
NOTHING(__real_cudaMemcpyFromSymbol)
NOTHING(__real_cudaMemcpyToSymbol)
NOTHING(__real_cudaSetDevice)
NOTHING(__real_cudaStreamDestroy)
NOTHING(__real_cudaStreamWaitEvent)
NOTHING(__real_cudaLaunchKernel)
NOTHING(__real_cudaEventElapsedTime)
NOTHING(cudaGetSymbolSize)

int __real_cudaMallocAsync(void **out, size_t bytes, void *s);
int __real_cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *s);
int __real_cudaFreeAsync(void *p, void *s);
int __real_cudaStreamSynchronize(void *s);
int __real_cudaEventDestroy(void *e);
int __real_cudaEventRecord(void *e, void *s);
int __real_cudaEventQuery(void *e);
int __real_cudaEventSynchronize(void *e);
int __real_cudaPeekAtLastError(void);
int __real_cudaGetLastError(void);
int cudaEventCreateWithFlags(void **out, unsigned flags);
int cudaStreamIsCapturing(void *s, int *out);
int cudaGetDevice(int *device);

int __real_cudaMallocAsync(void **out, size_t bytes, void *s)
{
    (void)out, (void)bytes, (void)s;
    return real_mallocs++, 0;
}
int __real_cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *s)
{
    (void)out, (void)bytes, (void)pool, (void)s;
    return real_mallocs++, 0;
}
int __real_cudaFreeAsync(void *p, void *s)
{
    (void)p, (void)s;
    return real_frees++, 0;
}
int __real_cudaStreamSynchronize(void *s)
{
    (void)s;
    return synchronized++, 0;
}
int cudaEventCreateWithFlags(void **out, unsigned flags)
{
    int k = 0;
    (void)flags;
    while (k < EVENTS && events[k].used)
        k++;
    if (k == EVENTS)
        return KMM_CUDA_MEMORY_ALLOCATION;
    events[k].used = 1;
    events[k].done = 0;
    *out = &events[k];
    return 0;
}
int __real_cudaEventDestroy(void *e)
{
    return *(char *)e = 0, 0;
}
int __real_cudaEventRecord(void *e, void *s)
{
    (void)e, (void)s;
    return 0;
}
int __real_cudaEventQuery(void *e)
{
    return ((char *)e)[1] ? 0 : KMM_CUDA_NOT_READY;
}
int __real_cudaEventSynchronize(void *e)
{
    ((char *)e)[1] = 1;
    return waited++, 0;
}
int __real_cudaPeekAtLastError(void)
{
    return last_error;
}
int __real_cudaGetLastError(void)
{
    return cleared++, 0;
}
int cudaStreamIsCapturing(void *s, int *out)
{
    (void)s;
    return *out = capturing, 0;
}
int cudaGetDevice(int *device)
{
    return *device = current, 0;
}

/* ---- libkmm: ten arrays at most ---- */

enum { ARRAYS = 10 };
static struct {
    char memory[256];
    size_t bytes; /* 0: it is free */
} arrays[ARRAYS];
static int managed; /* number of arrays that did not fit */

int kmm_cuda_native_malloc(void **out, size_t bytes)
{
    for (int k = 0; k < ARRAYS; k++)
        if (!arrays[k].bytes) {
            arrays[k].bytes = bytes;
            return *out = arrays[k].memory, 1;
        }
    return 0;
}
static size_t *bytes_of(const void *p)
{
    for (int k = 0; k < ARRAYS; k++)
        if (arrays[k].memory == (const char *)p && arrays[k].bytes)
            return &arrays[k].bytes;
    return NULL;
}
int kmm_cuda_native_free(void *p)
{
    size_t *bytes = bytes_of(p);
    return bytes ? (*bytes = 0, 1) : 0;
}
int kmm_cuda_is_managed(const void *p)
{
    return bytes_of(p) != NULL;
}
int kmm_array_find(kmm_runtime_t *rt, const void *p, kmm_extent_t *out)
{
    const size_t *bytes = bytes_of(p);
    (void)rt;
    if (!bytes)
        return KMM_E_ADDRESS;
    *out = (kmm_extent_t){(void *)(uintptr_t)p, *bytes};
    return 0;
}
int kmm_cuda_malloc(void **out, size_t bytes)
{
    (void)bytes;
    *out = NULL;
    return managed++, 0;
}
int kmm_device_count(kmm_runtime_t *rt)
{
    (void)rt;
    return 1; /* there is a GPU */
}
int kmm_device_get_sized(size_t bytes, kmm_runtime_t *rt, int index, kmm_device_info_t *out)
{
    (void)bytes, (void)rt, (void)index;
    *out = (kmm_device_info_t){.kind = KMM_KIND_CUDA};
    return 0;
}

static int live(void)
{
    int n = 0;
    for (int k = 0; k < ARRAYS; k++)
        n += arrays[k].bytes != 0;
    return n;
}

static int events_left(void)
{
    int n = 0;
    for (int k = 0; k < EVENTS; k++)
        n += events[k].used;
    return n;
}

static void *make(size_t bytes, void *s)
{
    void *p = NULL;
    assert_int_equal(__wrap_cudaMallocAsync(&p, bytes, s), 0);
    assert_non_null(p);
    return p;
}

static int setup(void **state)
{
    (void)state;
    if (at_end)
        at_end();
    memset(events, 0, sizeof(events));
    memset(arrays, 0, sizeof(arrays));
    is_native = 1;
    is_bound = real_mallocs = real_frees = synchronized = waited = capturing = current = 0;
    last_error = cleared = managed = 0;
    return 0;
}

static int first, second; /* streams */

/* Nobody waits. The memory is free when the stream has come to the event. */
static void test_by_event(void **state)
{
    void *p = make(64, &first), *q = make(100, &first);
    (void)state;
    assert_int_equal(__wrap_cudaFreeAsync(p, &first), 0);
    assert_int_equal(live(), 2);
    assert_int_equal(synchronized + waited, 0);
    events[0].done = 1;
    assert_int_equal(__wrap_cudaFreeAsync(q, &first), 0);
    assert_int_equal(live(), 1);
    last_error = 1; /* which the program is to find */
    events[1].done = 1;
    cleared = 0;
    q = make(10, &second);
    assert_int_equal(__wrap_cudaFreeAsync(q, &second), 0);
    assert_int_equal(live(), 2);
    assert_int_equal(cleared, 0);
    last_error = 0;
    at_end();
    assert_int_equal(live(), 0);
    assert_int_equal(events_left(), 0);
}

/* An allocation of the same size on the same stream takes the memory at once. */
static void test_again(void **state)
{
    void *p = make(64, &first), *q;
    (void)state;
    for (int k = 0; k < 100; k++) {
        assert_int_equal(__wrap_cudaFreeAsync(p, &first), 0);
        q = make(64, &second);
        assert_ptr_not_equal(q, p);
        kmm_cuda_native_free(q);
        q = make(65, &first);
        assert_ptr_not_equal(q, p);
        kmm_cuda_native_free(q);
        current = 1; /* the default streams of two devices have one handle */
        q = make(64, &first);
        assert_ptr_not_equal(q, p);
        kmm_cuda_native_free(q);
        current = 0;
        assert_ptr_equal(make(64, &first), p);
    }
    assert_int_equal(synchronized + waited, 0);
    assert_int_equal(events_left(), 0);
}

/* A stream that is gone leaves nothing to one that gets its handle. */
static void test_destroyed(void **state)
{
    void *p = make(64, &first);
    (void)state;
    assert_int_equal(__wrap_cudaFreeAsync(p, &first), 0);
    assert_int_equal(__wrap_cudaStreamDestroy(&first), 0);
    assert_ptr_not_equal(make(64, &first), p);
}

/* Where there is no room an allocation waits for what is being freed. */
static void test_full(void **state)
{
    void *p[ARRAYS], *q = NULL;
    (void)state;
    for (int k = 0; k < ARRAYS; k++)
        p[k] = make((size_t)k + 1, &first);
    for (int k = 0; k < 3; k++)
        assert_int_equal(__wrap_cudaFreeAsync(p[k], &first), 0);
    assert_int_equal(__wrap_cudaMalloc(&q, 200), 0);
    assert_non_null(q);
    assert_int_equal(waited, 3);
    assert_int_equal(live(), ARRAYS - 2);
    assert_int_equal(managed, 0);
    make(201, &first);
    make(202, &first);
    assert_int_equal(__wrap_cudaMalloc(&q, 200), 0); /* none is being freed */
    assert_int_equal(managed, 1);
}

/* Memory of a graph is the driver's. */
static void test_captured(void **state)
{
    void *p = NULL;
    (void)state;
    is_bound = capturing = 1;
    assert_int_equal(__wrap_cudaMallocAsync(&p, 64, &first), 0);
    assert_int_equal(__wrap_cudaMallocFromPoolAsync(&p, 64, &second, &first), 0);
    assert_int_equal(real_mallocs, 2);
    assert_int_equal(__wrap_cudaFreeAsync(&first, &first), 0);
    assert_int_equal(real_frees, 1);
    capturing = 0;
    p = make(64, &first);
    assert_int_equal(real_mallocs, 2);
    assert_int_equal(__wrap_cudaFreeAsync(p, &first), 0);
    assert_int_equal(real_frees, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_by_event, setup),  cmocka_unit_test_setup(test_again, setup),
        cmocka_unit_test_setup(test_destroyed, setup), cmocka_unit_test_setup(test_full, setup),
        cmocka_unit_test_setup(test_captured, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
