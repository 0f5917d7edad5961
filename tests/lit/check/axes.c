// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Axes and chunks of functions; kernels are in axes.cu.
void f(int n, float *x);

void axes(int n, float *x)
{
// CHECK: :[[#@LINE+4]]:31: error: nothing says how 'f' is told its part of axis 'b'; add rebase(n: b), n being the parameter with the length
// CHECK: :[[#@LINE+3]]:40: error: nothing says how 'f' is told its part of axis 'c'; add rebase(n: c), n being the parameter with the length
// CHECK: :[[#@LINE+2]]:49: error: axis 'd' is one too many: a function's range has at most 3 dimensions
// CHECK: :[[#@LINE+1]]:49: error: nothing says how 'f' is told its part of axis 'd'; add rebase(n: d), n being the parameter with the length
#pragma kmm parallel(a = 0:n, b = 0:n, c = 0:n, d = 0:n) rebase(n: a) update(x[a])
    f(n, x);
// CHECK: :[[#@LINE+1]]:40: error: chunk has 2 entries, but 1 axis can be split; there is one entry for each axis
#pragma kmm parallel(i = 0:n) chunk(1, 2) rebase(n: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:28: error: chunk has 1 entry, but 0 axes can be split; there is one entry for each axis
#pragma kmm parallel chunk(1) update(x)
    f(n, x);
}
