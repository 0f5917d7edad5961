/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs that hipcc or nvcc compiled call of their runtime beyond what the backend does:
 * registration, configurations, and the runtime's calls on memory that libkmm does not manage.
 * Their code for GPUs cannot be run; the library that KMM_FAKE_KERNELS names has the same kernels
 * compiled for the CPU, and the variables of devices, once for all. The part that only HIP has is
 * at the end, and CUDA's in cuda_program.c.
 */
#include "program.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define FAKE FAKE_EXPORT int

typedef struct name {
    const void *host;
    const char *name;
    bool is_variable;
    fake_kernel_t *kernel;
    struct name *next;
} name_t;
static name_t *names; /* under fake_lock */

static void *kernels(void)
{
    static void *library;
    const char *path = fake_setting("KERNELS");
    if (!library && path)
        library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (path && !library)
        fake_broken(dlerror());
    return library;
}

static name_t *find(const void *host)
{
    pthread_mutex_lock(&fake_lock);
    name_t *n = names;
    while (n && n->host != host)
        n = n->next;
    pthread_mutex_unlock(&fake_lock);
    return n;
}

/* Devices' threads may launch a kernel for the first time at once, and a library makes it when it
 * is asked for. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static fake_kernel_t *kernel_of(name_t *n)
{
    if (n->kernel)
        return n->kernel;
    void *library = kernels();
    fake_kernel_named_function_t *named = NULL;
    if (library)
        *(void **)&named = dlsym(library, "fake_kernel_named");
    fake_program_kernel_t *found = named ? named(n->name) : NULL;
    n->kernel = found ? &found->kernel : NULL;
    if (!n->kernel)
        fake_broken("KMM_FAKE_KERNELS names no library that has the kernel which is launched");
    return n->kernel;
}

fake_kernel_t *fake_program_kernel(const void *function)
{
    name_t *n = find(function);
    if (!n)
        return (fake_kernel_t *)(uintptr_t)function;
    pthread_mutex_lock(&making);
    fake_kernel_t *k = kernel_of(n);
    pthread_mutex_unlock(&making);
    return k;
}

/* ---- What the compiler's code calls ---- */

static void add(const void *host, const char *name, bool is_variable)
{
    name_t *n = calloc(1, sizeof(*n));
    pthread_mutex_lock(&fake_lock);
    *n = (name_t){host, name, is_variable, NULL, names};
    names = n;
    pthread_mutex_unlock(&fake_lock);
}

FAKE_EXPORT void **compiler(RegisterFatBinary)(const void *data)
{
    return calloc(1, sizeof(data));
}

FAKE_EXPORT void compiler(UnregisterFatBinary)(void **modules)
{
    free(modules);
}

FAKE_EXPORT void compiler(RegisterFunction)(void **modules, const void *function,
                                            char *device_function, const char *name, unsigned limit,
                                            void *thread, void *block, void *block_size,
                                            void *grid_size, int *warp_size)
{
    (void)modules, (void)device_function, (void)limit, (void)thread, (void)block, (void)block_size,
        (void)grid_size, (void)warp_size;
    add(function, name, false);
}

FAKE_EXPORT void compiler(RegisterVar)(void **modules, void *variable, char *host_name,
                                       char *device_name, int is_extern, size_t bytes,
                                       int is_constant, int is_global)
{
    (void)modules, (void)host_name, (void)is_extern, (void)bytes, (void)is_constant,
        (void)is_global;
    add(variable, device_name, true);
}

typedef struct configuration {
    fake_dim3_t grid, block;
    size_t shared;
    fake_stream_t *stream;
} configuration_t;
static _Thread_local configuration_t configured;

FAKE compiler(PushCallConfiguration)(fake_dim3_t grid, fake_dim3_t block, size_t shared,
                                     fake_stream_t *stream)
{
    configured = (configuration_t){grid, block, shared, stream};
    return fake_count() < 0 ? fake_start() : fake_count() ? FAKE_OK : FAKE_NO_DEVICE;
}

FAKE compiler(PopCallConfiguration)(fake_dim3_t *grid, fake_dim3_t *block, size_t *shared,
                                    fake_stream_t **stream)
{
    *grid = configured.grid;
    *block = configured.block;
    *shared = configured.shared;
    *stream = configured.stream;
    return FAKE_OK;
}

/* ---- What programs call: all of it is done at once ---- */

FAKE api(DeviceSynchronize)(void)
{
    fake_settle();
    return FAKE_OK;
}

FAKE api(PeekAtLastError)(void)
{
    return FAKE_OK;
}

FAKE api(Memcpy)(void *dst, const void *src, size_t bytes, int kind)
{
    (void)kind;
    fake_settle();
    memmove(dst, src, bytes);
    return FAKE_OK;
}

FAKE api(Memset)(void *dst, int value, size_t bytes)
{
    fake_settle();
    memset(dst, value, bytes);
    return FAKE_OK;
}

static char *symbol(const void *host)
{
    const name_t *n = find(host);
    void *library = n && n->is_variable ? kernels() : NULL;
    return library ? dlsym(library, n->name) : NULL;
}

FAKE api(MemcpyToSymbol)(const void *host, const void *src, size_t bytes, size_t offset, int kind)
{
    char *to = symbol(host);
    return to ? api(Memcpy)(to + offset, src, bytes, kind) : FAKE_INVALID_VALUE;
}

FAKE api(MemcpyFromSymbol)(void *dst, const void *host, size_t bytes, size_t offset, int kind)
{
    const char *from = symbol(host);
    return from ? api(Memcpy)(dst, from + offset, bytes, kind) : FAKE_INVALID_VALUE;
}

/* The structure begins with the kind of memory: 0 ordinary, 2 a device's. */
FAKE api(PointerGetAttributes)(int *out, const void *p)
{
    *out = fake_is_devices(p) ? 2 : 0;
    return FAKE_OK;
}

FAKE api(GetDevice)(int *out);

FAKE api(StreamCreate)(fake_stream_t **out)
{
    int device = 0;
    api(GetDevice)(&device);
    return fake_stream_create(device, true, out);
}

FAKE api(StreamSynchronize)(fake_stream_t *s)
{
    return fake_stream_synchronize(s);
}

FAKE api(EventCreate)(fake_event_t **out)
{
    int device = 0;
    api(GetDevice)(&device);
    return fake_event_create(device, true, out);
}

FAKE api(EventSynchronize)(fake_event_t *e)
{
    return fake_event_synchronize(e);
}

#if FAKE_HIP_PROGRAM

/* ---- HIP alone ---- */

FAKE hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    *out = malloc(bytes + 1);
    return *out ? FAKE_OK : FAKE_NO_MEMORY;
}

FAKE hipHostFree(void *p)
{
    fake_settle();
    free(p);
    return FAKE_OK;
}

FAKE hipStreamBeginCapture(fake_stream_t *s, int mode)
{
    return fake_capture_begin(s, mode);
}
FAKE hipStreamIsCapturing(fake_stream_t *s, int *out)
{
    return fake_capture_status(s, out);
}

FAKE hipStreamEndCapture(fake_stream_t *s, fake_graph_t **out)
{
    return fake_capture_end(s, out);
}
FAKE hipGraphLaunch(fake_graph_t *g, fake_stream_t *s)
{
    return fake_graph_launch(g, s);
}
FAKE hipGraphDestroy(fake_graph_t *g)
{
    return fake_graph_destroy(g);
}
FAKE hipGraphExecDestroy(fake_graph_t *g)
{
    return fake_graph_destroy(g);
}

FAKE hipGraphInstantiate(fake_graph_t **out, fake_graph_t *g, void **node, char *log, size_t bytes)
{
    (void)node, (void)log, (void)bytes;
    *out = fake_graph_keep(g);
    return FAKE_OK;
}

#endif
