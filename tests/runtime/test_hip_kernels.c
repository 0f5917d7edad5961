/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm_hip.a's launches: what it reads of a kernel in the code that a program registers, and what
 * it hands to libkmm. The code is made here, as compilers make it: bundles of ELF files with notes
 * in MessagePack. HIP's runtime and libkmm are stand-ins. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>
#include <kmm/hip.h>

#include "managed/code_object.h"
#include "managed_stand_ins.h"

typedef struct dim3 {
    unsigned x, y, z;
} dim3_t;
typedef struct wrapper {
    uint32_t magic, version;
    const void *bundle;
    void *unused;
} wrapper_t;
enum { MAGIC = 0x48495046, NO_FUNCTION = 98 };

void **__wrap___hipRegisterFatBinary(const void *data);
void __wrap___hipRegisterFunction(void **modules, const void *function, char *device_function,
                                  const char *name, unsigned limit, void *thread, void *block,
                                  dim3_t *block_size, dim3_t *grid_size, int *warp_size);
int __wrap_hipLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **args,
                           size_t shared_bytes, void *s);
int __wrap_hipExtLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **args,
                              size_t shared_bytes, void *s, void *start, void *stop, int flags);
int __wrap_hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared_bytes, void *s,
                                 void **args, void **extra);
int __wrap_hipLaunchCooperativeKernel(const void *function, dim3_t grid, dim3_t block, void **args,
                                      size_t shared_bytes, void *s);

/* ---- HIP's runtime ---- */

static void *modules[8];
static int module_count, registered, recorded;

void **__real___hipRegisterFatBinary(const void *data);
void **__real___hipRegisterFatBinary(const void *data)
{
    (void)data;
    return &modules[module_count++];
}
void __real___hipRegisterFunction(void);
void __real___hipRegisterFunction(void)
{
    registered++;
}
int __real_hipEventRecord(void *e, void *s);
int __real_hipEventRecord(void *e, void *s)
{
    (void)e, (void)s;
    recorded++;
    return 0;
}

#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }
NOTHING(__real_hipDeviceSynchronize)
NOTHING(__real_hipEventDestroy)
NOTHING(__real_hipEventQuery)
NOTHING(__real_hipEventSynchronize)
NOTHING(__real_hipMalloc)
NOTHING(__real_hipLaunchCooperativeKernel)
NOTHING(__real_hipMemcpyToSymbolAsync)
NOTHING(__real_hipMallocAsync)
NOTHING(__real_hipMallocFromPoolAsync)
NOTHING(__real_hipMallocPitch)
NOTHING(__real_hipFree)
NOTHING(__real_hipFreeAsync)
NOTHING(hipStreamIsCapturing)
NOTHING(__real_hipGetLastError)
NOTHING(__real_hipLaunchKernel)
NOTHING(__real_hipMemcpy)
NOTHING(__real_hipMemcpy2D)
NOTHING(__real_hipMemcpy2DAsync)
NOTHING(__real_hipMemcpy3D)
NOTHING(__real_hipMemcpyAsync)
NOTHING(__real_hipMemcpyFromSymbol)
NOTHING(__real_hipMemcpyToSymbol)
NOTHING(__real_hipMemset)
NOTHING(__real_hipMemset2D)
NOTHING(__real_hipGetSymbolAddress)
NOTHING(hipGetSymbolSize)
NOTHING(__real_hipMemcpyToArray)
NOTHING(__real_hipMemcpyFromArray)
NOTHING(__real_hipHostUnregister)
NOTHING(__real_hipFreeArray)
NOTHING(__real_hipDestroyTextureObject)
NOTHING(__real_hipDestroySurfaceObject)
NOTHING(__real_hipHostFree)
NOTHING(__real_hipMemset2DAsync)
NOTHING(__real_hipEventElapsedTime)
NOTHING(__real_hipMemsetAsync)
NOTHING(__real_hipMemsetD8)
NOTHING(__real_hipMemsetD8Async)
NOTHING(__real_hipMemsetD16)
NOTHING(__real_hipMemsetD16Async)
NOTHING(__real_hipMemsetD32)
NOTHING(__real_hipMemsetD32Async)
NOTHING(__real_hipGetErrorName)
NOTHING(__real_hipGetErrorString)
NOTHING(__real_hipPeekAtLastError)
NOTHING(__real_hipPointerGetAttributes)
NOTHING(__real_hipStreamDestroy)
NOTHING(__real_hipStreamQuery)
NOTHING(__real_hipStreamSynchronize)
NOTHING(__real_hipStreamWaitEvent)
NOTHING(hipGetDevice)
NOTHING(__real_hipSetDevice)
NOTHING(__real_hipDeviceEnablePeerAccess)
NOTHING(__real___hipPushCallConfiguration)
NOTHING(__real_hipModuleLaunchKernel)
NOTHING(__real_hipMemcpyPeer)
NOTHING(__real_hipMemcpyPeerAsync)
NOTHING(__real_hipMemcpyFromSymbolAsync)
NOTHING(__real_hipMemPrefetchAsync)
NOTHING(__real_hipMemAdvise)
NOTHING(__real_hipCreateTextureObject)
NOTHING(__real_hipIpcGetMemHandle)
NOTHING(__real_hipMemcpy2DToArray)
NOTHING(__real_hipMemcpy2DFromArray)
NOTHING(__real_hipLaunchHostFunc)
NOTHING(__real_hipStreamAddCallback)
NOTHING(hipEventCreateWithFlags)

static int graph_calls;
#define GRAPH_CALL(name)                                                                           \
    int __real_hip##name(void);                                                                    \
    int __real_hip##name(void)                                                                     \
    {                                                                                              \
        return graph_calls++, 0;                                                                   \
    }
GRAPH_CALL(StreamBeginCapture)
GRAPH_CALL(GraphCreate) GRAPH_CALL(GraphLaunch) int __wrap_hipStreamBeginCapture(void *s, int mode);
int __wrap_hipGraphCreate(void **graph, unsigned flags);
int __wrap_hipGraphLaunch(void *graph, void *s);

/* ---- libkmm ---- */

static struct {
    kmm_kernel_t kernel;
    void *args[40];
    int count;
} given;

int kmm_cuda_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args)
{
    (void)geometry;
    given.kernel = *kernel;
    memset(given.args, 0, sizeof(given.args));
    for (uint32_t k = 0; k < kernel->param_count; k++)
        given.args[k] = args[k];
    given.count++;
    return 0;
}

/* ---- Code as compilers make it ---- */

typedef struct bytes {
    unsigned char at[16384];
    size_t length;
} bytes_t;

static void add(bytes_t *b, const void *data, size_t length)
{
    assert_true(b->length + length <= sizeof(b->at));
    memcpy(b->at + b->length, data, length);
    b->length += length;
}

static void add_byte(bytes_t *b, unsigned value)
{
    add(b, &(unsigned char){(unsigned char)value}, 1);
}

/* In MessagePack's short form where there is one, or its longer ones. */
static void add_text(bytes_t *b, const char *text)
{
    size_t length = strlen(text);
    if (length < 32) {
        add_byte(b, 0xa0 | (unsigned)length);
    } else {
        add_byte(b, length < 256 ? 0xd9 : 0xda);
        if (length >= 256)
            add_byte(b, (unsigned)(length >> 8));
        add_byte(b, (unsigned)length & 0xff);
    }
    add(b, text, length);
}

static void add_number(bytes_t *b, unsigned value)
{
    if (value >= 128)
        add_byte(b, 0xcd), add_byte(b, value >> 8);
    add_byte(b, value & 0xff);
}

static void add_list(bytes_t *b, unsigned count)
{
    if (count < 16)
        add_byte(b, 0x90 | count);
    else
        add_byte(b, 0xdc), add_byte(b, count >> 8), add_byte(b, count & 0xff);
}

typedef struct kernel {
    const char *name;
    unsigned count, hidden;
    unsigned size[40];
} kernel_t;

static void add_parameter(bytes_t *b, unsigned offset, unsigned size, const char *kind)
{
    add_byte(b, 0x84);
    add_text(b, ".actual_access"), add_byte(b, 0xc0);
    add_text(b, ".offset"), add_number(b, offset);
    add_text(b, ".size"), add_number(b, size);
    add_text(b, ".value_kind"), add_text(b, kind);
}

static void add_kernel(bytes_t *b, const kernel_t *k)
{
    add_byte(b, 0x84);
    add_text(b, ".wavefront_size"), add_number(b, 64);
    if (k->count + k->hidden) {
        add_text(b, ".args"), add_list(b, k->count + k->hidden);
        for (unsigned i = 0; i < k->count; i++)
            add_parameter(b, 8 * i, k->size[i], k->size[i] == 8 ? "global_buffer" : "by_value");
        for (unsigned i = 0; i < k->hidden; i++)
            add_parameter(b, 8 * (k->count + i), 8, "hidden_global_offset_x");
    } else {
        add_text(b, ".private_segment_fixed_size"), add_byte(b, 0xcb), add(b, "\0\0\0\0\0\0\0", 8);
    }
    add_text(b, ".language_version"), add_list(b, 2), add_number(b, 2), add_byte(b, 0xd0),
        add_byte(b, 0);
    add_text(b, ".name"), add_text(b, k->name);
}

static void add_metadata(bytes_t *b, const kernel_t *kernels, unsigned count)
{
    add_byte(b, 0x82);
    add_text(b, "amdhsa.version"), add_list(b, 2), add_number(b, 1), add_number(b, 1);
    add_text(b, "amdhsa.kernels"), add_list(b, count);
    for (unsigned k = 0; k < count; k++)
        add_kernel(b, &kernels[k]);
}

static void add_note(bytes_t *b, const char *name, unsigned type, const bytes_t *text)
{
    Elf64_Nhdr h = {(Elf64_Word)strlen(name) + 1, (Elf64_Word)text->length, type};
    add(b, &h, sizeof(h));
    add(b, name, strlen(name) + 1);
    while (b->length % 4)
        add_byte(b, 0);
    add(b, text->at, text->length);
    while (b->length % 4)
        add_byte(b, 0);
}

static void add_elf(bytes_t *b, unsigned machine, const bytes_t *metadata)
{
    static bytes_t notes;
    Elf64_Ehdr h = {.e_ident = ELFMAG "\2\1\1",
                    .e_machine = (Elf64_Half)machine,
                    .e_phoff = sizeof(h),
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 2};
    notes.length = 0;
    add_note(&notes, "GNU", 3, &(bytes_t){"abc", 3});
    add_note(&notes, "AMDGPU", 32, metadata);
    Elf64_Phdr p[2] = {
        {.p_type = PT_LOAD},
        {.p_type = PT_NOTE, .p_offset = sizeof(h) + sizeof(p), .p_filesz = notes.length}};
    add(b, &h, sizeof(h));
    add(b, p, sizeof(p));
    add(b, notes.at, notes.length);
}

/* A bundle: nothing for the host, then the codes. */
typedef struct code {
    const char *target;
    bytes_t text;
} code_t;

static void make_bundle(bytes_t *b, const code_t *codes, unsigned count)
{
    static const char host[] = "host-x86_64-unknown-linux--";
    size_t at = 4096;
    b->length = 0;
    add(b, "__CLANG_OFFLOAD_BUNDLE__", 24);
    add(b, &(uint64_t){count + 1}, 8);
    add(b, (uint64_t[]){at, 0, strlen(host)}, 24);
    add(b, host, strlen(host));
    for (unsigned k = 0; k < count; at += codes[k++].text.length) {
        add(b, (uint64_t[]){at, codes[k].text.length, strlen(codes[k].target)}, 24);
        add(b, codes[k].target, strlen(codes[k].target));
    }
    while (b->length < 4096)
        add_byte(b, 0);
    for (unsigned k = 0; k < count; k++)
        add(b, codes[k].text.at, codes[k].text.length);
}

/* ---- The program ---- */

static const char long_name[] =
    "_Z64kmm_a_kernel_with_a_name_that_is_longer_than_short_strings_are_and_more10kmm_blocksPd";
static const kernel_t kernels[] = {
    {"_Z5plainiPf", 2, 4, {4, 8}},
    {"_Z9kmm_plain10kmm_blocksiPf", 3, 1, {24, 4, 8}},
    {"_Z7nothingv", 0, 0, {0}},
    {"_Z3big4data", 1, 0, {1000}},
    {long_name, 2, 12, {24, 8}},
    {"_Z4manyv", 33, 7, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
                         8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4}},
};
enum { KERNELS = sizeof(kernels) / sizeof(*kernels) };
static char functions[KERNELS + 4][8]; /* their addresses stand for the host's functions */
static bytes_t bundle;
static code_t codes[2] = {{"hipv4-amdgcn-amd-amdhsa--gfx90a", {{0}, 0}},
                          {"hipv4-amdgcn-amd-amdhsa--gfx1100", {{0}, 0}}};

static int set_up(void **state)
{
    static bytes_t metadata;
    static wrapper_t w = {MAGIC, 1, &bundle, NULL};
    (void)state;
    add_metadata(&metadata, kernels, KERNELS);
    add_elf(&codes[1].text, 224, &metadata);
    metadata.length = 0;
    add_metadata(&metadata, kernels, 1);
    add_elf(&codes[0].text, 224, &metadata);
    make_bundle(&bundle, codes, 2);
    void **m = __wrap___hipRegisterFatBinary(&w);
    for (int k = 0; k < KERNELS; k++)
        __wrap___hipRegisterFunction(m, functions[k], NULL, kernels[k].name, 1024, NULL, NULL, NULL,
                                     NULL, NULL);
    __wrap___hipRegisterFunction(m, functions[KERNELS], NULL, "_Z7missingv", 1024, NULL, NULL, NULL,
                                 NULL, NULL);
    assert_int_equal(registered, KERNELS + 1);
    return 0;
}

static const dim3_t grid = {7, 2, 3}, block = {64, 4, 1};
static int words[64];

static int launch(int k)
{
    void *args[64];
    for (int i = 0; i < 64; i++)
        args[i] = &words[i];
    return __wrap_hipLaunchKernel(functions[k], grid, block, args, 64, NULL);
}

static void test_parameters(void **state)
{
    (void)state;
    for (int k = 0; k < KERNELS; k++) {
        assert_int_equal(launch(k), 0);
        assert_string_equal(given.kernel.name, kernels[k].name);
        assert_ptr_equal(given.kernel.handle, functions[k]);
        assert_int_equal(given.kernel.kind, KMM_KIND_HIP);
        assert_int_equal(given.kernel.param_count, kernels[k].count);
        for (unsigned i = 0; i < kernels[k].count; i++)
            assert_int_equal(given.kernel.param_bytes[i], kernels[k].size[i]);
        assert_int_equal(given.kernel.is_clone, k == 1 || k == 4);
    }
}

static void test_clone(void **state)
{
    (void)state;
    assert_int_equal(kmm_hip_register_clone(functions[1], functions[0]), 1);
    assert_int_equal(launch(0), 0);
    assert_ptr_equal(given.kernel.handle, functions[1]);
    assert_ptr_equal(given.kernel.whole->handle, functions[0]);
    assert_int_equal(given.kernel.is_clone, 1);
    assert_ptr_equal(given.args[1], &words[0]); /* the first one is libkmm's */
    assert_ptr_equal(given.args[2], &words[1]);
    assert_int_equal(launch(1), 0);
    assert_ptr_equal(given.args[1], &words[1]);
}

static void test_other_launches(void **state)
{
    int count = given.count;
    void *none = NULL;
    (void)state;
    assert_int_equal(__wrap_hipExtLaunchKernel(functions[2], grid, block, &none, 0, NULL, &words[0],
                                               &words[1], 1),
                     0);
    assert_int_equal(given.count, count + 1);
    assert_int_equal(recorded, 2);
    assert_int_equal(
        __wrap_hipModuleLaunchKernel(functions[2], 1, 1, 1, 1, 1, 1, 0, NULL, &none, NULL),
        KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(__wrap_hipLaunchCooperativeKernel(functions[2], grid, block, &none, 0, NULL),
                     KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(given.count, count + 1);
}

static void test_unknown(void **state)
{
    int count = given.count;
    (void)state;
    assert_int_equal(launch(KERNELS), NO_FUNCTION);     /* in no code */
    assert_int_equal(launch(KERNELS + 1), NO_FUNCTION); /* never registered */
    assert_int_equal(given.count, count);
}

static kmm__code_result_t read(const void *from, const char *name, uint32_t *count)
{
    uint32_t sizes[40];
    return kmm__code_object_parameters(from, name, sizes, 40, count);
}

static void test_bundles(void **state)
{
    static bytes_t other;
    static const code_t spirv = {"hip-spirv64-amd-amdhsa--amdgcnspirv", {{3, 2, 0x23, 7}, 4}};
    uint32_t count, none[1];
    (void)state;
    assert_int_equal(read(bundle.at, "_Z3big4data", &count),
                     KMM__CODE_FOUND); /* only in the second code */
    assert_int_equal(read(bundle.at, "_Z3big4dat", &count), KMM__CODE_NO_KERNEL);
    assert_int_equal(read("CCOB\2\0", "k", &count), KMM__CODE_COMPRESSED);
    assert_int_equal(read("something else that is long enough", "k", &count), KMM__CODE_NO_BUNDLE);
    assert_int_equal(kmm__code_object_parameters(bundle.at, "_Z5plainiPf", none, 1, &count),
                     KMM__CODE_NO_KERNEL); /* more than there is room for */
    make_bundle(&other, &spirv, 1);
    assert_int_equal(read(other.at, "k", &count), KMM__CODE_NO_CODE);
    make_bundle(&other, NULL, 0);
    assert_int_equal(read(other.at, "k", &count), KMM__CODE_NO_CODE);
}

/* Code that ends anywhere, or has other bytes: nothing outside is read. */
static void test_damage(void **state)
{
    static code_t damaged;
    static bytes_t other;
    uint32_t count;
    (void)state;
    for (size_t length = 0; length < codes[1].text.length; length++) {
        damaged = codes[1];
        damaged.text.length = length;
        make_bundle(&other, &damaged, 1);
        char *exact = malloc(other.length);
        memcpy(exact, other.at, other.length);
        kmm__code_result_t r = read(exact, "_Z4manyv", &count);
        free(exact);
        assert_true(r == KMM__CODE_NO_CODE || r == KMM__CODE_NO_KERNEL);
    }
    for (size_t at = 0; at < codes[1].text.length; at++) {
        damaged = codes[1];
        damaged.text.at[at] ^= 0xff;
        make_bundle(&other, &damaged, 1);
        char *exact = malloc(other.length);
        memcpy(exact, other.at, other.length);
        read(exact, "_Z4manyv", &count);
        free(exact);
    }
}

/* Graphs run where libkmm does not see it, so only inside tasks. */
static void test_graphs(void **state)
{
    void *graph = &graph;
    (void)state;
    assert_int_equal(__wrap_hipStreamBeginCapture(NULL, 0), KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(__wrap_hipGraphCreate(&graph, 0), KMM_CUDA_NOT_SUPPORTED);
    assert_null(graph);
    assert_int_equal(__wrap_hipGraphLaunch(NULL, NULL), KMM_CUDA_NOT_SUPPORTED);
    assert_int_equal(graph_calls, 0);
    in_task = 1;
    assert_int_equal(__wrap_hipStreamBeginCapture(NULL, 0), 0);
    assert_int_equal(__wrap_hipGraphCreate(&graph, 0), 0);
    assert_int_equal(__wrap_hipGraphLaunch(NULL, NULL), 0);
    in_task = 0;
    assert_int_equal(graph_calls, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters),     cmocka_unit_test(test_clone),
        cmocka_unit_test(test_other_launches), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_bundles),        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_graphs),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
