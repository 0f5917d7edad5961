/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkmm_cuda.a: what a CUDA program's calls become when it is linked with `--wrap`. It lies in the
 * program, beside the CUDA runtime that the program was linked with, because only there can that
 * runtime, which may be a static one, be asked for a kernel. Managed addresses go to libkmm, all
 * others to the real call. Compiled without CUDA's headers; the declarations are the runtime's ABI.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kmm.h>
#include <kmm/cuda.h>
#include <kmm/cuda_api.h>

#include "cuda_calls.h"

typedef struct dim3 { unsigned x, y, z; } dim3_t;
typedef void *stream_t;
typedef void *event_t;

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, PITCH = 512 };

int __real_cudaLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s);
__attribute__((weak)) /* before CUDA 13 there is none, and nothing calls the wrapper */
int __real___cudaLaunchKernel(const void *handle, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s);
int __real_cudaFree(void *p);
int __real_cudaFreeAsync(void *p, stream_t s);
int __real_cudaMemcpy(void *dst, const void *src, size_t n, int kind);
int __real_cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, stream_t s);
int __real_cudaMemcpy2D(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind);
int __real_cudaMemcpy2DAsync(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind, stream_t s);
int __real_cudaMemset(void *dst, int value, size_t n);
int __real_cudaMemsetAsync(void *dst, int value, size_t n, stream_t s);
int __real_cudaMemset2D(void *dst, size_t pitch, int value, size_t w, size_t h);
int __real_cudaMemcpy3D(const void *parameters);
int __real_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset, int kind);
int __real_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset, int kind);
int __real_cudaPointerGetAttributes(void *attributes, const void *p);
int __real_cudaDeviceSynchronize(void);
int __real_cudaDeviceReset(void);
int __real_cudaStreamSynchronize(stream_t s);
int __real_cudaStreamQuery(stream_t s);
int __real_cudaStreamDestroy(stream_t s);
int __real_cudaStreamWaitEvent(stream_t s, event_t e, unsigned flags);
int __real_cudaEventRecord(event_t e, stream_t s);
int __real_cudaEventQuery(event_t e);
int __real_cudaEventSynchronize(event_t e);
int __real_cudaEventDestroy(event_t e);
int __real_cudaGetLastError(void);
int __real_cudaPeekAtLastError(void);
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
int cudaGetKernel(void **kernel, const void *function);

/* ---- Kernels ---- */

typedef struct entry {
    const void *handle; /* the driver's CUkernel */
    kmm_kernel_t kernel;
    _Atomic(struct entry *) clone; /* what runs when a launch of this kernel is split; NULL: none is registered */
    atomic_uint looked;            /* how many clones were registered when this one's was looked for */
} entry_t;

enum { TABLE_BITS = 14, TABLE = 1 << TABLE_BITS, MAX_PARAMETERS = 4096 };

/* Open addressing; entries are only added, under the lock, and read without it. */
static _Atomic(entry_t *) entries[TABLE];
static uint32_t entry_count;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct clone { const void *clone, *original; struct clone *next; } clone_t;
static clone_t *clones; /* written under the lock: by static initializers, and by launches of templates */
static atomic_uint clone_count;

static int (*get_parameter)(void *kernel, size_t index, size_t *offset, size_t *bytes);
static int (*get_name)(const char **name, void *kernel);

int kmm_cuda_register_clone(const void *clone, const void *original)
{
    clone_t *c = malloc(sizeof(*c));
    if (!c)
        return 0;
    pthread_mutex_lock(&entries_lock);
    *c = (clone_t){ clone, original, clones };
    clones = c;
    atomic_fetch_add(&clone_count, 1);
    pthread_mutex_unlock(&entries_lock);
    return 1;
}

static void driver_open(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        return;
    *(void **)&get_name = dlsym(driver, "cuKernelGetName");
    *(void **)&get_parameter = dlsym(driver, "cuKernelGetParamInfo");
}

static size_t slot_of(const void *handle)
{
    return ((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15u >> (64 - TABLE_BITS);
}

static entry_t *entry_find(const void *handle)
{
    for (size_t k = slot_of(handle);; k = (k + 1) % TABLE) {
        entry_t *e = atomic_load_explicit(&entries[k], memory_order_acquire);
        if (!e || e->handle == handle)
            return e;
    }
}

static int parameters_read(kmm_kernel_t *k)
{
    uint32_t sizes[MAX_PARAMETERS], n = 0;
    size_t offset, bytes;
    int error = 0;
    if (!get_parameter)
        return KMM_CUDA_NOT_SUPPORTED; /* a driver older than 12.4 */
    __real_cudaFree(NULL); /* makes this thread's device current: a program may have made no real call yet */
    while (n < MAX_PARAMETERS && (error = get_parameter(k->handle, n, &offset, &bytes)) == 0)
        sizes[n++] = (uint32_t)bytes;
    if (error != KMM_CUDA_INVALID_VALUE) /* what one more than all parameters gives */
        return error ? error : KMM_CUDA_NOT_SUPPORTED;
    uint32_t *copy = malloc((n + 1) * sizeof(*copy));
    if (!copy)
        return KMM_CUDA_MEMORY_ALLOCATION;
    for (uint32_t i = 0; i < n; i++)
        copy[i] = sizes[i];
    k->param_count = n;
    k->param_bytes = copy;
    return 0;
}

/* The kernel that this one was cloned from; NULL when it is no clone that was registered. */
static const void *original_of(const void *handle)
{
    void *h;
    for (const clone_t *c = clones; c; c = c->next)
        if (cudaGetKernel(&h, c->clone) == 0 && h == handle && cudaGetKernel(&h, c->original) == 0)
            return h;
    return NULL;
}

static const void *clone_of(const void *handle)
{
    void *h;
    for (const clone_t *c = clones; c; c = c->next)
        if (cudaGetKernel(&h, c->original) == 0 && h == handle && cudaGetKernel(&h, c->clone) == 0)
            return h;
    return NULL;
}

/* Whether the kernel's first parameter is a kmm_blocks_t, as its mangled name has it: so clones that are instances of
 * templates are known, which no one registers. */
static int has_blocks(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 && strstr(name, "10kmm_blocks") != NULL;
}

/* Locked. Makes the entry of a kernel, not yet in the table. */
static int entry_make(const void *handle, entry_t **out)
{
    entry_t *e = entry_count < TABLE / 2 ? calloc(1, sizeof(*e)) : NULL;
    if (!e)
        return KMM_CUDA_MEMORY_ALLOCATION;
    e->handle = handle;
    e->kernel = (kmm_kernel_t){ .version = KMM_LAUNCH_VERSION, .kind = KMM_KIND_CUDA, .name = "kernel",
                                .handle = (void *)(uintptr_t)handle };
    int error = parameters_read(&e->kernel);
    if (error) {
        free(e);
        return error;
    }
    if (get_name)
        get_name(&e->kernel.name, e->kernel.handle);
    e->kernel.is_clone = has_blocks(e->kernel.name);
    *out = e;
    return 0;
}

/* Locked. From now on other threads see the entry. */
static void entry_publish(entry_t *e)
{
    size_t k = slot_of(e->handle);
    while (atomic_load_explicit(&entries[k], memory_order_relaxed))
        k = (k + 1) % TABLE;
    atomic_store_explicit(&entries[k], e, memory_order_release);
    entry_count++;
}

/* Locked. A clone and the kernel it comes from know each other. */
static int entry_pair(entry_t *e)
{
    const void *original = original_of(e->handle), *clone = original ? NULL : clone_of(e->handle);
    const void *handle = original ? original : clone;
    entry_t *other = handle ? entry_find(handle) : NULL;
    bool is_new = handle && !other;
    int error = is_new ? entry_make(handle, &other) : 0;
    atomic_store(&e->looked, atomic_load(&clone_count));
    if (error || !handle)
        return error;
    entry_t *whole = original ? other : e, *split = original ? e : other;
    split->kernel.is_clone = 1;
    split->kernel.whole = &whole->kernel;
    atomic_store_explicit(&whole->clone, split, memory_order_release);
    if (is_new)
        entry_publish(other);
    return 0;
}

/* Locked. Finds or makes the entry of a kernel. */
static int entry_get(const void *handle, entry_t **out)
{
    *out = entry_find(handle);
    bool is_new = !*out;
    int error = is_new ? entry_make(handle, out) : 0;
    if (!error)
        error = entry_pair(*out);
    if (!error && is_new)
        entry_publish(*out);
    return error;
}

static int no_gpu(int error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "kmm: error: no NVIDIA GPU answers, or its driver is older than 12.4, and this program's kernels were built for "
                        "one (error %d); to run it on the CPU, build it with kmmcc --target=host\n", error);
    return error;
}

static int launch(const void *handle, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t stream)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    kmm_geometry_t geometry = { { grid.x, grid.y, grid.z }, { block.x, block.y, block.z }, shared_bytes, stream };
    entry_t *e = handle ? entry_find(handle) : NULL;
    int error = handle ? 0 : KMM_CUDA_NO_DEVICE;
    pthread_once(&once, driver_open);
    if (!error && (!e || atomic_load(&e->looked) != atomic_load(&clone_count))) {
        pthread_mutex_lock(&entries_lock);
        error = entry_get(handle, &e);
        pthread_mutex_unlock(&entries_lock);
    }
    if (error)
        return no_gpu(error);
    const entry_t *clone = atomic_load_explicit(&e->clone, memory_order_acquire);
    if (!clone)
        return kmm_cuda_launch(&e->kernel, &geometry, args);
    void *all[clone->kernel.param_count]; /* the first one is libkmm's to fill in */
    all[0] = NULL;
    for (uint32_t k = 1; k < clone->kernel.param_count; k++)
        all[k] = args[k - 1];
    return kmm_cuda_launch(&clone->kernel, &geometry, all);
}

int __wrap_cudaLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s)
{
    void *handle = NULL;
    if (kmm_task_active())
        return __real_cudaLaunchKernel(function, grid, block, args, shared_bytes, s);
    int error = cudaGetKernel(&handle, function);
    return error ? no_gpu(error) : launch(handle, grid, block, args, shared_bytes, s);
}

/* What nvcc 13's <<<>>> calls, with the kernel's handle: NULL when it was not found. */
int __wrap___cudaLaunchKernel(const void *handle, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s)
{
    if (kmm_task_active())
        return __real___cudaLaunchKernel(handle, grid, block, args, shared_bytes, s);
    return launch(handle, grid, block, args, shared_bytes, s);
}

/* cudaLaunchConfig_t, and its attributes by the numbers of cudaLaunchAttributeID. */
typedef struct attribute { unsigned id; char pad[4]; union { char bytes[64]; int number; unsigned extent[3]; } value; } attribute_t;
typedef struct configuration { dim3_t grid, block; size_t shared_bytes; stream_t stream; const attribute_t *attributes; unsigned count; } configuration_t;
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

static int not_supported(const char *call);

/* Attributes say how fast the launch starts; only these two say what its blocks may do with each other. */
int __wrap_cudaLaunchKernelExC(const configuration_t *c, const void *function, void **args)
{
    for (unsigned k = 0; k < c->count; k++) {
        const attribute_t *a = &c->attributes[k];
        if (a->id == ATTRIBUTE_COOPERATIVE && a->value.number)
            return not_supported("cudaLaunchKernelExC of a cooperative launch");
        if (a->id == ATTRIBUTE_CLUSTER && a->value.extent[0] * a->value.extent[1] * a->value.extent[2] > 1)
            return not_supported("cudaLaunchKernelExC of a launch with clusters");
    }
    return __wrap_cudaLaunchKernel(function, c->grid, c->block, args, c->shared_bytes, c->stream);
}

static int not_supported(const char *call)
{
    fprintf(stderr, "kmm: error: %s is not supported on memory that kmm manages\n", call);
    return KMM_CUDA_NOT_SUPPORTED;
}

int __wrap_cudaLaunchCooperativeKernel(const void *function, dim3_t grid, dim3_t block, void **args, size_t n, stream_t s)
{
    (void)function, (void)grid, (void)block, (void)args, (void)n, (void)s;
    return not_supported("cudaLaunchCooperativeKernel");
}

/* ---- Memory ---- */

int __wrap_cudaMalloc(void **out, size_t bytes)
{
    return kmm_cuda_malloc(out, bytes);
}

int __wrap_cudaFree(void *p)
{
    return kmm_cuda_is_managed(p) ? kmm_cuda_free(p) : __real_cudaFree(p);
}

int __wrap_cudaMallocAsync(void **out, size_t bytes, stream_t s)
{
    (void)s;
    return kmm_cuda_malloc(out, bytes);
}

int __wrap_cudaFreeAsync(void *p, stream_t s)
{
    return kmm_cuda_is_managed(p) ? kmm_cuda_free(p) : __real_cudaFreeAsync(p, s);
}

int __wrap_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return kmm_cuda_malloc(out, *pitch * height);
}

static int any_managed(const void *a, const void *b)
{
    return kmm_cuda_is_managed(a) || kmm_cuda_is_managed(b);
}

int __wrap_cudaMemcpy(void *dst, const void *src, size_t n, int kind)
{
    return any_managed(dst, src) ? kmm_cuda_memcpy(dst, src, n, kind) : __real_cudaMemcpy(dst, src, n, kind);
}

int __wrap_cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, stream_t s)
{
    return any_managed(dst, src) ? kmm_cuda_memcpy_async(dst, src, n, kind, s) : __real_cudaMemcpyAsync(dst, src, n, kind, s);
}

int __wrap_cudaMemcpy2D(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind)
{
    return any_managed(dst, src) ? kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, kind) : __real_cudaMemcpy2D(dst, dp, src, sp, w, h, kind);
}

int __wrap_cudaMemcpy2DAsync(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind, stream_t s)
{
    return any_managed(dst, src) ? kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, kind)
                                 : __real_cudaMemcpy2DAsync(dst, dp, src, sp, w, h, kind, s);
}

int __wrap_cudaMemset(void *dst, int value, size_t n)
{
    return kmm_cuda_is_managed(dst) ? kmm_cuda_memset(dst, value, n) : __real_cudaMemset(dst, value, n);
}

int __wrap_cudaMemsetAsync(void *dst, int value, size_t n, stream_t s)
{
    return kmm_cuda_is_managed(dst) ? kmm_cuda_memset_async(dst, value, n, s) : __real_cudaMemsetAsync(dst, value, n, s);
}

int __wrap_cudaMemset2D(void *dst, size_t pitch, int value, size_t w, size_t h)
{
    int error = 0;
    if (!kmm_cuda_is_managed(dst))
        return __real_cudaMemset2D(dst, pitch, value, w, h);
    for (size_t row = 0; row < h && !error; row++)
        error = kmm_cuda_memset((char *)dst + row * pitch, value, w);
    return error;
}

int __wrap_cudaMemcpy3D(const void *parameters)
{
    /* struct cudaMemcpy3DParms: array, position, pointer, for the source and then the destination. */
    const struct { void *src_array; size_t src_pos[3]; void *src; size_t src_shape[3]; void *dst_array; size_t dst_pos[3]; void *dst; } *p = parameters;
    return any_managed(p->src, p->dst) ? not_supported("cudaMemcpy3D") : __real_cudaMemcpy3D(parameters);
}

int __wrap_cudaPointerGetAttributes(void *attributes, const void *p)
{
    return kmm_cuda_is_managed(p) ? not_supported("cudaPointerGetAttributes") : __real_cudaPointerGetAttributes(attributes, p);
}

/* ---- Symbols ---- */

/* Calls the real call on each CUDA device that the runtime uses. Earlier work may still read the symbol. */
static int on_each_device(const void *symbol, const void *src, size_t n, size_t offset, int kind)
{
    kmm_runtime_t *rt = kmm_default();
    kmm_device_info_t info;
    int current = 0, error = kmm_cuda_device_synchronize(), count = kmm_device_count(rt);
    cudaGetDevice(&current);
    for (int k = 0; k < count && !error; k++) {
        if (kmm_device_get(rt, k, &info) || info.kind != KMM_KIND_CUDA)
            continue;
        error = cudaSetDevice(info.ordinal);
        if (!error)
            error = __real_cudaMemcpyToSymbol(symbol, src, n, offset, kind);
    }
    cudaSetDevice(current);
    return error;
}

int __wrap_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset, int kind)
{
    if (!kmm_cuda_is_managed(src))
        return on_each_device(symbol, src, n, offset, kind);
    void *copy = malloc(n);
    int error = copy ? kmm_cuda_memcpy(copy, src, n, DEVICE_TO_HOST) : KMM_CUDA_MEMORY_ALLOCATION;
    if (!error)
        error = on_each_device(symbol, copy, n, offset, HOST_TO_DEVICE);
    free(copy);
    return error;
}

int __wrap_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t n, size_t offset, int kind, stream_t s)
{
    (void)s;
    return __wrap_cudaMemcpyToSymbol(symbol, src, n, offset, kind);
}

int __wrap_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset, int kind)
{
    int error = kmm_cuda_device_synchronize();
    if (error || !kmm_cuda_is_managed(dst))
        return error ? error : __real_cudaMemcpyFromSymbol(dst, symbol, n, offset, kind);
    void *copy = malloc(n);
    error = copy ? __real_cudaMemcpyFromSymbol(copy, symbol, n, offset, DEVICE_TO_HOST) : KMM_CUDA_MEMORY_ALLOCATION;
    if (!error)
        error = kmm_cuda_memcpy(dst, copy, n, HOST_TO_DEVICE);
    free(copy);
    return error;
}

/* ---- Streams, events, errors: ours first, then the real one's for work that is not ours ---- */

int __wrap_cudaDeviceSynchronize(void)
{
    int error = kmm_cuda_device_synchronize();
    return error ? error : __real_cudaDeviceSynchronize();
}

int __wrap_cudaDeviceReset(void)
{
    /* The context is libkmm's too: what it holds is freed when the program ends. */
    return __wrap_cudaDeviceSynchronize();
}

int __wrap_cudaStreamSynchronize(stream_t s)
{
    int error = kmm_cuda_stream_synchronize(s);
    return error ? error : __real_cudaStreamSynchronize(s);
}

int __wrap_cudaStreamQuery(stream_t s)
{
    int error = kmm_cuda_stream_query(s);
    return error ? error : __real_cudaStreamQuery(s);
}

int __wrap_cudaStreamDestroy(stream_t s)
{
    int error = kmm_cuda_stream_synchronize(s), destroyed = __real_cudaStreamDestroy(s);
    return error ? error : destroyed;
}

int __wrap_cudaStreamWaitEvent(stream_t s, event_t e, unsigned flags)
{
    int error = kmm_cuda_stream_wait_event(s, e);
    return error ? error : __real_cudaStreamWaitEvent(s, e, flags);
}

int __wrap_cudaEventRecord(event_t e, stream_t s)
{
    int error = __real_cudaEventRecord(e, s);
    return error ? error : kmm_cuda_event_record(e, s);
}

int __wrap_cudaEventQuery(event_t e)
{
    int error = kmm_cuda_event_query(e);
    return error ? error : __real_cudaEventQuery(e);
}

int __wrap_cudaEventSynchronize(event_t e)
{
    int error = kmm_cuda_event_synchronize(e);
    return error ? error : __real_cudaEventSynchronize(e);
}

int __wrap_cudaEventElapsedTime(float *milliseconds, event_t start, event_t end)
{
    return kmm_cuda_event_elapsed_time(milliseconds, start, end);
}

int __wrap_cudaEventDestroy(event_t e)
{
    kmm_cuda_event_forget(e);
    return __real_cudaEventDestroy(e);
}

int __wrap_cudaGetLastError(void)
{
    int error = kmm_cuda_get_last_error(), real = __real_cudaGetLastError();
    return error ? error : real;
}

int __wrap_cudaPeekAtLastError(void)
{
    int error = kmm_cuda_peek_at_last_error();
    return error ? error : __real_cudaPeekAtLastError();
}
