// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Arguments that cannot move with a chunk.
static void columns(int n, int w, int (*x)[w]) {}
static void nameless(int n, int *x, struct { int y; } *p) {}

void all(int n, int *x, int (*rows)[8])
{
// CHECK: :[[#@LINE+1]]:49: error: rebase cannot move 'rows' to where a chunk begins, because its parameter 'x' has a type without a name, or rows of a variable length; rebase begin and end instead
#pragma kmm parallel(i = 0:n) rebase(n: i) read(rows[i][:])
    columns(n, 8, rows);
// CHECK: :[[#@LINE+1]]:49: error: rebase cannot move '(void *)x' to where a chunk begins, because its parameter 'p' has a type without a name, or rows of a variable length; rebase begin and end instead
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    nameless(n, x, (void *)x);
}
