// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Elements that all chunks would write. Where nothing says that there are several chunks, libkmm does not split.
void f(int n, float *x);

void overlap(int n, int m, float *x)
{
// CHECK: :[[#@LINE+1]]:60: error: all chunks would write the same elements 'x[0]': axis 'i' is split but does not occur in it; use it as an index, or say reduce(op: x[0]) if the kernel accumulates
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) write(x[0])
    f(n, x);
// CHECK: :[[#@LINE+1]]:61: error: all chunks would write the same elements 'x': axis 'i' is split but does not occur in it; use it as an index, or say reduce(op: x) if the kernel accumulates
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(x)
    f(n, x);
// CHECK: :[[#@LINE+2]]:65: error: the parameter is rebased twice
// CHECK: :[[#@LINE+1]]:79: error: all chunks would write the same elements 'x[i]': axis 'j' is split but does not occur in it; use it as an index, or say reduce(op: x[i]) if the kernel accumulates
#pragma kmm parallel(i = 0:n, j = 0:m) chunk(n, 2) rebase(n: i, #1: j) update(x[i])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[0])
    f(n, x);
#pragma kmm parallel(i = 0:n) chunk(n) rebase(n: i) update(x[0])
    f(n, x);
}

void g(int n, float *x, float *y);
void borders(int n, float *x, float *y)
{
// CHECK: :[[#@LINE+1]]:63: error: neighbouring chunks would both write 2 elements at their border: 'x[i:3]' moves by 1 for each 'i', but is 3 long
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i)    write(x[i:3]) update(y[i])
    g(n, x, y);
// CHECK: :[[#@LINE+1]]:64: error: neighbouring chunks would both write 1 elements at their border: 'y[9 - 2 * i:3]' moves by 2 for each 'i', but is 3 long
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i)    update(y[9 - 2 * i:3]) write(x[2 * i:2])
    g(n, x, y);
}
