// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Expressions of clauses are evaluated as often as it takes.
#include <algorithm>
#include <vector>
void f(int n, float *x);
int next();

void effects(int n, float *x, std::vector<float> &v)
{
// CHECK: :[[#@LINE+1]]:28: error: the call of 'next' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:next()) rebase(n: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:57: error: the call of 'next' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i + next()])
    f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(std::min(n, 3)) update(x[i + (long)v.size()])
    f(n, x);
// CHECK: :[[#@LINE+1]]:60: error: the call of 'next' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) if(next() > 2)
    f(n, x);
}
