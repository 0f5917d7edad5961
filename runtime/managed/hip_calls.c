/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of wrap.h that only HIP has. A kernel is known by its host function, with which the
 * compiler's code registers it. Its parameters are read from the code that is registered before.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "managed/code_object.h"
#include "managed/wrap.h"

enum { MAX_PARAMETERS = 1024, INVALID_FUNCTION = 98 };

/* ---- Registration by the compiler's code, before main ---- */

typedef struct binary {
    void **modules;
    const void *bundle;
    struct binary *next;
} binary_t;
typedef struct function {
    const void *function;
    const char *name;
    const void *bundle;
    struct function *next;
} function_t;

enum { BUCKETS = 1024 };
static binary_t *binaries;             /* guarded by the lock, as is `functions` */
static function_t *functions[BUCKETS]; /* never freed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The structure that the compiler registers: "HIPF", a version, and the bundle. */
typedef struct wrapper {
    uint32_t magic, version;
    const void *bundle;
    void *unused;
} wrapper_t;
enum { WRAPPER_MAGIC = 0x48495046 };

void **__wrap___hipRegisterFatBinary(const void *data)
{
    const wrapper_t *w = data;
    void **modules = __real___hipRegisterFatBinary(data);
    binary_t *b = malloc(sizeof(*b));
    if (!b || w->magic != WRAPPER_MAGIC) {
        free(b);
        return modules;
    }
    pthread_mutex_lock(&lock);
    *b = (binary_t){modules, w->bundle, binaries};
    binaries = b;
    pthread_mutex_unlock(&lock);
    return modules;
}

static function_t **bucket_of(const void *function)
{
    return &functions[((uintptr_t)function >> 3) % BUCKETS];
}

/* Registers a kernel's host function. The latest registration is found first, because a library
 * that is loaded again may have its functions where another one had them. */
void __wrap___hipRegisterFunction(void **modules, const void *function, char *device_function,
                                  const char *name, unsigned limit, void *thread, void *block,
                                  dim3_t *block_size, dim3_t *grid_size, int *warp_size)
{
    function_t *f = malloc(sizeof(*f));
    pthread_mutex_lock(&lock);
    const binary_t *b = binaries;
    while (b && b->modules != modules)
        b = b->next;
    if (f) {
        *f = (function_t){function, name, b ? b->bundle : NULL, *bucket_of(function)};
        *bucket_of(function) = f;
    }
    pthread_mutex_unlock(&lock);
    __real___hipRegisterFunction(modules, function, device_function, name, limit, thread, block,
                                 block_size, grid_size, warp_size);
}

/* ---- Kernels ---- */

void internal(open)(void) {}

int internal(kernel)(void **handle, const void *function)
{
    *handle = (void *)(uintptr_t)function;
    return 0;
}

const void *internal(function)(const kmm_kernel_t *k)
{
    return k->handle;
}

static int cannot_read(const char *kernel, kmm__code_result_t result)
{
    static const char *const reasons[] = {
        [KMM__CODE_NO_KERNEL] = "the program's code for AMD GPUs does not have it",
        [KMM__CODE_NO_CODE] = "the program has no code for it that can be read; compile for the "
                              "GPU by its name: --offload-arch=gfx...",
        [KMM__CODE_COMPRESSED] =
            "the program's code for AMD GPUs is compressed; compile with --no-offload-compress",
        [KMM__CODE_NO_BUNDLE] = "the program's code for AMD GPUs has a form that kmm does not know",
    };
    kmm_cuda_say_error("the parameters of kernel '%s' are not known: %s", kernel, reasons[result]);
    return INVALID_FUNCTION;
}

int internal(kernel_read)(kmm_kernel_t *k)
{
    uint32_t sizes[MAX_PARAMETERS], count = 0;
    pthread_mutex_lock(&lock);
    const function_t *f = *bucket_of(k->handle);
    while (f && f->function != k->handle)
        f = f->next;
    pthread_mutex_unlock(&lock);
    if (!f) {
        kmm_cuda_say_error("what is launched is no kernel of the program, or of a library that was "
                           "not linked by kmmcc");
        return INVALID_FUNCTION;
    }
    kmm__code_result_t result =
        f->bundle ? kmm__code_object_parameters(f->bundle, f->name, sizes, MAX_PARAMETERS, &count)
                  : KMM__CODE_NO_BUNDLE;
    if (result != KMM__CODE_FOUND)
        return cannot_read(f->name, result);
    uint32_t *copy = malloc((count + 1) * sizeof(*copy));
    if (!copy)
        return KMM_CUDA_MEMORY_ALLOCATION;
    memcpy(copy, sizes, count * sizeof(*copy));
    k->name = f->name;
    k->param_count = count;
    k->param_bytes = copy;
    return 0;
}

int internal(kernel_failed)(int error)
{
    return kmm_cuda_launch_failed(error);
}

/* The first call that <<<>>> becomes. If it fails, the kernel's host function is not called. */
int __wrap___hipPushCallConfiguration(dim3_t grid, dim3_t block, size_t shared_bytes, stream_t s)
{
    int error = __real___hipPushCallConfiguration(grid, block, shared_bytes, s);
    if (error)
        internal(say_absent)(error);
    return kmm_cuda_launch_failed(error);
}

/* ---- Launches that CUDA does not have ---- */

int __wrap_hipExtLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **args,
                              size_t shared_bytes, stream_t s, event_t start, event_t stop,
                              int flags)
{
    (void)flags; /* the flag allows the launch to run beside others in its stream; it need not */
    int error = start ? wrap(EventRecord)(start, s) : 0;
    if (!error)
        error = wrap(LaunchKernel)(function, grid, block, args, shared_bytes, s);
    return !error && stop ? wrap(EventRecord)(stop, s) : error;
}

int __wrap_hipLaunchCooperativeKernelMultiDevice(void *launches, int count, unsigned flags)
{
    (void)launches, (void)count, (void)flags;
    return internal(not_supported)("hipLaunchCooperativeKernelMultiDevice");
}

/* Launches a kernel of a module. Inside a task pointers are the device's own, so the driver
 * launches it. */
int __wrap_hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared_bytes, stream_t s,
                                 void **args, void **extra)
{
    if (kmm_task_active())
        return __real_hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, shared_bytes,
                                            kmm_task_stream(s), args, extra);
    return internal(not_supported)("hipModuleLaunchKernel");
}

/* ---- Copies ---- */

/* Copies as hipMemcpy does, in the order of a stream. */
int __wrap_hipMemcpyWithStream(void *dst, const void *src, size_t n, int kind, stream_t s)
{
    int error = wrap(MemcpyAsync)(dst, src, n, kind, s);
    return error ? error : wrap(StreamSynchronize)(s);
}

#define COPY(name, kind)                                                                           \
    int __wrap_hipMemcpy##name(void *dst, void *src, size_t n)                                     \
    {                                                                                              \
        return wrap(Memcpy)(dst, src, n, kind);                                                    \
    }                                                                                              \
    int __wrap_hipMemcpy##name##Async(void *dst, void *src, size_t n, stream_t s)                  \
    {                                                                                              \
        return wrap(MemcpyAsync)(dst, src, n, kind, s);                                            \
    }
COPY(HtoD, HOST_TO_DEVICE)
COPY(DtoH, DEVICE_TO_HOST)
COPY(DtoD, DEVICE_TO_DEVICE)

/* ---- Fills ---- */

/* Sets `count` elements of `bytes` bytes to a value. If all bytes of the value are the same this is
 * a fill; otherwise it copies from a block that the host has filled. */
static int fill(void *dst, uint32_t value, size_t bytes, size_t count)
{
    enum { PIECE = 1 << 20 };
    size_t total = bytes * count, piece = total < PIECE ? total : PIECE;
    int error = 0;
    if (bytes == 1 || (value & 0xff) * (bytes == 2 ? 0x101u : 0x1010101u) == value)
        return kmm_cuda_memset(dst, (int)(value & 0xff), total);
    char *copy = malloc(piece + bytes);
    if (!copy)
        return KMM_CUDA_MEMORY_ALLOCATION;
    for (size_t k = 0; k < piece; k += bytes)
        memcpy(copy + k, &value, bytes);
    for (size_t at = 0; at < total && !error; at += piece)
        error = kmm_cuda_memcpy((char *)dst + at, copy, total - at < piece ? total - at : piece,
                                HOST_TO_DEVICE);
    free(copy);
    return error;
}

#define FILL(name, type)                                                                           \
    int __wrap_hipMemset##name(void *dst, type value, size_t count)                                \
    {                                                                                              \
        if (kmm_cuda_is_managed(dst))                                                              \
            return fill(dst, (uint32_t)value, sizeof(type), count);                                \
        stream_t own = internal(stream)(NULL);                                                     \
        return own ? __real_hipMemset##name##Async(dst, value, count, own)                         \
                   : __real_hipMemset##name(dst, value, count);                                    \
    }                                                                                              \
    int __wrap_hipMemset##name##Async(void *dst, type value, size_t count, stream_t s)             \
    {                                                                                              \
        if (kmm_cuda_is_managed(dst))                                                              \
            return fill(dst, (uint32_t)value, sizeof(type), count);                                \
        return __real_hipMemset##name##Async(dst, value, count, internal(stream)(s));              \
    }
FILL(D8, unsigned char)
FILL(D16, unsigned short)
FILL(D32, int)
