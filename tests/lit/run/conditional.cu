// Pragmas inside #if, before an #if, with comments and continuation lines; templates and commas in expressions; member paths.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror -DBANDS %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm -O1 %san %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host --emit-source -DBANDS %s | FileCheck %s --check-prefix=BANDS
#include <cuda_runtime.h>
#include <stdio.h>

template <int a, int b> struct pair { static constexpr int sum = a + b; };
struct view { float *data; int n; };
struct views { view in, out[2]; };

__global__ void shift(views v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.out[1].n)
        v.out[1].data[i] = v.in.data[i + 1] + 1;
}

int main()
{
    const int n = 5000;
    views v;
    float *in, last[2];
    cudaMalloc(&v.in.data, (n + 1) * sizeof(float));
    cudaMalloc(&v.out[1].data, n * sizeof(float));
    v.in.n = n + 1;
    v.out[1].n = n;
    in = v.in.data;
    float host[n + 1];
    for (int i = 0; i <= n; i++)
        host[i] = i;
    cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
#ifdef BANDS
    // BANDS: kmm_launch_chunk(kmm__launch, KMM_GLOBAL_X, pair<3, (4 > 2)>::sum
    #pragma kmm parallel(i = 0:v.out[1].n) /* the chunks, as many as
              there are bands: */ chunk((pair<3, (4 > 2)>::sum) * 64) \
              read(v.in.data[i + 1]) /* and */ write((v.out[1].data)[i]) // the end
#else
    #pragma kmm parallel(i = 0:n) chunk((n < 1000 ? n : 700)) read(v.in.data[i + 1]) write((v.out[1].data)[i])
#endif
    /* between */
#ifdef BANDS
    shift<<<(n + 63) / 64, 64>>>(v);
#else
    shift<<<(n + 127) / 128, 128>>>(v);
#endif
    cudaMemcpy(last, v.out[1].data + n - 2, sizeof(last), cudaMemcpyDeviceToHost);
    // CHECK: 5000 5001
    printf("%g %g\n", last[0], last[1]);
}
