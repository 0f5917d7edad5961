// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// What stands alone stands in a block; pointers in maps have lengths.
void f(int n, float *x);
int g(void);

void alone(int n, float *x, void *v, float y)
{
    if (n)
// CHECK: :[[#@LINE+1]]:13: error: 'enter data' stands in a block, not as the body of another statement; add braces
#pragma kmm enter data map(x[0:n])
// CHECK: :[[#@LINE+1]]:28: error: 'x' is a pointer, so a map needs its length: x[0:n]
#pragma kmm enter data map(x)
// CHECK: :[[#@LINE+1]]:27: error: 'x' is a pointer, so a map needs its length: x[0:n]
#pragma kmm exit data map(x)
// CHECK: :[[#@LINE+1]]:23: error: 'v' points to void, whose elements have no size; cast it, as in ((char *)v)
#pragma kmm update to(v[0:n]) from(v)
// CHECK: :[[#@LINE+1]]:25: error: 'y' is no pointer or array, but 'float'; a variable's memory is (&y)[0:1]
#pragma kmm update from(y)
// CHECK: :[[#@LINE+1]]:18: error: 'n' is no pointer or array, but 'int'
#pragma kmm wait(n)
// CHECK: :[[#@LINE+1]]:25: error: the call of 'g' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm update to(x[g():n])
// CHECK: :[[#@LINE+2]]:38: error: 'x' must be an integer, but it is 'float *'
// CHECK: :[[#@LINE+1]]:50: error: the call of 'g' may have side effects, and a clause has none; compute the value before the pragma
#pragma kmm parallel(i = 0:n) device(x) priority(g()) rebase(n: i) update(x[i])
    f(n, x);
}
