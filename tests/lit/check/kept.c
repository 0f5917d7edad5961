// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Plain functions that store an address of their chunk where libkmm does not see it are refused. Local variables and what clauses name are right.
#include <stdint.h>
enum { N = 6000 };
struct s {
    int *p;
    struct s *next;
    int **where;
    uint64_t u;
};
static int x[N], *tab[N], *g;
static uint64_t num[N];
static struct s glob, list[N];
static void keep(int *p) { g = p; }
// CHECK: error: 'e1' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e1(int lo, int hi, int *a) { g = a; }
// CHECK: error: 'e2' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e2(int lo, int hi, int *a) { glob.p = a + lo; }
// CHECK: error: 'e3' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e3(int lo, int hi, int *a, struct s *v) { *v->where = a; }
// CHECK: error: 'e4' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e4(int lo, int hi, int *a, struct s *v) { v->next->p = a; }
// CHECK: error: 'e5' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e5(int lo, int hi, int *a) { keep(&a[lo]); }
// CHECK: error: 'e6' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e6(int lo, int hi, int *a) { glob.u = (uint64_t)a; }
// CHECK: error: 'e7' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e7(int lo, int hi, int *a) { int *b = a + lo; tab[lo] = b; }
// CHECK: error: 'e8' stores the address that is its parameter 'a' in memory to which no parameter leads, where it means nothing once the chunk is done; store it in an array that a clause names, or store an index
// CHECK: note: it is stored here
static void e8(int lo, int hi, int *a, int ***t) { (*t)[lo] = a; }
static void o1(int lo, int hi, int *a) { int *b[2]; b[0] = a; struct s q = {a}, *r = &q; r->p = a; q.next = r; r->next->p = a; q.p[lo]++; }
static void o2(int lo, int hi, int *a, struct s *v) { for (int i = lo; i < hi; i++) v[i].p = a + i; }
static void o3(int lo, int hi, int *a, uint64_t *v) { for (int i = lo; i < hi; i++) v[i] = (uintptr_t)(a + i); }
static void o4(int lo, int hi, int *a, uint64_t *v) { for (int i = lo; i < hi; i++) v[i] = (uintptr_t)a % 64 == 0; }
static void o5(int lo, int hi, int *a, int **t) { int **q = t + lo; for (int i = lo; i < hi; i++) *q++ = a; }
void all(struct s *s, int ***t)
{
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i])
    e1(0, N, x);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i])
    e2(0, N, x);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i]) read(s[0])
    e3(0, N, x, s);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i]) read(s[0])
    e4(0, N, x, s);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i])
    e5(0, N, x);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i])
    e6(0, N, x);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i])
    e7(0, N, x);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i]) update(t[0])
    e8(0, N, x, t);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i])
    o1(0, N, x);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i]) update(list[i])
    o2(0, N, x, list);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i]) write(num[i])
    o3(0, N, x, num);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i]) write(num[i])
    o4(0, N, x, num);
    #pragma kmm parallel(i = 0:N) chunk(700) rebase(lo: begin(i), hi: end(i)) update(x[i]) update(tab[i])
    o5(0, N, x, tab);
}
