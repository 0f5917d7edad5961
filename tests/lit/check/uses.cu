// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %not %kmmcc --target=host -Wno-kmm-update -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: %kmmcc --help=warnings | FileCheck %s --check-prefix=LIST
// LIST: -Wkmm-whole {{.*}}
// LIST: -Wkmm-update {{.*}}
// OFF-NOT: -Wkmm-update
// What a kernel's code does with its arrays, against what the clauses say.
__global__ void scale(int n, float *x, const float *by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
// CHECK-DAG: :[[#@LINE+1]]:9: note: it is stored to here
        (x)[i] = by[i];
}
template <class T> __global__ void grow(int n, T *x, T *y, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
// CHECK-DAG: :[[#@LINE+1]]:9: note: the old value is used here
        *(x + i) += y[i];
        atomicAdd(&count[0], 1);
    }
}
__device__ void helper(float *x) { *x = 1; }
__global__ void hidden(int n, float *x, float *y) { helper(x); float *p = y; p[1] = 2; }

void uses(int n, float *x, float *y, int *count)
{
// CHECK-DAG: :[[#@LINE+3]]:49: error: 'x[i]' is only read here, but 'scale' stores to it; say write(x[i])
// CHECK-DAG: {{^}}                                                ^~~~{{$}}
// CHECK-DAG: {{^}}                                           write{{$}}
#pragma kmm parallel(i = 0:n) read(y[i])   read(x[i])
    scale<<<1, 64>>>(n, x, y);
// CHECK-DAG: :[[#@LINE+3]]:49: warning: 'x[i]' is only written here, so its old values are not brought, but 'grow' depends on them; say update(x[i]) [-Wkmm-update]
// CHECK-DAG: :[[#@LINE+2]]:60: warning: 'count[0:1]' is only written here
// CHECK-DAG: {{^}}                                          update{{$}}
#pragma kmm parallel(i = 0:n) read(y[i])  write(x[i])write(count[0:1])
    grow<<<1, 64>>>(n, x, y, count);
#pragma kmm parallel(i = 0:n) read(x[i], y[i])
    hidden<<<1, 64>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[i + 1], y[i]) write(x[i])
    scale<<<1, 64>>>(n, x, y);
}
