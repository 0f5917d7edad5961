// SPDX-License-Identifier: Apache-2.0
// Do streams run at once when each allocates, runs a kernel of about 1 ms and frees? Times one
// kernel,
// then 2 and 4 streams, on a cold resource (nothing taken from the driver yet) and on the same one
// warm.
// Beside them the time of as many kernels without any allocation. A pool that hands one stream's
// memory
// to another makes them run one after the other. Also checks a pool's memory: no two streams'
// patterns mix.
#include "bench.h"

#include <cstdio>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <kmm/resource.hpp>

static void must(cudaError_t e)
{
    if (e == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
    std::exit(1);
}

__global__ void spin(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

__global__ void stamp(unsigned *p, unsigned n, unsigned value)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = value;
}

__global__ void verify(const unsigned *p, unsigned n, unsigned value, unsigned *wrong)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (p[i] != value)
            atomicAdd(wrong, 1u);
}

static double round_of(kmm_resource_t *r, const std::vector<cudaStream_t> &streams, int count,
                       long long cycles)
{
    must(cudaDeviceSynchronize());
    const double start = bench_now();
    for (int i = 0; i < count; i++) {
        void *p = nullptr;
        if (r)
            kmm::check(kmm_resource_allocate(r, 1 << 20, 0, streams[i], &p));
        spin<<<1, 1, 0, streams[i]>>>(cycles);
        if (r)
            kmm::check(kmm_resource_deallocate(r, p, 1 << 20, streams[i]));
    }
    must(cudaDeviceSynchronize());
    return 1e6 * (bench_now() - start);
}

// Random allocations on 4 streams of a small full pool: each block is stamped, and verified before
// it is freed.
static unsigned mixed(kmm_resource_t *r, const std::vector<cudaStream_t> &streams)
{
    struct piece {
        unsigned *p;
        unsigned n, value;
        int stream;
    };
    std::vector<piece> live;
    unsigned *wrong, state = 1, result = 0;
    must(cudaMallocManaged(&wrong, sizeof(*wrong)));
    *wrong = 0;
    for (unsigned i = 0; i < 4000; i++) {
        state = state * 1664525u + 1013904223u;
        if (live.size() < 40 && state >> 31) {
            piece a = {nullptr, (state >> 8) % 200000 + 1, i, static_cast<int>(state >> 4) % 4};
            void *p = nullptr;
            if (kmm_resource_allocate(r, a.n * 4ul, 0, streams[a.stream], &p))
                continue;
            a.p = static_cast<unsigned *>(p);
            stamp<<<16, 256, 0, streams[a.stream]>>>(a.p, a.n, a.value);
            live.push_back(a);
        } else if (!live.empty()) {
            const size_t which = (state >> 8) % live.size();
            const piece a = live[which];
            live[which] = live.back();
            live.pop_back();
            verify<<<16, 256, 0, streams[a.stream]>>>(a.p, a.n, a.value, wrong);
            kmm::check(kmm_resource_deallocate(r, a.p, a.n * 4ul, streams[a.stream]));
        }
    }
    for (const piece &a : live)
        kmm::check(kmm_resource_deallocate(r, a.p, a.n * 4ul, streams[a.stream]));
    must(cudaDeviceSynchronize());
    result = *wrong;
    must(cudaFree(wrong));
    return result;
}

// A Thrust vector on the pool, grown several times.
static bool thrust_is_right(kmm_resource_t *r)
{
    using allocator = kmm::thrust_allocator<long long>;
    thrust::device_vector<long long, allocator> v{allocator(r)};
    for (size_t n = 1; n <= 100000; n *= 10)
        v.resize(n);
    thrust::sequence(v.begin(), v.end());
    const auto policy =
        thrust::cuda::par(kmm::thrust_allocator<char>(r)); // whose scratch memory is the pool's too
    thrust::sort(policy, v.begin(), v.end(), thrust::greater<long long>());
    return v[0] == 99999 && thrust::reduce(policy, v.begin(), v.end()) == 99999ll * 100000 / 2;
}

int main()
{
    int khz = 0;
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0) != cudaSuccess)
        return 77;
    std::vector<cudaStream_t> streams(4);
    for (cudaStream_t &s : streams)
        must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    const long long cycles = khz; // 1 ms
    for (int i = 0; i < 3; i++)
        round_of(nullptr, streams, 4, cycles); // the first launches load code
    int failures = 0;
    for (int count : {1, 2, 4}) {
        kmm::unique_resource device = kmm::make(kmm_device_resource_create, 0);
        kmm::unique_resource pool = kmm::make(kmm_pool_resource_create, device.get(),
                                              static_cast<const kmm_pool_options_t *>(nullptr));
        const kmm_pool_options_t grown_options = {64 << 20, 0, 0, 0, KMM_REUSE_GROW_FIRST};
        kmm::unique_resource grown =
            kmm::make(kmm_pool_resource_create, device.get(), &grown_options);
        const double bare = round_of(nullptr, streams, count, cycles),
                     cold = round_of(pool.get(), streams, count, cycles),
                     warm = round_of(pool.get(), streams, count, cycles),
                     first = round_of(grown.get(), streams, count, cycles);
        std::printf("%d streams: kernels alone %.0f us; pool grown before %.0f; pool cold %.0f (it "
                    "calls cudaMalloc), warm %.0f\n",
                    count, bare, first, cold, warm);
        const struct {
            const char *subject;
            double us;
        } rows[] = {{"resource_streams/grown", first},
                    {"resource_streams/cold", cold},
                    {"resource_streams/warm", warm}};
        for (const auto &row : rows)
            bench_row(row.subject, row.us, bare, "us", "%d stream%s", count, count > 1 ? "s" : "");
        failures += warm > 1.5 * bare || first > 1.5 * bare;
    }
    kmm::unique_resource device = kmm::make(kmm_device_resource_create, 0);
    const kmm_pool_options_t full = {8 << 20, 8 << 20, 0, 0, KMM_REUSE_GROW_FIRST};
    kmm::unique_resource pool = kmm::make(kmm_pool_resource_create, device.get(), &full);
    const unsigned wrong = mixed(pool.get(), streams);
    kmm_resource_usage_t usage;
    kmm::check(kmm_resource_usage(pool.get(), &usage));
    std::printf("4 streams in a full pool of 8 MiB: %u elements wrong; %zu events, %zu waits\n",
                wrong, usage.events, usage.waits);
    failures += wrong != 0 || usage.waits == 0;
    const bool thrust_right = thrust_is_right(pool.get());
    std::printf("a Thrust vector on the pool: %s\n", thrust_right ? "right" : "FAILED");
    failures += !thrust_right;
    pool.reset(); // before the streams: it may still record events on them
    for (cudaStream_t s : streams)
        must(cudaStreamDestroy(s));
    std::printf(failures ? "FAILED: %d\n" : "streams run at once\n", failures);
    return failures != 0;
}
