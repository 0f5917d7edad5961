// Macros in clauses and arguments mean what their expansions mean.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -Wno-kmm-unproven %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
#include <stdio.h>
enum { N = 60000 };
static int x[N], y[N + 10], m[3][N], big[N * 3];
static struct S { int *p, n; } s = { x, N };
static struct T { int *q[2]; struct S s; } t = { { x, y }, { x, N } };
#define BUF (s.p)
#define BARE s.p
#define DEEP t.q[1]
#define DEEPP (t.s.p)
#define ROW m[1]
#define LEN (s.n)
#define LENB s.n
#define PLUS 3 + 4
#define PIECE N / 9
#define OFF(k) ((k) + 2)
#define W 1 + 2
#define PTR(v) ((v).p)
#define REAL x
#define BEGIN 0
#define PTR2(v) v.p
#define TWICE(k) k + k
#define ADD(a, b) a + b
#define REVERSED(a, b) b - a
#define MORE(a) a + 1
#define ID(a) a
#define FIVE 5
static void f(int n, int *a) { for (int i = 0; i < n; i++) a[i]++; }
static void g(int lo, int hi, int *a) { for (int i = lo; i < hi; i++) a[i + 3]++; }
static void w3(int n, int *a) { for (int i = 0; i < n; i++) a[3 * i] = a[3 * i + 1] + a[3 * i + 2] + 1; }
static void add(int n, int *a, int k) { for (int i = 0; i < n; i++) a[i] += k; }
int main(void) {
    int k = 3;
    #pragma kmm parallel(i = 0:LEN) chunk(PIECE) rebase(n: i) update(BUF[i])
    f(N, BUF);
    #pragma kmm parallel(i = 0:LENB) chunk(PIECE + 1) rebase(n: i) update(BARE[i])
    f(N, BARE);
    #pragma kmm parallel(i = BEGIN:N) chunk(7000) rebase(n: i) update(DEEP[i])
    f(N, DEEP);
    #pragma kmm parallel(i = BEGIN:N) chunk(7000) rebase(n: i) update(DEEPP[i])
    f(N, DEEPP);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(ROW[i])
    f(N, ROW);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update((PTR(s))[i])
    f(N, PTR(s));
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update((PTR2(s))[i])
    f(N, PTR2(s));
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(lo: begin(i), hi: end(i)) update(y[i + OFF(1)])
    g(0, N, y);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(lo: begin(i), hi: end(i)) update(y[i + (PLUS) - 4])
    g(0, N, y);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) shape(big[N][W]) update(big[i][:])
    w3(N, big);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(REAL[i])
    f(N, REAL);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add(N, x, TWICE(k));
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add(N, x, ADD(k, 1));
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add(N, x, REVERSED(k, 10));
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add(N, x, MORE(k));
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add(N, ADD(x, 0), ID(k) + FIVE);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add(ID(N), ID(x), 2 * ID(k));
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(x[i])
    add(N, x, ID(ID(k)) * MORE(2));
    double c = 0; for (int i = 0; i < N; i++) c += (x[i] + 2 * y[i] + 3. * m[1][i]) * (i % 7) + big[3 * i];
    printf("%.17g\n", c);
}
