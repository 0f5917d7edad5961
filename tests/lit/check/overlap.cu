// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// A kernel's chunks are whole thread blocks, so that a small chunk may be the whole launch.
__global__ void k(int n, float *x);

void launches(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:51: error: all chunks would write the same elements 'x[0]'
#pragma kmm parallel(i = 0:10000) chunk(64) write(x[0])
    k<<<40, 256>>>(n, x);
// CHECK: :[[#@LINE+1]]:50: warning: all chunks would write the same elements 'x[0]'
#pragma kmm parallel(i = 0:1000) chunk(64) write(x[0])
    k<<<4, 256>>>(n, x);
// CHECK: :[[#@LINE+1]]:55: error: all chunks would write the same elements 'x[0]'
#pragma kmm parallel(b: block.x = 0:4) chunk(2) write(x[0])
    k<<<4, 256>>>(n, x);
#pragma kmm parallel(i = 0:1000) chunk(1000) write(x[0])
    k<<<4, 256>>>(n, x);
#pragma kmm parallel(i) write(x[0])
    k<<<4, 256>>>(n, x);
}
