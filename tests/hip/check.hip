// SPDX-License-Identifier: Apache-2.0
// libkmm on AMD GPUs: to be built by hipcc and run on a machine that has one; docs/hip.md says how. Each check prints a
// line that begins with "ok" or "WRONG"; the exit code is the number of wrong ones.
#include <cstdio>
#include <cstdlib>
#include <string>
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
static const kmm_kernel_t mirror_kernel = {KMM_LAUNCH_VERSION, KMM_KIND_HIP, "mirror", nullptr, reinterpret_cast<void *>(mirror), 5, sizes, 1, nullptr};
static const kmm_kernel_t scale_kernel = {KMM_LAUNCH_VERSION, KMM_KIND_HIP, "scale", nullptr, reinterpret_cast<void *>(scale), 3, sizes, 1, nullptr};
static const kmm_kernel_t count_kernel = {KMM_LAUNCH_VERSION, KMM_KIND_HIP, "count", nullptr, reinterpret_cast<void *>(count), 4, sizes, 1, nullptr};

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
    kmm_geometry_t g;
    kmm_launch_t *l = begin("mirror", n, chunks, &g);
    item(l, KMM_READ, "a", x, n - 1, -1);
    item(l, KMM_READ, "b", x, 0, 1);
    item(l, KMM_WRITE, "dst", y, 0, 1);
    void *mirror_args[] = {nullptr, &n, &y, &x, &x};
    kmm_launch_arm(l);
    int error = kmm_launch_kernel(&mirror_kernel, &g, mirror_args);
    l = begin("scale", n, chunks, &g);
    item(l, KMM_UPDATE, "dst", y, 0, 1);
    void *scale_args[] = {nullptr, &n, &y};
    kmm_launch_arm(l);
    error = error ? error : kmm_launch_kernel(&scale_kernel, &g, scale_args);
    l = begin("count", n, chunks, &g);
    item(l, KMM_READ, "a", y, 0, 1);
    kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "total", total);
    kmm_launch_index(l, 0, 1);
    void *count_args[] = {nullptr, &n, &total, &y};
    kmm_launch_arm(l);
    return error ? error : kmm_launch_kernel(&count_kernel, &g, count_args);
}

static int *array(kmm_runtime_t *rt, long n)
{
    void *base = nullptr;
    kmm_shape_t shape = {1, {n}, sizeof(int), nullptr};
    return kmm_array_create(rt, &shape, &base) ? nullptr : static_cast<int *>(base);
}

// One list of devices: the same program in chunks, checked element by element.
static void check(const char *devices, long n, int chunks)
{
    kmm_runtime_t *rt;
    kmm_config_t config = {};
    config.devices = devices;
    std::string what = std::string(devices) + ", " + std::to_string(n) + " elements in " + std::to_string(chunks) + " chunks";
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
    say(!error && !bad && total == expected, what, rt, error);
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

int main()
{
    check("hip:1", 1, 1);
    check("hip:1", 1000003, 1);
    check("hip:1", 1000003, 16);
    check("hip:1,mem=256M", 40000000, 40); // 320 MB of arrays
    check("hip:2", 40000000, 8);           // data moves between two GPUs
    check("hip:2,mem=256M", 60000000, 60);
    check("hip:1,cuda:1", 1000003, 8);
    return wrong;
}
