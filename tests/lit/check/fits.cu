// RUN: %kmmcc --target=host --emit-source %s | FileCheck %s --check-prefix=RIGHT
// RUN: %not %kmmcc --target=host -DWRONG -c %s -o %t.o 2>&1 | FileCheck %s
// `fits`: integers that the kernel computes in few bits; `inferred`.
#include <cuda_runtime.h>
__global__ void sets(float *a, int n, int w) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i * w] = 1; }
#pragma kmm declare kernel(i = 0:n) update(a[w * i]) fits(int: w * i) fits(uint16 grid: i, n)
__global__ void declared(float *a, int n, int w);
void launches(float *a, int n, int w)
{
    // RIGHT: kmm_launch_inferred(kmm__launch);
    // RIGHT: kmm_launch_fits(kmm__launch, "w * i", KMM_INT32, KMM_IN_RANGE, 0);
    // RIGHT-NEXT: kmm_launch_fits_coef(kmm__launch, 0, w);
    // RIGHT-NEXT: kmm_launch_fits(kmm__launch, "i + 1", KMM_UINT32, KMM_IN_GRID, 1);
    // RIGHT-NEXT: kmm_launch_fits_coef(kmm__launch, 0, 1);
    #pragma kmm parallel(i = 0:n) update(a[w * i]) fits(int: w * i) fits(unsigned grid: i + 1) inferred
    sets<<<n / 64 + 1, 64>>>(a, n, w);
    // RIGHT: kmm_launch_fits(kmm__launch, "(w + 1) * i", KMM_INT32, KMM_IN_RANGE, 0);
    // RIGHT: kmm_launch_fits(kmm__launch, "n", KMM_UINT16, KMM_IN_GRID, n);
    #pragma kmm parallel
    declared<<<n / 64 + 1, 64>>>(a, n, w + 1);
#ifdef WRONG
    // CHECK: :[[#@LINE+1]]:57: error: expected a type: int, unsigned, int16, uint16, int8 or uint8, as in fits(int: n * i)
    #pragma kmm parallel(i = 0:n) update(a[w * i]) fits(long: i)
    sets<<<n / 64 + 1, 64>>>(a, n, w);
    // CHECK: error: expected ':' and integers, as in fits(int: n * i)
    #pragma kmm parallel(i = 0:n) update(a[w * i]) fits(int i)
    sets<<<n / 64 + 1, 64>>>(a, n, w);
    // CHECK: error: 'i * i' is not affine in the axes: what must fit is a sum of axes
    #pragma kmm parallel(i = 0:n) update(a[w * i]) fits(int: i * i)
    sets<<<n / 64 + 1, 64>>>(a, n, w);
#endif
}
