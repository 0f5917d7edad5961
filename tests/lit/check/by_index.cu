// RUN: %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// An item with one index of a table of pointers does not cover another one.
#include <cuda_runtime.h>
struct table { int *t[2]; };
__global__ void add(int n, int *a, const int *b, const int *index) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += b[index[i]]; }
void launch(int n, table s, table *v, int z, int *index, int k)
{
    // CHECK: :[[#@LINE+2]]:38: warning: no clause says what is read of 's.t[z]', so each chunk reads the whole array; add read((s.t[z])[...]) [-Wkmm-whole]
    #pragma kmm parallel(i = 0:n) chunk(n / 7) update((s.t[0])[i]) read(index[i])
    add<<<n / 100, 100>>>(n, s.t[0], s.t[z], index);
    // CHECK: :[[#@LINE+2]]:41: warning: no clause says what is read of 'v[k + 1].t[0]', so each chunk reads the whole array; add read((v[k + 1].t[0])[...]) [-Wkmm-whole]
    #pragma kmm parallel(i = 0:n) chunk(n / 7) update((v[k].t[0])[i]) read(index[i])
    add<<<n / 100, 100>>>(n, v[k].t[0], v[k + 1].t[0], index);
    // The same expression is covered, and so is the same constant.
    #pragma kmm parallel(i = 0:n) chunk(n / 7) update((v[k + 1].t[1])[i]) read((s.t[1 - 1])[:]) read(index[i])
    add<<<n / 100, 100>>>(n, v[(k + 1)].t[1], s.t[0], index);
}
