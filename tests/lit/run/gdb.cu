// REQUIRES: gdb
// UNSUPPORTED: san
// RUN: %kmmcc --target=host -g -O0 %s -o %t
// RUN: env KMM_DEVICES=host KMM_THREADS=1 timeout 60 gdb -q -nx -batch -ex "set debuginfod enabled off" -ex "break gdb.cu:16" -ex run -ex next -ex "print i" -ex "print n" -ex "print x[i]" -ex "print old" -ex "info source" %t 2>&1 | FileCheck %s
// gdb stops in the threads of a kernel on the CPU, and has its variables and parameters.
// CHECK: hit Breakpoint 1{{[.1-9]*}}, operator() {{.*}}gdb.cu:16
// CHECK: = 0
// CHECK: 100
// CHECK: = 41
// CHECK: = 41
// CHECK: gdb.cu
__global__ void add(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int old = x[i];
        x[i] = old + 1;
    }
}
int main()
{
    int x[100], *X, n = 100;
    for (int i = 0; i < n; i++)
        x[i] = 41 + i;
    cudaMalloc(&X, sizeof(x));
    cudaMemcpy(X, x, sizeof(x), cudaMemcpyDefault);
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(X[i])
    add<<<4, 32>>>(n, X);
    cudaMemcpy(x, X, sizeof(x), cudaMemcpyDefault);
    return x[0] != 42;
}
