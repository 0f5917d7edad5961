// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Calls that cannot be made for a chunk, and arguments that cannot move with it.
static void columns(int n, int w, int (*x)[w]) {}
static void any(int n, int *x, ...) {}
static void nameless(int n, int *x, struct { int y; } *p) {}

void all(int n, int *x, int (*rows)[8])
{
// CHECK: :[[#@LINE+1]]:49: error: rebase cannot move 'rows' to where a chunk begins, because its parameter 'x' has a type without a name, or rows of a variable length; rebase begin and end instead
#pragma kmm parallel(i = 0:n) rebase(n: i) read(rows[i][:])
    columns(n, 8, rows);
// CHECK: :[[#@LINE+1]]:49: error: rebase cannot move '(void *)x' to where a chunk begins, because its parameter 'p' has a type without a name, or rows of a variable length; rebase begin and end instead
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    nameless(n, x, (void *)x);
    void inside(int n, int *x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
// CHECK: :[[#@LINE+1]]:5: error: 'inside' is not declared before the function that calls it, where the call of a chunk stands; declare it there
    inside(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) read(rows[i][:])
// CHECK: :[[#@LINE+1]]:5: error: 'all' is not declared before
    all(n, x, rows);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
// CHECK: :[[#@LINE+1]]:5: error: the call of a function with a variable number of arguments cannot be split; call it in one with a fixed number
    any(n, x, 2);
}
