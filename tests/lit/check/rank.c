// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Sections, shapes and the dimensions of arrays.
void f(int n, float *x);
void g(int n, float (*m)[8]);

void rank(int n, float *x, float (*m)[8])
{
// CHECK: :[[#@LINE+1]]:51: error: 'x[i][0]' has 2 sections, but 'x' is a flat pointer; give it dimensions with shape(x[height][width])
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i][0])
    f(n, x);
// CHECK: :[[#@LINE+2]]:59: error: no item is based on 'y'; shape names the base of an item of read, write, update or reduce
// CHECK: :[[#@LINE+1]]:72: error: 'x[i]' has 1 section, but 'x' has 2 dimensions
#pragma kmm parallel(i = 0:n) rebase(n: i) shape(x[n][n], y[n]) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:51: error: 'm[i]' has 1 section, but 'm' has 2 dimensions
#pragma kmm parallel(i = 0:n) rebase(n: i) update(m[i])
    g(n, m);
}
