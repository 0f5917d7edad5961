// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// Elements that all chunks would write: an error where there are several chunks for certain, a warning where that is seen
// only when the launch runs, and right where there is one.
void f(int n, float *x);

void overlap(int n, int m, float *x)
{
// CHECK: :[[#@LINE+1]]:63: error: all chunks would write the same elements 'x[0]': axis 'i' is split but does not occur in it; use it as an index, or say reduce(op: x[0]) if the kernel accumulates{{$}}
#pragma kmm parallel(i = 0:1000) chunk(64) rebase(n: i) write(x[0])
    f(1000, x);
// CHECK: :[[#@LINE+1]]:60: warning: all chunks would write the same elements 'x[0]': axis 'i' is split but does not occur in it; use it as an index, or say reduce(op: x[0]) if the kernel accumulates; with more than one chunk the launch fails [-Wkmm-overlap]
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) write(x[0])
    f(n, x);
// CHECK: :[[#@LINE+1]]:65: warning: all chunks would write the same elements 'x': axis 'i' is split but does not occur in it
#pragma kmm parallel(i = 0:n) chunk(n / 10) rebase(n: i) update(x)
    f(n, x);
// CHECK: :[[#@LINE+2]]:65: error: the parameter is rebased twice
// CHECK: :[[#@LINE+1]]:79: warning: all chunks would write the same elements 'x[i]': axis 'j' is split but does not occur in it
#pragma kmm parallel(i = 0:n, j = 0:m) chunk(n, 2) rebase(n: i, #1: j) update(x[i])
    f(n, x);
}

void one_chunk(int n, float *x)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[0])
    f(n, x);
#pragma kmm parallel(i = 0:n) chunk(n) rebase(n: i) update(x[0])
    f(n, x);
#pragma kmm parallel(i = 0:1000) chunk(1000) rebase(n: i) update(x[0])
    f(1000, x);
#pragma kmm parallel(i = 0:1000) chunk(4096) rebase(n: i) update(x[0])
    f(1000, x);
#pragma kmm parallel(i = 0:1) chunk(0) rebase(n: i) update(x[0])
    f(1, x);
}

void g(int n, float *x, float *y);
void borders(int n, float *x, float *y)
{
// CHECK: :[[#@LINE+1]]:66: error: neighbouring chunks would both write 2 elements at their border: 'x[i:3]' moves by 1 for each 'i', but is 3 long{{$}}
#pragma kmm parallel(i = 0:1000) chunk(10) rebase(n: i)    write(x[i:3]) update(y[i])
    g(1000, x, y);
// CHECK: :[[#@LINE+1]]:64: warning: neighbouring chunks would both write 1 elements at their border: 'y[9 - 2 * i:3]' moves by 2 for each 'i', but is 3 long; with more than one chunk the launch fails [-Wkmm-overlap]
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i)    update(y[9 - 2 * i:3]) write(x[2 * i:2])
    g(n, x, y);
}
