// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s --match-full-lines --strict-whitespace
// Below the caret stands what to write instead.
void f(int n, float *x, const float *y);
void fix(int n, float *x, const float *y)
{
//      CHECK:#pragma kmm paralel(i = 0:n)
// CHECK-NEXT:            ^~~~~~~
// CHECK-NEXT:            parallel
#pragma kmm paralel(i = 0:n)
    f(n, x, y);
//      CHECK:        #pragma kmm parallel(i = 0:n) chnk(10) rebase(n: i) update(x[i]) read(y[i])
// CHECK-NEXT:                                      ^~~~
// CHECK-NEXT:                                      chunk
	#pragma kmm parallel(i = 0:n) chnk(10) rebase(n: i) update(x[i]) read(y[i])
	f(n, x, y);
}
