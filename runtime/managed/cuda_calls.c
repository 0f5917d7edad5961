/* SPDX-License-Identifier: Apache-2.0 */
/* The part of wrap.h that only CUDA has: kernels as CUDA's driver knows them, and launch calls
 * that HIP lacks. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "managed/wrap.h"

int cudaGetKernel(void **kernel, const void *function);

enum { MAX_PARAMETERS = 4096 };

static int (*get_parameter)(void *kernel, size_t index, size_t *offset, size_t *bytes);
static int (*get_name)(const char **name, void *kernel);

/* ---- Registration by the compiler's code, before main ---- */

typedef struct function {
    const void *function;
    const char *name;
    struct function *next;
} function_t;

static function_t *functions; /* guarded by the lock; never freed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void __wrap___cudaRegisterFunction(void **modules, const char *function, char *device_function,
                                   const char *name, int limit, void *thread, void *block,
                                   dim3_t *block_size, dim3_t *grid_size, int *warp_size)
{
    function_t *f = malloc(sizeof(*f));
    pthread_mutex_lock(&lock);
    if (f) {
        *f = (function_t){function, name, functions};
        functions = f;
    }
    pthread_mutex_unlock(&lock);
    __real___cudaRegisterFunction(modules, function, device_function, name, limit, thread, block,
                                  block_size, grid_size, warp_size);
}

const void *internal(function)(const kmm_kernel_t *k)
{
    void *handle = NULL;
    pthread_mutex_lock(&lock);
    const function_t *f = functions;
    while (f &&
           (strcmp(f->name, k->name) || cudaGetKernel(&handle, f->function) || handle != k->handle))
        f = f->next;
    pthread_mutex_unlock(&lock);
    return f ? f->function : NULL;
}

/* ---- Kernels ---- */

void internal(open)(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        return;
    *(void **)&get_name = dlsym(driver, "cuKernelGetName");
    *(void **)&get_parameter = dlsym(driver, "cuKernelGetParamInfo");
}

int internal(kernel)(void **handle, const void *function)
{
    return cudaGetKernel(handle, function);
}

int internal(kernel_read)(kmm_kernel_t *k)
{
    uint32_t sizes[MAX_PARAMETERS], n = 0;
    size_t offset, bytes;
    int error = 0;
    if (!get_parameter)
        return KMM_CUDA_NOT_SUPPORTED; /* the driver is older than 12.4 */
    /* Makes this thread's device current: the program may not have made a real call yet. */
    real(Free)(NULL);
    while (n < MAX_PARAMETERS && (error = get_parameter(k->handle, n, &offset, &bytes)) == 0)
        sizes[n++] = (uint32_t)bytes;
    if (error != KMM_CUDA_INVALID_VALUE) /* the index after the last parameter gives this error */
        return error ? error : KMM_CUDA_NOT_SUPPORTED;
    uint32_t *copy = malloc((n + 1) * sizeof(*copy));
    if (!copy)
        return KMM_CUDA_MEMORY_ALLOCATION;
    for (uint32_t i = 0; i < n; i++)
        copy[i] = sizes[i];
    k->param_count = n;
    k->param_bytes = copy;
    const char *name = NULL;
    if (get_name && get_name(&name, k->handle) == 0 && name &&
        (name = strdup(name))) /* the driver's text lives only as long as the kernel */
        k->name = name;
    return 0;
}

int internal(kernel_failed)(int error)
{
    internal(say_absent)(error);
    return kmm_cuda_launch_failed(error);
}

/* The call that <<<>>> of nvcc 13 becomes. `handle` is the kernel; NULL: it was not found. */
int __wrap___cudaLaunchKernel(const void *handle, dim3_t grid, dim3_t block, void **args,
                              size_t shared_bytes, stream_t s)
{
    NATIVE_LAUNCH(__real___cudaLaunchKernel(handle, grid, block, args, shared_bytes, s),
                  internal(launch_again)(handle, GEOMETRY(grid, block, shared_bytes, s), args,
                                         &native_result));
    if (kmm_task_active())
        return __real___cudaLaunchKernel(handle, grid, block, args, shared_bytes,
                                         kmm_task_stream(s));
    return internal(launch)(handle, grid, block, args, shared_bytes, s);
}

/* The layout of cudaLaunchConfig_t. Attributes have the numbers of cudaLaunchAttributeID. */
typedef struct attribute {
    unsigned id;
    char pad[4];
    union {
        char bytes[64];
        int number;
        unsigned extent[3];
    } value;
} attribute_t;
struct configuration {
    dim3_t grid, block;
    size_t shared_bytes;
    stream_t stream;
    const attribute_t *attributes;
    unsigned count;
};
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

/* Returns what managed standing refuses; NULL: nothing. Most attributes only change how fast the
 * launch starts. The two that are looked at here change how its blocks may work together. */
static const char *refused(const configuration_t *c)
{
    for (unsigned k = 0; k < c->count; k++) {
        const attribute_t *a = &c->attributes[k];
        if (a->id == ATTRIBUTE_COOPERATIVE && a->value.number)
            return "cudaLaunchKernelExC of a cooperative launch";
        if (a->id == ATTRIBUTE_CLUSTER &&
            a->value.extent[0] * a->value.extent[1] * a->value.extent[2] > 1)
            return "cudaLaunchKernelExC of a launch with clusters";
    }
    return NULL;
}

/* Of a program with a default stream for each thread (per_thread.c). */
int __wrap_cudaLaunchKernelExC_ptsz(const configuration_t *c, const void *function, void **args);
int __wrap_cudaLaunchKernelExC_ptsz(const configuration_t *c, const void *function, void **args)
{
    configuration_t own = *c;
    own.stream = c->stream || !kmm_cuda_native(KIND) ? c->stream : PER_THREAD;
    return wrap(LaunchKernelExC)(&own, function, args);
}

int wrap(LaunchKernelExC)(const configuration_t *c, const void *function, void **args)
{
    const char *what = refused(c);
    if (kmm_cuda_native_enter_launch(KIND) > 0) {
        if (what)
            kmm_cuda_native_stay();
        int error = real(LaunchKernelExC)(c, function, args);
        kmm_cuda_native_leave();
        return error;
    }
    if (what)
        return internal(not_supported)(what);
    return wrap(LaunchKernel)(function, c->grid, c->block, args, c->shared_bytes, c->stream);
}
