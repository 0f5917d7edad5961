// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Pragmas that govern no launch.
void f(int n, float *x);
// CHECK: :[[#@LINE+1]]:13: error: the pragma governs nothing: it must stand before a statement in a function, which a declaration is not
#pragma kmm parallel(i = 0:3)
int global;

void nothing(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:17: error: 'parallel' governs no launch: the next statement has neither a kernel launch nor a call of a function
    #pragma kmm parallel(i = 0:n)
    n = 3;
// CHECK: :[[#@LINE+1]]:17: error: 'parallel' governs no launch: the next statement has neither a kernel launch nor a call of a function
    #pragma kmm parallel(i = 0:n)
    ;
// CHECK: :[[#@LINE+1]]:17: error: 'parallel' divides a launch, and the next statement is a loop; make the loop the body of a function, and put the pragma above a call of the function
    #pragma kmm parallel(i = 0:n)
    for (int i = 0; i < n; i++)
        x[i] = 1;
    if (n)
// CHECK: :[[#@LINE+1]]:21: error: 'wait' stands in a block, not as the body of another statement; add braces
        #pragma kmm wait
    n = 4;
// CHECK: :[[#@LINE+1]]:17: error: 'data' governs a block: put '{' after the pragma
    #pragma kmm data map(x[0:n])
    n = 5;
    f(n, x);
// CHECK: :[[#@LINE+1]]:17: error: the pragma governs nothing: it must stand before a statement in a function, which a declaration is not
    #pragma kmm parallel(i = 0:n)
}
