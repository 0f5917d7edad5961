/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm_cuda.a's calls on memory: what goes to libkmm, what to the runtime, and what fails by
 * name. Both are small stand-ins here: managed memory is an arena, whose bytes libkmm's calls
 * change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "managed_stand_ins.h"

typedef struct pitched {
    void *p;
    size_t pitch, width, height;
} pitched_t;
typedef struct extent {
    size_t width, height, depth;
} extent_t;
typedef struct place {
    void *array;
    size_t x, y, z;
    pitched_t memory;
} place_t;
typedef struct copy {
    place_t from, to;
    extent_t extent;
    int kind;
} copy_t;
typedef struct resource {
    int kind;
    void *p;
    char rest[48];
} resource_t;

int __wrap_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
int __wrap_cudaMalloc3D(pitched_t *out, extent_t extent);
int __wrap_cudaMemset2D(void *dst, size_t pitch, int value, size_t w, size_t h);
int __wrap_cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t w, size_t h, void *s);
int __wrap_cudaMemset3D(pitched_t memory, int value, extent_t extent);
int __wrap_cudaMemset3DAsync(pitched_t memory, int value, extent_t extent, void *s);
int __wrap_cudaMemcpy2D(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h,
                        int kind);
int __wrap_cudaMemcpy3D(const copy_t *c);
int __wrap_cudaMemcpy3DAsync(const copy_t *c, void *s);
int __wrap_cudaSetDevice(int device);
int __wrap_cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t n);
int __wrap_cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t n, void *s);
int __wrap_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset,
                              int kind);
int __wrap_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset,
                                     int kind, void *s);
int __wrap_cudaMemPrefetchAsync(const void *p, size_t n, uint64_t place, uint64_t flags, void *s);
int __wrap_cudaMemAdvise(const void *p, size_t n, int advice, uint64_t place);
int __wrap_cudaCreateTextureObject(uint64_t *out, const void *resource, const void *texture,
                                   const void *view);
int __wrap_cudaIpcGetMemHandle(void *out, void *p);
int __wrap_cudaMemcpy2DToArray(void *dst, size_t x, size_t y, const void *src, size_t pitch,
                               size_t w, size_t h, int kind);
int __wrap_cudaMemcpy2DFromArray(void *dst, size_t pitch, const void *src, size_t x, size_t y,
                                 size_t w, size_t h, int kind);
int __wrap_cudaMemcpy2DToArrayAsync(void *dst, size_t x, size_t y, const void *src, size_t pitch,
                                    size_t w, size_t h, int kind, void *s);
int __wrap_cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, const void *src, size_t x, size_t y,
                                      size_t w, size_t h, int kind, void *s);
int __wrap_cudaMemcpyToArray(void *dst, size_t x, size_t y, const void *src, size_t n, int kind);
int __wrap_cudaMemcpyFromArray(void *dst, const void *src, size_t x, size_t y, size_t n, int kind);
int __wrap_cudaHostUnregister(void *p);
int __wrap_cudaFreeArray(void *array);
int __wrap_cudaDestroyTextureObject(uint64_t texture);
int __wrap_cudaDestroySurfaceObject(uint64_t surface);
int __wrap_cudaGetSymbolAddress(void **out, const void *symbol);
int __wrap_cudaDeviceSetLimit(int limit, size_t value);
int __wrap_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t n, size_t offset,
                                   int kind, void *s);
int __wrap_cudaFree(void *p);
int __wrap_cudaMalloc(void **out, size_t bytes);
int __wrap_cudaMallocAsync(void **out, size_t bytes, void *s);
int __wrap_cudaMemcpy(void *dst, const void *src, size_t n, int kind);
int __wrap_cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *s);
int __wrap_cudaMallocFromPoolAsync(void **out, size_t n, void *pool, void *s);
int __wrap_cudaFreeAsync(void *p, void *s);
int __wrap_cudaMemset(void *dst, int value, size_t n);
int __wrap_cudaMemsetAsync(void *dst, int value, size_t n, void *s);
int __wrap_cudaMemcpy2DAsync(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h,
                             int kind, void *s);
int __wrap_cudaLaunchHostFunc(void *s, void (*function)(void *arg), void *arg);
int __wrap_cudaStreamAddCallback(void *s, void (*function)(void *s, int status, void *arg),
                                 void *arg, unsigned flags);
int __wrap_cudaEventRecordWithFlags(void *event, void *s, unsigned flags);
int __wrap_cudaStreamQuery(void *s);
int __wrap_cudaStreamSynchronize(void *s);
int __wrap_cudaStreamWaitEvent(void *s, void *e, unsigned flags);
int __wrap_cudaEventRecord(void *e, void *s);
int __wrap_cudaEventElapsedTime(float *ms, void *start, void *end);
int __wrap_cudaStreamBeginCapture(void *s, int mode);
int __wrap_cudaGraphCreate(void **graph, unsigned flags);
int __wrap_cudaGraphLaunch(void *graph, void *s);
void kmm_cuda_share_symbol(const void *symbol, size_t bytes);

/* ---- The runtime ---- */

static int real_calls;
static void *made_on, *synchronized,
    *of_other_device; /* the stream of the last call; the last one waited for; one on which no event
                         can be recorded */
static int errors;    /* that the runtime remembers */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define REAL_ON(name, parameters)                                                                  \
    int __real_##name parameters;                                                                  \
    int __real_##name parameters                                                                   \
    {                                                                                              \
        return real_calls++, made_on = s, 0;                                                       \
    }
REAL_ON(cudaMemcpyAsync, (void *dst, const void *src, size_t n, int kind, void *s))
REAL_ON(cudaMemcpy2DAsync,
        (void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind, void *s))
REAL_ON(cudaMemsetAsync, (void *dst, int value, size_t n, void *s))
REAL_ON(cudaMemset2DAsync, (void *dst, size_t pitch, int value, size_t w, size_t h, void *s))
REAL_ON(cudaMemcpy2DToArrayAsync, (void *dst, size_t x, size_t y, const void *src, size_t pitch,
                                   size_t w, size_t h, int kind, void *s))
REAL_ON(cudaMemcpy2DFromArrayAsync, (void *dst, size_t pitch, const void *src, size_t x, size_t y,
                                     size_t w, size_t h, int kind, void *s))
REAL_ON(cudaStreamQuery, (void *s))
REAL_ON(cudaStreamWaitEvent, (void *s, void *e, unsigned flags))
int __real_cudaStreamSynchronize(void *s);
int __real_cudaStreamSynchronize(void *s)
{
    return synchronized = s, 0;
}
int __real_cudaEventRecord(void *e, void *s);
int __real_cudaEventRecord(void *e, void *s)
{
    return made_on = s, s && s == of_other_device ? (errors++, 400) : 0;
}
int __real_cudaGetLastError(void);
int __real_cudaGetLastError(void)
{
    return errors = 0;
}
static char symbol[64];
static int events, awaited; /* that there are; that have been waited for */
#define REAL(name)                                                                                 \
    int __real_##name(void);                                                                       \
    int __real_##name(void)                                                                        \
    {                                                                                              \
        real_calls++;                                                                              \
        return 0;                                                                                  \
    }
int cudaEventCreateWithFlags(void **out, unsigned flags);
int __real_cudaEventDestroy(void *e);
int __real_cudaEventSynchronize(void *e);
int cudaEventCreateWithFlags(void **out, unsigned flags)
{
    return *out = &events, events += flags == 2, 0;
}
int __real_cudaEventDestroy(void *e)
{
    return events -= e == &events, 0;
}
int __real_cudaEventSynchronize(void *e)
{
    return awaited += e == &events, 0;
}
REAL(cudaDeviceSynchronize)
REAL(cudaEventQuery)
REAL(cudaFree)
REAL(cudaLaunchHostFunc)
REAL(cudaStreamAddCallback)
REAL(cudaEventRecordWithFlags)
REAL(cudaFreeAsync)
int cudaStreamIsCapturing(void *s, int *out);
int cudaStreamIsCapturing(void *s, int *out)
{
    return (void)s, *out = 0, 0;
}
REAL(cudaLaunchKernel)
REAL(cudaMemcpy2D)
REAL(cudaMemcpy3D)
REAL(cudaMemcpy3DAsync)
REAL(cudaMemset)
REAL(cudaMemset2D)
REAL(cudaMemset3D)
REAL(cudaMemset3DAsync)
REAL(cudaMalloc3D)
REAL(cudaGetErrorName)
REAL(cudaGetErrorString)
REAL(cudaPeekAtLastError)
REAL(cudaStreamDestroy)
REAL(cudaMalloc)
REAL(cudaMallocAsync)
REAL(cudaMallocFromPoolAsync)
REAL(cudaMallocPitch)
REAL(cudaMemcpyPeer)
REAL(cudaMemcpyPeerAsync)
REAL(cudaMemcpyFromSymbolAsync)
REAL(cudaMemPrefetchAsync)
REAL(cudaMemAdvise)
REAL(cudaCreateTextureObject)
REAL(cudaStreamBeginCapture)
REAL(cudaGraphCreate)
REAL(cudaGraphLaunch)
REAL(cudaEventElapsedTime)
REAL(cudaMemcpyToArray)
REAL(cudaMemcpyFromArray)
REAL(cudaHostUnregister)
REAL(cudaFreeArray)
REAL(cudaDestroyTextureObject)
REAL(cudaDestroySurfaceObject)
#ifdef KMM_TEST_HIP
REAL(hipHostFree)
#else
REAL(cudaFreeHost)
REAL(cudaFreeMipmappedArray)
#endif
REAL(cudaIpcGetMemHandle)
REAL(cudaMemcpy2DToArray)
REAL(cudaMemcpy2DFromArray)
#ifdef KMM_TEST_HIP /* the same with HIP's names, and what only its wrappers call */
REAL(__hipRegisterFatBinary)
REAL(__hipRegisterFunction)
REAL(__hipPushCallConfiguration)
REAL(hipModuleLaunchKernel)
REAL(hipMemsetD8)
REAL(hipMemsetD8Async)
REAL(hipMemsetD16)
REAL(hipMemsetD16Async)
REAL(hipMemsetD32)
REAL(hipMemsetD32Async)
static const kmm_kind_t kind = KMM_KIND_HIP;
#else
REAL(__cudaLaunchKernel)
REAL(__cudaRegisterFunction)
static const kmm_kind_t kind = KMM_KIND_CUDA;
#endif
/* A device's memory that libkmm knows nothing of, as a library has it: only the runtime may touch
 * it. */
static char of_library[64];
static int is_of_library(const void *p)
{
    return (const char *)p >= of_library && (const char *)p < of_library + sizeof(of_library);
}
int __real_cudaMemcpy(void *dst, const void *src, size_t n, int kind);
int __real_cudaPointerGetAttributes(int *out, const void *p);
int __real_cudaMemcpy(void *dst, const void *src, size_t n, int kind)
{
    real_calls++;
    if (is_of_library(dst) || is_of_library(src))
        assert_int_equal(kind, is_of_library(src) ? 2 : 1);
    memmove(dst, src, n);
    return 0;
}
static char shared[64]; /* page-locked */
int __real_cudaPointerGetAttributes(int *out, const void *p)
{
    return *out = is_of_library(p) ? 2 : (const char *)p == shared, 0;
}
int cudaGetDevice(int *device);
int __real_cudaSetDevice(int device);
int __real_cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaGetKernel(void **kernel, const void *function);
static int current, devices = 1;
static char symbols[2][64]; /* of each device, where there are two */
int cudaGetDevice(int *device)
{
    return *device = current, 0;
}
int __real_cudaSetDevice(int device)
{
    return current = device, 0;
}
int __real_cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return (void)peer, (void)flags, 0;
}
int cudaGetKernel(void **kernel, const void *function)
{
    (void)kernel, (void)function;
    return 98;
}
int cudaGetSymbolSize(size_t *bytes, const void *of);
int __real_cudaGetSymbolAddress(void **out, const void *of);
int __real_cudaDeviceSetLimit(int limit, size_t value);
int cudaGetSymbolSize(size_t *bytes, const void *of)
{
    return (void)of, *bytes = sizeof(symbols[0]), 0;
}
int __real_cudaGetSymbolAddress(void **out, const void *of)
{
    return (void)of, *out = devices == 2 ? symbols[current] : symbol, 0;
}
static size_t limits[2];
int __real_cudaDeviceSetLimit(int limit, size_t value)
{
    return limits[current] = value, limit;
}
int __real_cudaMemcpyToSymbolAsync(void);
int __real_cudaMemcpyToSymbolAsync(void)
{
    return 0;
}
int __real_cudaMemcpyToSymbol(void *to, const void *src, size_t n, size_t offset, int kind);
int __real_cudaMemcpyFromSymbol(void *dst, const void *from, size_t n, size_t offset, int kind);
int __real_cudaMemcpyToSymbol(void *to, const void *src, size_t n, size_t offset, int kind)
{
    (void)kind;
    memcpy((devices == 2 ? symbols[current] : (char *)to) + offset, src, n);
    return 0;
}
int __real_cudaMemcpyFromSymbol(void *dst, const void *from, size_t n, size_t offset, int kind)
{
    (void)kind;
    memcpy(dst, (devices == 2 ? symbols[current] : (const char *)from) + offset, n);
    return 0;
}

/* ---- libkmm ---- */

static char arena[1 << 16];
static size_t taken;
int kmm_cuda_malloc(void **out, size_t bytes)
{
    if (taken + bytes > sizeof(arena))
        return KMM_CUDA_MEMORY_ALLOCATION;
    *out = arena + taken;
    taken += bytes;
    return 0;
}
int kmm_cuda_is_managed(const void *p)
{
    return (const char *)p >= arena && (const char *)p < arena + sizeof(arena);
}
int kmm_cuda_memcpy(void *dst, const void *src, size_t bytes, int kind)
{
    (void)kind;
    assert_false(is_of_library(dst) || is_of_library(src));
    memmove(dst, src, bytes);
    return 0;
}
int kmm_cuda_memcpy_2d(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h,
                       int kind)
{
    for (size_t y = 0; y < h; y++)
        kmm_cuda_memcpy((char *)dst + y * dp, (const char *)src + y * sp, w, kind);
    return 0;
}
int kmm_cuda_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *s)
{
    (void)s;
    return kmm_cuda_memcpy(dst, src, bytes, kind);
}
int kmm_cuda_memset(void *dst, int value, size_t bytes)
{
    memset(dst, value, bytes);
    return 0;
}
int kmm_cuda_memset_async(void *dst, int value, size_t bytes, void *s)
{
    (void)s;
    return kmm_cuda_memset(dst, value, bytes);
}
static int is_recorded; /* events, by libkmm */
int kmm_cuda_event_is_recorded(void *event)
{
    (void)event;
    return is_recorded;
}
static int recorded;
int kmm_cuda_event_record(void *event, void *stream)
{
    (void)event, (void)stream;
    recorded++;
    return 0;
}
static int settled, caught_up,
    failed; /* what libkmm does before a call of the runtime's; the error that is there */
static void *caught_up_on, *settled_on;
int kmm_cuda_stream_settle(void *stream)
{
    return settled_on = stream, settled++, failed;
}
void kmm_cuda_stream_catch_up(void *stream)
{
    caught_up_on = stream, caught_up++;
}
int kmm_device_count(kmm_runtime_t *rt)
{
    (void)rt;
    return devices;
}
int kmm_device_get_sized(size_t bytes, kmm_runtime_t *rt, int index, kmm_device_info_t *out)
{
    (void)bytes, (void)rt;
    *out = (kmm_device_info_t){.kind = kind, .ordinal = index};
    return 0;
}
static void *task_stream; /* NULL: no task that has one */
void *kmm_task_stream(void *stream)
{
    return !stream && task_stream ? task_stream : stream;
}

/* ---- Tests ---- */

static int setup(void **state)
{
    (void)state;
    memset(arena, 0, sizeof(arena));
    taken = 0;
    real_calls = 0;
    in_task = 0;
    events = awaited = settled = caught_up = failed = recorded = 0;
    return 0;
}

/* A plane: rows are set and copied, and what stands between them stays. */
static void test_plane(void **state)
{
    char host[3 * 10], *p;
    size_t pitch;
    (void)state;
    assert_int_equal(__wrap_cudaMallocPitch((void **)&p, &pitch, 10, 3), 0);
    assert_true(pitch >= 10);
    assert_int_equal(__wrap_cudaMemset2D(p, pitch, 7, 10, 3), 0);
    assert_int_equal(__wrap_cudaMemset2DAsync(p + 2, pitch, 8, 3, 2, NULL), 0);
    assert_int_equal(__wrap_cudaMemcpy2D(host, 10, p, pitch, 10, 3, 2), 0);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 10; x++)
            assert_int_equal(host[y * 10 + x], y < 2 && x >= 2 && x < 5 ? 8 : 7);
    assert_int_equal(p[10], 0);
    assert_int_equal(real_calls, 0);
}

/* A box inside a volume goes to another place of another volume, and back to the host. */
static void test_volume(void **state)
{
    extent_t all = {6, 5, 4}, part = {3, 2, 2};
    pitched_t a, b;
    char host[4][5][6];
    (void)state;
    assert_int_equal(__wrap_cudaMalloc3D(&a, all), 0);
    assert_int_equal(__wrap_cudaMalloc3D(&b, all), 0);
    assert_int_equal(a.width, 6);
    assert_int_equal(a.height, 5);
    assert_int_equal(__wrap_cudaMemset3D(a, 1, all), 0);
    assert_int_equal(__wrap_cudaMemset3DAsync(b, 2, all, NULL), 0);
    copy_t box = {.from = {.x = 1, .y = 1, .z = 1, .memory = a},
                  .to = {.x = 2, .y = 3, .z = 2, .memory = b},
                  .extent = part,
                  .kind = 3};
    assert_int_equal(__wrap_cudaMemcpy3D(&box), 0);
    copy_t out = {
        .from = {.memory = b}, .to = {.memory = {host, 6, 6, 5}}, .extent = all, .kind = 2};
    assert_int_equal(__wrap_cudaMemcpy3DAsync(&out, NULL), 0);
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 6; x++)
                assert_int_equal(host[z][y][x], x >= 2 && x < 5 && y >= 3 && z >= 2 ? 1 : 2);
    out.extent.depth = 0;
    assert_int_equal(__wrap_cudaMemcpy3D(&out), 0);
    assert_int_equal(real_calls, 0);
    assert_int_equal(__wrap_cudaMalloc3D(&a, (extent_t){1 << 10, 1 << 10, 1}),
                     KMM_CUDA_MEMORY_ALLOCATION);
    assert_int_equal(__wrap_cudaMalloc3D(NULL, all), KMM_CUDA_INVALID_VALUE);
}

static void test_symbol(void **state)
{
    char *p = NULL;
    (void)state;
    assert_int_equal(kmm_cuda_malloc((void **)&p, 16), 0);
    memcpy(p, "managed", 8);
    assert_int_equal(__wrap_cudaMemcpyToSymbol(symbol, p, 8, 4, 3), 0);
    assert_string_equal(symbol + 4, "managed");
    assert_int_equal(__wrap_cudaMemcpyToSymbol(symbol, "host", 5, 0, 1), 0);
    assert_int_equal(__wrap_cudaMemcpyFromSymbolAsync(p, symbol, 5, 0, 3, NULL), 0);
    assert_string_equal(p, "host");
}

/* Copies to a symbol reach all devices; what a kernel has changed on one is there alone until it is
 * shared. */
static void test_symbol_of_two(void **state)
{
    char got[16] = "";
    (void)state;
    devices = 2;
    assert_int_equal(__wrap_cudaMemcpyToSymbol(symbol, "constant", 9, 0, 1), 0);
    assert_string_equal(symbols[0], "constant");
    assert_string_equal(symbols[1], "constant");
    strcpy(symbols[1], "changed");
    current = 1;
    kmm_cuda_share_symbol(symbol, 9);
    assert_int_equal(current, 1);
    assert_string_equal(symbols[0], "changed");
    assert_int_equal(__wrap_cudaMemcpyFromSymbolAsync(got, symbol, 8, 0, 2, NULL), 0);
    assert_string_equal(got, "changed");
    current = 0;
    devices = 1;
}

/* What is copied to the address of a variable, or set there, is for all devices, as are limits of
 * kernels. */
/* In native standing a variable is set on the current device. When the standing ends, the devices
 * on which it was not set get its value. */
static void test_symbol_natively(void **state)
{
    (void)state;
    devices = 2;
    is_native = 1;
    strcpy(symbols[0], "before");
    strcpy(symbols[1], "before");
    assert_int_equal(__wrap_cudaMemcpyToSymbol(symbol, "native", 7, 0, 1), 0);
    assert_string_equal(symbols[0], "native");
    assert_string_equal(symbols[1], "before");
    kmm_cuda_share_symbol(symbol, sizeof(symbols[0])); /* nothing runs on the other device yet */
    assert_string_equal(symbols[1], "before");
    assert_non_null(at_end);
    is_native = 0;
    at_end();
    assert_string_equal(symbols[1], "native");
    assert_int_equal(current, 0);
    is_native = 1; /* a program that uses both */
    assert_int_equal(__wrap_cudaSetDevice(1), 0);
    assert_int_equal(__wrap_cudaMemcpyToSymbol(symbol, "second", 7, 0, 1), 0);
    is_native = 0;
    at_end();
    assert_string_equal(symbols[0], "native");
    assert_string_equal(symbols[1], "second");
    assert_int_equal(current, 1);
    current = 0;
    devices = 1;
}

static void test_address_of_a_symbol(void **state)
{
    char *at = NULL, host[8] = "address", *p = NULL, stream;
    (void)state;
    assert_int_equal(__wrap_cudaGetSymbolAddress((void **)&at, symbol),
                     0); /* there is one device */
    assert_int_equal(__wrap_cudaMemset(at, 1, 4), 0);
    assert_int_equal(real_calls, 1);
    devices = 2;
    memset(symbols, 0, sizeof(symbols));
    current = 1;
    assert_int_equal(__wrap_cudaGetSymbolAddress((void **)&at, symbol), 0);
    assert_int_equal(__wrap_cudaGetSymbolAddress((void **)&at, symbol), 0);
    assert_ptr_equal(at, symbols[1]);
    assert_int_equal(__wrap_cudaMemcpy(at + 8, host, 8, 1), 0);
    assert_string_equal(symbols[0] + 8, "address");
    assert_string_equal(symbols[1] + 8, "address");
    assert_int_equal(__wrap_cudaMemcpyAsync(at, host, 4, 1, &stream), 0);
    assert_int_equal(__wrap_cudaMemset(at + 1, 'x', 2), 0);
    assert_int_equal(__wrap_cudaMemsetAsync(at + 2, 'y', 1, &stream), 0);
    assert_string_equal(symbols[0], "axyr");
    assert_string_equal(symbols[1], "axyr");
    kmm_cuda_malloc((void **)&p, 16);
    memcpy(p, "managed", 8);
    assert_int_equal(__wrap_cudaMemcpy(at, p, 8, 3), 0);
    assert_string_equal(symbols[0], "managed");
    awaited = 0;
    assert_int_equal(__wrap_cudaMemcpyToSymbolAsync(symbol, host, 8, 0, 1, &stream), 0);
    assert_ptr_equal(made_on, &stream); /* the event that was waited for */
    assert_int_equal(awaited, 1);
    assert_null(synchronized); /* and the default stream, behind the copies */
    real_calls = 0;
    assert_int_equal(__wrap_cudaMemcpy(symbols[0] + 60, host, 8, 1), 0); /* no part of it */
    assert_int_equal(real_calls, 1);
    assert_int_equal(__wrap_cudaDeviceSetLimit(0, 77), 0);
    assert_int_equal(limits[0], 77);
    assert_int_equal(limits[1], 77);
    assert_int_equal(current, 1);
    current = 0;
    devices = 1;
}

static void test_peer(void **state)
{
    char *p = NULL, *q = NULL;
    (void)state;
    kmm_cuda_malloc((void **)&p, 16);
    kmm_cuda_malloc((void **)&q, 16);
    memcpy(p, "peer", 5);
    assert_int_equal(__wrap_cudaMemcpyPeer(q, 1, p, 0, 5), 0);
    assert_string_equal(q, "peer");
    assert_int_equal(__wrap_cudaMemcpyPeerAsync(q + 4, 1, p, 0, 5, NULL), 0);
    assert_string_equal(q, "peerpeer");
    assert_int_equal(__wrap_cudaMemPrefetchAsync(p, 16, 0, 0, NULL), 0);
    assert_int_equal(__wrap_cudaMemAdvise(p, 16, 1, 0), 0);
    assert_int_equal(real_calls, 0);
}

/* What needs memory that stays where it is. */
static void test_refused(void **state)
{
    char *p = NULL, handle[64];
    uint64_t texture;
    (void)state;
    kmm_cuda_malloc((void **)&p, 16);
    resource_t linear = {.kind = 2, .p = p}, array = {.kind = 0, .p = p};
    assert_int_equal(__wrap_cudaCreateTextureObject(&texture, &linear, NULL, NULL),
                     KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(__wrap_cudaIpcGetMemHandle(handle, p), KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(__wrap_cudaMemcpy2DToArray(handle, 0, 0, p, 4, 4, 4, 3),
                     KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(__wrap_cudaMemcpy2DFromArray(p, 4, handle, 0, 0, 4, 4, 3),
                     KMM_CUDA_NOT_SUPPORTED);
    copy_t c = {.from = {.array = handle}, .to = {.memory = {p, 4, 4, 1}}, .extent = {4, 1, 1}};
    assert_int_equal(__wrap_cudaMemcpy3D(&c), KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(real_calls, 0);
    assert_int_equal(__wrap_cudaCreateTextureObject(&texture, &array, NULL, NULL),
                     0); /* an array is none of ours, whatever follows */
    assert_int_equal(real_calls, 1);
}

/* Graphs run where libkmm does not see it, so only inside tasks. */
static void test_graphs(void **state)
{
    void *graph = &graph;
    (void)state;
    assert_int_equal(__wrap_cudaStreamBeginCapture(NULL, 0), KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(__wrap_cudaGraphCreate(&graph, 0), KMM_CUDA_NOT_SUPPORTED);
    assert_null(graph);
    assert_int_equal(__wrap_cudaGraphLaunch(NULL, NULL), KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(real_calls, 0);
    in_task = 1;
    assert_int_equal(__wrap_cudaStreamBeginCapture(NULL, 0), 0);
    assert_int_equal(__wrap_cudaGraphCreate(&graph, 0), 0);
    assert_int_equal(__wrap_cudaGraphLaunch(NULL, NULL), 0);
    assert_int_equal(real_calls, 3);
}

/* Memory of a pool of the program's own is an array like any other. */
static void test_pool(void **state)
{
    void *p = NULL;
    int pool = 0;
    (void)state;
    assert_int_equal(__wrap_cudaMallocFromPoolAsync(&p, 16, &pool, NULL), 0);
    assert_true(kmm_cuda_is_managed(p));
    assert_int_equal(__wrap_cudaFreeAsync(p, NULL), 0);
    assert_int_equal(real_calls, 0);
    in_task = 1; /* a library's own, say */
    assert_int_equal(__wrap_cudaMallocFromPoolAsync(&p, 16, &pool, NULL), 0);
    assert_int_equal(real_calls, 1);
}

/* All other memory is the runtime's. */
static void test_unmanaged(void **state)
{
    char host[64] = {0};
    pitched_t memory = {host, 4, 4, 4};
    extent_t extent = {4, 4, 4};
    copy_t c = {.from = {.memory = memory}, .to = {.memory = memory}, .extent = extent};
    (void)state;
    __wrap_cudaMemset2DAsync(host, 4, 1, 4, 4, NULL);
    __wrap_cudaMemset3D(memory, 1, extent);
    __wrap_cudaMemset3DAsync(memory, 1, extent, NULL);
    __wrap_cudaMemcpy3D(&c);
    __wrap_cudaMemcpy3DAsync(&c, NULL);
    __wrap_cudaMemcpyPeer(host, 0, host, 0, 4);
    __wrap_cudaMemcpyPeerAsync(host, 0, host, 0, 4, NULL);
    __wrap_cudaMemPrefetchAsync(host, 4, 0, 0, NULL);
    __wrap_cudaMemAdvise(host, 4, 0, 0);
    __wrap_cudaIpcGetMemHandle(host, host);
    __wrap_cudaMemcpy2DToArray(host, 0, 0, host, 4, 4, 4, 3);
    __wrap_cudaMemcpy2DFromArray(host, 4, host, 0, 0, 4, 4, 3);
    __wrap_cudaFree(host);
    assert_int_equal(real_calls, 13);
    assert_int_equal(host[0], 0);
}

/* What libraries allocate inside a task is the device's own; outside all is managed. */
static void test_in_task(void **state)
{
    (void)state;
    void *p = NULL;
    size_t pitch = 0;
    in_task = 1;
    assert_int_equal(__wrap_cudaMalloc(&p, 64), 0);
    assert_int_equal(__wrap_cudaMallocAsync(&p, 64, NULL), 0);
    assert_int_equal(__wrap_cudaMallocPitch(&p, &pitch, 64, 2), 0);
    assert_int_equal(__wrap_cudaMalloc3D(&(pitched_t){0}, (extent_t){1, 1, 1}), 0);
    assert_int_equal(__wrap_cudaEventRecordWithFlags(NULL, NULL, 0), 0);
    assert_int_equal(recorded, 0);
    in_task = 0;
    assert_int_equal(real_calls, 5);
    assert_null(p);
    assert_int_equal(__wrap_cudaMalloc(&p, 64), 0);
    assert_int_equal(real_calls, 5);
    assert_true(kmm_cuda_is_managed(p));
}

/* What a task that has a stream puts on the default one goes there, and what is complete when it
 * returns outside is so there. */
static void test_in_task_with_a_stream(void **state)
{
    char host[64] = {0};
    int own = 0, other = 0;
    float ms;
    (void)state;
    in_task = 1;
    task_stream = &own;
#define ON_OWN(call)                                                                               \
    (made_on = synchronized = NULL, assert_int_equal(call, 0), assert_ptr_equal(made_on, &own))
#define WAITS_FOR_OWN(call) (ON_OWN(call), assert_ptr_equal(synchronized, &own))
    WAITS_FOR_OWN(__wrap_cudaMemcpy(host, host, 4, 2));
    WAITS_FOR_OWN(__wrap_cudaMemcpy2D(host, 4, host, 4, 4, 4, 2));
    ON_OWN(__wrap_cudaMemcpyAsync(host, host, 4, 2, NULL));
    assert_null(synchronized);
    ON_OWN(__wrap_cudaMemset(host, 0, 4));
    ON_OWN(__wrap_cudaMemset2D(host, 4, 0, 4, 4));
    ON_OWN(__wrap_cudaMemsetAsync(host, 0, 4, NULL));
    ON_OWN(__wrap_cudaStreamQuery(NULL));
    ON_OWN(__wrap_cudaStreamWaitEvent(NULL, NULL, 0));
    ON_OWN(__wrap_cudaEventRecord(NULL, NULL));
    assert_int_equal(__wrap_cudaStreamSynchronize(NULL), 0);
    assert_ptr_equal(synchronized, &own);
    assert_int_equal(__wrap_cudaMemsetAsync(host, 0, 4, &other), 0);
    assert_ptr_equal(made_on, &other);
    assert_int_equal(recorded, 0);
    in_task = 0;
    task_stream = NULL;
    real_calls = 0;
    assert_int_equal(__wrap_cudaEventElapsedTime(&ms, NULL, NULL),
                     0); /* of events that only the runtime has recorded */
    assert_int_equal(real_calls, 1);
    is_recorded = 1;
    assert_int_equal(__wrap_cudaEventElapsedTime(&ms, NULL, NULL), 0);
    assert_int_equal(real_calls, 1);
    is_recorded = 0;
}

/* A stream need not be the current device's, as an event that is recorded there must be. */
static void test_copy_on_a_stream_of_another_device(void **state)
{
    void *p = NULL;
    char host[16] = "", stream;
    (void)state;
    assert_int_equal(__wrap_cudaMalloc(&p, sizeof(host)), 0);
    of_other_device = &stream;
    synchronized = NULL;
    assert_int_equal(__wrap_cudaMemcpyAsync(p, host, sizeof(host), 1, &stream), 0);
    assert_ptr_equal(synchronized, &stream);
    assert_int_equal(errors, 0);
    of_other_device = NULL;
}

/* Copies of managed memory come after what is on their stream. */
static void test_order_of_copies(void **state)
{
    (void)state;
    void *p = NULL;
    char host[64] = "something";
    assert_int_equal(__wrap_cudaMalloc(&p, sizeof(host)), 0);
    pitched_t there = {p, 8, 8, 8}, here = {host, 8, 8, 8};
    copy_t c = {.from = {.memory = here}, .to = {.memory = there}, .extent = {8, 8, 1}, .kind = 1};
    assert_int_equal(__wrap_cudaMemcpy(p, host, sizeof(host), 1), 0);
    assert_int_equal(awaited, 1);
    assert_int_equal(__wrap_cudaMemcpyAsync(host, p, sizeof(host), 2, NULL), 0);
    assert_int_equal(awaited, 2);
    assert_int_equal(__wrap_cudaMemcpy2D(p, 8, host, 8, 8, 8, 1), 0);
    assert_int_equal(__wrap_cudaMemcpy2DAsync(host, 8, p, 8, 8, 8, 2, NULL), 0);
    assert_int_equal(awaited, 4);
    assert_int_equal(__wrap_cudaMemcpy3D(&c), 0);
    assert_int_equal(__wrap_cudaMemcpy3DAsync(&c, NULL), 0);
    assert_int_equal(awaited, 6);
    assert_int_equal(__wrap_cudaMemcpyPeer(p, 0, p, 0, 8), 0);
    assert_int_equal(__wrap_cudaMemcpyPeerAsync(p, 0, p, 0, 8, NULL), 0);
    assert_int_equal(awaited, 8);
    assert_int_equal(events, 0);
    assert_int_equal(real_calls + settled + caught_up, 0);
    assert_memory_equal(p, host, sizeof(host));
}

/* What the program does itself comes after managed work, which may use memory that is not managed.
 */
static void test_order_behind_launches(void **state)
{
    char host[64] = {0};
    int stream = 0;
    pitched_t memory = {host, 4, 4, 4};
    extent_t extent = {4, 4, 4};
    copy_t c = {.from = {.memory = memory}, .to = {.memory = memory}, .extent = extent};
    (void)state;
#define BEHIND(call, counted)                                                                      \
    do {                                                                                           \
        int before = counted;                                                                      \
        real_calls = 0;                                                                            \
        assert_int_equal(call, 0);                                                                 \
        assert_int_equal(counted, before + 1);                                                     \
        assert_int_equal(real_calls, 1);                                                           \
    } while (0)
#define ON_STREAM(call)                                                                            \
    BEHIND(call, caught_up);                                                                       \
    assert_ptr_equal(caught_up_on, &stream)
    BEHIND(__wrap_cudaMemcpy(host, host, 4, 2), settled);
    BEHIND(__wrap_cudaMemcpy2D(host, 4, host, 4, 4, 4, 2), settled);
    BEHIND(__wrap_cudaMemcpy3D(&c), settled);
    BEHIND(__wrap_cudaMemcpyPeer(host, 0, host, 1, 4), settled);
    BEHIND(__wrap_cudaFree(host), settled);
    BEHIND(__wrap_cudaMemcpy2DToArray(host, 0, 0, host, 4, 4, 4, 1), settled);
    BEHIND(__wrap_cudaMemcpy2DFromArray(host, 4, host, 0, 0, 4, 4, 2), settled);
    BEHIND(__wrap_cudaMemcpyToArray(host, 0, 0, host, 4, 1), settled);
    BEHIND(__wrap_cudaMemcpyFromArray(host, host, 0, 0, 4, 2), settled);
    BEHIND(__wrap_cudaHostUnregister(host), settled);
    BEHIND(__wrap_cudaFreeArray(host), settled);
    BEHIND(__wrap_cudaDestroyTextureObject(1), settled);
    BEHIND(__wrap_cudaDestroySurfaceObject(1), settled);
    assert_null(settled_on);
    ON_STREAM(__wrap_cudaMemcpy2DToArrayAsync(host, 0, 0, host, 4, 4, 4, 1, &stream));
    ON_STREAM(__wrap_cudaMemcpy2DFromArrayAsync(host, 4, host, 0, 0, 4, 4, 2, &stream));
    BEHIND(__wrap_cudaMemset(host, 0, 4), caught_up);
    BEHIND(__wrap_cudaMemset2D(host, 4, 0, 4, 4), caught_up);
    BEHIND(__wrap_cudaMemset3D(memory, 0, extent), caught_up);
    ON_STREAM(__wrap_cudaMemcpyAsync(host, host, 4, 2, &stream));
    ON_STREAM(__wrap_cudaMemcpy2DAsync(host, 4, host, 4, 4, 4, 2, &stream));
    ON_STREAM(__wrap_cudaMemcpy3DAsync(&c, &stream));
    ON_STREAM(__wrap_cudaMemcpyPeerAsync(host, 0, host, 1, 4, &stream));
    ON_STREAM(__wrap_cudaMemsetAsync(host, 0, 4, &stream));
    ON_STREAM(__wrap_cudaMemset2DAsync(host, 4, 0, 4, 4, &stream));
    ON_STREAM(__wrap_cudaMemset3DAsync(memory, 0, extent, &stream));
    ON_STREAM(__wrap_cudaFreeAsync(host, &stream));
    ON_STREAM(__wrap_cudaLaunchHostFunc(&stream, NULL, NULL));
    ON_STREAM(__wrap_cudaStreamAddCallback(&stream, NULL, NULL, 0));
    BEHIND(__wrap_cudaEventRecordWithFlags(NULL, &stream, 0), recorded);
    failed = KMM_CUDA_LAUNCH_FAILURE;
    real_calls = 0;
    assert_int_equal(__wrap_cudaMemcpy(host, host, 4, 2), KMM_CUDA_LAUNCH_FAILURE);
    assert_int_equal(__wrap_cudaMemcpy2D(host, 4, host, 4, 4, 4, 2), KMM_CUDA_LAUNCH_FAILURE);
    assert_int_equal(real_calls, 0);
    assert_int_equal(__wrap_cudaFree(host), KMM_CUDA_LAUNCH_FAILURE); /* which frees it */
    assert_int_equal(real_calls, 1);
}

/* Memory of a device that is not managed is none that the host can read. */
static void test_memory_of_libraries(void **state)
{
    char *p = NULL;
    (void)state;
    assert_int_equal(__wrap_cudaMalloc((void **)&p, 64), 0);
    memcpy(of_library, "from a library", 15);
    assert_int_equal(__wrap_cudaMemcpy(p, of_library, 15, 3), 0);
    assert_string_equal(p, "from a library");
    p[0] = 'F';
    assert_int_equal(__wrap_cudaMemcpyAsync(of_library + 20, p, 15, 4, NULL), 0);
    assert_string_equal(of_library + 20, "From a library");
    assert_int_equal(__wrap_cudaMemcpyPeer(p + 20, 0, of_library, 1, 15), 0);
    assert_string_equal(p + 20, "from a library");
    assert_int_equal(__wrap_cudaMemcpy2D(p, 8, of_library, 20, 4, 2, 3), 0);
    assert_memory_equal(p, "from", 4);
    assert_memory_equal(p + 8, "From", 4);
    copy_t c = {.from = {.memory = {p, 8, 8, 2}},
                .to = {.memory = {of_library, 4, 4, 2}},
                .extent = {4, 2, 1},
                .kind = 4};
    assert_int_equal(__wrap_cudaMemcpy3D(&c), 0);
    assert_memory_equal(of_library, "fromFrom", 8);
}

/* A launch may have been given memory that is not managed: copies between it and managed memory
 * come after that, but for ordinary memory of the host, which no kernel reaches. */
static void test_shared_with_launches(void **state)
{
    int stream;
    char *p = NULL, host[8] = "host";
    (void)state;
    assert_int_equal(__wrap_cudaMalloc((void **)&p, 64), 0);
    assert_int_equal(__wrap_cudaMemcpy(p, of_library, 8, 3), 0);
    assert_int_equal(settled, 1);
    assert_null(settled_on);
    assert_int_equal(__wrap_cudaMemcpyAsync(of_library, p, 8, 4, &stream), 0);
    assert_int_equal(settled, 2);
    assert_ptr_equal(settled_on, &stream);
    assert_int_equal(__wrap_cudaMemcpyAsync(p, shared, 8, 1, &stream), 0);
    assert_int_equal(settled, 3);
    assert_int_equal(__wrap_cudaMemcpy2DAsync(shared, 8, p, 8, 4, 2, 2, &stream), 0);
    assert_int_equal(settled, 4);
    assert_int_equal(__wrap_cudaMemcpy(p, host, 8, 1), 0);
    assert_int_equal(__wrap_cudaMemcpy(p + 8, p, 8, 3), 0);
    assert_int_equal(settled, 4);
    failed = KMM_CUDA_LAUNCH_FAILURE;
    assert_int_equal(__wrap_cudaMemcpy(p, of_library, 8, 3), KMM_CUDA_LAUNCH_FAILURE);
    assert_int_equal(__wrap_cudaMemcpy2D(p, 8, of_library, 8, 4, 2, 3), KMM_CUDA_LAUNCH_FAILURE);
    assert_memory_equal(p, "host", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_plane, setup),
        cmocka_unit_test_setup(test_volume, setup),
        cmocka_unit_test_setup(test_symbol, setup),
        cmocka_unit_test_setup(test_symbol_of_two, setup),
        cmocka_unit_test_setup(test_peer, setup),
        cmocka_unit_test_setup(test_symbol_natively, setup),
        cmocka_unit_test_setup(test_address_of_a_symbol, setup),
        cmocka_unit_test_setup(test_refused, setup),
        cmocka_unit_test_setup(test_unmanaged, setup),
        cmocka_unit_test_setup(test_in_task, setup),
        cmocka_unit_test_setup(test_in_task_with_a_stream, setup),
        cmocka_unit_test_setup(test_copy_on_a_stream_of_another_device, setup),
        cmocka_unit_test_setup(test_order_of_copies, setup),
        cmocka_unit_test_setup(test_order_behind_launches, setup),
        cmocka_unit_test_setup(test_memory_of_libraries, setup),
        cmocka_unit_test_setup(test_shared_with_launches, setup),
        cmocka_unit_test_setup(test_graphs, setup),
        cmocka_unit_test_setup(test_pool, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
