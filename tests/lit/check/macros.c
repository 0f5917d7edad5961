// RUN: %not %kmmcc -c %s -fno-kmm-compare -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Macros in clauses that are no expression of their own, or would mean something else than their expansions.
enum { N = 60000 };
static int x[N], count, *table[N];
static int next(void) { return ++count; }
static void f(int n, int *a) { for (int i = 0; i < n; i++) a[i]++; }
#define PLUS 3 + 4
#define NEXT next()
#define COUNT(k) (count += k)
#define HERE i
#define AT (i + 1)
#define AT2(k) (k + i)
#define ITEM x[i]
#define ROW table[i]
#define EMPTY
#define LIST 1, 2
#define RANGE 0:N
#define SECTION [i]
#define CLAUSE update(x[i])
#define OPERATOR +
#define SQUARE(x) x * x
#define MODE update
void launch(int i)
{
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'PLUS' is no operand of its own here, since the operators around it bind tighter than its own; put its body in parentheses
    #pragma kmm parallel(i = 0:N) chunk(2 * PLUS) rebase(n: i) update(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'NEXT' may have side effects, and a clause has none; compute the value before the pragma
    #pragma kmm parallel(i = 0:N) chunk(NEXT) rebase(n: i) update(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'COUNT(100)' may have side effects
    #pragma kmm parallel(i = 0:N) chunk(COUNT(100)) rebase(n: i) update(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'HERE' mentions 'i', which is the name of an axis; write it out, since macros in clauses do not know axes
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[HERE])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'AT' mentions 'i'
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[AT - 1])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'AT2(0)' mentions 'i'
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[AT2(0)])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'ITEM' mentions 'i'
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(ITEM)
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'ROW' mentions 'i'
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(ROW[i]) update(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'LIST' is a list; write its parts out, since a macro in a clause stands for one expression
    #pragma kmm parallel(i = 0:N) chunk(LIST) rebase(n: i) update(x[i])
    f(N, x);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: macro 'SQUARE(N)' is no operand of its own here
    #pragma kmm parallel(i = 0:N) chunk(2 * SQUARE(N)) rebase(n: i) update(x[i])
    f(N, x);
}
