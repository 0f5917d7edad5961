// -fkmm-check for AMD's GPUs: hipcc's own IR, with the checks that kmmcc put in, compiled for a CPU and run by the fake HIP
// driver under libkmm. Code for a GPU is made too, for two architectures, with and without optimization.
// REQUIRES: hipcc
// UNSUPPORTED: san
// DEFINE: %{check} = %kmmcc --target=hip --offload-arch=gfx90a -std=c++17 -fkmm-check=all -fno-kmm-compare
// RUN: rm -rf %t && mkdir -p %t/tmp
// RUN: env TMPDIR=%t/tmp %{check} -O2 -MMD -MF %t/deps.d %s -o %t/program && FileCheck --check-prefix=DEPS %s < %t/deps.d
// DEPS: checked.o:{{.*}}
// DEPS-NEXT: {{.*}}/checked.hip
// RUN: %{check} -O2 --cuda-device-only -S -emit-llvm %s -o %t/kernels.ll 2> %t/messages
// RUN: FileCheck --check-prefix=IR %s < %t/kernels.ll
// IR: define {{.*}} @_Z8kmm_blur18kmm_checked_blocksPfPKfii(
// IR: call i64 @_ZL16kmm_check_accessmmjm(
// RUN: %{check} -O0 --offload-arch=gfx1030 --cuda-device-only -S %s -o - 2> %t/messages | FileCheck --check-prefix=ISA %s
// ISA: _Z8kmm_blur18kmm_checked_blocksPfPKfii:
// ISA: kmm_check_access
// ISA: s_swappc_b64
// RUN: %kmm_source/tests/hip/make_checked_kernels clang %kmm_source %t/kernels.ll %S/Inputs/checked.cpp %t/kernels.so
// DEFINE: %{run} = env KMM_FAKE_GRANULE=4096 KMM_FRAME=64K KMM_FAKE_KERNELS=%t/kernels.so LD_LIBRARY_PATH=%kmm_build/tests/fake/hip5 %t/program
// RUN: env KMM_DEVICES=hip %{run} right | FileCheck --check-prefix=RIGHT %s
// RUN: env KMM_DEVICES=hip:2 %{run} right | FileCheck --check-prefix=RIGHT %s
// RUN: env KMM_DEVICES=hip:2 KMM_FAKE_KERNELS=%t/kernels.so LD_LIBRARY_PATH=%kmm_build/tests/fake/hip_whole %t/program right | FileCheck --check-prefix=RIGHT %s
// RUN: %not env KMM_DEVICES=hip:2 KMM_FAKE_KERNELS=%t/kernels.so LD_LIBRARY_PATH=%kmm_build/tests/fake/hip_whole %t/program halo 2>&1 | FileCheck --check-prefix=WHOLE %s
// WHOLE: argument in[i]: checked.hip:[[#]]: the chunk reads element [[#]], which no clause names
// RIGHT: 8191 elements are right, sum 33517575
// RUN: %not env KMM_DEVICES=hip:2 %{run} halo 2>&1 | FileCheck --check-prefix=HALO %s
// HALO: checked.hip:[[#]]: blur: chunk {{.*}}: argument in[i]: checked.hip:[[#@LINE+20]]: the chunk reads element [[#]], which no clause names for this chunk; widen `read(in[i])`
// RUN: %not env KMM_DEVICES=hip:2 %{run} far 2>&1 | FileCheck --check-prefix=FAR %s
// FAR: argument out[i]: checked.hip:[[#@LINE+20]]: the chunk stores to element [[#]]{{.*}}, which no clause names for this chunk
// RUN: %not env KMM_DEVICES=hip:2 %{run} old 2>&1 | FileCheck --check-prefix=OLD %s
// OLD: argument p[i]: checked.hip:[[#@LINE+31]]: the chunk reads element [[#]] (and [[#]] more), which it has not stored before
// RUN: %not env KMM_DEVICES=hip:2 %{run} skip 2>&1 | FileCheck --check-prefix=SKIP %s
// SKIP: argument p[i]: `write` promises to store every element, but the chunk does not store element [[#]]
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

struct point { float x, y, z; };

__global__ void blur(float *out, const float *in, int n, int shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] +
                 in[i + shift];
    if (i < n && shift < 0)
        out[i + 3000] = 1;
}

__device__ void move(point *to, const point *from, int count)
{
    memcpy(to, from, count * sizeof(point));
}

__global__ void copy(point *p, const point *q, int *count, int n, int how)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (how == 2 && i % 8 == 3))
        return;
    p[i] = how == 1 ? p[i] : q[i];
    if (how == 3)
        move(p + i, q + i, how - 2);
    atomicAdd(&count[0], i % 7);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int n = 8191;
    float *in, *out;
    point *p, *q;
    int *count, total = 0, shift = !strcmp(what, "halo") ? 1 : !strcmp(what, "far") ? -1 : 0;
    int how = !strcmp(what, "old") ? 1 : !strcmp(what, "skip") ? 2 : 3;
    std::vector<float> values(n + 1);
    std::vector<point> points(n);
    for (int i = 0; i <= n; i++)
        values[i] = i % 100;
    for (int i = 0; i < n; i++)
        points[i] = {1.0f * i, 2, 3};
    hipMalloc(&in, values.size() * sizeof(float));
    hipMalloc(&out, n * sizeof(float));
    hipMalloc(&p, n * sizeof(point));
    hipMalloc(&q, n * sizeof(point));
    hipMalloc(&count, sizeof(int));
    hipMemset(count, 0, sizeof(int));
    hipMemcpy(in, values.data(), values.size() * sizeof(float), hipMemcpyHostToDevice);
    hipMemcpy(q, points.data(), n * sizeof(point), hipMemcpyHostToDevice);
#pragma kmm parallel(i = 0:n) chunk(1024) read(in[i]) write(out[i])
    blur<<<(n + 255) / 256, 256>>>(out, in, n, shift);
#pragma kmm parallel(i = 0:n) chunk(1024) write(p[i]) read(q[i]) reduce(+: count[0])
    copy<<<(n + 255) / 256, 256>>>(p, q, count, n, how);
    if (hipDeviceSynchronize() != hipSuccess)
        return 1;
    hipMemcpy(values.data(), out, n * sizeof(float), hipMemcpyDeviceToHost);
    hipMemcpy(points.data(), p, n * sizeof(point), hipMemcpyDeviceToHost);
    hipMemcpy(&total, count, sizeof(int), hipMemcpyDeviceToHost);
    double sum = 0;
    int right = 0;
    for (int i = 0; i < n; i++) {
        right += values[i] == 2 * (i % 100) && points[i].x == i && points[i].y == 2 && points[i].z == 3;
        sum += points[i].x;
    }
    std::printf("%d elements are right, sum %.0f\n", right, sum - total);
    return 0;
}
