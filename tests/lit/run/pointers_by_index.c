// Pointers in arrays of structs and of pointers, told apart by their indices.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
#include <stdio.h>
enum { N = 60000 };
struct S { int *t[2]; }; struct V { int *v; int in[4]; };
static int x[N], y[N];
static void f(int lo, int hi, int *a, const int *b) { for (int i = lo; i < hi; i++) a[i] += b[i]; }
int main(void) {
    struct S s = { { x, y } }, m[2] = { { { x, y } }, { { y, x } } }; struct V w[2] = { { x, { 0 } }, { y, { 0 } } }; int z = 1, k = 0; int *tab[2] = { x, y };
    y[5] = 3;
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(lo: begin(i), hi: end(i)) update((s.t[0])[i]) read((s.t[z])[i])
    f(0, N, s.t[0], s.t[z]);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(lo: begin(i), hi: end(i)) update((m[k].t[0])[i]) read((m[k + 1].t[0])[i])
    f(0, N, m[k].t[0], m[k+1].t[0]);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(lo: begin(i), hi: end(i)) update((w[0].v)[i]) read((w[1].v)[i])
    f(0, N, w[0].v, w[1].v);
    #pragma kmm parallel(i = 0:N) chunk(7000) rebase(lo: begin(i), hi: end(i)) update((tab[0])[i]) read((tab[1])[i])
    f(0, N, tab[0], tab[1]);
    long c = 0; for (int i = 0; i < N; i++) c += x[i]; printf("%ld\n", c);
}
