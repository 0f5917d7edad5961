// Kernels that nvcc has compiled are divided among nodes, each with a GPU of its own: clones, instances of templates, kernels
// that reduce, with memory that copies and sets of CUDA fill. What one node's
// GPU cannot hold is no hindrance. Kernels that use more than their arguments stay on node 0, and the log says why.
// REQUIRES: nvcc, cudart13, ir, !san
// RUN: %kmmcc --target=cuda -cudart shared -O1 %s -o %t
// RUN: %kmm_source/tests/hip/make_kernels %kmmcc %kmm_source %s %t.so 'fill,blur<float>,blur<double>,total,weigh,tell,follow,plain,whole'
// RUN: %kmmcc --target=host -fno-kmm -O1 %s -o %t.ignored && %t.ignored > %t.one
// RUN: env KMM_FAKE_KERNELS=%t.so LD_LIBRARY_PATH=%kmm_build/tests/fake/cudart KMM_DEVICES=cuda KMM_FAKE_DEVICES=3 KMM_NODES=1 KMM_LOG=info run_nodes -n 3 -d 300 %t > %t.three 2> %t.err && diff %t.one %t.three
// RUN: FileCheck %s < %t.err && FileCheck --check-prefix=GPUS %s < %t.err && FileCheck --check-prefix=STAY %s < %t.err
// RUN: env KMM_FAKE_KERNELS=%t.so LD_LIBRARY_PATH=%kmm_build/tests/fake/cudart KMM_DEVICES=cuda:2,mem=256K KMM_FRAME=16K KMM_FAKE_GRANULE=4096 KMM_NODES=1 run_nodes -n 2 -d 300 %t > %t.two && diff %t.one %t.two
// GPUS-DAG: process 0 of 3 on this host uses 1 of 3 CUDA devices, from device 0 on
// GPUS-DAG: process 1 of 3 on this host uses 1 of 3 CUDA devices, from device 1 on
// GPUS-DAG: process 2 of 3 on this host uses 1 of 3 CUDA devices, from device 2 on
// CHECK-DAG: node 0 of 3: 9 launches were divided among nodes; ran {{[1-9]}}
// CHECK-DAG: node 1 of 3: 9 launches were divided among nodes; ran {{[1-9]}}
// CHECK-DAG: node 2 of 3: 9 launches were divided among nodes; ran {{[1-9]}}
// STAY-NOT: : {{fill|blur|total}} stays
// STAY: : weigh stays on node 0: it may use more than its arguments and the arrays to which they lead
// STAY: : tell stays on node 0: it may use more than its arguments and the arrays to which they lead
// STAY: : follow stays on node 0: it may use more than its arguments and the arrays to which they lead
// STAY: plainPf stays on node 0: it has no clauses
// STAY: : whole stays on node 0: it is one chunk

// What goes wrong on another node's GPU ends the program, with the node and the line. So does a node without a GPU.
// RUN: %not env KMM_FAKE_KERNELS=%t.so LD_LIBRARY_PATH=%kmm_build/tests/fake/cudart KMM_DEVICES=cuda KMM_NODES=1 run_nodes -n 3 sh -c 'if [ $PMI_RANK = 1 ]; then export KMM_FAKE_FAIL=running:2; fi; exec %t' 2>&1 | FileCheck --check-prefix=FAULT %s
// FAULT: kmm: error: node 1: {{.*}}nodes_gpus.cu:{{[0-9]+}}: fill: {{.*}}chunk {{[0-9]+}} of 15: work on the device: CUDA_ERROR_LAUNCH_FAILED
// RUN: %not env KMM_FAKE_KERNELS=%t.so LD_LIBRARY_PATH=%kmm_build/tests/fake/cudart KMM_DEVICES= KMM_NODES=1 run_nodes -n 3 sh -c 'if [ $PMI_RANK = 2 ]; then export KMM_FAKE_DEVICES=0; fi; exec %t' 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: kmm: error: node 2: {{.*}}nodes_gpus.cu:{{[0-9]+}}: fill: this kernel was built for a GPU, and none is in use
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

const int n = 256 * 300, block = 256;
__constant__ float weights[2];

struct pair { const float *x; float *y; };

__global__ void fill(pair p, int more)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p.y[i] = p.x[i] + (i * 7919 + more) % 1000;
}

template <class T> __global__ void blur(int n, const T *x, T *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i + 1 < n)
        y[i] = x[i - 1] * T(0.25) + x[i] * T(0.5) + x[i + 1] * T(0.25);
}

__global__ void total(int n, const double *x, double *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}

__global__ void weigh(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= weights[1]; }

__global__ void tell(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] < -1)
        printf("%d\n", i);
    x[i] += 1;
}

__global__ void follow(float *const *rows, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] < -1)
        x[i] += rows[i][0];
}

__global__ void plain(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 2; }

__global__ void whole(float *x)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] += 3;
}

static void say(const char *what, const float *x)
{
    std::vector<float> copy(n);
    cudaMemcpy(copy.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += copy[i] * (i % 31);
    std::printf("%s: %.17g\n", what, sum);
}

int main()
{
    const float w[2] = {3, 0.5f};
    float *x, *y, **rows;
    double *d, *e, *sum, host = 0;
    cudaStream_t stream;
    std::vector<double> numbers(n);
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&d, n * sizeof(double));
    cudaMalloc(&e, n * sizeof(double));
    cudaMalloc(&sum, sizeof(double));
    cudaMalloc(&rows, n * sizeof(*rows));
    cudaStreamCreate(&stream);
    cudaMemset(x, 0, n * sizeof(float));
    for (int k = 0; k < 2; k++) {
        pair p = {x, y};
        #pragma kmm parallel(i: global.x) chunk(256 * 20) read(p.x[i]) write(p.y[i])
        fill<<<n / block, block, 0, stream>>>(p, k);
        #pragma kmm parallel(i: global.x = 1:n - 2) chunk(256 * 20) read(y[i - 1:3]) update(x[i])
        blur<<<n / block, block, 0, stream>>>(n, (const float *)y, x);
    }
    cudaStreamSynchronize(stream);
    say("blur", x);
    cudaMemcpy(y + n / 2, x, n / 2 * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy2D(y, 600 * 4, x, 300 * 4, 300 * 4, n / 600, cudaMemcpyDeviceToDevice);
    cudaMemset(y + n - 1000, 1, 500);
    say("copies", y);
    for (int i = 0; i < n; i++)
        numbers[i] = i * 7919 % 1000;
    cudaMemcpy(d, numbers.data(), n * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemset(e, 0, n * sizeof(double));
    cudaMemset(sum, 0, sizeof(double));
    for (int k = 0; k < 2; k++) { // no chunk clause
        #pragma kmm parallel(i: global.x = 1:n - 2) read(d[i - 1:3]) update(e[i])
        blur<double><<<n / block, block>>>(n, d, e);
        #pragma kmm parallel(i: global.x = 0:n) chunk(256 * 30) read(e[i]) reduce(+: sum[0])
        total<<<n / block, block>>>(n, e, sum);
    }
    #pragma kmm parallel(i: global.x = 1:n - 2) chunk(256 * 20) read(x[i - 1:3]) update(y[i])
    blur<float><<<n / block, block>>>(n, x, y);
    cudaMemcpy(&host, sum, sizeof(double), cudaMemcpyDeviceToHost);
    std::printf("sum: %.17g\n", host);
    cudaMemcpyToSymbol(weights, w, sizeof(w));
    #pragma kmm parallel(i: global.x) chunk(256 * 20) update(y[i])
    weigh<<<n / block, block>>>(y);
    #pragma kmm parallel(i: global.x) chunk(256 * 20) update(y[i])
    tell<<<n / block, block>>>(y);
    #pragma kmm parallel(i: global.x) chunk(256 * 20) read(rows[i]) update(y[i])
    follow<<<n / block, block>>>(rows, y);
    plain<<<n / block, block>>>(y);
    #pragma kmm parallel(i: global.x) update(y[:])
    whole<<<1, block>>>(y);
    cudaDeviceSynchronize();
    say("stay", y);
    return 0;
}
