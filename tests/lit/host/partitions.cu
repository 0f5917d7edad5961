// Parts of a warp: tiles of each size, groups by label and by predicate, what they compute, and copies by a group; against loops on the host.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t
// RUN: %kmmcc --target=host %san -fkmm-fibers %s -o %t && %t
// RUN: %kmmcc --target=host %san -fkmm-random %s -o %t && %t
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
namespace cg = cooperative_groups;

enum { THREADS = 96, OUT = 16 };

template <int size> __global__ void tiles(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<size> tile = cg::tiled_partition<size>(block);
    const int t = (int)block.thread_rank(), v = in[t];
    int *o = out + t * OUT, same = 7;
    o[0] = (int)tile.thread_rank();
    o[1] = (int)tile.meta_group_rank();
    o[2] = cg::reduce(tile, v, cg::plus<int>());
    o[3] = cg::reduce(tile, v, cg::less<int>());
    o[4] = cg::inclusive_scan(tile, v);
    o[5] = cg::exclusive_scan(tile, v, cg::plus<int>());
    o[6] = tile.shfl(v, size / 2);
    o[7] = tile.shfl_xor(v, size > 1 ? 1 : 0);
    o[8] = (int)tile.ballot(v & 1);
    o[9] = (int)tile.match_any(v % 3);
    o[10] = (int)tile.match_all(v & ~1023, same);
    o[11] = same;
    o[12] = tile.any(v % 5 == 0) + 2 * tile.all(v % 5 < 4);
    tile.sync();
}

__global__ void labels(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int t = (int)block.thread_rank(), v = in[t];
    int *o = out + t * OUT;
    cg::coalesced_group own = cg::labeled_partition(warp, v % 4);
    o[0] = (int)own.size();
    o[1] = (int)own.thread_rank();
    o[2] = cg::reduce(own, v, cg::plus<int>());
    o[3] = own.shfl(v, 0);
    o[4] = own.shfl_down(v, 1);
    o[5] = own.shfl_up(v, 1);
    o[6] = (int)own.ballot(v & 4);
    o[7] = cg::exclusive_scan(own, v);
    own.sync();
    cg::coalesced_group two = cg::binary_partition(warp, (v & 8) != 0);
    o[8] = (int)two.num_threads();
    o[9] = cg::inclusive_scan(two, v, cg::bit_or<int>());
    o[10] = own.any(v % 7 == 0) + 2 * own.all(v % 7 != 0);
    o[11] = 0;
    if (t % 2) {
        cg::coalesced_group active = cg::coalesced_threads();
        const int count = (int)active.size(), rank = (int)active.thread_rank();
        o[11] = rank < count && count >= 1;
    }
}

__global__ void copies(int count, const int *in, int *out, int *ones)
{
    extern __shared__ int s[];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof(int) * count);
    cg::wait(block);
    int *o = out + block.thread_rank();
    if ((int)block.thread_rank() < count)
        *o = s[count - 1 - block.thread_rank()];
    block.sync();
    cg::memcpy_async(block, s, count / 2, in, count);
    cg::wait_prior<0>(block);
    auto token = block.barrier_arrive();
    block.barrier_wait(static_cast<decltype(token) &&>(token));
    if ((int)block.thread_rank() < count / 2)
        *o += s[block.thread_rank()];
    cg::invoke_one(block, [&] { *ones += 1; });
}

static int failed, in[THREADS], out[THREADS * OUT];
static void is(const char *what, int t, int k, int wanted)
{
    if (out[t * OUT + k] != wanted && failed++ < 20)
        printf("%s: thread %d, %d: %d and not %d\n", what, t, k, out[t * OUT + k], wanted);
}

static void check_tiles(int size)
{
    for (int t = 0; t < THREADS; t++) {
        const int first = t / size * size;
        int sum = 0, least = 1 << 30, before = 0, odd = 0, alike = 0, same = 1, any = 0, all = 1;
        for (int k = 0; k < size; k++) {
            const int v = in[first + k];
            sum += v;
            least = v < least ? v : least;
            before += first + k < t ? v : 0;
            odd |= (v & 1) << k;
            alike |= (v % 3 == in[t] % 3) << k;
            same &= (v & ~1023) == (in[t] & ~1023);
            any |= v % 5 == 0;
            all &= v % 5 < 4;
        }
        const int wanted[] = {t - first, t / size, sum, least, before + in[t], before, in[first + size / 2], in[size > 1 ? t ^ 1 : t], odd, alike,
                              same ? (int)((1ull << size) - 1) : 0, same, any + 2 * all};
        for (int k = 0; k < (int)(sizeof(wanted) / sizeof(*wanted)); k++)
            is("tile", t, k, wanted[k]);
    }
}

static void check_labels()
{
    for (int t = 0; t < THREADS; t++) {
        int size = 0, rank = 0, sum = 0, head = -1, next = in[t], last = in[t], previous = in[t], bits = 0, before = 0, two = 0, ors = 0, any = 0, all = 1;
        for (int k = t / 32 * 32; k < t / 32 * 32 + 32; k++) {
            const int v = in[k];
            if ((v & 8) == (in[t] & 8)) {
                two++;
                ors |= k <= t ? v : 0;
            }
            if (v % 4 != in[t] % 4)
                continue;
            head = head < 0 ? v : head;
            rank += k < t;
            before += k < t ? v : 0;
            previous = k == t ? last : previous;
            last = v;
            next = k > t && next == in[t] && size == rank + 1 ? v : next;
            bits |= (v & 4 ? 1 : 0) << size++;
            sum += v;
            any |= v % 7 == 0;
            all &= v % 7 != 0;
        }
        const int wanted[] = {size, rank, sum, head, next, previous, bits, before, two, ors, any + 2 * all, t % 2};
        for (int k = 0; k < (int)(sizeof(wanted) / sizeof(*wanted)); k++)
            is("label", t, k, wanted[k]);
    }
}

int main()
{
    int *device_in, *device_out, *ones, one = 0;
    srand((unsigned)time(nullptr));
    for (int &v : in)
        v = rand() % 2048;
    in[3] = in[2] = in[1] = in[0]; // some tile agrees
    cudaMalloc(&device_in, sizeof(in));
    cudaMalloc(&device_out, sizeof(out));
    cudaMalloc(&ones, sizeof(int));
    cudaMemset(ones, 0, sizeof(int));
    cudaMemcpy(device_in, in, sizeof(in), cudaMemcpyHostToDevice);
#define TILES(size)                                                                                \
    tiles<size><<<1, THREADS>>>(device_in, device_out);                                            \
    cudaMemcpy(out, device_out, sizeof(out), cudaMemcpyDeviceToHost);                              \
    check_tiles(size);
    TILES(1) TILES(2) TILES(4) TILES(8) TILES(16) TILES(32)
    labels<<<1, THREADS>>>(device_in, device_out);
    cudaMemcpy(out, device_out, sizeof(out), cudaMemcpyDeviceToHost);
    check_labels();
    for (int count : {1, 3, 64, 95}) {
        copies<<<1, THREADS, THREADS * sizeof(int)>>>(count, device_in, device_out, ones);
        cudaMemcpy(out, device_out, sizeof(out), cudaMemcpyDeviceToHost);
        for (int t = 0; t < count; t++)
            failed += out[t] != in[count - 1 - t] + (t < count / 2 ? in[t] : 0);
    }
    cudaMemcpy(&one, ones, sizeof(int), cudaMemcpyDeviceToHost);
    failed += one != 4 || cudaGetLastError() != cudaSuccess;
    printf("%d wrong\n", failed);
    return failed != 0;
}
