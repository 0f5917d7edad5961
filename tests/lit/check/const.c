// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Elements that are const are read, whatever the clause says.
void f(int n, const float *x, float *y);
void constness(int n, const float *x, float *y)
{
// CHECK: :[[#@LINE+4]]:50: error: 'x' points to const elements, which a launch can only read; say read(x[i])
// CHECK-NEXT: #pragma
// CHECK-NEXT: {{^}}                                                 ^{{$}}
// CHECK-NEXT: {{^}}                                           read{{$}}
#pragma kmm parallel(i = 0:n) rebase(n: i) write(x[i]) update(y[i])
    f(n, x, y);
// CHECK: :[[#@LINE+1]]:57: error: 'x' points to const elements, which a launch can only read; say read(x[i])
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i], x[i])
    f(n, x, y);
}
