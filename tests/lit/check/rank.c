// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Sections, shapes and the dimensions of arrays.
void f(int n, float *x);
void g(int n, float (*m)[8]);
void h(int n, float (*m)[8][7][6][5][4]);

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

static float six[9][8][7][6][5][4];

void more(int n, float *x, float (*p)[8][7][6][5][4])
{
// CHECK: :[[#@LINE+1]]:51: error: 'x[i][0][0][0][0]' has 5 sections, but 'x' is a flat pointer; give it dimensions with shape(x[...][...][...][...][...])
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i][0][0][0][0])
    f(n, x);
// CHECK: :[[#@LINE+1]]:95: error: 'x[i][0][0][0][0][:]' has 5 dimensions where each [:] is joined with the dimension before it, and at most 4 may be left; take more of them whole
#pragma kmm parallel(i = 0:n) rebase(n: i) shape(x[n][n][n][n][n][n]) chunk(n / 5 + 1) update(x[i][0][0][0][0][:])
    f(n, x);
// CHECK: :[[#@LINE+1]]:51: error: 'p[:][:][i][0][1][2]' has 6 dimensions where each [:] is joined with the dimension before it (the first has no known extent), and at most 4 may be left; take more of them whole
#pragma kmm parallel(i = 0:n) rebase(n: i) update(p[:][:][i][0][1][2])
    h(n, p);
// CHECK: :[[#@LINE+1]]:51: error: 'six[:][:][i][0][1][2]' has 5 dimensions where each [:] is joined with the dimension before it, and at most 4 may be left; take more of them whole
#pragma kmm parallel(i = 0:n) rebase(n: i) update(six[:][:][i][0][1][2])
    h(n, six);
// CHECK: :[[#@LINE+1]]:91: error: an array has at most 6 dimensions
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i][:][:][:]) shape(x[n][n][n][n][n][n][n])
    f(n, x);
// CHECK: :[[#@LINE+1]]:70: error: an item has at most 6 sections
#pragma kmm parallel(i = 0:n) rebase(n: i) update(p[i][:][:][:][:][:][:])
    h(n, p);
}
