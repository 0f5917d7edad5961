// SPDX-License-Identifier: Apache-2.0
// libkmm on AMD GPUs: to be built by hipcc and run on a machine that has one; docs/hip.md says how. Each check prints a
// line that begins with "ok" or "WRONG"; the exit code is the number of wrong ones. A number as argument says how many times less
// elements and memory there are. Built by nvcc with kmm's HIP headers it checks NVIDIA GPUs, and so itself.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <hip/hip_runtime.h>
#include <kmm.h>

// dst[i] = a[n - 1 - i] + b[i]. A chunk is some blocks of the grid.
__global__ void mirror(kmm_blocks_t blocks, long n, int *dst, const int *a, const int *b)
{
    long i = static_cast<long>(blockIdx.x + blocks.offset_x) * blockDim.x + threadIdx.x;
    if (i < n)
        dst[i] = a[n - 1 - i] + b[i];
}

__global__ void scale(kmm_blocks_t blocks, long n, int *dst)
{
    long i = static_cast<long>(blockIdx.x + blocks.offset_x) * blockDim.x + threadIdx.x;
    if (i < n)
        dst[i] = dst[i] * 3 + 1;
}

// Of all lanes of each wavefront one adds what they counted: its width is the device's, 32 or 64.
__global__ void count(kmm_blocks_t blocks, long n, int *total, const int *a)
{
    long i = static_cast<long>(blockIdx.x + blocks.offset_x) * blockDim.x + threadIdx.x;
    unsigned long long odd = __ballot(i < n && a[i] % 2);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(total, __popcll(odd));
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), 8, 8, 8, 8};

#ifdef __HIP_PLATFORM_NVIDIA__
#define DEVICES "cuda"
static const kmm_kind_t kind = KMM_KIND_CUDA;
static void *handle_of(const void *function)
{
    cudaKernel_t k = nullptr;
    return cudaGetKernel(&k, function) ? nullptr : k;
}
#else
#define DEVICES "hip"
static const kmm_kind_t kind = KMM_KIND_HIP;
static void *handle_of(const void *function) { return const_cast<void *>(function); }
#endif

static kmm_kernel_t kernel(const char *name, const void *function, uint32_t parameters)
{
    return kmm_kernel_t{KMM_LAUNCH_VERSION, kind, name, nullptr, handle_of(function), parameters, sizes, 1, nullptr};
}

static int wrong;

static void say(bool right, const std::string &what, kmm_runtime_t *rt, int error)
{
    std::printf("%s %s%s%s\n", right ? "ok   " : "WRONG", what.c_str(), error ? ": " : "", error ? kmm_error_text(rt) : "");
    wrong += !right;
}

static void item(kmm_launch_t *l, kmm_mode_t mode, const char *text, const int *base, long lower, long step)
{
    kmm_launch_access(l, mode, text, base, sizeof(*base));
    kmm_launch_index(l, lower, 1);
    kmm_launch_coef(l, 0, step, 0);
}

static kmm_launch_t *begin(const char *name, long n, int chunks, kmm_geometry_t *g)
{
    kmm_launch_t *l = kmm_launch_begin(name, "check.hip", 1);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, (n + chunks - 1) / chunks);
    *g = {{static_cast<uint32_t>((n + 255) / 256), 1, 1}, {256, 1, 1}, 0, nullptr};
    return l;
}

static int run(long n, int chunks, int *x, int *y, int *total)
{
    static const kmm_kernel_t mirror_kernel = kernel("mirror", reinterpret_cast<const void *>(mirror), 5);
    static const kmm_kernel_t scale_kernel = kernel("scale", reinterpret_cast<const void *>(scale), 3);
    static const kmm_kernel_t count_kernel = kernel("count", reinterpret_cast<const void *>(count), 4);
    kmm_geometry_t g;
    kmm_launch_t *l = begin("mirror", n, chunks, &g);
    item(l, KMM_READ, "a", x, n - 1, -1);
    item(l, KMM_READ, "b", x, 0, 1);
    item(l, KMM_WRITE, "dst", y, 0, 1);
    void *mirror_args[] = {nullptr, &n, &y, &x, &x};
    kmm_launch_arm(l);
    int error = kmm_launch_kernel(&mirror_kernel, &g, mirror_args);
    if (error)
        return error;
    l = begin("scale", n, chunks, &g);
    item(l, KMM_UPDATE, "dst", y, 0, 1);
    void *scale_args[] = {nullptr, &n, &y};
    kmm_launch_arm(l);
    error = kmm_launch_kernel(&scale_kernel, &g, scale_args);
    if (error)
        return error;
    l = begin("count", n, chunks, &g);
    item(l, KMM_READ, "a", y, 0, 1);
    kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "total", total);
    kmm_launch_index(l, 0, 1);
    void *count_args[] = {nullptr, &n, &total, &y};
    kmm_launch_arm(l);
    return kmm_launch_kernel(&count_kernel, &g, count_args);
}

static int *array(kmm_runtime_t *rt, long n)
{
    void *base = nullptr;
    kmm_shape_t shape = {1, {n}, sizeof(int), nullptr};
    return kmm_array_create(rt, &shape, &base) ? nullptr : static_cast<int *>(base);
}

// Arrays that are whole on a device do not fit in little memory, and that is said.
static bool must_be_refused(kmm_runtime_t *rt, const std::string &devices, int error)
{
    kmm_device_info_t i;
    return error == KMM_E_MEMORY && devices.find("mem=") != std::string::npos && kmm_device_get(rt, 0, &i) == 0 && i.whole_arrays;
}

// One list of devices: the same program in chunks, checked element by element.
static void check(const std::string &devices, long n, int chunks)
{
    kmm_runtime_t *rt;
    kmm_config_t config = {};
    config.devices = devices.c_str();
    std::string what = devices + ", " + std::to_string(n) + " elements in " + std::to_string(chunks) + " chunks";
    int error = kmm_create(&rt, &config);
    if (error) {
        say(error == KMM_E_NO_DEVICE, what + " (no such devices)", nullptr, error);
        return;
    }
    kmm_use(rt);
    std::vector<int> in(n), out(n);
    int zero = 0, total = 0, expected = 0, bad = 0;
    for (long i = 0; i < n; i++)
        in[i] = static_cast<int>(i * 7 % 1000);
    int *x = array(rt, n), *y = array(rt, n), *sum = array(rt, 1);
    error = kmm_copy_in(rt, x, in.data(), n * sizeof(int));
    error = error ? error : kmm_copy_in(rt, sum, &zero, sizeof(zero));
    error = error ? error : run(n, chunks, x, y, sum);
    error = error ? error : kmm_copy_out(rt, out.data(), y, n * sizeof(int));
    error = error ? error : kmm_copy_out(rt, &total, sum, sizeof(total));
    for (long i = 0; i < n && !error; i++) {
        int right = (in[n - 1 - i] + in[i]) * 3 + 1;
        bad += out[i] != right;
        expected += right % 2;
    }
    bool refused = must_be_refused(rt, devices, error);
    say(refused || (!error && !bad && total == expected), what + (refused ? " (refused, since arrays are whole)" : ""), rt, error);
    if (error)
        kmm_wait(rt); // which tells it too, and then has told it
    for (int k = 0; k < kmm_device_count(rt); k++) {
        kmm_device_info_t i;
        kmm_device_get(rt, k, &i);
        std::printf("      %s: %llu MiB%s, in %llu, out %llu, peer %llu bytes, %llu chunks\n", i.name, (unsigned long long)(i.memory_bytes >> 20),
                    i.whole_arrays ? " (arrays are whole: it cannot map memory in parts)" : "", (unsigned long long)i.bytes_in,
                    (unsigned long long)i.bytes_out, (unsigned long long)i.bytes_peer, (unsigned long long)i.chunks);
    }
    kmm_use(nullptr);
    error = kmm_destroy(rt);
    if (error)
        say(false, what + ": end", nullptr, error);
}

static long part = 1; // of the elements and the memory

static std::string devices(int count, bool little)
{
    return std::string(DEVICES ":") + std::to_string(count) + (little ? ",mem=" + std::to_string((256 << 10) / part) + "K" : "");
}

#ifndef main // what is compiled for the CPU, as kernels of the fake HIP driver, has no graphs
// What the program does with memory of its own, captured into a graph.
struct own { hipStream_t stream; hipGraph_t graph; hipGraphExec_t run; int *memory; };

static int capture(own *o, long n)
{
    const kmm_blocks_t all = {0, 0, 0, static_cast<uint32_t>((n + 255) / 256), 1, 1};
    int error = hipStreamBeginCapture(o->stream, hipStreamCaptureModeGlobal);
    for (int k = 0; k < 4 && !error; k++) {
        scale<<<static_cast<unsigned>((n + 255) / 256), 256, 0, o->stream>>>(all, n, o->memory);
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // libkmm maps, copies and asks meanwhile
    }
    error = error ? error : hipStreamEndCapture(o->stream, &o->graph);
    error = error ? error : hipGraphInstantiate(&o->run, o->graph, nullptr, nullptr, 0);
    error = error ? error : hipGraphLaunch(o->run, o->stream);
    return error ? error : hipStreamSynchronize(o->stream);
}

// While a program captures a graph, other threads may not allocate or ask how far work is. libkmm's threads do, and must neither fail
// nor spoil the graph.
static void check_capture()
{
    const long n = 40000000 / part, m = 1000;
    kmm_runtime_t *rt;
    kmm_config_t config = {};
    std::string list = devices(1, true);
    config.devices = list.c_str();
    int error = kmm_create(&rt, &config), zero = 0, last = 0;
    if (error) {
        say(false, "a graph is captured", nullptr, error);
        return;
    }
    kmm_use(rt);
    std::vector<int> in(n, 1), out(n), got(m, 2);
    int *x = array(rt, n), *y = array(rt, n), *sum = array(rt, 1);
    own o = {};
    error = kmm_copy_in(rt, x, in.data(), n * sizeof(int));
    error = error ? error : kmm_copy_in(rt, sum, &zero, sizeof(zero));
    int theirs = hipSetDevice(0);
    theirs = theirs ? theirs : hipStreamCreateWithFlags(&o.stream, hipStreamNonBlocking);
    theirs = theirs ? theirs : hipMalloc(reinterpret_cast<void **>(&o.memory), m * sizeof(int));
    theirs = theirs ? theirs : hipMemcpy(o.memory, got.data(), m * sizeof(int), hipMemcpyHostToDevice);
    for (int k = 0; k < 8 && !error; k++)
        error = run(n, 40, x, y, sum);
    theirs = theirs ? theirs : capture(&o, m);
    theirs = theirs ? theirs : hipMemcpy(got.data(), o.memory, m * sizeof(int), hipMemcpyDeviceToHost);
    error = error ? error : kmm_copy_out(rt, out.data(), y, n * sizeof(int));
    for (int v : got)
        last += v != 202; // four times: 2, 7, 22, 67, 202
    say(!theirs && !last, std::string("a graph is captured while libkmm works: ") + hipGetErrorString(static_cast<hipError_t>(theirs)), rt, 0);
    bool refused = must_be_refused(rt, list, error);
    say(refused || (!error && out[0] == 7 && out[n - 1] == 7), "libkmm works while a graph is captured", rt, error);
    (void)hipGraphExecDestroy(o.run);
    (void)hipGraphDestroy(o.graph);
    (void)hipFree(o.memory);
    (void)hipStreamDestroy(o.stream);
    kmm_use(nullptr);
    kmm_destroy(rt);
}

int main(int argc, char **argv)
{
    part = argc > 1 && std::atol(argv[1]) > 0 ? std::atol(argv[1]) : 1;
    check(devices(1, false), 1, 1);
    check(devices(1, false), 1000003 / part, 1);
    check(devices(1, false), 1000003 / part, 16);
    check(devices(1, true), 40000000 / part, 40); // 320 MB of arrays
    check(devices(2, false), 40000000 / part, 8); // data moves between two GPUs
    check(devices(2, true), 60000000 / part, 60);
#ifndef __HIP_PLATFORM_NVIDIA__
    check("hip:1,cuda:1", 1000003 / part, 8);
#endif
    check_capture();
    return wrong;
}
#endif
