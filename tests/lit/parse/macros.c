// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// A macro in a pragma that is no expression is named.
#define N 600
#define EMPTY
#define RANGE 0:N
#define SECTION [i]
#define CLAUSE update(x[i])
#define OPERATOR +
#define MODE update
#define HERE __LINE__
void f(int n, int *a);
void launch(int *x)
{
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: expected ',' or ')' in clause 'chunk'
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: 'EMPTY' is a macro; a macro in a clause stands for one expression
    #pragma kmm parallel(i = 0:N) rebase(n: i) chunk(EMPTY 70) update(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: expected ',' or ')' in clause 'update'
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: 'SECTION' is a macro
    #pragma kmm parallel(i = 0:N) rebase(n: i) update(x SECTION)
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'CLAUSE' is a macro; macros may stand in clauses, but not for whole clauses: write the clause out
    #pragma kmm parallel(i = 0:N) rebase(n: i) CLAUSE
    f(N, x);
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: expected ']'
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: 'OPERATOR' is a macro
    #pragma kmm parallel(i = 0:N) rebase(n: i) update(x[i OPERATOR 0])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'MODE' is a macro; macros may stand in clauses, but not for whole clauses
    #pragma kmm parallel(i = 0:N) rebase(n: i) MODE(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'HERE' asks for __LINE__, which in a clause has to be written itself
    #pragma kmm parallel(i = 0:N) rebase(n: i) chunk(HERE) update(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: expected ':'
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: 'RANGE' is a macro
    #pragma kmm parallel(i = RANGE) update(x[0])
    f(N, x);
}
// A macro that is not defined where the pragma stands is none there.
void before(int THERE, int *x)
{
    #pragma kmm parallel(i = 0:N) rebase(n: i) chunk(THERE) update(x[i])
    f(N, x);
}
#define THERE __LINE__
void within(int *x)
{
#if N < 600
#undef THERE
#endif
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'THERE' asks for __LINE__
    #pragma kmm parallel(i = 0:N) rebase(n: i) chunk(THERE) update(x[i])
    f(N, x);
}
#undef THERE
void behind(int THERE, int *x)
{
    #pragma kmm parallel(i = 0:N) rebase(n: i) chunk(THERE) update(x[i])
    f(N, x);
}
#include "Inputs/asking.h"
void included(int *x)
{
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'THERE' asks for __LINE__
    #pragma kmm parallel(i = 0:N) rebase(n: i) chunk(THERE) update(x[i])
    f(N, x);
}
