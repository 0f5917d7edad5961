// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// What can be reduced.
#include <stdbool.h>
struct pair { float a, b; };
struct three { float a; int b, c; };
struct small { float a; short b; };
typedef struct { float x, y; } float2;
void f(int n, float *x);
void g(int n, struct pair *p);
void h(int n, long double *p);
void c(int n, float _Complex *z, bool *b, float2 *v);
void a(int n, struct pair *p, struct three *q, struct small *r, float *x);

void reduce(int n, float *x, struct pair *p, long double *l, float _Complex *z, bool *b, float2 *v, struct three *q, struct small *r)
{
// CHECK: :[[#@LINE+1]]:54: error: 'x' has elements of type 'float': this reduction works on integers; floating-point elements have + * min max && and ||
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(&: x[0])
    f(n, x);
// CHECK: :[[#@LINE+1]]:54: error: a reduction works on integers of 8 to 64 bits, half, bfloat16, float, double and complex numbers, but 'p' has elements of type 'struct pair'
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(+: p[0])
    g(n, p);
// CHECK: :[[#@LINE+1]]:56: error: a reduction works on integers of 8 to 64 bits, half, bfloat16, float, double and complex numbers, but 'l' has elements of type 'long double'
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(max: l[0])
    h(n, l);
// CHECK: :[[#@LINE+3]]:56: error: 'z' has elements of type '_Complex float': complex numbers have + and *
// CHECK: :[[#@LINE+2]]:74: error: 'b' has elements of type '_Bool': elements of type bool have && and ||
// CHECK: :[[#@LINE+1]]:92: error: 'v' has elements of type 'float2': two numbers have + only; a complex type, such as cuFloatComplex, has *
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(min: z[0]) reduce(  +: b[0]) reduce(  *: v[0])
    c(n, z, b, v);
// CHECK: :[[#@LINE+4]]:59: error: argmin and argmax work on structs of two members, a number and an index of 32 or 64 bits, but 'p' has elements of type 'struct pair'
// CHECK: :[[#@LINE+3]]:65: error: argmin and argmax work on structs {{.*}} but 'q' has elements of type 'struct three'
// CHECK: :[[#@LINE+2]]:71: error: argmin and argmax work on structs {{.*}} but 'r' has elements of type 'struct small'
// CHECK: :[[#@LINE+1]]:77: error: argmin and argmax work on structs {{.*}} but 'x' has elements of type 'float'
#pragma kmm parallel(i = 0:n) rebase(n: i) reduce(argmax: p[0], q[0], r[0], x[0])
    a(n, p, q, r, x);
}
