// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Pointers for which no clause says what is done with them.
void f(int n, float *x, const float *y, float *z);

void access(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) read(y[i])
// CHECK: :[[#@LINE+1]]:10: error: no clause says what 'f' does with 'x + 1', its parameter 'x' (float *); add read(x[...]), write(x[...]) or update(x[...])
    f(n, x + 1, y, 0);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:13: error: no clause says what is read of 'y', so rebase cannot tell whether it moves; add read(y[i]) if each chunk reads its part of it, or read(y) if each reads all
    f(n, x, y, &y[3]);
}
