// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// What can be reduced.
struct pair { float a, b; };
void f(int n, float *x);
void g(int n, struct pair *p);
void h(int n, long double *p);

void reduce(int n, float *x, struct pair *p, long double *l)
{
// CHECK: :[[#@LINE+1]]:54: error: this reduction works on integers, but 'x' has elements of type 'float'; floating-point elements have + * min and max
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(&: x[0])
    f(n, x);
// CHECK: :[[#@LINE+1]]:54: error: a reduction works on integers of 8 to 64 bits, float and double, but 'p' has elements of type 'struct pair'
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(+: p[0])
    g(n, p);
// CHECK: :[[#@LINE+1]]:56: error: a reduction works on integers of 8 to 64 bits, float and double, but 'l' has elements of type 'long double'
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(max: l[0])
    h(n, l);
}
