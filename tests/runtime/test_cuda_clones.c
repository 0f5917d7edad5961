/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm_cuda.a's launches: which kernel libkmm is given, and with which arguments, for kernels
 * with and without clones. The CUDA runtime, the driver and libkmm are small stand-ins here. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda.h>
#include <kmm/cuda_api.h>

#include "managed_stand_ins.h"

typedef struct dim3 {
    unsigned x, y, z;
} dim3_t;
typedef struct attribute {
    unsigned id;
    char pad[4];
    union {
        char bytes[64];
        int number;
        unsigned extent[3];
    } value;
} attribute_t;
typedef struct configuration {
    dim3_t grid, block;
    size_t shared_bytes;
    void *stream;
    const attribute_t *attributes;
    unsigned count;
} configuration_t;
int __wrap_cudaLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **args,
                            size_t shared_bytes, void *s);
int __wrap___cudaLaunchKernel(const void *handle, dim3_t grid, dim3_t block, void **args,
                              size_t shared_bytes, void *s);
int __wrap_cudaLaunchKernelExC(const configuration_t *c, const void *function, void **args);

void __wrap___cudaRegisterFunction(void **modules, const char *function, char *device_function,
                                   const char *name, int limit, void *thread, void *block,
                                   void *block_size, void *grid_size, int *warp_size);

/* ---- Kernels ---- */

typedef struct fake_kernel {
    const char *name;
    int count;
    size_t bytes[4];
    char function;
} fake_kernel_t;
static fake_kernel_t plain = {"_Z5plainiPf", 2, {4, 8}, 0};
static fake_kernel_t plain_clone = {"_Z9kmm_plain10kmm_blocksiPf", 3, {24, 4, 8}, 0};
static fake_kernel_t alone = {"_Z5aloneiPf", 2, {4, 8}, 0};
static fake_kernel_t of_template = {"_Z7kmm_setIfEv10kmm_blocksiPT_", 3, {24, 4, 8}, 0};
static fake_kernel_t checked = {"_Z7kmm_setIfEv18kmm_checked_blocksiPT_", 3, {32, 4, 8}, 0};
static fake_kernel_t in_c = {"in_c", 1, {8}, 0}, in_c_clone = {"kmm_in_c", 2, {24, 8}, 0};
static fake_kernel_t late = {"_Z4latePf", 1, {8}, 0},
                     late_clone = {"_Z8kmm_late10kmm_blocksPf", 2, {24, 8}, 0};
static fake_kernel_t *const kernels[] = {&plain, &plain_clone, &alone, &of_template, &checked,
                                         &in_c,  &in_c_clone,  &late,  &late_clone};

int cudaGetKernel(void **kernel, const void *function)
{
    for (size_t k = 0; k < sizeof(kernels) / sizeof(*kernels); k++)
        if (function == &kernels[k]->function)
            return *kernel = kernels[k], 0;
    return 98;
}

static int get_parameter(void *kernel, size_t index, size_t *offset, size_t *bytes)
{
    const fake_kernel_t *k = kernel;
    *offset = 0;
    if (index >= (size_t)k->count)
        return 1;
    *bytes = k->bytes[index];
    return 0;
}

static int get_name(const char **name, void *kernel)
{
    *name = ((fake_kernel_t *)kernel)->name;
    return 0;
}

void *dlopen(const char *path, int mode)
{
    (void)mode;
    assert_string_equal(path, "libcuda.so.1");
    return kernels[0];
}

void *dlsym(void *library, const char *name)
{
    assert_ptr_equal(library, kernels[0]);
    if (!strcmp(name, "cuKernelGetParamInfo"))
        return (void *)(uintptr_t)get_parameter;
    return !strcmp(name, "cuKernelGetName") ? (void *)(uintptr_t)get_name : NULL;
}

/* ---- libkmm ---- */

static const kmm_cuda_names_t *names;
void kmm_cuda_name_kernels(int kind, const kmm_cuda_names_t *of_program)
{
    names = kind == KMM_KIND_CUDA ? of_program : NULL;
}

static int registered;
void __real___cudaRegisterFunction(void);
void __real___cudaRegisterFunction(void)
{
    registered++;
}

static int launch_result;
static struct {
    kmm_kernel_t kernel;
    kmm_geometry_t geometry;
    void *args[4];
    int count;
} given;

int kmm_cuda_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args)
{
    given.kernel = *kernel;
    given.geometry = *geometry;
    memset(given.args, 0, sizeof(given.args));
    for (uint32_t k = 0; k < kernel->param_count; k++)
        given.args[k] = args[k];
    given.count++;
    return launch_result;
}

/* ---- The streams that real calls get ---- */

static void *launch_stream, *set_stream, *copy_stream, *synchronized;

int __real_cudaLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **args,
                            size_t shared_bytes, void *s);
int __real_cudaLaunchKernelExC(const configuration_t *c, const void *function, void **args);
int __real_cudaMemsetAsync(void *dst, int value, size_t n, void *s);
int __real_cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *s);
int __real_cudaStreamSynchronize(void *s);
static kmm_blocks_t launched_blocks; /* of the last clone that was launched natively */

int __real_cudaLaunchKernel(const void *function, dim3_t grid_of, dim3_t block_of, void **args,
                            size_t shared_bytes, void *s)
{
    (void)grid_of, (void)block_of, (void)shared_bytes;
    if (function == &of_template)
        launched_blocks = *(const kmm_blocks_t *)args[0];
    return launch_stream = s, 0;
}
static int handles; /* launches by the handle of a kernel */
int __real___cudaLaunchKernel(const void *handle, dim3_t grid_of, dim3_t block_of, void **args,
                              size_t shared_bytes, void *s);
int __real___cudaLaunchKernel(const void *handle, dim3_t grid_of, dim3_t block_of, void **args,
                              size_t shared_bytes, void *s)
{
    handles++;
    return __real_cudaLaunchKernel(handle, grid_of, block_of, args, shared_bytes, s);
}
int __real_cudaLaunchKernelExC(const configuration_t *c, const void *function, void **args)
{
    (void)function, (void)args;
    return launch_stream = c->stream, 0;
}
int __real_cudaMemsetAsync(void *dst, int value, size_t n, void *s)
{
    (void)dst, (void)value, (void)n;
    return set_stream = s, 0;
}
int __real_cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *s)
{
    (void)dst, (void)src, (void)n, (void)kind;
    return copy_stream = s, 0;
}
int __real_cudaStreamSynchronize(void *s)
{
    return synchronized = s, 0;
}

/* ---- Events of native launches ---- */

static int made, destroyed, queries, waits, cleared;         /* calls */
static int query_result, last_error, current, recorded_with; /* current: the device */

int cudaGetDevice(int *device);
int __real_cudaSetDevice(int device);
int cudaEventCreateWithFlags(void **out, unsigned flags);
int __real_cudaEventDestroy(void *e);
int __real_cudaEventRecord(void *e, void *s);
int __real_cudaEventQuery(void *e);
int __real_cudaStreamWaitEvent(void *s, void *e, unsigned flags);
int __real_cudaEventElapsedTime(float *milliseconds, void *a, void *b);
int __real_cudaPeekAtLastError(void);
int __real_cudaGetLastError(void);
int cudaGetDevice(int *device)
{
    return *device = current, 0;
}
int __real_cudaSetDevice(int device)
{
    return current = device, 0;
}
int cudaEventCreateWithFlags(void **out, unsigned flags)
{
    (void)flags;
    *out = (void *)(uintptr_t)++made;
    return 0;
}
int __real_cudaEventDestroy(void *e)
{
    assert_non_null(e);
    return destroyed++, 0;
}
int __real_cudaEventRecord(void *e, void *s)
{
    (void)s;
    assert_non_null(e);
    return recorded_with = current, 0;
}
int __real_cudaEventQuery(void *e)
{
    assert_non_null(e);
    return queries++, query_result;
}
int __real_cudaStreamWaitEvent(void *s, void *e, unsigned flags)
{
    (void)s, (void)e, (void)flags;
    return waits++, 0;
}
int __real_cudaEventElapsedTime(float *milliseconds, void *a, void *b)
{
    assert_int_equal((uintptr_t)a + 1, (uintptr_t)b);
    return *milliseconds = 2.5, 0;
}
static int capturing;
int cudaStreamIsCapturing(void *s, int *out);
int cudaStreamIsCapturing(void *s, int *out)
{
    return (void)s, *out = capturing, 0;
}
int __real_cudaPeekAtLastError(void)
{
    return last_error;
}
int __real_cudaGetLastError(void)
{
    return cleared++, 0;
}

void kmm__cuda_image_ends(void);
#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }
NOTHING(__real_cudaDeviceSynchronize)
NOTHING(__real_cudaEventSynchronize)
NOTHING(__real_cudaFree)
NOTHING(__real_cudaFreeAsync)
NOTHING(__real_cudaMemcpy)
NOTHING(__real_cudaMemcpy2D)
NOTHING(__real_cudaMemcpy2DAsync)
NOTHING(__real_cudaMemcpy3D)
NOTHING(__real_cudaMemcpyFromSymbol)
NOTHING(__real_cudaMemcpyToSymbol)
NOTHING(__real_cudaMemcpyToSymbolAsync)
NOTHING(__real_cudaLaunchCooperativeKernel)
NOTHING(__real_cudaMemset)
NOTHING(__real_cudaMemset2D)
NOTHING(__real_cudaGetErrorName)
NOTHING(__real_cudaGetErrorString)
NOTHING(__real_cudaPointerGetAttributes)
NOTHING(__real_cudaStreamDestroy)
NOTHING(__real_cudaStreamQuery)
NOTHING(__real_cudaMemcpyPeer)
NOTHING(__real_cudaMemcpyPeerAsync)
NOTHING(__real_cudaDeviceEnablePeerAccess)
NOTHING(__real_cudaMalloc)
NOTHING(__real_cudaMallocAsync)
NOTHING(__real_cudaMallocFromPoolAsync)
NOTHING(__real_cudaMallocPitch)
NOTHING(__real_cudaGetSymbolAddress)
NOTHING(cudaGetSymbolSize)
NOTHING(__real_cudaDeviceSetLimit)
NOTHING(__real_cudaCreateTextureObject)
NOTHING(__real_cudaDestroySurfaceObject)
NOTHING(__real_cudaDestroyTextureObject)
NOTHING(__real_cudaEventRecordWithFlags)
NOTHING(__real_cudaFreeArray)
NOTHING(__real_cudaFreeHost)
NOTHING(__real_cudaFreeMipmappedArray)
NOTHING(__real_cudaHostUnregister)
NOTHING(__real_cudaIpcGetMemHandle)
NOTHING(__real_cudaLaunchHostFunc)
NOTHING(__real_cudaMalloc3D)
NOTHING(__real_cudaMemAdvise)
NOTHING(__real_cudaMemPrefetchAsync)
NOTHING(__real_cudaMemcpy2DFromArray)
NOTHING(__real_cudaMemcpy2DFromArrayAsync)
NOTHING(__real_cudaMemcpy2DToArray)
NOTHING(__real_cudaMemcpy2DToArrayAsync)
NOTHING(__real_cudaMemcpy3DAsync)
NOTHING(__real_cudaMemcpyFromArray)
NOTHING(__real_cudaMemcpyFromSymbolAsync)
NOTHING(__real_cudaMemcpyToArray)
NOTHING(__real_cudaMemset3D)
NOTHING(__real_cudaMemset3DAsync)
NOTHING(__real_cudaStreamAddCallback)
NOTHING(__real_cudaMemset2DAsync)
NOTHING(__real_cudaStreamBeginCapture)
NOTHING(__real_cudaGraphCreate)
NOTHING(__real_cudaGraphLaunch)

/* ---- Tests ---- */

static const dim3_t grid = {7, 2, 3}, block = {32, 4, 1};
static int n = 5;
static float *x = NULL;
static void *two[] = {&n, &x}, *one[] = {&x};

static void expect_launch(const fake_kernel_t *kernel, int is_clone, const fake_kernel_t *whole)
{
    assert_ptr_equal(given.kernel.handle, kernel);
    assert_string_equal(given.kernel.name, kernel->name);
    assert_int_equal(given.kernel.is_clone, is_clone);
    assert_int_equal(given.kernel.param_count, kernel->count);
    for (int k = 0; k < kernel->count; k++)
        assert_int_equal(given.kernel.param_bytes[k], kernel->bytes[k]);
    if (whole)
        assert_ptr_equal(given.kernel.whole->handle, whole);
    else
        assert_null(given.kernel.whole);
    assert_int_equal(given.geometry.grid[0], 7);
    assert_int_equal(given.geometry.block[1], 4);
}

/* A launch of a kernel that has a clone hands over the clone, its own arguments behind the first.
 */
static void test_original(void **state)
{
    (void)state;
    assert_int_equal(kmm_cuda_register_clone(&plain_clone.function, &plain.function), 1);
    assert_int_equal(__wrap_cudaLaunchKernel(&plain.function, grid, block, two, 64, NULL), 0);
    expect_launch(&plain_clone, 1, &plain);
    assert_ptr_equal(given.args[1], &n);
    assert_ptr_equal(given.args[2], &x);
    assert_int_equal(given.geometry.shared_bytes, 64);
    assert_int_equal(__wrap___cudaLaunchKernel(&plain, grid, block, two, 0, NULL), 0);
    expect_launch(&plain_clone, 1, &plain);
}

static void test_clone(void **state)
{
    static kmm_blocks_t blocks;
    void *three[] = {&blocks, &n, &x};
    (void)state;
    assert_int_equal(__wrap___cudaLaunchKernel(&plain_clone, grid, block, three, 0, NULL), 0);
    expect_launch(&plain_clone, 1, &plain);
    assert_ptr_equal(given.args[0], &blocks);
    /* An instance of a template is known by its name. */
    assert_int_equal(__wrap___cudaLaunchKernel(&of_template, grid, block, three, 0, NULL), 0);
    expect_launch(&of_template, 1, NULL);
    assert_ptr_equal(given.args[2], &x);
    assert_int_equal(__wrap___cudaLaunchKernel(&checked, grid, block, three, 0, NULL), 0);
    expect_launch(&checked, 1, NULL); /* compiled with -fkmm-check */
}

static void test_alone(void **state)
{
    (void)state;
    assert_int_equal(__wrap_cudaLaunchKernel(&alone.function, grid, block, two, 0, NULL), 0);
    expect_launch(&alone, 0, NULL);
    assert_ptr_equal(given.args[0], &n);
}

/* Names of extern "C" kernels say nothing of their parameters. */
static void test_in_c(void **state)
{
    (void)state;
    kmm_cuda_register_clone(&in_c_clone.function, &in_c.function);
    assert_int_equal(__wrap___cudaLaunchKernel(&in_c, grid, block, one, 0, NULL), 0);
    expect_launch(&in_c_clone, 1, &in_c);
    assert_ptr_equal(given.args[1], &x);
}

/* A launch in a template registers when it runs, after the kernel may have been launched elsewhere.
 */
static void test_late(void **state)
{
    (void)state;
    assert_int_equal(__wrap___cudaLaunchKernel(&late, grid, block, one, 0, NULL), 0);
    expect_launch(&late, 0, NULL);
    kmm_cuda_register_clone(&late_clone.function, &late.function);
    assert_int_equal(__wrap___cudaLaunchKernel(&late, grid, block, one, 0, NULL), 0);
    expect_launch(&late_clone, 1, &late);
}

static void test_configuration(void **state)
{
    attribute_t attribute = {.id = 8};
    configuration_t c = {grid, block, 16, NULL, &attribute, 1};
    int count = given.count;
    (void)state;
    assert_int_equal(__wrap_cudaLaunchKernelExC(&c, &plain.function, two), 0);
    expect_launch(&plain_clone, 1, &plain);
    assert_int_equal(given.geometry.shared_bytes, 16);
    attribute = (attribute_t){.id = 2, .value = {.number = 1}}; /* cooperative */
    assert_int_equal(__wrap_cudaLaunchKernelExC(&c, &plain.function, two), KMM_CUDA_NOT_SUPPORTED);
    attribute = (attribute_t){.id = 4, .value = {.extent = {2, 1, 1}}}; /* clusters */
    assert_int_equal(__wrap_cudaLaunchKernelExC(&c, &plain.function, two), KMM_CUDA_NOT_SUPPORTED);
    attribute.value.extent[0] = 1;
    assert_int_equal(__wrap_cudaLaunchKernelExC(&c, &plain.function, two), 0);
    assert_int_equal(given.count, count + 2);
}

/* Processes of one program name kernels by their host functions. A name may be that of kernels of
 * several files. */
static void test_names(void **state)
{
    static fake_kernel_t other = {"_Z4latePf", 1, {8}, 0};
    char *functions[] = {&late.function, &other.function, &plain_clone.function, &alone.function};
    const char *const text[] = {late.name, other.name, plain_clone.name, "_Z5otheriPf"};
    (void)state;
    assert_non_null(names);
    for (int k = 0; k < 4; k++)
        __wrap___cudaRegisterFunction(NULL, functions[k], NULL, text[k], -1, NULL, NULL, NULL, NULL,
                                      NULL);
    assert_int_equal(registered, 4);
    const kmm_kernel_t *k = names->kernel(&plain_clone.function);
    assert_non_null(k);
    assert_ptr_equal(k->handle, &plain_clone);
    assert_int_equal(k->is_clone, 1);
    assert_ptr_equal(names->function(k), &plain_clone.function);
    assert_ptr_equal(names->function(names->kernel(&late.function)), &late.function);
    assert_null(names->function(names->kernel(&alone.function))); /* it has another name */
    assert_null(names->kernel(&registered));
}

static void test_unknown(void **state)
{
    int count = given.count;
    (void)state;
    assert_int_not_equal(__wrap_cudaLaunchKernel(&count, grid, block, two, 0, NULL), 0);
    assert_int_not_equal(__wrap___cudaLaunchKernel(NULL, grid, block, two, 0, NULL), 0);
    assert_int_equal(given.count, count);
}

static void launch_natively(void *stream)
{
    assert_int_equal(__wrap_cudaLaunchKernel(&alone.function, grid, block, two, 0, stream), 0);
}

/* The clone of a template's instance is launched as it stands: its blocks are the whole grid,
 * whatever the program has passed. */
static void test_native_clone(void **state)
{
    kmm_blocks_t blocks = {1, 1, 1, 1, 1, 1};
    void *three[] = {&blocks, &n, &x};
    (void)state;
    handles = 0;
    launch_result = KMM_CUDA_NATIVELY;
    assert_int_equal(__wrap___cudaLaunchKernel(&of_template, grid, block, three, 0, NULL), 0);
    launch_result = 0;
    assert_int_equal(handles, 1); /* as the program has launched it */
    assert_int_equal(launched_blocks.grid_x, grid.x);
    assert_int_equal(launched_blocks.grid_y, grid.y);
    assert_int_equal(launched_blocks.grid_z, grid.z);
    assert_int_equal(launched_blocks.offset_x + launched_blocks.offset_y + launched_blocks.offset_z,
                     0);
}

/* A launch that comes again is made as it is written, by whichever call, in the order of launches
 * with a pragma. libkmm is asked for the kernel that it got before. */
static void test_again(void **state)
{
    kmm_blocks_t blocks = {1, 1, 1, 1, 1, 1};
    void *three[] = {&blocks, &n, &x};
    const int count = given.count;
    (void)state;
    handles = waits = 0;
    again = (again_t){.is_armed = true};
    assert_int_equal(__wrap_cudaLaunchKernel(&plain.function, grid, block, two, 0, NULL), 0);
    assert_ptr_equal(again.handle, &plain_clone);
    assert_ptr_equal(again.args, two);
    assert_int_equal(again.first, 1);
    assert_int_equal(again.grid_x, grid.x);
    assert_int_equal(__wrap___cudaLaunchKernel(&plain, grid, block, two, 0, NULL), 0);
    assert_int_equal(handles, 2); /* both by the kernel's handle */
    assert_int_equal(waits, 0);
    assert_int_equal(__wrap___cudaLaunchKernel(&plain, grid, block, two, 0, &made), 0);
    assert_int_equal(waits, 1);
    assert_int_equal(__wrap___cudaLaunchKernel(&of_template, grid, block, three, 0, &made), 0);
    assert_ptr_equal(again.handle, &of_template);
    assert_int_equal(again.first, 0);
    assert_int_equal(launched_blocks.grid_x, grid.x);
    assert_int_equal(again.begins, 4);
    assert_int_equal(again.ends, 4);
    assert_int_equal(given.count, count);
    again.device = -1; /* something differs */
    assert_int_equal(__wrap___cudaLaunchKernel(&plain, grid, block, two, 0, NULL), 0);
    assert_int_equal(given.count, count + 1);
    expect_launch(&plain_clone, 1, &plain);
    assert_int_equal(again.ends, 4);
    again.is_armed = false;
    *kmm_cuda_native_order() = (kmm_cuda_order_t){0};
    waits = 0;
}

/* A native launch is timed where libkmm asks for that, without waiting for it, and without taking
 * away an error that the program is to find. */
static void test_timed(void **state)
{
    (void)state;
    launch_result = KMM_CUDA_NATIVELY;
    launch_natively(NULL);
    assert_int_equal(made, 0);
    native_sample = 7;
    query_result = KMM_CUDA_NOT_READY;
    launch_natively(NULL);
    assert_int_equal(made, 2);
    assert_int_equal(queries, 0);
    for (int k = 0; k < 64; k++)
        launch_natively(NULL);
    assert_in_range(queries, 2, 8); /* ever more seldom */
    assert_int_equal(cleared, queries);
    assert_int_equal(measured_ns, 0);
    query_result = 0;
    last_error = 1;
    for (int k = 0; k < 64; k++)
        launch_natively(NULL);
    assert_int_equal(measured_ns, 0);
    assert_int_equal(cleared, queries);
    last_error = 0;
    launch_natively(NULL);
    assert_int_equal(measured_ns, 2500000);
    assert_int_equal(destroyed, 2);
    launch_result = 0;
}

/* Native launches keep their order across streams and devices: an event is recorded on the device
 * of its stream. */
static void test_order(void **state)
{
    (void)state;
    launch_result = KMM_CUDA_NATIVELY;
    launch_natively(NULL);
    launch_natively(NULL);
    assert_int_equal(waits, 0);
    launch_natively(&made);
    assert_int_equal(waits, 1);
    current = 1;
    launch_natively(NULL);
    assert_int_equal(waits, 2);
    assert_int_equal(recorded_with, 0);
    assert_int_equal(current, 1);
    current = 0;
    launch_natively(NULL); /* the default stream of the other device */
    assert_int_equal(waits, 3);
    assert_int_equal(recorded_with, 1);
    kmm_cuda_native_order()->stream = &made; /* a launch of another library with its own wrappers */
    kmm_cuda_native_order_end();
    launch_natively(NULL);
    assert_int_equal(waits, 4);
    launch_result = 0;
}

static void *of_thread(void *arg)
{
    (void)arg;
    launch_natively((void *)2);
    return NULL;
}

/* Nobody but a thread can name its own default stream: an event is recorded behind each launch, for
 * which later ones on other streams wait. */
static void test_order_of_threads(void **state)
{
    pthread_t thread;
    (void)state;
    launch_result = KMM_CUDA_NATIVELY;
    launch_natively((void *)2);
    waits = made = destroyed = 0;
    launch_natively((void *)2);
    assert_int_equal(waits, 0);
    assert_int_equal(made, 1);
    pthread_create(&thread, NULL, of_thread, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(waits, 1); /* the same handle, another stream */
    launch_natively(NULL);
    assert_int_equal(waits, 2);
    assert_int_equal(made, 2);
    launch_natively((void *)2);
    assert_int_equal(waits, 3);
    assert_int_equal(destroyed, 4); /* also that for the default stream, and the first one */
    is_bound = capturing = 1;       /* a graph's events are not waited for */
    launch_natively((void *)2);
    is_bound = capturing = 0;
    launch_natively(NULL);
    assert_int_equal(waits, 3);
    launch_result = 0;
}

int __wrap_cudaLaunchKernel_ptsz(const void *function, dim3_t grid, dim3_t block, void **args,
                                 size_t shared_bytes, void *s);
int __wrap_cudaLaunchKernelExC_ptsz(const configuration_t *c, const void *function, void **args);
int __wrap_cudaMemcpy_ptds(void *dst, const void *src, size_t n, int kind);
int __wrap_cudaMemset_ptds(void *dst, int value, size_t n);

/* In native standing the default stream of a program with one for each thread is the thread's. */
static void test_per_thread(void **state)
{
    configuration_t c = {grid, block, 0, NULL, NULL, 0};
    (void)state;
    assert_int_equal(__wrap_cudaLaunchKernel_ptsz(&alone.function, grid, block, two, 0, NULL), 0);
    assert_null(given.geometry.stream); /* libkmm has one for all */
    is_native = 1;
    launch_stream = &made;
    assert_int_equal(__wrap_cudaLaunchKernel_ptsz(&alone.function, grid, block, two, 0, NULL), 0);
    assert_ptr_equal(launch_stream, (void *)2);
    assert_int_equal(__wrap_cudaLaunchKernel_ptsz(&alone.function, grid, block, two, 0, &made), 0);
    assert_ptr_equal(launch_stream, &made);
    assert_int_equal(__wrap_cudaLaunchKernelExC_ptsz(&c, &alone.function, two), 0);
    assert_ptr_equal(launch_stream, (void *)2);
    assert_int_equal(__wrap_cudaMemset_ptds(&made, 0, 4), 0);
    assert_ptr_equal(set_stream, (void *)2);
    synchronized = NULL;
    assert_int_equal(__wrap_cudaMemcpy_ptds(&made, &made, 4, 1), 0);
    assert_ptr_equal(copy_stream, (void *)2);
    assert_ptr_equal(synchronized, (void *)2);
    is_native = 0;
}

/* What was launched is forgotten when the library that it is part of is closed. */
static void test_unloaded(void **state)
{
    int plains = 0, lates = 0;
    (void)state;
    kmm__cuda_image_ends();
    for (uint32_t k = 0; k < ended_count && k < 16; k++) {
        plains += ended[k] == &plain;
        lates += ended[k] == &late_clone;
    }
    assert_int_equal(plains, 1);
    assert_int_equal(lates, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_original),
        cmocka_unit_test(test_clone),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_in_c),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_timed),
        cmocka_unit_test(test_native_clone),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_of_threads),
        cmocka_unit_test(test_per_thread),
        cmocka_unit_test(test_unloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
