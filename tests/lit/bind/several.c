// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// A launch is one call, a statement of its own, of a function that is known.
int f(int n, float *x);
float g(float x);
#define CALL(n, x) f(n, x)

void several(int n, float *x, int (*pointer)(int n, float *x))
{
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    {
        f(n, x);
// CHECK: :[[#@LINE+1]]:9: error: 'parallel' governs several launches; it must govern exactly one: give each a pragma of its own
        f(n, x);
    }
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:9: error: the result of the call must not be used: its chunks have one result each
    n = f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:9: error: the result of the call must not be used: its chunks have one result each
    if (f(n, x))
        n = 1;
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:12: error: the call is a part of a larger expression, so no chunks can take its place; make it a statement of its own
    while (f(n, x), n--)
        ;
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: what is called here is no name of a function; call it by its name
    __builtin_choose_expr(1, f, g)(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: what is called here is no single function; a call through a pointer, or of overloads that depend on a template, cannot be split
    pointer(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
// CHECK: :[[#@LINE+1]]:5: error: the call is written by a macro; write it out below the pragma
    CALL(n, x);
// CHECK: :[[#@LINE+3]]:13: error: the launch has a pragma already; put the clauses of both into one
// CHECK: :[[#@LINE+1]]:13: note: the other one is here
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) chunk(10)
    f(n, x);
}
