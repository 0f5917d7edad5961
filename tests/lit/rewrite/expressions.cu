// Expressions with templates and commas in clauses: brackets are the compiler's, and so are commas inside of them.
// REQUIRES: nvcc
// RUN: %kmmcc --target=cuda --emit-source %s | grep -v "// CHECK" | FileCheck %s
// RUN: %kmmcc --target=cuda -arch=sm_90 -Xcompiler -Wall,-Wextra -Werror all-warnings -c %s -o %t.o
#include <algorithm>
#include <cuda_runtime.h>

template <class T, int N> constexpr T times(T x) { return x * N; }
template <int K, int L = 1> struct pick { static const int value = K * L; };
struct range { int begin, end; template <int K> int at(int k, int m) const { return begin + k * m * K; } };

__global__ void twice(int n, float *A)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        A[i] *= 2;
}

void run(int n, float *A, range r)
{
    // CHECK: kmm_launch_axis(kmm__launch, "i", KMM_GLOBAL_X, 0, std::min<int>(n, 2000));
    // CHECK: kmm_launch_chunk(kmm__launch, KMM_GLOBAL_X, times<int, 4>(16));
    // CHECK: kmm_launch_index(kmm__launch, 0, (pick<1, 1>::value));
    #pragma kmm parallel(i = 0:std::min<int>(n, 2000)) chunk(times<int, 4>(16)) update(A[i : (pick<1, 1>::value)])
    twice<<<8, 128>>>(n, A);
    // CHECK: kmm_launch_axis(kmm__launch, "i", KMM_GLOBAL_X, 0, std::max(n < 3 ? 3 : n, 1));
    // CHECK: kmm_launch_chunk(kmm__launch, KMM_GLOBAL_X, (long long)r.at<2>(1, 64) + times<int, pick<2>::value>(8));
    #pragma kmm parallel(i = 0:std::max(n < 3 ? 3 : n, 1)) chunk(r.at<2>(1, 64) + times<int, pick<2>::value>(8)) \
        update(A[i])
    twice<<<8, 128>>>(n, A);
}
