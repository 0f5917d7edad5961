// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Bases are pointers or arrays, bounds are integers.
struct s { int a; };
void f(int n, float *x);
void g(int n, void *x);
void h(int n, const float *x);

void types(int n, float *x, double d, void *v, const float *c, struct s s)
{
// CHECK: :[[#@LINE+1]]:28: error: 'd' must be an integer, but it is 'double'
#pragma kmm parallel(i = 0:d) rebase(n: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+2]]:50: error: 'x' must be an integer, but it is 'float *'
// CHECK: :[[#@LINE+1]]:62: error: 'i + 0.5' must be an integer, but it is 'double'
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(x) update(x[i + 0.5])
    f(n, x);
// CHECK: :[[#@LINE+1]]:51: error: 'n' is no pointer or array, but 'int'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(n[i], x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:51: error: 's' is no pointer or array, but 'struct s'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(s, x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:51: error: 'v' points to void, whose elements have no size; cast it, as in ((char *)v)
#pragma kmm parallel(i = 0:n) rebase(n: i) update(v[i])
    g(n, v);
// CHECK: :[[#@LINE+1]]:50: error: 'c' points to const elements, which a launch can only read; say read(c[i])
#pragma kmm parallel(i = 0:n) rebase(n: i) write(c[i])
    h(n, c);
// CHECK: :[[#@LINE+3]]:22: error: 'n' is no pointer or array, but 'int'
// CHECK: :[[#@LINE+2]]:29: error: 'x' is a pointer, so a map needs its length: x[0:n]
// CHECK: :[[#@LINE+1]]:36: error: 'v' points to void, whose elements have no size; cast it, as in ((char *)v)
#pragma kmm data map(n) map(x) map(v[0:n])
    {}
}
