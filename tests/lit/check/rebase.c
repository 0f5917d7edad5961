// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// How a chunk is passed to a function.
void f(int count, float *x);
void unnamed(int, float *);

void rebase(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:22: error: nothing says how 'f' is told its part of axis 'i'; add rebase(n: i), n being the parameter with the length
#pragma kmm parallel(i = 0:n) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:38: error: the function has no parameter 'cuont'; did you mean 'count'?
#pragma kmm parallel(i = 0:n) rebase(cuont: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:38: error: rebase passes a length or a bound, but parameter 'x' is 'float *'
#pragma kmm parallel(i = 0:n) rebase(x: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:55: error: the parameter is rebased twice
#pragma kmm parallel(i = 0:n) rebase(count: begin(i), count: end(i)) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:38: error: the function has 2 parameters, so there is no #3
#pragma kmm parallel(i = 0:n) rebase(#3: i) update(x[i])
    unnamed(n, x);
// CHECK: :[[#@LINE+1]]:22: error: axis 'i' names a part of a grid, but the launch is the call of a function; leave out the source
#pragma kmm parallel(i: global.x = 0:n) rebase(count: i) update(x[i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:22: error: axis 'i' needs its range, because a function's call does not have one: i = 0:n
#pragma kmm parallel(i) rebase(count: i) update(x[i])
    f(n, x);
}
