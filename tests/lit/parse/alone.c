// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Directives that stand alone, and the clauses that say where, when and how chunks run.
void f(int n, float *x);

void alone(int n, float *x, void *v)
{
// CHECK: :[[#@LINE+1]]:19: error: expected 'data' after 'enter'
#pragma kmm enter map(x[0:n])
// CHECK: :[[#@LINE+1]]:23: error: 'enter data' needs a map clause, as in enter data map(tofrom: A[0:n])
#pragma kmm enter data
// CHECK: :[[#@LINE+1]]:22: error: 'exit data' needs a map clause, as in exit data map(A[0:n])
#pragma kmm exit data
// CHECK: :[[#@LINE+1]]:27: error: 'exit data' ends a map as it was entered, so it says no kind; leave out 'from:', and say in 'enter data' what launches do
#pragma kmm exit data map(from: x[0:n])
// CHECK: :[[#@LINE+1]]:19: error: 'update' needs to(...), for what the host has written, or from(...), for what it wants to read
#pragma kmm update
// CHECK: :[[#@LINE+1]]:20: error: unknown clause 'form'; did you mean 'from'?
#pragma kmm update form(x[0:n])
// CHECK: :[[#@LINE+1]]:18: error: 'wait' waits for whole arrays; leave out the section
#pragma kmm wait(x[0:n])
// CHECK: :[[#@LINE+1]]:21: error: 'wait' has no clauses
#pragma kmm wait(x) nowait
// CHECK: :[[#@LINE+4]]:38: error: clause 'nowait' is given twice
// CHECK: :[[#@LINE+3]]:54: error: unknown schedule 'cycli'; did you mean 'cyclic'?
// CHECK: :[[#@LINE+2]]:70: error: expected an expression
// CHECK: :[[#@LINE+1]]:72: error: 'parallel' has no clause 'stream', which belongs to 'task'
#pragma kmm parallel(i = 0:n) nowait nowait schedule(cycli) priority() stream(x) rebase(n: i) update(x[i])
    f(n, x);
}
